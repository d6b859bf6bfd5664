/**
 * Seeds of a benchmark. Replicate r takes `master_seeds[r]`, else SHA-256 of `<pack id>|<pack version>|<base
 * seed>|replicate|<r>`; compared methods share a paired seed, SHA-256 of the canonical JSON of their common identity. In
 * replicates after the first an authored seed s becomes SHA-256 of `<s>|replicate|<r>`: replicates differ, and equal seeds
 * of two methods stay equal. So does the name of a stream of fading, which seeds it. A digest is read as one big-endian integer, modulo 2^31 - 1.
 */
import { sha256Hex, sha256Json } from "../../contract/hash.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import type { PackReplication } from "./pack.ts";

const MODULUS = 2147483647n;
const reduce = (digest: string) => Number(BigInt(`0x${digest}`) % MODULUS);

/**
 * The master seed of a replicate.
 * @param replicate from 0
 */
export function replicateSeed(
  { id, version }: { id: string; version: string },
  { base_seed, master_seeds }: Pick<PackReplication, "base_seed" | "master_seeds">,
  replicate: number,
): number | bigint {
  const given = master_seeds?.[replicate];
  return given ?? reduce(sha256Hex(`${id}|${version}|${base_seed}|replicate|${replicate}`));
}

/** The seed that replaces an authored one. @param replicate from 1 */
export const releasedSeed = (authored: number | bigint, replicate: number): number =>
  reduce(sha256Hex(`${authored}|replicate|${replicate}`));

const STREAM_LETTERS = 32;

/** Gives the streams of fading that a recipe names another realisation in each replicate. @param replicate from 1 */
export function releaseStreams({ steps }: RecipeDocument, replicate: number): void {
  for (const { params } of steps) {
    const { time_variation, stream } = params;
    if (time_variation !== "doppler" || typeof stream !== "string") continue;
    params.stream = sha256Hex(`${stream}|replicate|${replicate}`).slice(0, STREAM_LETTERS);
  }
}

/** Common identity of the methods of a cell with the same noise. */
export interface Pairing {
  benchmark_id: string;
  benchmark_version: string;
  aggregation_cell_id: string;
  pairing_id: string;
  /** Omitted without replicates. */
  replicate?: number;
}

/** The seed of the paired operations in every method of a cell; never 0. */
export function pairedSeed(pairing: Pairing): number {
  return reduce(sha256Json({ ...pairing })) || 1;
}
