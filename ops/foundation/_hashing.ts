/**
 * The hashing trick: a vector of weighted features in a fixed number of dimensions, without a dictionary.
 *
 *     v[h(f)] += s(f)·w(f)     h and s from SHA-256 of `<space>|<feature>`: first 4 bytes mod dimensions, parity of the 5th
 *
 * and v is scaled to length 1. In expectation over the hashes an inner product is that of the features themselves.
 * Source: Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.
 */
import { sha256Hex } from "../api.ts";

/**
 * @param features weights by feature
 * @param space name that separates the hashes of different vocabularies
 * @returns length 1, or all zeros without features
 */
export function hashFeatures(features: ReadonlyMap<string, number>, dimensions: number, space: string): Float64Array {
  const vector = new Float64Array(dimensions);
  for (const [feature, weight] of features) {
    const digest = sha256Hex(`${space}|${feature}`);
    const sign = Number.parseInt(digest.slice(8, 10), 16) % 2 === 0 ? 1 : -1;
    vector[Number.parseInt(digest.slice(0, 8), 16) % dimensions] += sign * weight;
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
