/** Checks the research metadata of a recipe for plan errors: shapes, and a task that contradicts the graph. */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { isInteger, isObject, type Value } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { DIRECTIONS, REDUCTIONS } from "./catalog_types.ts";
import { declaration, declaredTaskAt, idOf, taskAlias } from "./declared.ts";
import { inferTask, suitsOperations } from "./tasks.ts";

/** A predicate for a field, and its description. */
type Shape = readonly [(value: Value) => boolean, string];

const isText = (value: Value) => typeof value === "string" && value.trim() !== "";
const text: Shape = [isText, "a text"];
const object: Shape = [isObject, "an object"];
const list: Shape = [Array.isArray, "a list"];
const version: Shape = [(value) => isText(value) || isInteger(value), "a text or an integer"];
const textOrObject: Shape = [(value) => isText(value) || isObject(value), "a text or an object"];
const oneOf = (names: readonly string[]): Shape => [(value) => names.includes(value as string), names.join(", ")];

const COMMON = { schema_version: [(value: Value) => value === 1, "the integer 1"] as Shape, params: object };
const SHAPES: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  dataset: { ...COMMON, modality: text, version, split: textOrObject, source: text },
  task: { ...COMMON, kind: text, modality: text, target: text },
  metric: { ...COMMON, direction: oneOf(DIRECTIONS), reduction: oneOf(REDUCTIONS), family: text, unit: text },
  benchmark: { ...COMMON, version, baselines: list, dataset: textOrObject, task: textOrObject, channel: object },
};

/**
 * Checks the research metadata: shapes, that `metadata.task_id` equals the research task, and that the declared task is
 * the one of the operations.
 * @param recipe normalised or effective recipe
 * @returns `research_invalid` for every shape, else `task_mismatch`
 */
export function checkResearch(recipe: RecipeDocument): Diagnostic[] {
  const { research, task_id } = recipe.metadata;
  const problems: Diagnostic[] = [];
  const invalid: Report = (place, message, hint) =>
    problems.push(diagnostic("research_invalid", place, message, { hint }));
  if (task_id !== undefined && task_id !== null && typeof task_id !== "string") {
    invalid(["metadata", "task_id"], "Cannot read the task id", "Write the id of a task as a text");
  }
  if (research !== undefined && research !== null && !isObject(research)) {
    invalid(
      ["metadata", "research"],
      "Cannot read the research metadata",
      "Write an object with dataset, task, metrics or benchmark",
    );
  }
  for (const key of ["dataset", "task", "benchmark"] as const) {
    const { value, place } = declaration(recipe, key);
    if (value !== null) checkSpec(value, key, place, invalid);
  }
  const metrics = declaration(recipe, "metrics");
  checkMetrics(metrics.value, metrics.place, invalid);
  return problems.length > 0 ? problems : checkTask(recipe);
}

type Report = (place: Place, message: string, hint: string) => void;

function checkSpec(spec: Value, name: string, place: Place, invalid: Report): void {
  if (!isObject(spec)) return invalid(place, `Cannot read the research spec ${name}`, "Write an object with an id");
  if (idOf(spec) === null) {
    invalid([...place, "id"], `Cannot read the id of the research spec ${name}`, "Write a non-empty text");
  }
  for (const [member, [holds, wanted]] of Object.entries(SHAPES[name])) {
    const value = spec[member] ?? null;
    if (value === null || holds(value)) continue;
    invalid([...place, member], `Cannot read the ${member} of the research spec ${name}`, `Write ${wanted}`);
  }
  if (name === "task" || name === "benchmark") checkMetrics(spec.metrics ?? null, [...place, "metrics"], invalid);
}

function checkMetrics(metrics: Value, place: Place, invalid: Report): void {
  if (metrics === null) return;
  if (!Array.isArray(metrics)) {
    return invalid(place, "Cannot read the metrics", "Write a list of metric ids or specs");
  }
  metrics.forEach((metric, index) => {
    if (!isText(metric)) checkSpec(metric, "metric", [...place, index], invalid);
  });
}

function checkTask(recipe: RecipeDocument): Diagnostic[] {
  const declared = declaredTaskAt(recipe);
  if (declared === null) return [];
  const alias = taskAlias(recipe);
  if (alias !== null && alias !== declared.id) {
    return [diagnostic(
      "task_mismatch",
      ["metadata", "task_id"],
      `Cannot declare the task ${alias} besides the research task ${declared.id}`,
      { hint: "Remove metadata.task_id, or set both to the same id" },
    )];
  }
  const operations = recipe.steps.map((step) => step.op);
  if (suitsOperations(declared.id, operations)) return [];
  const inferred = inferTask(operations);
  return [diagnostic(
    "task_mismatch",
    declared.place,
    `Cannot declare the task ${declared.id}: the operations are scored as ${inferred}`,
    { hint: `Declare ${inferred}, or replace the operation that scores it` },
  )];
}
