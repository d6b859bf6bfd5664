/** Feedback of channel state information: encoder and decoder. */
import { defineSlot, SvcError } from "../api.ts";
import { fromAngularDelay, toAngularDelay } from "../../lib/numeric/channel/angular_delay.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  checkDimension,
  codeArtifact,
  codeOf,
  FEEDBACK_CODE,
  FEEDBACK_ROWS,
  FEEDBACK_SLOT,
  MISO_CSI,
  MISO_RECONSTRUCTION,
  misoArtifact,
  type MisoChannels,
  misoChannelsOf,
  RECEIVED_CODE,
  truncatedCount,
} from "../_csi_feedback.ts";
import { travel } from "../../lib/artifact/values.ts";
import { meanPower } from "../../lib/numeric/linalg/complex.ts";

/**
 * Compresses channels into reports of feedback_dimension real latents:
 *
 *     truncated_angular_delay   the feedback_dimension/2 angular-delay coefficients of smallest delay, angle fastest; all real
 *                               parts, then all imaginary ones, scaled so that the largest coefficient has the modulus 1
 *     identity                  the channel itself, an upper bound: all real parts, then all imaginary ones
 *     learned_artifact          a trained package: csi_ri [batch, 2, tx, subcarrier] -> feedback_code [batch, latent]
 *
 * Transform: lib/numeric/channel/angular_delay.ts. The scale is not sent; a channel of zeros gives a code of zeros.
 *
 * Shapes: csi complex64 [row, tx, subcarrier] -> feedback_code float32 [row, latent].
 */
const csiFeedbackEncoder = defineSlot({
  ...FEEDBACK_SLOT,
  id: "model.csi_feedback_encoder",
  name: "CSI encoder slot",
  description: "Compresses downlink channels into a report, by truncation or by a trained artifact",
  inputs: { csi: [MISO_CSI] },
  outputs: { feedback_code: FEEDBACK_CODE },
  outputMetadataGuarantees: { feedback_code: { from: "csi" } },
  exports: { torch: "trainable_csi_feedback_encoder_slot" },
  twin: true,
  read: ({ inputs }) => misoChannelsOf(inputs.csi),
  modes: {
    training_interface: {},
    identity: { implementation: "identity_full_csi_encoder", run: planes },
    truncated_angular_delay: {
      implementation: "truncated_angular_delay_encoder",
      run: (csi, { params }) => truncated(csi, params.feedback_dimension),
    },
  },
  learned: {
    component: { id: "encoder", role: "csi_feedback_encoder", entrypoint: "encoder" },
    implementation: "portable_trained_artifact_encoder",
    inputs: { csi_ri: ["batch", 2, "tx_antenna", "subcarrier"] },
    outputs: { feedback_code: ["batch", "feedback_dimension"] },
    meaning: {
      csi_ri: "channel, all real parts, then all imaginary parts",
      feedback_code: "report; a quantised link clips it to its clip_value",
    },
    rows: FEEDBACK_ROWS,
    async run(csi, call, { params }) {
      const csi_ri = ndarray("float32", planes(csi), [csi.rows, 2, csi.tx, csi.subcarriers]);
      const { feedback_code: { shape, data } } = await call({ csi_ri });
      checkDimension(shape[1], params.feedback_dimension, "feedback_dimension");
      return data;
    },
  },
  result: (latents, csi, { inputs, label }) => ({
    outputs: { feedback_code: codeArtifact(latents, csi.rows, inputs.csi, label) },
  }),
});

/** Real parts of a row, then its imaginary parts: [row, 2, tx, subcarrier]. */
function planes({ values, rows }: MisoChannels): Float32Array {
  const size = values.length / (2 * rows);
  return Float32Array.from(values, (_, i) => {
    const row = Math.floor(i / (2 * size)), within = i % (2 * size);
    return values[2 * (row * size + within % size) + Math.floor(within / size)];
  });
}

function truncated({ values, rows, tx, subcarriers }: MisoChannels, dimension: number): Float32Array {
  const all = tx * subcarriers, kept = truncatedCount(dimension, all), code = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row++) {
    const a = toAngularDelay(values.subarray(2 * row * all, 2 * (row + 1) * all), tx, subcarriers);
    let largest = 0;
    for (let i = 0; i < kept; i++) largest = Math.max(largest, Math.hypot(a[2 * i], a[2 * i + 1]));
    if (largest === 0) continue;
    for (let i = 0; i < kept; i++) {
      code[row * dimension + i] = a[2 * i] / largest;
      code[row * dimension + kept + i] = a[2 * i + 1] / largest;
    }
  }
  return code;
}

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
const csiFeedbackDecoder = defineSlot({
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

export default [csiFeedbackEncoder, csiFeedbackDecoder];
