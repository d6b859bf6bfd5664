/** Completions at a place of a recipe's text: operations, parameters, enumerated values. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { jsonParts, pointerAt } from "./json_ranges.ts";

export interface Known {
  id: string;
  name: string;
  params_schema: JsonObject;
}

export interface Offer {
  label: string;
  detail: string;
}

/**
 * The completions for a place in a text.
 *
 * @param operations by id
 * @returns texts in JSON notation
 */
export function offersAt(text: string, offset: number, operations: ReadonlyMap<string, Known>): Offer[] {
  const pointer = pointerAt(text, offset);
  const [, root, index, field, param] = pointer.split("/");
  if (root !== "steps" || index === undefined) return [];
  if (field === "op") {
    return [...operations.values()].map(({ id, name }) => ({ label: JSON.stringify(id), detail: name }));
  }
  if (field !== "params") return [];
  const op = jsonParts(text).parts.get(`/steps/${index}/op`);
  const known = op === undefined ? undefined : operations.get(text.slice(op.from + 1, op.to - 1));
  const properties = known?.params_schema.properties;
  if (!isObject(properties)) return [];
  const part = jsonParts(text).parts.get(pointer);
  const schema = param === undefined ? undefined : properties[param];
  if (isObject(schema) && part !== undefined && offset >= part.from) {
    const values = Array.isArray(schema.enum) ? schema.enum : schema.type === "boolean" ? [true, false] : [];
    return values.map((value) => ({ label: JSON.stringify(value), detail: String(param) }));
  }
  return Object.entries(properties).map(([name, one]) => ({
    label: JSON.stringify(name),
    detail: String((one as JsonObject).description ?? (one as JsonObject).type ?? ""),
  }));
}
