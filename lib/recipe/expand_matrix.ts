/**
 * Expands a matrix: the Cartesian product of its dimensions, each point a concrete recipe that is compiled like any
 * other. Dimensions are ordered by name, the last one fastest.
 */
import { type Diagnostic, diagnostic, limitDiagnostics } from "../contract/error.ts";
import type { Suggestions } from "../contract/nearest.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { compileRecipe } from "./compile.ts";
import { canonicalMatrix, matrixDocument } from "./matrix.ts";
import { type Matrix, referenceIn } from "./matrix_definition.ts";
import { locatePoint, mergePointFindings } from "./point_findings.ts";
import { attachLocations } from "./positions.ts";
import type { Compilation, CompileMode, Locate, RecipeDocument, StepDocument } from "./types.ts";
import { MATRIX_KEYS, type MatrixKey, variantId } from "./variant.ts";
import { variantNames } from "./variant_name.ts";

export interface ExpandOptions {
  registry: Registry;
  /** Maps places to lines of the text. */
  locate?: Locate;
  /** Default strict. */
  mode?: CompileMode;
  /** Whether legacy sweeps are errors instead of warnings. */
  strictLegacy?: boolean;
}

/** A concrete point of a matrix. */
export interface MatrixPoint {
  /** `metadata.matrix_index`, from 0. */
  index: number;
  variant_id: string;
  /** Dimension to value, in the order of the dimensions. */
  selection: JsonObject;
  /** Normalised form, sparse parameters. */
  recipe: RecipeDocument;
  compilation: Compilation;
  /** Maps places of its recipe to lines of the author's text. */
  locate?: Locate;
}

export interface MatrixExpansion {
  status: "valid" | "invalid";
  /** The author's recipe in normalised form; null when unreadable. */
  recipe: RecipeDocument | null;
  expanded_count: number;
  canonical_matrix: {
    source: MatrixKey | "none";
    enabled: boolean;
    variant_count: number;
    matrix: JsonObject | null;
    diagnostics: Diagnostic[];
  };
  /** The concrete recipes, in the order of the matrix. */
  recipes: RecipeDocument[];
  /** The compilation of the author's recipe. */
  authored: Compilation;
  points: MatrixPoint[];
  /** All findings about the author's recipe and the points, each problem once. */
  diagnostics: Diagnostic[];
}

/**
 * Expands a recipe, and compiles it and every concrete point with one registry.
 * @param raw result of a reader, or a recipe as a JavaScript value
 * @returns the expansion; problems are its diagnostics, and a recipe without a matrix has no points
 */
export function expandMatrix(raw: unknown, options: ExpandOptions): MatrixExpansion {
  const { registry, locate, strictLegacy, mode = "strict" } = options;
  const authored = compileRecipe(raw, { mode, registry, locate, strictLegacy });
  const recipe = authored.normalized;
  const { source, matrix, diagnostics } = recipe
    ? canonicalMatrix(recipe, { strictLegacy, suggestions: authored.suggestions })
    : { source: "none" as const, matrix: null, diagnostics: [] };
  const remarks = recipe && matrix ? seedRemarks(recipe.metadata) : [];
  const points = recipe && matrix
    ? pointsOf(recipe, matrix, { ...options, mode, suggestions: authored.suggestions })
    : [];
  const located = (list: Diagnostic[]) => (locate ? attachLocations(list, locate) : list);
  const found = mergePointFindings(
    authored.diagnostics,
    points.map((point) => ({ point, diagnostics: point.compilation.diagnostics })),
  );
  const all = limitDiagnostics([...authored.diagnostics, ...located(remarks), ...found]);
  return {
    status: all.every(({ severity }) => severity !== "error") ? "valid" : "invalid",
    recipe,
    expanded_count: points.length,
    canonical_matrix: {
      source,
      enabled: matrix !== null,
      variant_count: points.length,
      matrix: matrix && matrixDocument(matrix),
      diagnostics: located(limitDiagnostics([...diagnostics, ...remarks])),
    },
    recipes: points.map((point) => point.recipe),
    authored,
    points,
    diagnostics: all,
  };
}

/** The reply document of an expansion, for the command line and HTTP. */
export function expansionDocument(expansion: MatrixExpansion): JsonObject {
  const { recipe, expanded_count, canonical_matrix, recipes } = expansion;
  return { recipe, expanded_count, canonical_matrix, recipes };
}

/** Every variant has its own name, on which its random streams depend. */
function seedRemarks({ seed_namespace }: JsonObject): Diagnostic[] {
  if (typeof seed_namespace === "string" && seed_namespace.trim() !== "") return [];
  const message = "Every variant draws its own noise: derived seeds depend on its name";
  const hint = "Set metadata.seed_namespace to give all variants the same noise, for paired comparisons";
  return [diagnostic("variant_seed_namespace", ["metadata", "seed_namespace"], message, { hint, severity: "info" })];
}

function pointsOf(
  recipe: RecipeDocument,
  matrix: Matrix,
  { registry, locate, mode, suggestions }: ExpandOptions & { mode: CompileMode; suggestions: Suggestions },
): MatrixPoint[] {
  const drafts = choices(matrix).map((choice) => {
    const coordinates = matrix.dimensions.map(({ name, values }, at): [string, Value] => [name, values[choice[at]]]);
    const selection = Object.fromEntries(coordinates);
    return { choice, coordinates, selection, variant_id: variantId(selection) };
  });
  const names = variantNames(recipe.name, drafts);
  return drafts.map(({ choice, selection, variant_id }, index) => {
    const concrete = concreteRecipe(recipe, matrix.step_params, {
      name: names[index],
      matrix_selection: selection,
      matrix_index: index,
      matrix_variant_id: variant_id,
      // Such a name does not begin with the recipe's.
      ...(names[index] === variant_id ? { matrix_recipe: recipe.name } : {}),
    });
    const found = locate && locatePoint(locate, recipe, matrix, choice);
    const compilation = compileRecipe(concrete, { mode, registry, locate: found, suggestions });
    return { index, variant_id, selection, recipe: concrete, compilation, ...(found ? { locate: found } : {}) };
  });
}

/** Value index in each dimension, per point. */
function choices({ dimensions }: Matrix): number[][] {
  return dimensions.reduce<number[][]>(
    (heads, { values }) => heads.flatMap((head) => values.map((_, index) => [...head, index])),
    [[]],
  );
}

const RECORDED = ["matrix_selection", "matrix_index", "matrix_variant_id", "matrix_recipe"];

/**
 * The recipe of a point.
 * @param step_params step id to matrix parameters, with references
 * @param record its name, its coordinates, and what else its metadata record
 */
export function concreteRecipe(
  recipe: RecipeDocument,
  step_params: Matrix["step_params"],
  { name, ...record }: JsonObject & { name: string; matrix_selection: JsonObject },
): RecipeDocument {
  const dropped: readonly string[] = [...MATRIX_KEYS, ...RECORDED];
  const metadata = Object.fromEntries([
    ...Object.entries(recipe.metadata).filter(([key]) => !dropped.includes(key)),
    ...Object.entries(record),
  ]);
  const steps = recipe.steps.map((step): StepDocument => {
    if (!Object.hasOwn(step_params, step.id)) return step;
    return { ...step, params: overlay(step.params, step_params[step.id], record.matrix_selection) as JsonObject };
  });
  return { ...recipe, name, metadata, steps };
}

/** Merges matrix values into authored ones: mappings field by field, everything else is replaced. */
function overlay(written: Value | undefined, given: Value, selection: JsonObject): Value {
  const name = referenceIn(given);
  if (name !== null) return selection[name];
  if (Array.isArray(given)) return given.map((item) => overlay(undefined, item, selection));
  if (!isObject(given)) return given;
  const members = new Map(isObject(written) ? Object.entries(written) : []);
  for (const [key, item] of Object.entries(given)) members.set(key, overlay(members.get(key), item, selection));
  return Object.fromEntries(members);
}
