/** Artifact kinds: what flows along an edge, and the file format it has on disk. */

/** A dotted kind name; its suffix tells the file format. */
export type ArtifactKind = string;

export const PAYLOAD_BITS = "channel.payload_bits.numpy";
export const CODED_BITS = "channel.coded_bits.numpy";
export const FRAMED_BITS = "channel.framed_bits.numpy";
export const DEMOD_BITS = "channel.demod_bits.numpy";
export const BITS = "channel.bits.numpy";
export const SYMBOLS = "channel.symbols.complex_numpy";
export const RX_SYMBOLS = "channel.rx_symbols.complex_numpy";
export const LLR = "channel.llr.numpy";
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

/** Any bit stream of the channel path. */
export const BITS_ANY = [PAYLOAD_BITS, CODED_BITS, DEMOD_BITS, BITS] as const;
/** Payload bits, or generic bits standing for them. */
export const PAYLOAD_OR_BITS = [PAYLOAD_BITS, BITS] as const;
/** Transmitted or received complex baseband symbols. */
export const SYMBOLS_ANY = [SYMBOLS, RX_SYMBOLS] as const;

/** Networks of a codec with what belongs to them, for the operations that run a model from an artifact. */
export const ONNX_BUNDLE = "model.onnx.bundle";
export const AOT_BUNDLE = "model.aot_inductor.bundle";

export type ArtifactFormat = "npz" | "json" | "zip";

/**
 * The file format of a kind: `.numpy` and `.complex_numpy` are NPZ, `.bundle` is ZIP, `.json` and reports are JSON.
 *
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
 * The `kind` member of a JSON artifact: its kind without the suffix.
 *
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
