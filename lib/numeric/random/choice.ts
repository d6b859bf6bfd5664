/** How NumPy's `Generator.choice` turns raw draws into indices; the draws themselves come from the caller. */

/** NumPy's tolerance for the sum of probabilities: the square root of the binary64 epsilon. */
const SUM_TOLERANCE = Math.sqrt(Number.EPSILON);

/**
 * Checks the probabilities of n indices.
 * @returns a copy as binary64
 * @throws RangeError for another number of them, one that is negative or not a number, or a sum other than 1
 */
export function checkedProbabilities(p: ArrayLike<number>, n: number): Float64Array {
  if (p.length !== n) throw new RangeError(`Cannot choose from ${n} values with ${p.length} probabilities`);
  const copy = Float64Array.from(p);
  const bad = copy.findIndex((value) => !(value >= 0));
  if (bad >= 0) throw new RangeError(`Cannot use ${copy[bad]} as a probability`);
  const sum = copy.reduce((total, value) => total + value, 0);
  if (!(Math.abs(sum - 1) <= SUM_TOLERANCE)) throw new RangeError(`Cannot use probabilities that sum to ${sum}`);
  return copy;
}

function cumulative(p: Float64Array): Float64Array {
  let sum = 0;
  const sums = p.map((value) => sum += value);
  return sums.map((value) => value / sum);
}

/** Number of entries of an ascending array that are at most x. */
function countUpTo(sorted: Float64Array, x: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Inverts the distribution function at each uniform value. */
export function weighted(p: Float64Array, uniform: Float64Array): Int32Array<ArrayBuffer> {
  const sums = cumulative(p);
  return Int32Array.from(uniform, (u) => countUpTo(sums, u));
}

/**
 * Weighted picks without repetition: each round draws the number of missing picks; of equal picks in a round the first
 * counts, and earlier picks have probability 0.
 * @throws RangeError when fewer than `size` probabilities are positive
 */
export function weightedDistinct(
  p: Float64Array,
  size: number,
  random: (count: number) => Float64Array,
): Int32Array<ArrayBuffer> {
  const possible = p.reduce((count, value) => count + (value > 0 ? 1 : 0), 0);
  if (possible < size) {
    throw new RangeError(`Cannot choose ${size} distinct values: only ${possible} have a positive probability`);
  }
  const picked = new Set<number>();
  while (picked.size < size) {
    const uniform = random(size - picked.size);
    for (const index of picked) p[index] = 0;
    for (const index of weighted(p, uniform)) picked.add(index);
  }
  return Int32Array.from(picked);
}

/**
 * Uniform picks without repetition: a shuffle of the tail for large samples of large sets, else Floyd's sampling
 * (Bentley and Floyd, "A sample of brilliance", 1987), shuffled.
 * @param draw one integer in 0 … bound for each of `count` bounds first, first + step, …
 */
export function distinct(
  n: number,
  size: number,
  draw: (first: number, step: 1 | -1, count: number) => Uint32Array,
): Int32Array<ArrayBuffer> {
  if (n > 10000 && size > Math.floor(n / 50)) {
    const order = new Int32Array(n);
    for (let i = 0; i < n; i++) order[i] = i;
    swapDown(order, draw(n - 1, -1, n - Math.max(n - size, 1)));
    return order.slice(n - size);
  }
  const picked = new Set<number>();
  draw(n - size, 1, size).forEach((value, i) => picked.add(picked.has(value) ? n - size + i : value));
  const order = Int32Array.from(picked);
  swapDown(order, draw(size - 1, -1, Math.max(0, size - 1)));
  return order;
}

/** Swaps the last element with the place drawn first, the second last with the place drawn second, … */
function swapDown(order: Int32Array, places: Uint32Array): void {
  places.forEach((place, i) => {
    const at = order.length - 1 - i;
    [order[at], order[place]] = [order[place], order[at]];
  });
}
