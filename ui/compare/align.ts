/** Recipes name their steps freely: steps with one part in the link get one name, so that their parameters are compared. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import type { ComparedRun } from "./table.ts";

export interface Aligned {
  runs: readonly ComparedRun[];
  /** Steps that are shown by the name of a step of another recipe: `chan of fading as channel`. */
  renamed: string[];
}

/** Operations with one part in a link: all channel encoders, all demodulators. */
const FAMILY =
  /^(channel|model|modulation|demodulation|wireless)\.(?:.*_)?((?:en|de)coder?|(?:de)?modulate|(?:de)?interleaver|estimator|allocator|channel)$/;

const familyOf = (op: string): string => FAMILY.exec(op)?.slice(1).join(".") ?? "";

/**
 * Names steps alike that are the only ones with their operation, or else of its family, beside steps of equal names.
 *
 * @returns runs whose parameters, metrics and artifacts have the step names of the first recipe that has such a step
 */
export function alignSteps(runs: readonly ComparedRun[]): Aligned {
  const known = new Map<string, string>(), namesOf = new Map<string, ReadonlyMap<string, string>>();
  const renamed = new Set<string>();
  const aligned = runs.map((run) => {
    const steps = stepsOf(run.recipe), key = JSON.stringify(steps);
    if (!namesOf.has(key)) {
      namesOf.set(key, matched(steps, known));
      for (const [id, op] of steps) known.set(namesOf.get(key)!.get(id) ?? id, op);
    }
    const names = namesOf.get(key)!;
    if (names.size === 0) return run;
    for (const [id, name] of names) renamed.add(`${id} of ${run.name.split("__")[0]} as ${name}`);
    const rename = <T>(values: ReadonlyMap<string, T>, mark: "." | ":"): ReadonlyMap<string, T> =>
      new Map([...values].map(([name, value]) => {
        const end = name.indexOf(mark), id = name.slice(0, Math.max(end, 0));
        return [names.has(id) ? names.get(id)! + name.slice(end) : name, value];
      }));
    return {
      ...run,
      parameters: rename(run.parameters, "."),
      metrics: rename(run.metrics, ":"),
      rates: rename(run.rates, ":"),
      pooled: rename(run.pooled, ":"),
      artifacts: rename(run.artifacts, "."),
    };
  });
  return { runs: aligned, renamed: [...renamed] };
}

const stepsOf = ({ steps }: JsonObject): [id: string, op: string][] =>
  Array.isArray(steps) ? steps.filter(isObject).map(({ id, op }) => [String(id), String(op)]) : [];

/** New names of steps, by their own. */
function matched(steps: [string, string][], known: ReadonlyMap<string, string>): Map<string, string> {
  const names = new Map<string, string>(), own = new Map(steps);
  for (const kindOf of [(op: string) => op, familyOf]) {
    const left = steps.filter(([id]) => !known.has(id) && !names.has(id));
    const free = [...known].filter(([id]) => !own.has(id) && ![...names.values()].includes(id));
    for (const [id, op] of left) {
      const kind = kindOf(op), [mine, theirs] = [left, free].map((all) => all.filter(([, op]) => kindOf(op) === kind));
      if (kind !== "" && mine.length === 1 && theirs.length === 1) names.set(id, theirs[0][0]);
    }
  }
  return names;
}
