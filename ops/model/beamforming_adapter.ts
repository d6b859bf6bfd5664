/**
 * Slot for a beam policy:
 *
 *     mrt                       w = h/‖h‖
 *     codebook_sweep_reference  the DFT beam of the largest gain
 *     learned_artifact          a trained package: channels_ri [batch, tx_antenna, 2] -> weights_ri of the same shape, which
 *                               are brought to norm 1: no policy sends more power than another
 *
 * Formulas: lib/numeric/beamforming.ts.
 *
 * Shapes: problem complex64 [example, tx] -> decision complex64 [example, tx].
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import {
  LEARNED_ARTIFACT,
  learnedParameters,
  learnedProblems,
  realImaginary,
  slotAbi,
} from "../../lib/artifact/learned.ts";
import { dftCodebook, maximumRatio, sweepCodebook } from "../../lib/numeric/beamforming.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportPlanned } from "../_backends.ts";
import {
  beamEach,
  BEAMFORMING_DECISION,
  BEAMFORMING_PROBLEM,
  beamformingProblemOf,
  weightsArtifact,
} from "../_beamforming.ts";

/** Examples in a call of a trained policy. */
const ROWS = 65536;

export default defineOperation({
  id: "model.beamforming_adapter",
  name: "Beam policy slot",
  description: "Forms beams by maximum ratio, a codebook or a trained artifact",
  inputs: { problem: [BEAMFORMING_PROBLEM] },
  outputs: { decision: BEAMFORMING_DECISION },
  params: z.strictObject({
    mode: z.enum(["mrt", "codebook_sweep_reference", LEARNED_ARTIFACT]).default("codebook_sweep_reference"),
    ...learnedParameters("beam_policy"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch", "phylib"],
  },
  materializations: [
    ...executed("numpy", "maximum_ratio_transmission", { mode: "mrt" }),
    ...executed("numpy", "codebook_sweep_reference", { mode: "codebook_sweep_reference" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "trainable_beam_policy_endpoint"),
    exportPlanned("phylib", "phylib_precoder_training_endpoint"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "beam_policy",
    component_role: "single_user_miso_beam_policy",
    entrypoint_id: "beam_policy",
    inputs: { channels_ri: ["batch", "tx_antenna", 2] },
    outputs: { weights_ri: ["batch", "tx_antenna", 2] },
    required_operation_inputs: ["problem"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  outputMetadataGuarantees: { decision: { keys: ["example_count", "beamformer"] } },
  check: (params) => params.mode === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { mode } = context.params, problem = beamformingProblemOf(context.inputs.problem);
    const { examples, antennas, channels } = problem;
    if (mode === LEARNED_ARTIFACT) {
      const feeds = { channels_ri: realImaginary(ndarray("complex64", channels, [examples, antennas])) };
      const weights = (await context.learned.run(feeds, { rows: ROWS })).weights_ri.data as Float32Array;
      return { outputs: { decision: weightsArtifact(weights, problem, mode) } };
    }
    if (mode === "mrt") return { outputs: { decision: beamEach(problem, mode, maximumRatio) } };
    const codebook = dftCodebook(antennas);
    return { outputs: { decision: beamEach(problem, "dft_codebook", (channel) => sweepCodebook(channel, codebook)) } };
  },
});
