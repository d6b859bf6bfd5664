/**
 * Rebuilds channels from reports, the counterpart of model.csi_feedback_encoder:
 *
 *     truncated_angular_delay   the coefficients of smallest delay, zeros beyond them, scaled to mean power 1
 *     identity                  the complete channel
 *     learned_artifact          a trained package: feedback_code [batch, latent] -> csi_hat_ri [batch, 2, tx, subcarrier]
 *
 * A code of zeros gives a channel of zeros.
 *
 * Shapes: received_code float32 [row, latent] -> reconstruction complex64 [row, tx, subcarrier].
 */
import { defineSlot, SvcError } from "../api.ts";
import { travel } from "../../lib/artifact/values.ts";
import { fromAngularDelay } from "../../lib/numeric/channel/angular_delay.ts";
import { meanPower } from "../../lib/numeric/linalg/complex.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  checkDimension,
  codeOf,
  FEEDBACK_CODE,
  FEEDBACK_ROWS,
  FEEDBACK_SLOT,
  MISO_RECONSTRUCTION,
  misoArtifact,
  RECEIVED_CODE,
  truncatedCount,
} from "../_csi_feedback.ts";

export default defineSlot({
  ...FEEDBACK_SLOT,
  id: "model.csi_feedback_decoder",
  name: "CSI decoder slot",
  description: "Rebuilds downlink channels from a report",
  inputs: { received_code: [RECEIVED_CODE, FEEDBACK_CODE] },
  outputs: { reconstruction: MISO_RECONSTRUCTION },
  inputMetadataRequirements: { received_code: { all_of: ["tx_antennas", "ofdm_fft_size"] } },
  outputMetadataGuarantees: { reconstruction: { from: "received_code" } },
  exports: { torch: "trainable_csi_feedback_decoder_slot" },
  twin: true,
  read: ({ inputs }) => codeOf(inputs.received_code),
  modes: {
    training_interface: {},
    identity: {
      implementation: "identity_full_csi_decoder",
      run({ latents, rows, dimension, tx, subcarriers }) {
        const all = tx * subcarriers;
        checkDimension(dimension, 2 * all, "the whole channel");
        return interleaved(latents, rows, all, all);
      },
    },
    truncated_angular_delay: {
      implementation: "truncated_angular_delay_decoder",
      run({ latents, rows, dimension, tx, subcarriers }, { params }) {
        checkDimension(dimension, params.feedback_dimension, "feedback_dimension");
        const all = tx * subcarriers, values = interleaved(latents, rows, truncatedCount(dimension, all), all);
        for (let at = 0; at < values.length; at += 2 * all) {
          const h = fromAngularDelay(values.subarray(at, at + 2 * all), tx, subcarriers), power = meanPower(h);
          values.set(power > 0 ? h.map((value) => value / Math.sqrt(power)) : h.fill(0), at);
        }
        return values;
      },
    },
  },
  learned: {
    component: { id: "decoder", role: "csi_feedback_decoder", entrypoint: "decoder" },
    implementation: "portable_trained_artifact_decoder",
    inputs: { feedback_code: ["batch", "feedback_dimension"] },
    outputs: { csi_hat_ri: ["batch", 2, "tx_antenna", "subcarrier"] },
    meaning: {
      feedback_code: "received report",
      csi_hat_ri: "reconstructed channel, all real parts, then all imaginary parts",
    },
    rows: FEEDBACK_ROWS,
    async run({ latents, rows, dimension, tx, subcarriers }, call, { params }) {
      checkDimension(dimension, params.feedback_dimension, "feedback_dimension");
      const { csi_hat_ri: { shape, data } } = await call({
        feedback_code: ndarray("float32", latents, [rows, dimension]),
      });
      if (shape[2] === tx && shape[3] === subcarriers) {
        return interleaved(data, rows, tx * subcarriers, tx * subcarriers);
      }
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot use [${shape.join(", ")}] as channels of ${tx} antennas on ${subcarriers} subcarriers`,
      );
    },
  },
  result(values, code, { inputs, label }) {
    const metadata = travel(inputs.received_code.metadata, { feedback_decoder: label });
    return { outputs: { reconstruction: misoArtifact(values, code, metadata) } };
  },
});

/** Rows of `count` real and `count` imaginary parts as rows of `size` complex values, zeros at the end. */
function interleaved(parts: Float32Array, rows: number, count: number, size: number): Float32Array {
  const values = new Float32Array(2 * rows * size);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < count; i++) {
      values[2 * (row * size + i)] = parts[2 * row * count + i];
      values[2 * (row * size + i) + 1] = parts[(2 * row + 1) * count + i];
    }
  }
  return values;
}
