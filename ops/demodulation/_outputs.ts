/** Outputs of all demodulators: hard bits and LLRs with the same metadata. A positive LLR means bit 0. */
import { BIT_METADATA, bitMetadata, bitsArtifact } from "../../lib/artifact/values.ts";
import { artifactKind, DEMOD_BITS, LLR, type MetadataFields } from "../../lib/contract/kinds.ts";
import type { InputArtifact, JsonObject, OperationStream, StreamedArray } from "../api.ts";
import type { StreamInput } from "../../lib/contract/operation.ts";
import { hardBits } from "../../lib/numeric/link/modulation.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { blockMemory } from "../../lib/numeric/array/shared_array.ts";
import { type DataPlane, madeOn } from "../_data_plane.ts";
import { NOISE_VARIANCE, type NoiseVariance, streamedVarianceOf, variancesOf } from "../_noise_variance.ts";
import { demodulatedMetadata, unpaddedBitCount } from "../_symbol_items.ts";

const FACTS = { modulation: "text", llr_sign: "text", llr_method: "text", noise_variance_source: "text" } as const;
/** The outputs; both inherit the metadata of the symbols. */
export function demodulatedOutputs<const More extends MetadataFields>(more: More) {
  return {
    bits: artifactKind(DEMOD_BITS, { ...BIT_METADATA, ...FACTS, ...more }),
    llr: artifactKind(LLR, { ...FACTS, ...more }),
  };
}
export const INHERITED = { bits: { from: "rx_symbols" }, llr: { from: "rx_symbols" } };

type Facts = JsonObject & { modulation: string; llr_method: string; noise_variance_source: string };
const describe = <F extends Facts>(symbols: InputArtifact, count: number, facts: F) =>
  demodulatedMetadata(symbols.metadata, count, { ...facts, llr_sign: "positive_bit0" });

/** @param bits hard bits; default 1 where the LLR is negative */
export function demodulated<F extends Facts>(
  symbols: InputArtifact,
  llr: Float32Array,
  facts: F,
  bits = hardBits(llr),
  kernels?: DataPlane,
) {
  const metadata = describe(symbols, llr.length, facts);
  return {
    bits: madeOn(kernels, bitsArtifact(bits, metadata)),
    llr: { array: ndarray("float32", llr), metadata },
  };
}

/** The outputs of a demodulator that works in blocks, of `length` bits. */
export function demodulatedStreams(
  symbols: InputArtifact,
  length: number,
  facts: Facts,
): Record<string, StreamedArray> {
  const metadata = describe(symbols, length, facts);
  return {
    bits: { dtype: "uint8", length, metadata: bitMetadata(length, metadata) },
    llr: { dtype: "float32", length, metadata },
  };
}

/**
 * A demapper in blocks; null for values that are no symbols.
 * @param width bits per symbol
 * @param facts what the outputs declare, and facts for the step row
 * @param demap LLRs of a block whose first symbol is `from`, with their hard bits where the LLRs do not decide
 */
export function demapInBlocks(
  input: StreamInput,
  width: number,
  facts: (noise: NoiseVariance) => { outputs: Facts; row: JsonObject },
  demap: (
    symbols: Float32Array,
    variance: NoiseVariance["variance"],
    from: number,
  ) => { llr: Float32Array; bits?: Uint8Array },
): OperationStream<"rx_symbols"> | null {
  if (input.metadata.dtype !== "complex64") return null;
  const noise = streamedVarianceOf(input, input.length), memory = blockMemory(Uint8Array);
  const { outputs, row: metadata } = facts(noise);
  let left = unpaddedBitCount(input.metadata, input.length * width), from = 0;
  return {
    arrays: demodulatedStreams(input, left, outputs),
    next({ rx_symbols, [`rx_symbols.${NOISE_VARIANCE}`]: own }) {
      const symbols = rx_symbols.data as Float32Array;
      const { llr: all, bits } = demap(symbols, own === undefined ? noise.variance : variancesOf(own), from);
      from += symbols.length / 2;
      const llr = all.subarray(0, left);
      left -= llr.length;
      return { llr, bits: bits?.subarray(0, llr.length) ?? hardBits(llr, memory(llr.length)) };
    },
    end: () => ({ metadata }),
  };
}
