/** "Did you mean": the nearest known name by edit distance with transpositions, or by prefix. */

/** Optimal string alignment distance over code units. */
export function editDistance(a: string, b: string): number {
  const width = b.length + 1;
  let beforeLast = new Uint32Array(width);
  let last = Uint32Array.from({ length: width }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = new Uint32Array(width);
    row[0] = i;
    for (let j = 1; j < width; j++) {
      const substitution = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
      }
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length];
}

/** Limits of compared characters and names. */
const MAX_LENGTH = 64, MAX_NAMES = 1000;

const partsOf = (name: string): string[] => name.match(/[a-z]+|\d+/g) ?? [];

/** 1 for the same words and numbers, a little more for each that the candidate adds, Infinity where it lacks one. */
function partsMissing(wanted: string, candidate: string): number {
  const parts = partsOf(wanted), all = partsOf(candidate);
  return parts.length > 0 && parts.every((part) => all.includes(part)) ? 1 + (all.length - parts.length) / 8 : Infinity;
}

/** The known name nearest to an unknown one, or null. */
export function nearestName(wanted: string, known: Iterable<string>): string | null {
  const lower = wanted.toLowerCase().slice(0, MAX_LENGTH);
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(lower.length / 3)) + 1;
  for (const name of Iterator.from(known).take(MAX_NAMES)) {
    const candidate = name.toLowerCase();
    // The difference of lengths is a lower bound of the distance.
    let distance = Math.abs(lower.length - candidate.length);
    if (distance < bestDistance) distance = editDistance(lower, candidate);
    if (lower.length >= 3 && candidate.startsWith(lower)) distance = Math.min(distance, 1);
    // The last part of a dotted id also matches.
    else if (lower.length >= 3 && candidate.endsWith("." + lower)) distance = Math.min(distance, 1);
    // The parts in another order, or some of them: 64qam of qam64, rayleigh of flat_rayleigh.
    else if (lower.length >= 3) distance = Math.min(distance, partsMissing(lower, candidate));
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** A hint for an unknown name: the nearest name, or the whole list if it is short. */
export function didYouMean(wanted: string, known: Iterable<string>): string | null {
  const names = [...known];
  const near = nearestName(wanted, names);
  if (near !== null) return `Did you mean ${near}?`;
  return names.length > 0 && names.length <= 12 ? `Known: ${names.join(", ")}` : null;
}

/** Hints for the unknown names of one document. Only the first 20 are computed, which bounds their time. */
export class Suggestions {
  /** Cache, since compiler and planner request the same hints: unknown name, then known names, to the hint. */
  readonly #computed = new Map<string, Map<string, string | null>>();
  #left: number;

  constructor(limit = 20) {
    this.#left = limit;
  }

  /** As {@link didYouMean}; null once the limit is reached. */
  for(wanted: string, known: Iterable<string>): string | null {
    const before = this.#computed.get(wanted);
    if (before === undefined && this.#left <= 0) return null;
    const names = [...known], key = names.join("\n");
    const hint = before?.get(key);
    if (hint !== undefined || this.#left-- <= 0) return hint ?? null;
    const computed = didYouMean(wanted, names);
    if (before === undefined) this.#computed.set(wanted, new Map([[key, computed]]));
    else before.set(key, computed);
    return computed;
  }
}
