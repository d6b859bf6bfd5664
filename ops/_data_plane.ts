/**
 * The kernels that operations choose by `data_plane_backend`: one table for each value. Both give the same results, to
 * the bit. The native extension is loaded on first use.
 */
import { areBits } from "../lib/artifact/boundary.ts";
import { messageOf, type OutputArtifact, SvcError } from "./api.ts";
import { nodeZlib } from "../lib/contract/node_builtins.ts";
import { differingBits, failedBlocks } from "../lib/numeric/coding/bit_errors.ts";
import { bitsIndex, indexBits, packBits, unpackBits } from "../lib/numeric/array/bit_packing.ts";
import { demodulateIdentity, hardBits, type LlrMethod, mapToPoints } from "../lib/numeric/link/modulation.ts";
import type { Modulation } from "../lib/numeric/link/modulations.ts";
import { addComplexNormalParallel, integersParallel } from "../lib/numeric/parallel/draws.ts";
import { demodulateLlrParallel, modulateParallel } from "../lib/numeric/parallel/modulation.ts";
import type { ParallelOptions } from "../lib/numeric/parallel/shared.ts";
import type { Generator } from "../lib/numeric/random/random.ts";
import { majorityBits, repeatBits } from "../lib/numeric/coding/repetition.ts";

type Bits = Uint8Array;
type DemapOptions = ParallelOptions & { method?: LlrMethod };

/** Kernels; without a comment they are those of the same name in lib/numeric. */
export interface DataPlane {
  readonly name: "python_numpy" | "cpp_native";
  readonly areBits: (bits: Bits) => boolean;
  repeatBits(bits: Bits, factor: number): Bits;
  majorityBits(copies: Bits, factor: number): Bits;
  packBits(bits: Bits): Bits;
  unpackBits(bytes: Bits): Bits;
  /** CRC-32 of zlib, PNG and IEEE 802.3. */
  crc32(bytes: Bits): number;
  indexBits(indices: Int32Array, width: number): Bits;
  bitsIndex(bits: Bits, width: number, size: number, clamp: boolean): { indices: Int32Array; beyond: number };
  differingBits(a: Bits, b: Bits): Bits;
  failedBlocks(candidate: Bits, reference: Bits, size: number): Bits;
  modulate(bits: Bits, modulation: Modulation, options?: ParallelOptions): Float32Array;
  mapToPoints(bits: Bits, points: Float32Array): Float32Array;
  /** LLRs and hard bits; native ones are max-log above QPSK. */
  demodulate(
    symbols: Float32Array,
    modulation: Modulation,
    noiseVariance: number | Float32Array,
    options?: DemapOptions,
  ): {
    llr: Float32Array;
    bits: Bits;
  };
  demodulateIdentity(symbols: Float32Array, noiseVariance: number | Float32Array): { llr: Float32Array; bits: Bits };
  randomBits(generator: Generator, count: number, options?: ParallelOptions): Bits;
  addComplexNormal(
    generator: Generator,
    symbols: Float32Array,
    variance: number,
    options?: ParallelOptions,
  ): Float32Array;
}

const PORTABLE: DataPlane = {
  name: "python_numpy",
  areBits,
  repeatBits,
  majorityBits,
  packBits,
  unpackBits: (bytes) => unpackBits(bytes),
  crc32: (bytes) => nodeZlib().crc32(bytes),
  indexBits,
  bitsIndex,
  differingBits,
  failedBlocks,
  modulate: modulateParallel,
  mapToPoints: (bits, points) => mapToPoints(bits, points),
  demodulate(symbols, modulation, noiseVariance, options) {
    const llr = demodulateLlrParallel(symbols, modulation, noiseVariance, options);
    return { llr, bits: hardBits(llr) };
  },
  demodulateIdentity,
  randomBits: (generator, count, options) => integersParallel(generator, 0, 2, count, "uint8", options),
  addComplexNormal: addComplexNormalParallel,
};

/**
 * The kernels of a step.
 * @throws SvcError `materialization_unavailable` where the native ones were chosen and cannot be loaded
 */
export async function dataPlane(
  { params, backend }: { readonly params: { data_plane_backend?: string }; readonly backend: string },
): Promise<DataPlane> {
  if (backend !== "cpp" && params.data_plane_backend !== "cpp_native") return PORTABLE;
  const { nativeExtension } = await import("../lib/numeric/native/extension.ts");
  const { available, reason, hint } = nativeExtension();
  if (!available) throw new SvcError("materialization_unavailable", `Cannot run on cpp: ${reason}`, { hint });
  const { nativeKernels } = await import("../lib/numeric/native/kernels.ts");
  try {
    return nativeKernels();
  } catch (error) {
    throw new SvcError("materialization_unavailable", `Cannot run on cpp: ${messageOf(error)}`, {
      hint: "Run deno task build:native",
      cause: error,
    });
  }
}

/** For operations that work in blocks: native kernels take whole arrays. */
export const portableOnly = ({ data_plane_backend: plane }: { data_plane_backend?: string }): boolean =>
  plane !== "cpp_native";

/** An output of bits that records its data plane. */
export function madeOn<Output extends OutputArtifact>(kernels: DataPlane | undefined, output: Output): Output {
  return kernels === undefined
    ? output
    : { ...output, metadata: { ...output.metadata, data_plane_backend: kernels.name } };
}
