/** The contracts that adapters wrap: their ports, their side of the link, and guarantees of their outputs. */
import type { ArrayForm } from "../artifact/array_form.ts";
import * as kinds from "../contract/kinds.ts";
import type { MetadataGuarantee } from "../contract/operation.ts";
import type { Wrap } from "./manifest_schema.ts";

export interface WrapContract {
  inputs: Readonly<Record<string, readonly string[]>>;
  outputs: Readonly<Record<string, string>>;
  /** Allowed forms of a coder's array, if they differ from those of its output; `images` are the encoded ones. */
  returns?: readonly ArrayForm[];
  guarantees?: Readonly<Record<string, MetadataGuarantee>>;
  /** Metric for the time of the call in seconds. */
  timing?: "encoder.external_call" | "decoder.external_call";
}

const IMAGES = [kinds.IMAGES];
const ENCODER = "encoder.external_call", DECODER = "decoder.external_call";
const LABELS = "task.labels.json", PREDICTIONS = "task.predictions.json";

const decoder = (port: string, accepted: readonly string[]): WrapContract => ({
  inputs: { [port]: accepted },
  outputs: { images: kinds.IMAGES },
  guarantees: { images: { from: port, keys: ["boundary_contract", "image_count"] } },
  timing: DECODER,
});

export const WRAP_CONTRACTS: Readonly<Record<Exclude<Wrap, "custom">, WrapContract>> = {
  "model.external_encode_bits": {
    inputs: { images: IMAGES },
    outputs: { bits: kinds.PAYLOAD_BITS },
    guarantees: { bits: { from: "images", keys: ["boundary_contract", "bit_count"] } },
    timing: ENCODER,
  },
  "model.external_encode_indices": {
    inputs: { images: IMAGES },
    outputs: { indices: kinds.INDICES },
    returns: [{ dtypes: ["uint8", "int32", "int64"], axes: ["n", "…"] }],
    guarantees: { indices: { from: "images", keys: ["codebook_size"] } },
    timing: ENCODER,
  },
  "model.external_encode_latents": {
    inputs: { images: IMAGES },
    outputs: { latents: kinds.LATENTS },
    returns: [{ dtypes: ["float32", "float64"], axes: ["n", "…"] }],
    guarantees: { latents: { from: "images" } },
    timing: ENCODER,
  },
  "model.deepjscc_external_encode": {
    inputs: { images: IMAGES },
    outputs: { symbols: kinds.SYMBOLS },
    returns: [
      { dtypes: ["complex64"], axes: ["n"] },
      { dtypes: ["complex64"], axes: ["images", "…"] },
      { dtypes: ["float32"], axes: ["images", "2 channels", "…"] },
    ],
    guarantees: { symbols: { from: "images", keys: ["boundary_contract", "symbol_count"] } },
    timing: ENCODER,
  },
  "model.external_decode_bits": decoder("bits", kinds.PAYLOAD_OR_BITS),
  "model.external_decode_indices": decoder("indices", [kinds.INDICES]),
  "model.external_decode_latents": decoder("latents", [kinds.LATENTS]),
  "model.deepjscc_external_decode": decoder("symbols", [kinds.RX_SYMBOLS, kinds.SYMBOLS]),
  "model.external_read_texts": {
    inputs: { images: IMAGES },
    outputs: { texts: kinds.TEXTS },
    guarantees: { texts: { keys: ["text_ids"] } },
    timing: DECODER,
  },
  "source.external_classification_dataset": { inputs: {}, outputs: { candidate: PREDICTIONS, reference: LABELS } },
  "metrics.external_classification": {
    inputs: { candidate: [PREDICTIONS, LABELS], reference: [LABELS] },
    outputs: { report: kinds.REPORT },
  },
  "source.external_texts": {
    inputs: {},
    outputs: { texts: kinds.TEXTS },
    guarantees: { texts: { keys: ["text_ids"] } },
  },
  "metrics.external_text": {
    inputs: { candidate: [kinds.TEXTS], reference: [kinds.TEXTS] },
    outputs: { report: kinds.REPORT },
  },
};

/** Whether a contract is a dataset or a metric, whose callables receive no array. */
export const isTaskWrap = (wraps: Wrap): boolean => /^(source|metrics)\./.test(wraps);
