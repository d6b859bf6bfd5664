/**
 * Few recipes that together have every kind of step of many: each operation, each choice of its parameters (a word or a switch), and
 * each connection of two operations. A greedy set cover: the recipe with the most kinds that are missing comes next.
 */
import type { JsonObject } from "../../lib/contract/value.ts";

interface Step {
  id: string;
  op: string;
  params?: JsonObject;
  inputs?: JsonObject;
}

/** Words that name files, items and digests, and no choice. */
const NAMES = /_ids|_path|_sha256|dataset|label|split/;

export function kindsOf(steps: readonly Step[]): Set<string> {
  const ops = new Map(steps.map(({ id, op }) => [id, op]));
  return new Set(steps.flatMap(({ op, params, inputs }) => [
    op,
    ...Object.entries(params ?? {}).filter(([name, value]) =>
      typeof value === "boolean" || typeof value === "string" && !NAMES.test(name)
    ).map(([name, value]) => `${op} ${name}=${value}`),
    ...Object.entries(inputs ?? {}).map(([port, from]) => `${ops.get(String(from).split(".")[0])} to ${op}.${port}`),
  ]));
}

/**
 * The chosen of many, by name.
 * @param elsewhere kinds that need none of them
 */
export function coverOf(
  kinds: ReadonlyMap<string, ReadonlySet<string>>,
  elsewhere: ReadonlySet<string> = new Set(),
): Set<string> {
  const chosen = new Set<string>(), covered = new Set(elsewhere);
  for (;;) {
    const gains = [...kinds].map(([name, own]) => ({ name, own, gain: new Set(own).difference(covered).size }));
    const best = gains.reduce((a, b) => b.gain > a.gain ? b : a, { name: "", own: new Set<string>(), gain: 0 });
    if (best.gain === 0) return chosen;
    chosen.add(best.name);
    for (const kind of best.own) covered.add(kind);
  }
}
