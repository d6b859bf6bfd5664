/** Outputs of all demodulators: hard bits and LLRs with the same metadata. A positive LLR means bit 0. */
import { BIT_METADATA, bitMetadata, bitsArtifact } from "../../lib/artifact/values.ts";
import { artifactKind, DEMOD_BITS, LLR, type MetadataFields } from "../../lib/contract/kinds.ts";
import type { InputArtifact, JsonObject, StreamedArray } from "../api.ts";
import { hardBits } from "../../lib/numeric/link/modulation.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { type DataPlane, madeOn } from "../_data_plane.ts";
import { demodulatedMetadata } from "../_symbol_items.ts";

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
