/** Research declarations in the metadata of a recipe and their places: `metadata.research`, else the older keys. */
import type { Place } from "../contract/error.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";

/** Keys of `metadata.research`, with their older metadata keys. */
const LEGACY = {
  dataset: "dataset_spec",
  task: "task_spec",
  benchmark: "benchmark_spec",
  metrics: "metric_specs",
} as const;

export type ResearchKey = keyof typeof LEGACY;
const RESEARCH_KEYS = Object.keys(LEGACY) as ResearchKey[];

export interface Declaration {
  /** null without a declaration. */
  value: Value;
  place: Place;
}

export function declaration({ metadata }: RecipeDocument, key: ResearchKey): Declaration {
  const research = isObject(metadata.research) ? metadata.research : {};
  const legacy = metadata[LEGACY[key]] ?? null;
  if ((research[key] ?? null) === null && legacy !== null) return { value: legacy, place: ["metadata", LEGACY[key]] };
  return { value: research[key] ?? null, place: ["metadata", "research", key] };
}

/** Whether a recipe has its own research specs. */
export function hasSpecs(recipe: RecipeDocument): boolean {
  return RESEARCH_KEYS.some((key) => declaration(recipe, key).value !== null);
}

/** A spec without its null fields, or null. */
export function declaredSpec(recipe: RecipeDocument, key: Exclude<ResearchKey, "metrics">): JsonObject | null {
  const { value } = declaration(recipe, key);
  return idOf(value) === null ? null : withoutNulls(value as JsonObject);
}

/** The declared metrics, plain ids as specs, without unreadable entries. */
export function declaredMetrics(recipe: RecipeDocument): (JsonObject & { id: string })[] {
  return metricList(declaration(recipe, "metrics").value).map(({ spec }) => spec);
}

/** The entries of a list of metrics, plain ids as specs, with their place in the list. */
export function metricList(value: Value | undefined): { spec: JsonObject & { id: string }; place: Place }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry, index) => {
    if (typeof entry === "string" && entry !== "") return [{ spec: { id: entry }, place: [index] }];
    const id = idOf(entry);
    return id === null ? [] : [{ spec: { ...withoutNulls(entry as JsonObject), id }, place: [index, "id"] }];
  });
}

/** The declared task and its place, or null. */
export function declaredTaskAt(recipe: RecipeDocument): { id: string; place: Place } | null {
  const { value, place } = declaration(recipe, "task");
  const id = idOf(value);
  if (id !== null) return { id, place: [...place, "id"] };
  if (typeof value === "string" && value !== "") return { id: value, place };
  const alias = taskAlias(recipe);
  return alias === null ? null : { id: alias, place: ["metadata", "task_id"] };
}

/** The id in `metadata.task_id`, or null. */
export function taskAlias({ metadata: { task_id } }: RecipeDocument): string | null {
  return typeof task_id === "string" && task_id !== "" ? task_id : null;
}

export function idOf(spec: Value | undefined): string | null {
  return isObject(spec) && typeof spec.id === "string" && spec.id.trim() !== "" ? spec.id : null;
}

function withoutNulls(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
}
