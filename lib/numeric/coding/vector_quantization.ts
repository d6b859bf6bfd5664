/**
 * Vector quantisation: the nearest codeword of a codebook, and codebooks trained by Lloyd's iteration.
 *
 * Vectors and codewords of D components lie one after another in flat arrays; distances are squared Euclidean in
 * binary64, summed in the order of the components, so that integer vectors below 2^20 are compared exactly.
 *
 * Sources: Linde, Buzo and Gray, An algorithm for vector quantizer design, IEEE Trans. Commun. 28(1), 1980; Arthur and
 * Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007.
 */
import type { Generator } from "../random/random.ts";

type Vectors = Uint8Array | Float64Array;

/** Codewords, or training vectors: `count` rows of `dimension` components. */
export interface VectorTable {
  readonly dimension: number;
  readonly data: Vectors;
}

/** Number of components after which a codeword that is already too far away is skipped. */
const STRIDE = 16;

/**
 * The codeword nearest to a vector; of equally near ones, the first.
 * @param offset start of the vector in `vectors`
 * @returns index of the codeword and its squared distance
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { nearestCodeword } from "./vector_quantization.ts";
 *
 * const codebook = { dimension: 2, data: Uint8Array.of(0, 0, 4, 0, 4, 4) };
 * assert.deepEqual(nearestCodeword(codebook, Uint8Array.of(4, 1)), { index: 1, distance: 1 });
 * // (2, 0) lies between the first two.
 * assert.equal(nearestCodeword(codebook, Uint8Array.of(2, 0)).index, 0);
 * ```
 */
export function nearestCodeword(
  { dimension, data }: VectorTable,
  vectors: Vectors,
  offset = 0,
): { index: number; distance: number } {
  let index = 0, best = Infinity;
  for (let from = 0, word = 0; from < data.length; from += dimension, word++) {
    let distance = 0;
    // A sum of squares only grows: a codeword beyond the best distance cannot win.
    for (let start = 0; start < dimension && distance < best; start += STRIDE) {
      const end = Math.min(start + STRIDE, dimension);
      for (let i = start; i < end; i++) {
        const difference = vectors[offset + i] - data[from + i];
        distance += difference * difference;
      }
    }
    if (distance < best) {
      best = distance;
      index = word;
    }
  }
  return { index, distance: best };
}

/**
 * Trains a codebook: k-means++ seeding, then Lloyd's iteration until no vector changes its cell. An empty cell takes
 * the vector with the largest distance.
 * @param vectors training vectors, at least `size` of them
 * @param size number of codewords
 * @param generator gives random(1) for each codeword of the seeding
 * @param options.iterations upper bound of Lloyd's iterations
 * @returns `size` codewords, unrounded, in no particular order
 * @throws RangeError for fewer vectors than codewords
 */
export function trainCodebook(
  vectors: VectorTable,
  size: number,
  generator: Generator,
  { iterations = 60 }: { iterations?: number } = {},
): VectorTable & { data: Float64Array } {
  const { dimension } = vectors, count = vectors.data.length / dimension;
  if (count < size) throw new RangeError(`Cannot train ${size} codewords with ${count} vectors`);
  const codebook = { dimension, data: seedCodebook(vectors, size, generator) };
  const cells = new Int32Array(count).fill(-1), distances = new Float64Array(count);
  for (let iteration = 0; iteration < iterations; iteration++) {
    let changed = 0;
    for (let v = 0; v < count; v++) {
      const { index, distance } = nearestCodeword(codebook, vectors.data, v * dimension);
      if (cells[v] !== index) changed++;
      cells[v] = index;
      distances[v] = distance;
    }
    if (changed === 0) break;
    moveToCentroids(codebook.data, vectors, cells, distances);
  }
  return codebook;
}

/** The first codeword uniformly, each further one with a probability proportional to its distance from those chosen. */
function seedCodebook(vectors: VectorTable, size: number, generator: Generator): Float64Array {
  const { dimension, data } = vectors, count = data.length / dimension;
  const chosen = new Float64Array(size * dimension);
  const distances = new Float64Array(count).fill(1);
  for (let word = 0; word < size; word++) {
    const total = distances.reduce((sum, distance) => sum + distance, 0);
    let left = generator.random(1)[0] * total, pick = 0;
    while (pick < count - 1 && (left -= distances[pick]) >= 0) pick++;
    chosen.set(data.subarray(pick * dimension, (pick + 1) * dimension), word * dimension);
    const added = { dimension, data: chosen.subarray(word * dimension, (word + 1) * dimension) };
    for (let v = 0; v < count; v++) {
      const { distance } = nearestCodeword(added, data, v * dimension);
      distances[v] = word === 0 ? distance : Math.min(distances[v], distance);
    }
  }
  return chosen;
}

/** Moves each codeword to the mean of its cell. `distances` selects new codewords for empty cells. */
function moveToCentroids(
  codewords: Float64Array,
  { dimension, data }: VectorTable,
  cells: Int32Array,
  distances: Float64Array,
): void {
  const size = codewords.length / dimension;
  const sums = new Float64Array(codewords.length), members = new Int32Array(size);
  for (let v = 0; v < cells.length; v++) {
    members[cells[v]]++;
    const to = cells[v] * dimension, from = v * dimension;
    for (let i = 0; i < dimension; i++) sums[to + i] += data[from + i];
  }
  for (let word = 0; word < size; word++) {
    const at = word * dimension;
    if (members[word] > 0) {
      for (let i = 0; i < dimension; i++) codewords[at + i] = sums[at + i] / members[word];
      continue;
    }
    const worst = distances.indexOf(distances.reduce((most, each) => Math.max(most, each), 0));
    codewords.set(data.subarray(worst * dimension, (worst + 1) * dimension), at);
    distances[worst] = 0;
  }
}
