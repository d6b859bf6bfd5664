/**
 * Research specs of a recipe in normal form: dataset, task, metrics and benchmark. Explicit specs take precedence over
 * the older metadata keys, and those over inference from operations; the catalogue adds fixed values of its entries.
 */
import type { JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { findDataset, findMetric, findTask } from "./catalog.ts";
import { checkResearch } from "./check.ts";
import { inferDataset } from "./datasets.ts";
import { declaredMetrics, declaredSpec, declaredTaskAt, hasSpecs, metricList, taskAlias } from "./declared.ts";
import { evaluatedMetrics, labelledMetrics } from "./evaluations.ts";
import { inferTask } from "./tasks.ts";
import { validateResearch } from "./validate.ts";

export { checkResearch } from "./check.ts";

export function declaredTask(recipe: RecipeDocument): string | null {
  return declaredTaskAt(recipe)?.id ?? null;
}

/**
 * The research specs of a recipe in normal form, for `recipe specs` and manifests.
 * @param recipe effective recipe
 * @param options `strict` makes unknown and planned entries errors
 * @returns `{schema_version, source, dataset, task, metrics, benchmark, catalog_validation}`
 */
export function recipeSpecs(recipe: RecipeDocument, options: { strict?: boolean } = {}) {
  const dataset = datasetSpec(recipe);
  const task = taskSpec(recipe);
  const metrics = metricSpecs(recipe, task);
  const { errors, warnings } = validateResearch(recipe, options);
  return {
    schema_version: 1,
    source: sourceOf(recipe),
    dataset,
    task,
    metrics,
    benchmark: benchmarkSpec(recipe, { dataset, task, metrics }),
    catalog_validation: {
      errors: [...checkResearch(recipe), ...errors],
      warnings,
    },
  };
}

export type RecipeSpecs = ReturnType<typeof recipeSpecs>;

function datasetSpec(recipe: RecipeDocument): JsonObject | null {
  const given = declaredSpec(recipe, "dataset");
  const inferred = inferDataset(recipe);
  if (given === null) return inferred;
  const modality = findDataset(given.id as string)?.modality ?? inferred?.modality ?? "generic";
  return { schema_version: 1, id: given.id, modality, params: {}, ...given };
}

function taskSpec(recipe: RecipeDocument): JsonObject | null {
  const given = declaredSpec(recipe, "task") ?? {};
  const id = declaredTask(recipe) ?? inferTask(recipe.steps.map((step) => step.op));
  if (id === null) return null;
  const entry = findTask(id);
  return {
    schema_version: 1,
    id,
    kind: entry?.kind ?? "unspecified",
    metrics: [...entry?.metrics ?? []],
    params: {},
    ...(entry === undefined ? {} : { modality: entry.modality, target: entry.target }),
    ...given,
  };
}

/** The declared metrics, else those of the declared task, else those of the steps, else those of the inferred task. */
function metricSpecs(recipe: RecipeDocument, task: JsonObject | null): JsonObject[] {
  const own = metricList(declaredSpec(recipe, "task")?.metrics).map(({ spec }) => spec);
  const evaluated = evaluatedMetrics(recipe).map((id) => ({ id }));
  const fallback = metricList(task?.metrics).map(({ spec }) => spec);
  const chosen = [declaredMetrics(recipe), own, evaluated, fallback].find((list) => list.length > 0) ?? [];
  const labelled = labelledMetrics(recipe);
  return chosen.map(({ id, ...given }: JsonObject & { id: string }): JsonObject => {
    const entry = findMetric(id) ?? labelled.get(id);
    return {
      schema_version: 1,
      id,
      direction: entry?.direction ?? "neutral",
      reduction: entry?.reduction ?? "mean",
      params: {},
      ...(entry === undefined ? {} : { family: entry.family, unit: entry.unit }),
      ...given,
    };
  });
}

interface Parts {
  dataset: JsonObject | null;
  task: JsonObject | null;
  metrics: JsonObject[];
}

function benchmarkSpec(recipe: RecipeDocument, { dataset, task, metrics }: Parts): JsonObject {
  return {
    schema_version: 1,
    id: recipe.name,
    version: 1,
    metrics: metrics.map(({ id }) => id),
    baselines: [],
    params: {},
    ...(dataset === null ? {} : { dataset: dataset.id }),
    ...(task === null ? {} : { task: task.id }),
    channel: { mode: channelMode(recipe) },
    ...declaredSpec(recipe, "benchmark"),
  };
}

/** Origin of the specs; benchmark and metrics follow from dataset and task. */
function sourceOf(recipe: RecipeDocument): string {
  const datasetInferred = declaredSpec(recipe, "dataset") === null && inferDataset(recipe) !== null;
  const taskInferred = declaredTask(recipe) === null && inferTask(recipe.steps.map(({ op }) => op)) !== null;
  const parts = [
    ...(hasSpecs(recipe) ? ["recipe.metadata.research"] : []),
    ...(taskAlias(recipe) === null ? [] : ["metadata.task_id"]),
    ...(datasetInferred || taskInferred ? ["inferred_from_recipe"] : []),
  ];
  return parts.length > 1 ? "combined" : parts[0] ?? "inferred_from_recipe";
}

/**
 * Payload transport: `disabled`, `wireless`, `identity` or `unspecified`, unless declared in metadata.
 * Exported for tests.
 */
export function channelMode({ metadata, steps }: RecipeDocument): string {
  const { channel_mode: mode, channel_enabled: enabled } = metadata;
  if (typeof mode === "string" && mode !== "") return mode;
  if (enabled === false) return "disabled";
  if (steps.some((step) => step.op.startsWith("wireless."))) return "wireless";
  if (steps.some((step) => /^channel\.identity_(?:symbol_)?link$/.test(step.op))) return "identity";
  return "unspecified";
}
