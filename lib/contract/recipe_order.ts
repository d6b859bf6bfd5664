/** The serialised order of the fields of a recipe and of its steps. */
import { isObject, type JsonObject } from "./value.ts";

/** Other fields come first, in the order of the text. */
export const ROOT_ORDER: readonly string[] = [
  "schema_version",
  "name",
  "execution_profile",
  "metadata",
  "steps",
  "description",
  "suite",
  "dataset_capture",
];
export const STEP_ORDER: readonly string[] = ["id", "op", "params", "inputs", "description"];

/** A recipe with its fields in the serialised order; the values are the same. */
export function inOrder(recipe: JsonObject): JsonObject {
  const { steps } = recipe;
  const ordered = sorted(recipe, ROOT_ORDER);
  if (!Array.isArray(steps)) return ordered;
  return { ...ordered, steps: steps.map((step) => isObject(step) ? sorted(step, STEP_ORDER) : step) };
}

const sorted = (fields: JsonObject, order: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(fields).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
