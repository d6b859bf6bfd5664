/**
 * What a recipe says about its research: data set, task, metrics and benchmark. Explicit specs in `metadata.research`
 * come first, then the older metadata keys, then what the operations tell.
 */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { inferTask } from "./tasks.ts";

/** Keys of `metadata.research`, with the older metadata key that is read in its place. */
const LEGACY: Readonly<Record<string, string>> = {
  dataset: "dataset_spec",
  task: "task_spec",
  benchmark: "benchmark_spec",
  metrics: "metric_specs",
};

interface Declared {
  dataset: Value;
  task: Value;
  metrics: Value[];
  benchmark: Value;
  /** The id that `metadata.task_id` gives. */
  taskId: string | null;
  explicit: boolean;
}

function declared(recipe: RecipeDocument): Declared {
  const { metadata } = recipe;
  const research = isObject(metadata.research) ? metadata.research : {};
  const read = (key: string): Value => research[key] ?? metadata[LEGACY[key]] ?? null;
  const metrics = read("metrics");
  return {
    dataset: read("dataset"),
    task: read("task"),
    metrics: Array.isArray(metrics) ? metrics : [],
    benchmark: read("benchmark"),
    taskId: typeof metadata.task_id === "string" && metadata.task_id !== "" ? metadata.task_id : null,
    explicit: Object.keys(LEGACY).some((key) => read(key) !== null),
  };
}

const idOf = (spec: Value): string | null => isObject(spec) && typeof spec.id === "string" ? spec.id : null;

/** The task id that a recipe declares, or null. */
export function declaredTask(recipe: RecipeDocument): string | null {
  const { task, taskId } = declared(recipe);
  return idOf(task) ?? (typeof task === "string" && task !== "" ? task : null) ?? taskId;
}

/**
 * The research specs of a recipe in normal form, as `recipe specs` prints them and manifests keep them.
 *
 * @param recipe effective recipe
 */
export function recipeSpecs(recipe: RecipeDocument): JsonObject {
  const found = declared(recipe);
  const inferred = inferTask(recipe.steps.map((step) => step.op));
  const task = declaredTask(recipe) ?? inferred;
  const dataset = isObject(found.dataset) ? found.dataset : inferDataset(recipe);
  const metrics = found.metrics.map((
    metric,
  ): Value => (typeof metric === "string" ? { schema_version: 1, id: metric } : metric));
  const inferredPart = (!isObject(found.dataset) && dataset !== null) ||
    (found.task === null && found.taskId === null && task !== null);
  const parts = [
    ...(found.explicit ? ["recipe.metadata.research"] : []),
    ...(found.taskId !== null ? ["metadata.task_id"] : []),
    ...(inferredPart ? ["inferred_from_recipe"] : []),
  ];
  return {
    schema_version: 1,
    source: parts.length > 1 ? "combined" : parts[0] ?? "inferred_from_recipe",
    dataset,
    task: isObject(found.task) ? { schema_version: 1, ...found.task } : task === null ? null : {
      schema_version: 1,
      id: task,
      metrics: [],
      params: {},
    },
    metrics,
    benchmark: isObject(found.benchmark) ? { schema_version: 1, ...found.benchmark } : {
      schema_version: 1,
      id: recipe.name,
      version: 1,
      metrics: metrics.map((metric) => idOf(metric)).filter((id) => id !== null),
      baselines: [],
      params: {},
      channel: { mode: channelMode(recipe) },
    },
    catalog_validation: { errors: [], warnings: [] },
  };
}

/** The data set behind sources that do not name one. */
const GENERATED: Readonly<Record<string, string>> = { "source.random_bits": "synthetic_random_bits" };
const MODALITIES: readonly [RegExp, string][] = [[/bit/, "bits"], [/image|kodak/, "image"], [/text/, "text"]];

/** The data set of the first source: the one it names, or the one it generates. */
function inferDataset(recipe: RecipeDocument): JsonObject | null {
  const source = recipe.steps.find((step) => step.op.startsWith("source."));
  if (source === undefined) return null;
  const { dataset, split } = source.params;
  return {
    schema_version: 1,
    id: typeof dataset === "string" && dataset !== ""
      ? dataset
      : GENERATED[source.op] ?? source.op.slice("source.".length),
    modality: MODALITIES.find(([pattern]) => pattern.test(source.op))?.[1] ?? "generic",
    params: {},
    source: source.op,
    ...(typeof split === "string" && split !== "" ? { split } : {}),
  };
}

/** Where the payload travels: `disabled`, `wireless`, `identity` or `unspecified`, unless metadata says. */
export function channelMode(recipe: RecipeDocument): string {
  const { channel_mode: mode, channel_enabled: enabled } = recipe.metadata;
  if (typeof mode === "string" && mode !== "") return mode;
  if (enabled === false) return "disabled";
  if (recipe.steps.some((step) => step.op.startsWith("wireless."))) return "wireless";
  if (recipe.steps.some((step) => /^channel\.identity_(?:symbol_)?link$/.test(step.op))) return "identity";
  return "unspecified";
}

const OBJECTS = ["dataset", "task", "benchmark"];

/**
 * Checks the research metadata: shapes, that `metadata.task_id` says the same as the research task, and that the task
 * declared is the one the operations are scored on. An inferred bit transport yields to any declaration, for bits are
 * counted in every digital link.
 *
 * @param recipe normalised or effective recipe
 */
export function checkResearch(recipe: RecipeDocument): Diagnostic[] {
  const { metadata } = recipe;
  const problems: Diagnostic[] = [];
  const invalid = (place: Place, message: string, hint: string) =>
    problems.push(diagnostic("research_invalid", ["metadata", ...place], message, { hint }));
  if (metadata.task_id !== undefined && metadata.task_id !== null && typeof metadata.task_id !== "string") {
    invalid(["task_id"], "Cannot read the task id", "Give the id of a task as a text");
  }
  const { research } = metadata;
  if (research !== undefined && research !== null && !isObject(research)) {
    invalid(
      ["research"],
      "Cannot read the research metadata",
      "Write an object with dataset, task, metrics or benchmark",
    );
  } else if (isObject(research)) {
    for (const key of OBJECTS) if (research[key] !== undefined) checkSpec(research[key], ["research", key], invalid);
    const { metrics } = research;
    if (metrics !== undefined && metrics !== null && !Array.isArray(metrics)) {
      invalid(["research", "metrics"], "Cannot read the metrics", "Write a list of metric ids or specs");
    } else if (Array.isArray(metrics)) {
      metrics.forEach((metric, index) => {
        if (typeof metric !== "string" || metric === "") checkSpec(metric, ["research", "metrics", index], invalid);
      });
    }
  }
  return problems.length > 0 ? problems : checkTask(recipe);
}

function checkSpec(spec: Value, place: Place, invalid: (place: Place, message: string, hint: string) => void): void {
  const name = String(place.at(-1));
  if (spec === null) return;
  if (!isObject(spec)) invalid(place, `Cannot read the research spec ${name}`, "Write an object with an id");
  else if (typeof spec.id !== "string" || spec.id.trim() === "") {
    invalid([...place, "id"], `Cannot read the id of the research spec ${name}`, "Give it a non-empty text");
  }
}

function checkTask(recipe: RecipeDocument): Diagnostic[] {
  const { task, taskId } = declared(recipe);
  const written = idOf(task);
  if (written !== null && taskId !== null && written !== taskId) {
    return [diagnostic(
      "task_mismatch",
      ["metadata", "task_id"],
      `Cannot have the task ${taskId} beside the research task ${written}`,
      { hint: "Leave out metadata.task_id, or give both the same id" },
    )];
  }
  const wanted = written ?? taskId;
  const inferred = inferTask(recipe.steps.map((step) => step.op));
  if (wanted === null || inferred === null || inferred === "bit_transport" || inferred === wanted) return [];
  return [diagnostic(
    "task_mismatch",
    written !== null && isObject(recipe.metadata.research)
      ? ["metadata", "research", "task", "id"]
      : ["metadata", "task_id"],
    `Cannot declare the task ${wanted}: the operations are scored on ${inferred}`,
    { hint: `Declare ${inferred}, or replace the operation that scores it` },
  )];
}
