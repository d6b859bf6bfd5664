/** Artifact kinds: the type of data on an edge, and its file format. */

import type { Float, Value } from "./value.ts";

/** A dotted kind name; its suffix determines the file format. */
export type ArtifactKind = string;

/** Types of metadata values, as written and as read; `positive` is a number above zero. */
interface MetadataTypes {
  count: { written: number | bigint; read: number };
  number: { written: number | Float; read: number };
  positive: { written: number | Float; read: number };
  text: { written: string; read: string };
  list: { written: Value[]; read: Value[] };
}
export type MetadataFields = Readonly<Record<string, keyof MetadataTypes>>;

/**
 * A kind with the metadata of all its artifacts. The contract of an operation guarantees them for its outputs, and the
 * type of `run` requires them.
 */
export interface Kind<F extends MetadataFields = MetadataFields> {
  readonly id: ArtifactKind;
  readonly metadata: F;
}
/** The metadata of an output of a kind. */
export interface WrittenMetadata<F extends MetadataFields> {
  metadata: { [Key in keyof F]: MetadataTypes[F[Key]]["written"] };
}
/** The metadata of an input of a kind. */
export type ReadMetadata<F extends MetadataFields> = { [Key in keyof F]: MetadataTypes[F[Key]]["read"] };

/**
 * Declares a kind with its metadata.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { artifactKind } from "./kinds.ts";
 *
 * const ESTIMATE = artifactKind("mine.delay_estimate.numpy", { example_count: "count", unit: "text" });
 * assert.deepEqual(Object.keys(ESTIMATE.metadata), ["example_count", "unit"]);
 * ```
 */
export function artifactKind<const F extends MetadataFields>(id: ArtifactKind, metadata: F): Kind<F> {
  return { id, metadata };
}

export const PAYLOAD_BITS = "channel.payload_bits.numpy";
export const CODED_BITS = "channel.coded_bits.numpy";
export const FRAMED_BITS = "channel.framed_bits.numpy";
export const DEMOD_BITS = "channel.demod_bits.numpy";
export const BITS = "channel.bits.numpy";
export const SYMBOLS = "channel.symbols.complex_numpy";
export const RX_SYMBOLS = "channel.rx_symbols.complex_numpy";
export const LLR = "channel.llr.numpy";
/** Points of a constellation by label, the first bit highest. */
export const CONSTELLATION = "channel.constellation.complex_numpy";
export const INDICES = "semantic.indices.numpy";
export const LATENTS = "semantic.latents.numpy";
export const IMAGES = "image.batch.numpy";
export const TEXTS = "text.batch.json";
export const CAPTIONS = "text.caption.json";
export const SEMANTIC_STATE = "semantic.state.json";
export const KNOWLEDGE_BASE = "foundation.kb.json";
export const LABELS = "task.labels.json";
export const PREDICTIONS = "task.predictions.json";
export const REPORT = "metrics.report";
export const OFDM_STATE = "channel.ofdm_channel_state.numpy";
export const POWER_ALLOCATION = "channel.power_allocation.numpy";

export const BITS_ANY = [PAYLOAD_BITS, CODED_BITS, DEMOD_BITS, BITS] as const;
/** Payload bits, or generic bits in their place. */
export const PAYLOAD_OR_BITS = [PAYLOAD_BITS, BITS] as const;
/** Transmitted or received complex baseband symbols. */
export const SYMBOLS_ANY = [SYMBOLS, RX_SYMBOLS] as const;

/** Networks of a codec with related files, for operations that run a model from an artifact. */
export const ONNX_BUNDLE = "model.onnx.bundle";
export const AOT_BUNDLE = "model.aot_inductor.bundle";

export type ArtifactFormat = "npz" | "json" | "zip";

/**
 * The file format of a kind: `.numpy` and `.complex_numpy` are NPZ, `.bundle` is ZIP, `.json` and reports are JSON.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { formatOfKind, REPORT, RX_SYMBOLS } from "./kinds.ts";
 *
 * assert.equal(formatOfKind(RX_SYMBOLS), "npz");
 * assert.equal(formatOfKind(REPORT), "json");
 * ```
 */
export function formatOfKind(kind: ArtifactKind): ArtifactFormat {
  if (kind.endsWith(".bundle")) return "zip";
  return kind.endsWith("numpy") ? "npz" : "json";
}

/**
 * The field `kind` of a JSON artifact: its kind without the suffix.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonKindName, TEXTS } from "./kinds.ts";
 *
 * assert.equal(jsonKindName(TEXTS), "text.batch");
 * ```
 */
export function jsonKindName(kind: ArtifactKind): string {
  return kind.endsWith(".json") ? kind.slice(0, -".json".length) : kind;
}
