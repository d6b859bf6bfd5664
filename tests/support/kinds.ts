/**
 * Few recipes that together have every operation of many. The planner checks connections, and plans every recipe; tests/ops runs each
 * choice of a parameter. A greedy set cover: the recipe with the most kinds that are missing comes next.
 */

/** The kinds of the steps of a recipe. */
export const kindsOf = (steps: readonly { op: string }[]): Set<string> => new Set(steps.map(({ op }) => op));

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
