/**
 * Artifacts of the CSI feedback operations. CSI, its reconstruction and a precoder are complex64 [row, tx, subcarrier];
 * a code is float32 [row, latent]. tx_antennas, ofdm_fft_size and noise_variance are metadata of the code, for the
 * decoder. The receiver gets y = hᴴw·x + n on every subcarrier.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf, travel } from "../lib/artifact/values.ts";
import { type InputArtifact, type JsonObject, SvcError, usedWhen, z } from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";

export const MISO_CSI = artifactKind("channel.miso_ofdm_csi.numpy", {
  sample_count: "count",
  tx_antennas: "count",
  ofdm_fft_size: "count",
  noise_variance: "positive",
});
export const FEEDBACK_CODE = artifactKind("channel.csi_feedback_code.numpy", {
  feedback_dimension: "count",
  feedback_encoder: "text",
  tx_antennas: "count",
  ofdm_fft_size: "count",
});
export const RECEIVED_CODE = "channel.csi_feedback_received.numpy";
export const MISO_RECONSTRUCTION = artifactKind("channel.miso_ofdm_csi_reconstruction.numpy", {
  feedback_decoder: "text",
});
export const MISO_PRECODER = artifactKind("channel.miso_ofdm_precoder.numpy", { precoder: "text" });

/** Rows per call of a trained package. */
export const FEEDBACK_ROWS = 256;

/** Common declarations of encoder and decoder. */
export const FEEDBACK_SLOT = {
  params: {
    feedback_dimension: z.int().positive().default(64).describe("real latents of a report; identity sends all")
      .meta(usedWhen({ runtime: ["truncated_angular_delay", "learned_artifact"] })),
  },
  formats: { artifact: "npz", tensor: "float32", checkpoint: "onnx" },
  gradient: "full",
  mode: {
    parameter: "runtime",
    default: "training_interface",
    description: "method; training_interface is a place for code to be trained and does not run",
    order: ["training_interface", "truncated_angular_delay", "identity"],
  },
} as const;

/** @throws SvcError with a boundary code for an artifact of another form */
export function misoChannelsOf(input: InputArtifact) {
  const arrays = arraysOf(input), values = arrays.read("complex64", ["row", "tx", "subcarrier"]);
  return { rows: arrays.size("row"), tx: arrays.size("tx"), subcarriers: arrays.size("subcarrier"), values };
}

export type MisoChannels = ReturnType<typeof misoChannelsOf>;

/** An artifact with the same axes and the metadata for the decoder. */
export function misoArtifact<Metadata extends JsonObject>(
  values: Float32Array | Float64Array,
  { rows, tx, subcarriers }: Omit<MisoChannels, "values">,
  metadata: Metadata,
) {
  return { array: ndarray("complex64", Float32Array.from(values), [rows, tx, subcarriers]), metadata };
}

export function codeArtifact(latents: Float32Array, rows: number, csi: InputArtifact, encoder: string) {
  const { tx, subcarriers } = misoChannelsOf(csi), dimension = latents.length / rows;
  const facts = {
    feedback_dimension: dimension,
    feedback_encoder: encoder,
    tx_antennas: tx,
    ofdm_fft_size: subcarriers,
  };
  return { array: ndarray("float32", latents, [rows, dimension]), metadata: travel(csi.metadata, facts) };
}

/** The latents of a code, and the axes of the coded channel. */
export function codeOf(input: InputArtifact) {
  const arrays = arraysOf(input), latents = arrays.read("float32", ["row", "latent"]);
  const metadata = metadataOf(input, FEEDBACK_CODE, ["tx_antennas", "ofdm_fft_size"]);
  const { tx_antennas: tx, ofdm_fft_size: subcarriers } = metadata;
  return { latents, rows: arrays.size("row"), dimension: arrays.size("latent"), tx, subcarriers };
}

/** @throws SvcError for another number of latents than expected */
export function checkDimension(found: number, expected: number, what: string): void {
  if (found === expected) return;
  throw new SvcError("boundary_shape_invalid", `Cannot take ${found} latents as a report: ${what} has ${expected}`);
}

/** Number of complex coefficients in a truncated report. @throws SvcError `params_conflict` */
export function truncatedCount(dimension: number, all: number): number {
  if (dimension % 2 === 0 && dimension / 2 <= all) return dimension / 2;
  throw new SvcError(
    "params_conflict",
    `Cannot report ${all} complex coefficients in ${dimension} real latents: it must be even and at most ${2 * all}`,
  );
}

/** The antenna coefficients of one row and subcarrier, [tx] interleaved. */
export function antennasAt({ values, tx, subcarriers }: MisoChannels, row: number, k: number): Float64Array {
  return Float64Array.from(
    { length: 2 * tx },
    (_, i) => values[2 * ((row * tx + (i >> 1)) * subcarriers + k) + (i & 1)],
  );
}
