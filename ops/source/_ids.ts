/** Lists of sample ids in parameters: separated by commas, white space around them ignored. */
import type { ParameterProblem } from "../api.ts";
import { Suggestions } from "../../lib/contract/nearest.ts";

/** The ids of a comma-separated list; empty pieces are dropped. */
export function parseIds(list: string): string[] {
  return list.split(",").map((id) => id.trim()).filter((id) => id !== "");
}

/** Findings about a list of ids: ids must be unique and, if the known ones are given, among them. */
export function checkIds(list: string, parameter: string, known?: readonly string[]): ParameterProblem[] {
  const ids = parseIds(list), problem = { code: "params_invalid" as const, place: [parameter] };
  const seen = new Set<string>(), suggestions = new Suggestions();
  const repeated = new Set(ids.filter((id) => seen.size === seen.add(id).size));
  const unknown = known === undefined ? [] : ids.filter((id) => !known.includes(id));
  return [
    ...[...repeated].map((id) => ({
      ...problem,
      message: `Cannot use the sample ${id} twice`,
      hint: "Use repeat_count to repeat the whole list",
    })),
    ...unknown.map((id) => ({
      ...problem,
      message: `Cannot find a sample named ${id}`,
      hint: suggestions.for(id, known!) ?? undefined,
    })),
  ];
}

/** The list repeated `count` times; the ids of the second and later repetitions end in `#2`, `#3`, …. */
export function repeatIds<T>(items: readonly T[], count: number, rename: (item: T, suffix: string) => T): T[] {
  return Array.from(
    { length: count },
    (_, round) => items.map((item) => round === 0 ? item : rename(item, `#${round + 1}`)),
  )
    .flat();
}
