/** Small input artifacts for operation tests. */
import assert from "node:assert/strict";
import type { InputArtifact, OutputArtifact } from "../../lib/contract/operation.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import {
  bitsArtifact,
  imagesOf,
  symbolsArtifact,
  textsArtifact,
  type UniformImages,
} from "../../lib/artifact/values.ts";
import { type Dtype, ndarray, type TypedData } from "../../lib/numeric/array/ndarray.ts";

export type Described = OutputArtifact & { kind: string };

/** Deterministic bits without a visible pattern. */
export function someBits(count: number, salt = 1): Uint8Array {
  let state = Math.imul(salt, 0x9e3779b1) | 1;
  return Uint8Array.from({ length: count }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 1;
  });
}

export function bitsInput(
  bits: Uint8Array | readonly number[],
  metadata: JsonObject = {},
  kind = "channel.bits.numpy",
) {
  return { kind, ...bitsArtifact(Uint8Array.from(bits), metadata) } satisfies Described;
}

export function payloadInput(bits: Uint8Array | readonly number[], metadata: JsonObject = {}) {
  return bitsInput(bits, metadata, "channel.payload_bits.numpy");
}

/** QPSK points without a visible pattern, unless interleaved values are given. */
export function symbolsInput(
  symbols: number | ArrayLike<number>,
  metadata: JsonObject = {},
  more: { kind?: string; companions?: OutputArtifact["companions"] } = {},
) {
  const values = typeof symbols === "number"
    ? Float32Array.from(someBits(2 * symbols), (bit) => (1 - 2 * bit) * Math.SQRT1_2)
    : Float32Array.from(symbols);
  return {
    kind: more.kind ?? "channel.symbols.complex_numpy",
    ...symbolsArtifact(values, metadata, more.companions),
  } satisfies Described;
}

export function arrayInput(kind: string, dtype: Dtype, data: TypedData, shape: number[], metadata: JsonObject = {}) {
  return { kind, array: ndarray(dtype, data, shape), metadata } satisfies Described;
}

export function textsInput(texts: Record<string, string>, metadata: JsonObject = {}) {
  const items = Object.entries(texts).map(([id, text]) => ({ id, text }));
  return { kind: "text.batch.json", ...textsArtifact(items, metadata) } satisfies Described;
}

/** The images of an artifact, which must have one size. */
export function uniformImagesOf(input: InputArtifact): UniformImages {
  const batch = imagesOf(input);
  assert.equal(batch.sizes, undefined, "images of one size");
  return batch as UniformImages;
}
