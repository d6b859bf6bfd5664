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

/** The known name a person most likely meant, or null when none is near. */
export function nearestName(wanted: string, known: Iterable<string>): string | null {
  const lower = wanted.toLowerCase().slice(0, 200);
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(lower.length / 3)) + 1;
  for (const name of known) {
    const candidate = name.toLowerCase();
    let distance = editDistance(lower, candidate);
    if (lower.length >= 3 && candidate.startsWith(lower)) distance = Math.min(distance, 1);
    // The last part of a dotted id is often all that is remembered.
    else if (lower.length >= 3 && candidate.endsWith("." + lower)) distance = Math.min(distance, 1);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** A hint sentence for an unknown name: the nearest one, or the whole list while it is short. */
export function didYouMean(wanted: string, known: Iterable<string>): string | null {
  const names = [...known];
  const near = nearestName(wanted, names);
  if (near !== null) return `Did you mean ${near}?`;
  return names.length > 0 && names.length <= 12 ? `Known: ${names.join(", ")}` : null;
}
