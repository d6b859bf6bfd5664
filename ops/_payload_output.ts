/** The result of operations that serialise to payload bits. */
import { bitsArtifact } from "../lib/artifact/values.ts";
import type { JsonObject } from "./api.ts";
import { unpackBits } from "../lib/numeric/array/bit_packing.ts";

/** Eight bits per byte, most significant first. */
export function payloadOutput(bytes: Uint8Array, metadata: JsonObject) {
  const bits = unpackBits(bytes);
  return {
    outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
    metrics: { "codec.bit_count": BigInt(bits.length), "codec.bytes": BigInt(bytes.length) },
  };
}
