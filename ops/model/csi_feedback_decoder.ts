/**
 * Rebuilds channels from reports, the other end of model.csi_feedback_encoder:
 *
 *     truncated_angular_delay   the coefficients of smallest delay, zeros beyond them, brought to mean power 1
 *     identity                  the channel that was sent whole
 *     learned_artifact          a trained package: feedback_code [batch, latent] -> csi_hat_ri [batch, 2, tx, subcarrier]
 *
 * A code of zeros gives a channel of zeros.
 *
 * Shapes: received_code float32 [row, latent] -> reconstruction complex64 [row, tx, subcarrier].
 */
import { SvcError } from "../../lib/contract/error.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { LEARNED_ARTIFACT, learnedParameters, learnedProblems, slotAbi } from "../../lib/artifact/learned.ts";
import { travel } from "../../lib/artifact/values.ts";
import { fromAngularDelay } from "../../lib/numeric/angular_delay.ts";
import { meanPower } from "../../lib/numeric/complex.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import {
  checkDimension,
  codeOf,
  FEEDBACK_CODE,
  FEEDBACK_PARAMETERS,
  FEEDBACK_ROWS,
  feedbackMaterializations,
  MISO_RECONSTRUCTION,
  misoArtifact,
  RECEIVED_CODE,
  truncatedCount,
} from "../_csi_feedback.ts";

export default defineOperation({
  id: "model.csi_feedback_decoder",
  name: "CSI decoder slot",
  description: "Rebuilds downlink channels from a report",
  inputs: { received_code: [RECEIVED_CODE, FEEDBACK_CODE] },
  outputs: { reconstruction: MISO_RECONSTRUCTION },
  params: z.strictObject({ ...FEEDBACK_PARAMETERS, ...learnedParameters("decoder") }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "float32", checkpoint: "onnx" },
  materializations: feedbackMaterializations("decoder"),
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "decoder",
    component_role: "csi_feedback_decoder",
    entrypoint_id: "decoder",
    inputs: { feedback_code: ["batch", "feedback_dimension"] },
    outputs: { csi_hat_ri: ["batch", 2, "tx_antenna", "subcarrier"] },
    required_operation_inputs: ["received_code"],
    binding: { runtime: LEARNED_ARTIFACT },
  }),
  inputMetadataRequirements: { received_code: { all_of: ["tx_antennas", "ofdm_fft_size"] } },
  outputMetadataGuarantees: { reconstruction: { from: "received_code", keys: ["feedback_decoder"] } },
  check: (params) => params.runtime === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { runtime, feedback_dimension } = context.params, code = codeOf(context.inputs.received_code);
    const { latents, rows, dimension, tx, subcarriers } = code, all = tx * subcarriers;
    const rebuilt = (values: Float32Array) => {
      const metadata = travel(context.inputs.received_code.metadata, { feedback_decoder: runtime });
      return { outputs: { reconstruction: misoArtifact(values, code, metadata) } };
    };
    if (runtime === "identity") {
      checkDimension(dimension, 2 * all, "the whole channel");
      return rebuilt(interleaved(latents, rows, all, all));
    }
    if (runtime === "training_interface") {
      throw new SvcError("operation_failed", `Cannot run ${runtime}: it stands for a coder in training`);
    }
    checkDimension(dimension, feedback_dimension, "feedback_dimension");
    if (runtime === LEARNED_ARTIFACT) {
      const feedback_code = ndarray("float32", latents, [rows, dimension]);
      const { csi_hat_ri: found } = await context.learned.run({ feedback_code }, { rows: FEEDBACK_ROWS });
      if (found.shape[2] !== tx || found.shape[3] !== subcarriers) {
        throw new SvcError(
          "boundary_shape_invalid",
          `Cannot take [${found.shape.join(", ")}] as channels of ${tx} antennas on ${subcarriers} subcarriers`,
        );
      }
      return rebuilt(interleaved(found.data as Float32Array, rows, all, all));
    }
    const coefficients = interleaved(latents, rows, truncatedCount(dimension, all), all);
    const values = new Float32Array(coefficients.length);
    for (let at = 0; at < values.length; at += 2 * all) {
      const h = fromAngularDelay(coefficients.subarray(at, at + 2 * all), tx, subcarriers);
      const power = meanPower(h);
      if (power > 0) values.set(h.map((value) => value / Math.sqrt(power)), at);
    }
    return rebuilt(values);
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
