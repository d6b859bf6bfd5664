/** Differences between two recipes: only changes, with typed numbers, steps matched by id. */
import { type Diagnostic, diagnostic, jsonPath } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { masterOfName } from "./seeds.ts";

export type ChangeKind = "changed" | "added" | "removed" | "moved";

/** A difference. `a` is absent for an addition, `b` for a removal. */
export interface RecipeChange extends JsonObject {
  kind: ChangeKind;
  /** Place in the second recipe; in the first for a removal. */
  path: string;
}

export interface RecipeDiff extends JsonObject {
  schema_version: 1;
  equal: boolean;
  changes: RecipeChange[];
  warnings: Diagnostic[];
}

type Place = (string | number)[];

/**
 * Compares two recipes; key order does not matter, 6 and 6.0 differ.
 * @param a raw, normalised or effective form
 * @param b the same form of the other recipe
 * @returns the smallest differences; for a moved step its old and new index as `a` and `b`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { diffRecipes } from "./diff.ts";
 * import { float } from "../contract/value.ts";
 *
 * const steps = (snr_db: number | ReturnType<typeof float>) => ({ steps: [{ id: "link", params: { snr_db } }] });
 * const { changes } = diffRecipes(steps(6), steps(float(6)));
 * assert.equal(changes[0].path, "$.steps[0].params.snr_db");
 * ```
 */
export function diffRecipes(a: Value, b: Value): RecipeDiff {
  const changes: RecipeChange[] = [];
  compare(a, b, [], changes);
  return { schema_version: 1, equal: changes.length === 0, changes, warnings: renamedSeeds(a, b) };
}

/** The warning of another name that changes all derived seeds. */
function renamedSeeds(a: Value, b: Value): Diagnostic[] {
  if (!isObject(a) || !isObject(b) || sameValue(a.name, b.name)) return [];
  const sources = [a, b].map(({ metadata }) => masterOfName(isObject(metadata) ? metadata : {}));
  if (sources[0] === null || sources[0] !== sources[1]) return [];
  return [
    diagnostic("derived_seeds_renamed", ["name"], "The other name changes all derived seeds, and with them the noise", {
      hint: `Set metadata.seed_namespace to ${a.name} in the second recipe to keep the noise`,
      severity: "warning",
    }),
  ];
}

function compare(a: Value, b: Value, place: Place, changes: RecipeChange[], step?: string): void {
  if (sameValue(a, b)) return;
  const more: JsonObject = step === undefined ? {} : { step_id: step };
  if (isObject(a) && isObject(b)) {
    for (const key of Object.keys(a)) {
      const path = [...place, key];
      if (!Object.hasOwn(b, key)) changes.push({ kind: "removed", path: jsonPath(path), ...more, a: a[key] });
      else if (place.length === 0 && key === "steps") compareSteps(a[key], b[key], changes);
      else compare(a[key], b[key], path, changes, step);
    }
    for (const key of Object.keys(b)) {
      if (Object.hasOwn(a, key)) continue;
      changes.push({ kind: "added", path: jsonPath([...place, key]), ...more, b: b[key] });
    }
  } else changes.push({ kind: "changed", path: jsonPath(place), ...more, a, b });
}

function compareSteps(a: Value, b: Value, changes: RecipeChange[]): void {
  const before = byId(a), after = byId(b);
  if (before === null || after === null) return compare(a, b, ["steps"], changes);
  const common = [...after.keys()].filter((id) => before.has(id));
  const staying = longestRise(common.map((id) => before.get(id)!.index));
  for (const [id, { index, step }] of before) {
    if (!after.has(id)) changes.push({ kind: "removed", path: jsonPath(["steps", index]), step_id: id, a: step });
  }
  for (const [id, { index, step }] of after) {
    const place = ["steps", index], from = before.get(id);
    if (from === undefined) changes.push({ kind: "added", path: jsonPath(place), step_id: id, b: step });
    else {
      if (!staying.has(from.index)) {
        changes.push({ kind: "moved", path: jsonPath(place), step_id: id, a: from.index, b: index });
      }
      compare(from.step, step, place, changes, id);
    }
  }
}

/** Steps by id; null when a step has no unique id. */
function byId(steps: Value): Map<string, { index: number; step: JsonObject }> | null {
  if (!Array.isArray(steps)) return null;
  const known = new Map<string, { index: number; step: JsonObject }>();
  for (const [index, step] of steps.entries()) {
    if (!isObject(step) || typeof step.id !== "string" || known.has(step.id)) return null;
    known.set(step.id, { index, step });
  }
  return known;
}

/** A longest increasing subsequence of distinct numbers: the steps that need not move. */
function longestRise(numbers: readonly number[]): Set<number> {
  const ends: number[] = [], before = new Map<number, number | undefined>();
  for (const number of numbers) {
    let at = ends.findIndex((end) => end > number);
    if (at < 0) at = ends.length;
    before.set(number, ends[at - 1]);
    ends[at] = number;
  }
  const rise = new Set<number>();
  for (let number: number | undefined = ends.at(-1); number !== undefined; number = before.get(number)) {
    rise.add(number);
  }
  return rise;
}
