/** Loads a pack: its text, its recipes, and every check that needs no run. All problems are reported at once. */
import { basename, dirname, resolve } from "node:path";
import {
  type Code,
  type Diagnostic,
  diagnostic,
  jsonPath,
  jsonPointer,
  refusal,
  SvcError,
} from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { Registry } from "../../contract/registry.ts";
import { cloneValue, isObject, type JsonObject, toNumber } from "../../contract/value.ts";
import { numberText } from "../../figure/number_text.ts";
import { methodText } from "../../plan/build.ts";
import { lintRecipe } from "../../plan/lint.ts";
import { lookedAtOnce, programSources } from "../../plan/implementation_source.ts";
import { type PlanOptions, planRecipe } from "../../plan/planner.ts";
import { compileRecipe } from "../../recipe/compile.ts";
import { expandMatrix, type MatrixExpansion } from "../../recipe/expand_matrix.ts";
import { attachLocations, readRecipeFile } from "../../recipe/read.ts";
import type { PlanResources } from "../../plan/estimate.ts";
import type { Compilation, Locate, RecipeDocument } from "../../recipe/types.ts";
import { recipeSpecs } from "../../research/specs.ts";
import { stepMetrics } from "../../research/evaluations.ts";
import { authoredSeeds, checkConditions, comparedFacts, type ConditionedRecipe, pairSeeds } from "./conditions.ts";
import { isAccounting } from "../../research/catalog.ts";
import { comparedPairs, comparedSides, LEAST_ITEMS, pairsNeeded } from "./compare.ts";
import { checkChannelUses } from "./equal_uses.ts";
import { conflict, instantiate, unknownStep } from "./instantiate.ts";
import { locateRecipe } from "./locate_recipe.ts";
import { entriesOfPoints, withOwnMatrix, withStudyMatrix } from "./entry_points.ts";
import { appliesTo, type Pack, type PackEntry, packOfValue, type ReadPack } from "./pack.ts";
import { isCard, packOfCard } from "./card.ts";
import { isRecipe, packOfRecipes, type RecipeSource, UNDECLARED } from "./recipe_pack.ts";
import { type ReplicationOptions, settleReplication } from "./replication.ts";
import { releasedSeed, releaseStreams, replicateSeed } from "./seeds.ts";
import { isStudy, studyOf, studyRecipes, type StudySource } from "./study.ts";
import { checkTier } from "./tiers.ts";
import { MAX_AGGREGATES, type PackMetric, type PackRecord, type Replication } from "./types.ts";

/** A recipe of the pack before the seeds of a replicate are set. */
export interface LoadedRecipe {
  entry: PackEntry;
  /** Normalised form; null for a skipped entry. That of a point of a study is made at each use. */
  readonly recipe: RecipeDocument | null;
  /** Of a point of a study: what all of its points are made from. */
  readonly study?: StudySource;
  locate?: Locate;
  /** Digest of the sources, adapters, artifacts and models of its steps; absent where it cannot be planned. */
  method_sha256?: string;
  /** The estimate of one replicate; absent where it cannot be planned. */
  resources?: PlanResources;
}

export interface LoadedPack {
  /** Absolute path. */
  file: string;
  /** Its entries are those of {@link recipes}. */
  pack: Pack;
  /** A recipe for each point of an entry. */
  recipes: LoadedRecipe[];
  replication: Replication | null;
  /** Whether it can be run. */
  valid: boolean;
  diagnostics: Diagnostic[];
}

/** A pack, or the findings about a text that is none. */
export type PackLoad = LoadedPack | { file: string; pack: null; valid: false; diagnostics: Diagnostic[] };

/** @throws SvcError `pack_invalid` with every diagnostic */
export function checkPack(load: PackLoad, name: string | readonly string[]): asserts load is LoadedPack {
  if (!load.valid) throw refusal("pack_invalid", `Cannot use the pack ${name}`, load.diagnostics);
}

export interface LoadOptions extends ReplicationOptions {
  registry: Registry;
  /** Absolute. */
  projectRoot: string;
  /** Planning options of the recipes: backend, implementation, readiness. */
  planning?: Pick<PlanOptions, "backend" | "implementation" | "readiness" | "lint">;
  /** Whether a validation card gives its quick subset; default false. */
  quick?: boolean;
}

/**
 * Loads a pack from a file, or the pack of recipes from theirs, or that of a validation card.
 * @param paths one pack or card, or recipes, each of which is a method
 * @returns the pack with all findings; null for a text that is not a pack
 * @throws SvcError `recipe_not_found` and others for an unreadable file, `recipe_invalid`, `usage_invalid` if packs and
 *   recipes are mixed
 */
export async function loadPack(
  paths: string | readonly string[],
  options: LoadOptions,
): Promise<PackLoad> {
  const { file, pack: written, diagnostics, locate } = await readSources([paths].flat(), options);
  if (written === null) return { file, pack: null, valid: false, diagnostics };
  const found: Diagnostic[] = [...checkTier(written)];
  const replication = settleReplication(written, options, found);
  const recipes = await loadRecipes(written, file, options, found);
  const pack = { ...written, recipes: recipes.map(({ entry }) => entry) };
  if (recipes.length * pack.metrics.length > MAX_AGGREGATES) {
    const message = `Cannot hold ${pack.metrics.length} metrics of ${recipes.length} recipes in one result`;
    const hint = `At most ${MAX_AGGREGATES} values are allowed: declare fewer metrics, or divide the pack`;
    found.push(diagnostic("matrix_too_large", ["metrics"], message, { hint }));
  }
  const checked = await checkRecipes(pack, recipes, { ...options, replication }, found);
  found.push(
    ...checkConditions(pack, checked),
    ...checkBaselines(pack, recipes, checked),
    ...checkPower(pack, checked, replication),
    ...checkChannelUses(pack, checked, options.registry),
  );
  const all = [...diagnostics, ...attachLocations(merged(found), locate)];
  return {
    file,
    pack,
    recipes,
    replication,
    valid: all.every(({ severity }) => severity !== "error"),
    diagnostics: all,
  };
}

async function readSources(
  paths: readonly string[],
  { registry, quick = false }: LoadOptions,
): Promise<ReadPack & { file: string }> {
  const sources = await Promise.all(paths.map(async (path): Promise<RecipeSource> => ({
    file: resolve(path),
    ...await readRecipeFile(path),
  })));
  const [{ file, value, locate }] = sources;
  if (sources.every((source) => isRecipe(source.value))) {
    // A pack without a text has no lines.
    return { file, ...packOfValue(packOfRecipes(sources, registry), () => undefined) };
  }
  if (sources.length === 1 && isCard(value)) {
    const { pack, diagnostics } = await packOfCard(value, file, { quick });
    // Findings about the pack of a card have no place in its text.
    if (pack === null) return { file, pack, diagnostics: attachLocations(diagnostics, locate), locate };
    const read = packOfValue(pack, () => undefined);
    // The points of a card need no dataset and no task.
    return { file, ...read, diagnostics: read.diagnostics.filter(({ code }) => code !== "research_catalog_warning") };
  }
  if (sources.length === 1) return { file, ...packOfValue(value, locate) };
  throw new SvcError("usage_invalid", `Cannot combine ${paths.join(", ")}: only recipes make a pack together`, {
    hint: "Name one pack, or recipes only",
  });
}

/** The recipes of all entries; several entries may choose points of one file. */
async function loadRecipes(
  pack: Pack,
  packFile: string,
  { registry, projectRoot }: LoadOptions,
  found: Diagnostic[],
): Promise<LoadedRecipe[]> {
  const sources = new Map<string, Promise<ExpandedFile>>();
  const read = async (file: string): Promise<ExpandedFile> => {
    const { value, locate } = await readRecipeFile(file);
    return { value, locate, expansion: expandMatrix(value, { registry, locate }) };
  };
  const recipes: LoadedRecipe[] = [];
  for (const entry of pack.recipes) {
    const at = recipes.push({ entry, recipe: null }) - 1;
    if (entry.skip_reason !== null) continue;
    const file = locateRecipe(entry, { packFile, projectRoot }, found);
    if (file === null) continue;
    if (!sources.has(file)) sources.set(file, read(file));
    try {
      const { value, locate, expansion: declared } = await sources.get(file)!;
      const study = isStudy(entry) ? studyOf(entry, { packFile, projectRoot }, found) : null;
      if (study === null && isStudy(entry)) continue;
      const expansion = isObject(entry.matrix) && isObject(value)
        ? expandMatrix(
          study === null
            ? withOwnMatrix(value, declared.canonical_matrix.matrix, entry)
            : withStudyMatrix(value, declared.canonical_matrix.matrix, entry, study),
          { registry },
        )
        : declared;
      // Bad values of unselected points are ignored; those of this entry's point are found below.
      if (expansion.recipe === null || expansion.canonical_matrix.source !== "none" && expansion.points.length === 0) {
        found.push(...expansion.diagnostics.map((item) => ofRecipe(entry, item)));
        continue;
      }
      const isBaseline = pack.baselines.includes(entry.id);
      if (study !== null) {
        const source: StudySource = { ...study, base: expansion.recipe };
        const bound = boundOverride(entry, source);
        if (bound !== null) {
          const message = `Cannot override ${bound.join(".")}: the study binds it to a dimension`;
          const at = ["recipes", entry.index, "params", "step_params", ...bound];
          found.push(diagnostic("pack_selection_conflict", at, message, { hint: "Remove the override" }));
          continue;
        }
        const missing = Object.keys(entry.params.step_params).filter((id) =>
          !source.base.steps.some((step) => step.id === id)
        );
        found.push(...missing.map((id) => unknownStep(entry, id, source.base)));
        if (missing.length > 0) continue;
        const points: LoadedRecipe[] = studyRecipes(entry, source, isBaseline);
        // A copy of a point, for a message or a thread, is without the other points.
        for (const point of points) Object.defineProperty(point, "study", { value: source });
        recipes.splice(at, 1, ...points);
        continue;
      }
      recipes.splice(
        at,
        1,
        ...entriesOfPoints(entry, expansion, isBaseline).map((one): LoadedRecipe => ({
          entry: one,
          recipe: instantiate(one, expansion, found),
          locate,
        })),
      );
    } catch (error) {
      const { code = "recipe_syntax_invalid", message, diagnostics = [] } = error as {
        code?: Code;
        message: string;
        diagnostics?: Diagnostic[];
      };
      const list = diagnostics.length > 0 ? diagnostics : [diagnostic(code, [], message)];
      found.push(...list.map((item) => ofRecipe(entry, item)));
    }
  }
  return recipes;
}

/** The first parameter that an entry overrides although its study binds it; null without one. */
function boundOverride({ params }: PackEntry, { base }: StudySource): string[] | null {
  const { step_params } = base.metadata.matrix as { step_params: { [stepId: string]: JsonObject } };
  for (const [stepId, overrides] of Object.entries(params.step_params)) {
    const path = conflict(step_params[stepId], overrides, {}, []);
    if (path !== null) return [stepId, ...path];
  }
  return null;
}

interface ExpandedFile extends Pick<RecipeSource, "value" | "locate"> {
  expansion: MatrixExpansion;
}

/** A finding about a recipe, at the entry that uses it. */
function ofRecipe(entry: PackEntry, item: Diagnostic): Diagnostic {
  const { path, location, step_id: _step, ...rest } = item;
  const where = path === "$" || path === undefined ? "" : ` at ${path}`;
  const file = location === undefined ? basename(entry.path) : `${basename(entry.path)}:${location.line}`;
  return {
    ...rest,
    ...diagnosticPlace(["recipes", entry.index]),
    message: `${item.message} (${entry.id}: ${file}${where})`,
  };
}

function diagnosticPlace(place: (string | number)[]): Pick<Diagnostic, "path" | "pointer"> {
  return { path: jsonPath(place), pointer: jsonPointer(place) };
}

/** Merges findings that several entries share. */
function merged(found: readonly Diagnostic[]): Diagnostic[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const item of found) {
    // The name of the entry is in the bracket that `ofRecipe` adds.
    const key = `${item.code}|${item.message.replace(/ \([^()]*: /, " (")}`;
    groups.set(key, [...groups.get(key) ?? [], item]);
  }
  return [...groups.values()].map(([first, ...others]) =>
    others.length === 0 ? first : { ...first, message: `${first.message}, and in ${others.length} more` }
  );
}

/**
 * The recipe of one replicate: the seeds of the replicate as master seed, authored seeds released after the first one, and
 * the paired seeds of the cell.
 * @param replication null if the recipe keeps its own seeds
 * @param replicate from 0
 */
export function recipeOfReplicate(
  pack: Pack,
  recipe: RecipeDocument,
  replication: Replication | null,
  replicate: number,
): RecipeDocument {
  const made = cloneValue(recipe);
  if (replication !== null) {
    const { experiment_seed: _, ui_seed: __, ...metadata } = made.metadata;
    made.metadata = {
      ...metadata,
      seed: replicateSeed(pack, replication, replicate),
      seed_namespace: pack.id,
    };
    // Results of earlier versions, which do not say so, kept authored seeds.
    if (replication.keep_authored_seeds === false && replicate > 0) {
      for (const step of authoredSeeds(pack, made)) {
        step.params.seed = releasedSeed(step.params.seed as number | bigint, replicate);
      }
      releaseStreams(made, replicate);
    }
  }
  pairSeeds(pack, made, replication === null ? null : replicate);
  return made;
}

/** Compiles and plans every recipe as its first replicate, and checks it against the pack. */
async function checkRecipes(
  pack: Pack,
  recipes: readonly LoadedRecipe[],
  options: LoadOptions & { replication: Replication | null },
  found: Diagnostic[],
): Promise<ConditionedRecipe[]> {
  const { registry, replication, planning = {} } = options;
  const checked: ConditionedRecipe[] = [];
  const implementationSources = lookedAtOnce(await programSources());
  // Only comparisons and conditions read all effective recipes together.
  const compared = pack.baselines.length > 0 || isObject(pack.metadata.common_conditions);
  let method = "";
  for (const loaded of recipes) {
    const { entry, recipe, locate } = loaded;
    if (recipe === null) continue;
    const report = (item: Diagnostic) => found.push(ofRecipe(entry, item));
    const raw = recipeOfReplicate(pack, recipe, replication, 0);
    const compilation = compileRecipe(raw, { mode: "strict", registry, locate });
    const planned = await planRecipe(compilation, {
      ...planning,
      registry,
      implementationSources,
      singleRun: true,
      locate,
    });
    planned.diagnostics.filter(({ severity }) => severity !== "info").forEach(report);
    if (planned.status === "refused" || compilation.effective === null) continue;
    loaded.resources = planned.plan.resources;
    const methods = sha256Json(planned.plan.steps.map(methodText));
    // The points of a study share the text.
    loaded.method_sha256 = method = methods === method ? method : methods;
    if (compared) checked.push({ entry, effective: planned.recipe });
    if (pack.tier === "canonical") lintStrictly(compilation, options, report);
    checkAuthoredSeeds(pack, entry, recipe, replication, found);
    checkSpecs(pack, entry, planned.recipe, found);
    for (const metric of pack.metrics) checkSource(metric, entry, planned.recipe, found);
  }
  return checked;
}

function lintStrictly(compilation: Compilation, { registry }: LoadOptions, report: (item: Diagnostic) => void): void {
  const { issues } = lintRecipe(compilation, { registry });
  issues.filter(({ severity }) => severity === "error").forEach(report);
}

/** An authored seed would make all replicates equal at its step, so that it counts for the first one only. */
function checkAuthoredSeeds(
  pack: Pack,
  entry: PackEntry,
  recipe: RecipeDocument,
  replication: Replication | null,
  found: Diagnostic[],
): void {
  if (replication === null || replication.replicates === 1 || replication.keep_authored_seeds === true) return;
  for (const { id } of authoredSeeds(pack, recipe)) {
    const item = diagnostic(
      "replicate_seed_released",
      [],
      `Cannot keep the seed of ${id} in replicates after the first: they draw from seeds derived from it`,
      {
        hint: "Remove the parameter seed, so that it follows the seed of the replicate; or write " +
          "replication: {keep_authored_seeds: true}, which gives no intervals over replicates",
        severity: "warning",
      },
    );
    found.push(ofRecipe(entry, item));
  }
}

/** Dataset and task of the recipe must be those of the pack. */
export function checkSpecs(pack: Pack, entry: PackEntry, effective: RecipeDocument, found: Diagnostic[]): void {
  const specs = recipeSpecs(effective);
  for (const [kind, name] of [["dataset", "dataset"], ["task", "task"]] as const) {
    const wanted = pack[kind], actual = specs[kind];
    const code = `pack_${kind}_mismatch` as const;
    const refuse = (message: string) =>
      found.push(diagnostic(code, ["recipes", entry.index], `Cannot use ${entry.id}: ${message}`, {
        hint: `Declare it as metadata.research.${kind} of the recipe, or correct the pack`,
      }));
    if (wanted.id === UNDECLARED) continue;
    if (!isObject(actual)) {
      refuse(`it names no ${name}, and its operations do not determine one`);
      continue;
    }
    if (actual.id !== wanted.id) refuse(`its ${name} is ${actual.id}, that of the pack ${wanted.id}`);
    else {
      for (const member of ["kind", "modality", "version"]) {
        const [a, b] = [actual[member], wanted[member]];
        if (a === undefined || b === undefined || String(a) === String(b)) continue;
        refuse(`the ${member} of its ${name} is ${a}, that of the pack ${b}`);
      }
    }
  }
}

/** Checks before a run of the source of a metric. */
function checkSource(metric: PackMetric, entry: PackEntry, { steps }: RecipeDocument, found: Diagnostic[]): void {
  if (!appliesTo(metric, entry.role)) return;
  const index = entry.index;
  const { id, source_step, source_operations } = metric;
  if (source_step !== null) {
    const step = steps.find((candidate) => candidate.id === source_step);
    if (step === undefined) {
      const message = `Cannot take ${id} from ${source_step}: ${entry.id} has no such step`;
      const hint = didYouMean(source_step, steps.map((candidate) => candidate.id));
      found.push(diagnostic("metric_source_missing", ["recipes", index], message, { hint }));
    } else if (source_operations !== null && !source_operations.includes(step.op)) {
      const message = `Cannot take ${id} from ${source_step}: it is a ${step.op} in ${entry.id}`;
      const hint = `The pack takes it from ${source_operations.join(" or ")}`;
      found.push(diagnostic("metric_source_missing", ["recipes", index], message, { hint }));
    }
    return;
  }
  const producers = steps.filter(({ op, params }) =>
    (source_operations === null || source_operations.includes(op)) &&
    stepMetrics({ op, params }).includes(id)
  );
  if (producers.length > 1) {
    const names = producers.map((step) => step.id).join(" and ");
    const message = `Ambiguous metric ${id} in ${entry.id}: ${names} produce it`;
    const hint = "Name the one as source_step of the metric";
    found.push(diagnostic("metric_source_ambiguous", ["recipes", index], message, { hint }));
  }
}

/** Metrics whose reports have values for each item. */
const ITEM_METRICS = /^(quality|text|semantic|caption|faithfulness)\./;

/** Images or texts that a recipe selects by id; null where the dataset determines them. */
function selectedItems({ steps }: RecipeDocument): number | null {
  for (const { op, params } of steps) {
    const ids = op.startsWith("source.") ? params.image_ids ?? params.text_ids : undefined;
    if (typeof ids === "string" && ids !== "") return ids.split(",").length;
  }
  return null;
}

type ComparedFacts = ReturnType<typeof comparedFacts>;

const SAME_POINT =
  "Give the rows of a point the same coordinates in matrix_selection, or the same aggregation_cell_id in params.metadata";

/** Candidates and baselines have to meet at a point, at least some of them; a recipe with problems of its own is not looked for. */
function checkBaselines(
  pack: Pack,
  recipes: readonly LoadedRecipe[],
  checked: readonly ConditionedRecipe[],
): Diagnostic[] {
  if (checked.length < recipes.filter(({ entry }) => entry.skip_reason === null).length) return [];
  const places = checked.map(comparedFacts), pairs = comparedPairs(places, pack.baselines);
  const { candidates, references } = comparedSides(places, pack.baselines);
  if (candidates.length === 0 || references.length === 0) return [];
  const met = new Set(pairs.map(({ candidate }) => candidate.id));
  const roles = new Map(checked.map(({ entry }) => [entry.id, entry.role]));
  // Bounds and references of other roles may stand alone.
  const alone = candidates.filter(({ id }) => !met.has(id) && (met.size === 0 || roles.get(id) === "candidate"));
  if (alone.length === 0) return unmetBaselines(pack, references, pairs);
  const [{ id }] = alone, more = alone.length === 1 ? "" : ` and ${alone.length - 1} more`;
  const message = `Cannot compare ${id}${more}: ${
    met.size === 0 ? "no candidate has" : "it has no"
  } baseline at its point`;
  const severity = met.size === 0 ? "error" : "warning";
  return [diagnostic("pack_baseline_unmet", ["baselines"], message, { hint: SAME_POINT, severity })];
}

/** A baseline without any candidate at its points, beside others that have some. */
function unmetBaselines(
  { baselines }: Pack,
  references: readonly ComparedFacts[],
  pairs: readonly { baseline: ComparedFacts }[],
): Diagnostic[] {
  const names = ({ id, baseline_id, method_id }: ComparedFacts) => [id, baseline_id, method_id];
  const met = new Set(pairs.flatMap(({ baseline }) => names(baseline)));
  const unmet = baselines.filter((name) => !met.has(name) && references.some((one) => names(one).includes(name)));
  if (unmet.length === 0 || met.size === 0) return [];
  const message = `Cannot compare with ${unmet.join(", ")}: no candidate has the point of such a baseline`;
  return [diagnostic("pack_baseline_unmet", ["baselines"], message, { hint: SAME_POINT, severity: "warning" })];
}

/**
 * Whether the pairs of the pack can distinguish any comparison: an exact test of n pairs cannot give less than 2 / 2^n, and
 * the correction multiplies that by the number of comparisons.
 */
function checkPower(pack: Pack, checked: readonly ConditionedRecipe[], replication: Replication | null): Diagnostic[] {
  const recipes = checked.map(({ entry, effective }) => ({
    ...comparedFacts({ entry, effective }),
    role: entry.role,
    items: selectedItems(effective),
  }));
  // A criterion may stop a row earlier; the reachable number counts here.
  const replicates = replication?.replicates ?? 1;
  const pairs = comparedPairs(recipes, pack.baselines).flatMap(({ candidate, baseline }) =>
    pack.metrics.filter((metric) =>
      !isAccounting(metric) && appliesTo(metric, candidate.role) && appliesTo(metric, baseline.role)
    )
      .map(({ id }) => {
        const items = ITEM_METRICS.test(id) ? candidate.items ?? Infinity : 0;
        return items >= LEAST_ITEMS ? items : replicates;
      })
  );
  const level = 1 - toNumber(replication?.confidence_level ?? 0.95);
  const needed = pairsNeeded(pairs.length, level), most = Math.max(...pairs);
  // With kept seeds nothing is tested.
  if (pairs.length === 0 || most >= needed || replication?.keep_authored_seeds === true) return [];
  const compared = pairs.length === 1 ? "1 comparison" : `${pairs.length} comparisons`;
  const message = `Cannot distinguish ${compared}: each has at most ${most} ${most === 1 ? "pair" : "pairs"}`;
  const hint = `At the level ${numberText(level)} after correction at least ${needed} pairs are needed: ` +
    `set replicates to ${needed}, or compare fewer recipes and metrics`;
  return [diagnostic("comparison_underpowered", ["baselines"], message, { hint, severity: "warning" })];
}

/** The record of the run recipes: the pack and the recipes made from it. */
export function packRecord({ pack, recipes, file }: LoadedPack, projectRoot: string): PackRecord {
  const studies = new Map(recipes.flatMap(({ entry, study }) => study === undefined ? [] : [[entry.index, study]]));
  return {
    schema_version: 1,
    kind: "svc.benchmark_pack_record",
    pack: pack.document,
    pack_sha256: pack.sha256,
    pack_file: basename(file),
    pack_folder: dirname(file).startsWith(projectRoot) ? dirname(file).slice(projectRoot.length + 1) : dirname(file),
    recipes: recipes.filter(({ study }) => study === undefined).map(({ entry, recipe }) => ({
      id: entry.id,
      recipe,
      recipe_sha256: recipe === null ? null : sha256Json(recipe),
    })),
    ...(studies.size === 0 ? {} : { studies: [...studies].map(([recipe, source]) => ({ recipe, ...source })) }),
  };
}
