/** Creates the concrete recipe of a pack's entry: a point of the source's matrix, overrides, name and metadata. */
import { type Code, type Diagnostic, diagnostic, type Place } from "../../contract/error.ts";
import { sameValue } from "../../contract/json.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { cloneValue, isObject, type JsonObject, type Value } from "../../contract/value.ts";
import type { MatrixExpansion } from "../../recipe/expand_matrix.ts";
import { referenceIn } from "../../recipe/matrix_definition.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { variantId } from "../../recipe/variant.ts";
import { valueText } from "../../recipe/variant_name.ts";
import type { PackEntry } from "./pack.ts";

/**
 * The recipe of an entry, without seeds.
 * @param expansion of the source recipe, whose matrix may be absent
 * @param diagnostics receives the findings, at places of the pack
 * @returns null if no recipe can be made
 */
export function instantiate(
  entry: PackEntry,
  expansion: MatrixExpansion,
  diagnostics: Diagnostic[],
): RecipeDocument | null {
  const chosen = choosePoint(entry, expansion, diagnostics);
  if (chosen === null) return null;
  return named(cloneValue(chosen), entry, diagnostics);
}

/** Gives a recipe, which is changed, the name and the overrides of its entry. */
export function named(recipe: RecipeDocument, entry: PackEntry, diagnostics: Diagnostic[]): RecipeDocument {
  recipe.name = `${entry.params.name ?? recipe.name}__${entry.id}`;
  for (const stepId of overrideRecipe(recipe, entry)) diagnostics.push(unknownStep(entry, stepId, recipe));
  return recipe;
}

/** The finding of an override for a step that the recipe does not have. */
export function unknownStep({ index }: PackEntry, stepId: string, { steps }: RecipeDocument): Diagnostic {
  const hint = didYouMean(stepId, steps.map(({ id }) => id)),
    place = ["recipes", index, "params", "step_params", stepId];
  return diagnostic("pack_invalid", place, `Cannot find a step named ${stepId}`, { hint });
}

/** Sets in a recipe what its entry sets, besides the name. @returns ids of steps that the recipe does not have */
export function overrideRecipe(recipe: RecipeDocument, { params }: PackEntry): string[] {
  if (params.description !== null) recipe.description = params.description;
  Object.assign(recipe.metadata, cloneValue(params.metadata));
  return Object.entries(params.step_params).flatMap(([stepId, given]) => {
    const step = recipe.steps.find(({ id }) => id === stepId);
    if (step === undefined) return [stepId];
    Object.assign(step.params, cloneValue(given));
    return [];
  });
}

/** The selected point of the entry, with its coordinates recorded; the source itself without a matrix. */
function choosePoint(entry: PackEntry, expansion: MatrixExpansion, diagnostics: Diagnostic[]): RecipeDocument | null {
  const { recipe, points, canonical_matrix: { source, matrix } } = expansion;
  if (recipe === null) return null;
  const selection = entry.params.matrix_selection;
  const place: Place = ["recipes", entry.index, "params", "matrix_selection"];
  const refuse = (code: Code, message: string, hint: string | null, at: Place = place) => {
    diagnostics.push(diagnostic(code, at, message, { hint }));
    return null;
  };
  if (source === "none") return selection === null ? recipe : recordedPoint(recipe, selection, place, refuse);
  if (matrix === null || points.length === 0) return null;
  const dimensions = matrix.dimensions as { [name: string]: Value[] };
  const isGiven = (name: string) => selection !== null && Object.hasOwn(selection, name);
  let inRange = true;
  for (const [name, values] of Object.entries(dimensions)) {
    if (!isGiven(name) || values.some((value) => sameValue(value, selection![name]))) continue;
    inRange = false;
    const shown = values.slice(0, 12).map(valueText).join(", ") + (values.length > 12 ? ", …" : "");
    const message = `Cannot find ${valueText(selection![name])} among the values of ${name}`;
    refuse("pack_selection_out_of_range", message, `They are ${shown}`, [...place, name]);
  }
  if (!inRange) return null;
  const missing = Object.keys(dimensions).filter((name) => !isGiven(name));
  if (selection === null || missing.length > 0) {
    return refuse(
      "pack_selection_incomplete",
      `Cannot choose a point of ${recipe.name} without ${missing.join(" and ")}`,
      `Add ${missing.map((name) => `${name}: ${valueText(dimensions[name][0])}`).join(", ")} to matrix_selection, ` +
        "or matrix: inherit to the entry for a row at every value",
    );
  }
  const point = points.find((candidate) =>
    Object.keys(dimensions).every((name) => sameValue(candidate.selection[name], selection[name]))
  )!;
  const given = matrix.step_params as { [stepId: string]: JsonObject };
  for (const [stepId, overrides] of Object.entries(entry.params.step_params)) {
    const path = conflict(given[stepId], overrides, point.selection, []);
    if (path === null) continue;
    return refuse(
      "pack_selection_conflict",
      `Cannot override ${[stepId, ...path].join(".")}: matrix_selection binds it to another value`,
      "Remove the override, or select another point",
      ["recipes", entry.index, "params", "step_params", stepId, ...path],
    );
  }
  const metadata = { ...point.recipe.metadata, matrix_selection: selection, matrix_variant_id: variantId(selection) };
  return { ...point.recipe, name: recipe.name, metadata };
}

/** A recipe that is already a point keeps its coordinates; other coordinates are only a record. */
function recordedPoint(
  recipe: RecipeDocument,
  selection: JsonObject,
  place: Place,
  refuse: (code: Code, message: string, hint: string | null, at?: Place) => null,
): RecipeDocument | null {
  const recorded = recipe.metadata.matrix_selection;
  if (isObject(recorded)) {
    for (const [name, value] of Object.entries(selection)) {
      if (!Object.hasOwn(recorded, name) || sameValue(recorded[name], value)) continue;
      const message = `Cannot select ${name} = ${valueText(value)}: the recipe is the point ${
        valueText(recorded[name])
      }`;
      return refuse("pack_selection_conflict", message, null, [...place, name]);
    }
  }
  const whole = { ...(isObject(recorded) ? recorded : {}), ...selection };
  if (Object.keys(whole).length === 0) return recipe;
  const metadata = { ...recipe.metadata, matrix_selection: whole, matrix_variant_id: variantId(whole) };
  return { ...recipe, metadata };
}

/** The path to a parameter that the matrix binds and an override sets to another value, or null. */
export function conflict(
  given: Value | undefined,
  override: Value | undefined,
  selection: JsonObject,
  path: string[],
): string[] | null {
  if (given === undefined || override === undefined) return null;
  const dimension = referenceIn(given);
  if (dimension !== null) return sameValue(selection[dimension], override) ? null : path;
  if (isObject(given)) {
    if (!isObject(override)) return path;
    for (const [key, value] of Object.entries(given)) {
      const found = conflict(value, override[key], selection, [...path, key]);
      if (found !== null) return found;
    }
    return null;
  }
  return sameValue(given, override) ? null : path;
}
