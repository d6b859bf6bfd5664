/**
 * Index assignment of a vector quantiser: the label, a binary word, that names each codeword on the channel. The distortion of bit
 * errors depends on it, the rate does not. Codewords i = 0 … N - 1, N a power of two, are ordered, here from dark to bright.
 *
 *     natural       label(i) = i
 *     gray          label(i) = i xor ⌊i/2⌋: neighbours in the order differ in one bit
 *     random        the permutation of NumPy's default_rng(1), a mean label without structure
 *     by_distance   local minimum, by exchanges of two labels, of the mean squared distance of codewords whose labels differ in one bit;
 *                   starts at the better one of natural and gray
 *
 * Source: Zeger and Gersho, Pseudo-Gray coding, IEEE Trans. Commun. 38(12), 1990 (binary switching, for equally probable codewords).
 */
import { permutationOf } from "./interleaving.ts";
import type { VectorTable } from "./vector_quantization.ts";

export const INDEX_ASSIGNMENTS = ["natural", "gray", "random", "by_distance"] as const;
export type IndexAssignment = (typeof INDEX_ASSIGNMENTS)[number];

/**
 * The label of each codeword.
 * @throws RangeError for a number of codewords that is no power of two
 */
export function indexAssignment(kind: IndexAssignment, codebook: VectorTable): Int32Array {
  const size = codebook.data.length / codebook.dimension;
  if (!Number.isInteger(Math.log2(size))) throw new RangeError(`Cannot label ${size} codewords by whole binary words`);
  const natural = Int32Array.from({ length: size }, (_, i) => i), gray = natural.map((i) => i ^ (i >> 1));
  if (kind === "natural") return natural;
  if (kind === "gray") return gray;
  if (kind === "random") return permutationOf({ kind: "random", size, seed: 1 });
  const distances = squaredDistances(codebook);
  const start = bitErrorDistortion(distances, gray) < bitErrorDistortion(distances, natural) ? gray : natural;
  return exchanged(distances, start);
}

/** Squared Euclidean distances [N, N] of the codewords. Exported for tests. */
export function squaredDistances({ dimension, data }: VectorTable): Float64Array {
  const size = data.length / dimension, distances = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < i; j++) {
      let sum = 0;
      for (let c = 0; c < dimension; c++) sum += (data[i * dimension + c] - data[j * dimension + c]) ** 2;
      distances[i * size + j] = distances[j * size + i] = sum;
    }
  }
  return distances;
}

/** Mean squared distance from a codeword to that of a label with one bit error, over codewords and bits. Exported for tests. */
export function bitErrorDistortion(distances: Float64Array, labels: Int32Array): number {
  const size = labels.length, words = inverseAssignment(labels), bits = Math.log2(size);
  let sum = 0;
  for (let word = 0; word < size; word++) sum += costOf(distances, words, word, labels[word]);
  return sum / (size * bits);
}

/** The codeword of each label. */
export function inverseAssignment(labels: Int32Array): Int32Array {
  const words = new Int32Array(labels.length);
  labels.forEach((label, word) => words[label] = word);
  return words;
}

/** Sum of the distances from a codeword to those at labels that differ from `label` in one bit. */
function costOf(distances: Float64Array, words: Int32Array, word: number, label: number): number {
  let sum = 0;
  for (let bit = 1; bit < words.length; bit <<= 1) sum += distances[word * words.length + words[label ^ bit]];
  return sum;
}

/** Least decrease of an exchange, above the rounding of sums of squares of 8-bit samples. */
const THRESHOLD = 1e-3;

/** Exchanges two labels while the best exchange of some codeword lowers the distortion. */
function exchanged(distances: Float64Array, start: Int32Array): Int32Array {
  const labels = Int32Array.from(start), words = inverseAssignment(labels), size = labels.length;
  /** Change of the sum over pairs: labels that differ in one bit keep their distance to each other. */
  const change = (one: number, other: number) => {
    const a = labels[one],
      b = labels[other],
      before = costOf(distances, words, one, a) + costOf(distances, words, other, b);
    words[a] = other;
    words[b] = one;
    const after = costOf(distances, words, one, b) + costOf(distances, words, other, a);
    words[a] = one;
    words[b] = other;
    return after - before;
  };
  for (let improved = true; improved;) {
    improved = false;
    for (let one = 0; one < size; one++) {
      let best = -1, least = -THRESHOLD;
      for (let other = 0; other < size; other++) {
        const own = other === one ? 0 : change(one, other);
        if (own < least) [best, least] = [other, own];
      }
      if (best < 0) continue;
      const a = labels[one], b = labels[best];
      [labels[one], labels[best]] = [b, a];
      words[b] = one;
      words[a] = best;
      improved = true;
    }
  }
  return labels;
}
