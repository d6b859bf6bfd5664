/** The part of a recipe that its results depend on, and the changes of a recipe in words. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";

/**
 * The part of a recipe that its results depend on, as a canonical text. A description changes no result, and the values of a
 * dimension only select which variants exist.
 */
export function resultForm({ description: _, metadata = {}, ...rest }: JsonObject): string {
  if (!isObject(metadata) || !isObject(metadata.matrix)) return canonicalJson({ ...rest, metadata });
  const { dimensions, ...matrix } = metadata.matrix;
  const names = isObject(dimensions) ? Object.keys(dimensions).sort() : null;
  return canonicalJson({ ...rest, metadata: { ...metadata, matrix: { ...matrix, dimensions: names } } });
}

const LONGEST = 200;

/** A value in one line; a very long text is cut. */
export function changeText(value: Value): string {
  const text = canonicalJson(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** The first change in words, and the number of the others. */
export function changesText(changes: readonly JsonObject[]): string {
  const [first, ...others] = changes;
  if (first === undefined) return "";
  const { kind, path, step_id, a } = first;
  const place = String(path).replace(/^\$\.?/, "");
  const name = step_id === undefined
    ? place
    : [step_id, place.replace(/^steps\[\d+\]\.?(params\.)?/, "")].filter(Boolean);
  const before = kind === "added" ? "not present" : kind === "moved" ? "in another place" : changeText(a as Value);
  const more = others.length === 0 ? "" : `, and ${others.length} more ${others.length === 1 ? "change" : "changes"}`;
  return `: ${typeof name === "string" ? name : name.join(".")} was ${before}${more}`;
}
