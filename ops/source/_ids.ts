/** Lists of sample ids as parameters write them: separated by commas, white space around them ignored. */
import type { ParameterProblem } from "../../lib/contract/operation.ts";
import { didYouMean } from "../../lib/contract/nearest.ts";

/** The ids of a comma-separated list; empty pieces are dropped. */
export function parseIds(list: string): string[] {
  return list.split(",").map((id) => id.trim()).filter((id) => id !== "");
}

/** Findings about a list against the ids that exist. */
export function checkIds(list: string, known: readonly string[], parameter: string): ParameterProblem[] {
  return parseIds(list).filter((id) => !known.includes(id)).map((id) => ({
    code: "params_invalid",
    place: [parameter],
    message: `Cannot find a sample named ${id}`,
    hint: didYouMean(id, known) ?? undefined,
  }));
}

/** The whole list `count` times; the ids of the second and later rounds end in `#2`, `#3`, …. */
export function repeatIds<T>(items: readonly T[], count: number, rename: (item: T, suffix: string) => T): T[] {
  return Array.from(
    { length: count },
    (_, round) => items.map((item) => round === 0 ? item : rename(item, `#${round + 1}`)),
  )
    .flat();
}
