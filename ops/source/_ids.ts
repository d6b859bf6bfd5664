/** Lists of sample ids as parameters write them: separated by commas, white space around them ignored. */
import type { ParameterProblem } from "../../lib/contract/operation.ts";
import { Suggestions } from "../../lib/contract/nearest.ts";

/** The ids of a comma-separated list; empty pieces are dropped. */
export function parseIds(list: string): string[] {
  return list.split(",").map((id) => id.trim()).filter((id) => id !== "");
}

/** Findings about a list of ids: none stands twice and, where it is known which exist, each is one of them. */
export function checkIds(list: string, parameter: string, known?: readonly string[]): ParameterProblem[] {
  const ids = parseIds(list), problem = { code: "params_invalid", place: [parameter] };
  const seen = new Set<string>(), suggestions = new Suggestions();
  const repeated = new Set(ids.filter((id) => seen.size === seen.add(id).size));
  const unknown = known === undefined ? [] : ids.filter((id) => !known.includes(id));
  return [
    ...[...repeated].map((id) => ({
      ...problem,
      message: `Cannot take the sample ${id} twice`,
      hint: "Use repeat_count to repeat the whole list",
    })),
    ...unknown.map((id) => ({
      ...problem,
      message: `Cannot find a sample named ${id}`,
      hint: suggestions.for(id, known!) ?? undefined,
    })),
  ];
}

/** The whole list `count` times; the ids of the second and later rounds end in `#2`, `#3`, …. */
export function repeatIds<T>(items: readonly T[], count: number, rename: (item: T, suffix: string) => T): T[] {
  return Array.from(
    { length: count },
    (_, round) => items.map((item) => round === 0 ? item : rename(item, `#${round + 1}`)),
  )
    .flat();
}
