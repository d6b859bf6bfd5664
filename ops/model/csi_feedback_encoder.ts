/**
 * Compresses channels into reports of feedback_dimension real latents:
 *
 *     truncated_angular_delay   the feedback_dimension/2 angular-delay coefficients of smallest delay, angle fastest; all real
 *                               parts, then all imaginary ones, scaled so that the largest coefficient has the modulus 1
 *     identity                  the channel itself, an upper bound: all real parts, then all imaginary ones
 *     learned_artifact          a trained package: csi_ri [batch, 2, tx, subcarrier] -> feedback_code [batch, latent]
 *
 * Transform: lib/numeric/angular_delay.ts. The scale is not sent; a channel of zeros gives a code of zeros.
 *
 * Shapes: csi complex64 [row, tx, subcarrier] -> feedback_code float32 [row, latent].
 */
import { SvcError } from "../../lib/contract/error.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { LEARNED_ARTIFACT, learnedParameters, learnedProblems, slotAbi } from "../../lib/artifact/learned.ts";
import { toAngularDelay } from "../../lib/numeric/angular_delay.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import {
  checkDimension,
  codeArtifact,
  FEEDBACK_CODE,
  FEEDBACK_PARAMETERS,
  FEEDBACK_ROWS,
  feedbackMaterializations,
  MISO_CSI,
  type MisoChannels,
  misoChannelsOf,
  truncatedCount,
} from "../_csi_feedback.ts";

export default defineOperation({
  id: "model.csi_feedback_encoder",
  name: "CSI encoder slot",
  description: "Compresses downlink channels into a report, by truncation or by a trained artifact",
  inputs: { csi: [MISO_CSI] },
  outputs: { feedback_code: FEEDBACK_CODE },
  params: z.strictObject({ ...FEEDBACK_PARAMETERS, ...learnedParameters("encoder") }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "float32", checkpoint: "onnx" },
  materializations: feedbackMaterializations("encoder"),
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "encoder",
    component_role: "csi_feedback_encoder",
    entrypoint_id: "encoder",
    inputs: { csi_ri: ["batch", 2, "tx_antenna", "subcarrier"] },
    outputs: { feedback_code: ["batch", "feedback_dimension"] },
    required_operation_inputs: ["csi"],
    binding: { runtime: LEARNED_ARTIFACT },
  }),
  outputMetadataGuarantees: {
    feedback_code: { from: "csi", keys: ["feedback_dimension", "feedback_encoder", "tx_antennas", "ofdm_fft_size"] },
  },
  check: (params) => params.runtime === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { runtime, feedback_dimension: dimension } = context.params, csi = misoChannelsOf(context.inputs.csi);
    const code = (latents: Float32Array) => ({
      outputs: { feedback_code: codeArtifact(latents, csi.rows, context.inputs.csi, runtime) },
    });
    switch (runtime) {
      case "identity":
        return code(planes(csi));
      case "truncated_angular_delay":
        return code(truncated(csi, dimension));
      case LEARNED_ARTIFACT: {
        const csi_ri = ndarray("float32", planes(csi), [csi.rows, 2, csi.tx, csi.subcarriers]);
        const { feedback_code: found } = await context.learned.run({ csi_ri }, { rows: FEEDBACK_ROWS });
        checkDimension(found.shape[1], dimension, "feedback_dimension");
        return code(found.data as Float32Array);
      }
      default:
        throw new SvcError("operation_failed", `Cannot run ${runtime}: it stands for a coder in training`);
    }
  },
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
