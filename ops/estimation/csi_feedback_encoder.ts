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
import { defineSlot } from "../api.ts";
import { toAngularDelay } from "../../lib/numeric/channel/angular_delay.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  checkDimension,
  codeArtifact,
  FEEDBACK_CODE,
  FEEDBACK_ROWS,
  FEEDBACK_SLOT,
  MISO_CSI,
  type MisoChannels,
  misoChannelsOf,
  truncatedCount,
} from "../_csi_feedback.ts";

export default defineSlot({
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
