/**
 * Slot for an estimator of MIMO-OFDM channels from pilots:
 *
 *     least_squares           y/x at the pilots, interpolated linearly
 *     linear_mmse_reference   R_kp·(R_pp + N0·I)⁻¹·h_LS with R of lmmse_assumed_tap_count taps of powers e^{-l}; the prior is
 *                             fixed, whatever the channels are
 *     learned_artifact        a trained package: ls_estimate_ri and pilot_ls_ri [batch, rx, tx, subcarrier, 2], pilot_mask
 *                             [batch, tx, subcarrier], noise_variance [batch, 1] -> h_hat_ri [batch, rx, tx, subcarrier, 2]
 *
 * Formulas: lib/numeric/channel_estimation.ts. No mode sees the true channel. The metadata expected_mse of the linear MMSE
 * estimate is its mean error variance where the prior is the truth.
 *
 * Shapes: problem complex64 [example, rx, subcarrier] -> estimate complex64 [example, rx, tx, subcarrier].
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { float } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import {
  LEARNED_ARTIFACT,
  learnedParameters,
  learnedProblems,
  realImaginary,
  slotAbi,
} from "../../lib/artifact/learned.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportPlanned } from "../_backends.ts";
import {
  CHANNEL_ESTIMATE,
  CHANNEL_OBSERVATION,
  CHANNEL_PROBLEM,
  channelArtifact,
  leastSquaresOf,
  linearMmseOf,
  noisePerExample,
  pilotMask,
  pilotProblemOf,
} from "../_channel_estimation.ts";

/** Examples in a call of a trained estimator. */
const ROWS = 256;

const GRID_RI = ["batch", "rx_antenna", "tx_antenna", "subcarrier", 2] as const;

export default defineOperation({
  id: "model.channel_estimator_adapter",
  name: "Channel estimator slot",
  description: "Estimates MIMO-OFDM channels from pilots, by a linear estimator or by a trained artifact",
  inputs: { problem: [CHANNEL_PROBLEM, CHANNEL_OBSERVATION] },
  outputs: { estimate: CHANNEL_ESTIMATE },
  params: z.strictObject({
    mode: z.enum(["least_squares", "linear_mmse_reference", LEARNED_ARTIFACT]).default("linear_mmse_reference"),
    lmmse_assumed_tap_count: z.int().positive().default(4).describe("taps of the prior of linear_mmse_reference"),
    ...learnedParameters("channel_estimator"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch", "phylib"],
  },
  equivalence: { type: "behavioral" },
  materializations: [
    ...executed("numpy", "least_squares", { mode: "least_squares" }),
    ...executed("numpy", "linear_mmse_reference", { mode: "linear_mmse_reference" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "trainable_channel_estimator_endpoint"),
    exportPlanned("phylib", "phylib_receiver_training_endpoint"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "estimator",
    component_role: "mimo_ofdm_channel_estimator",
    entrypoint_id: "channel_estimator",
    inputs: {
      ls_estimate_ri: GRID_RI,
      noise_variance: ["batch", 1],
      pilot_ls_ri: GRID_RI,
      pilot_mask: ["batch", "tx_antenna", "subcarrier"],
    },
    outputs: { h_hat_ri: GRID_RI },
    required_operation_inputs: ["problem"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  inputMetadataRequirements: { problem: { all_of: ["noise_variance"] } },
  outputMetadataGuarantees: { estimate: { keys: ["example_count", "estimator"] } },
  check: (params) => params.mode === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { mode, lmmse_assumed_tap_count: taps } = context.params, problem = pilotProblemOf(context.inputs.problem);
    if (mode === "linear_mmse_reference") {
      const { estimate, errorVariance } = linearMmseOf(problem, taps);
      const facts = { estimator: mode, lmmse_assumed_tap_count: taps, expected_mse: float(errorVariance) };
      return { outputs: { estimate: channelArtifact(estimate, problem, facts) } };
    }
    const { sparse, full } = leastSquaresOf(problem);
    if (mode === "least_squares") {
      return { outputs: { estimate: channelArtifact(full, problem, { estimator: mode }) } };
    }
    const { examples, rx, tx, subcarriers, positions, noiseVariance } = problem;
    const grid = (values: Float64Array) =>
      realImaginary(ndarray("complex64", Float32Array.from(values), [examples, rx, tx, subcarriers]));
    const { h_hat_ri: found } = await context.learned.run({
      ls_estimate_ri: grid(full),
      noise_variance: noisePerExample(noiseVariance, examples),
      pilot_ls_ri: grid(sparse),
      pilot_mask: pilotMask(positions, problem),
    }, { rows: ROWS });
    return { outputs: { estimate: channelArtifact(found.data as Float32Array, problem, { estimator: mode }) } };
  },
});
