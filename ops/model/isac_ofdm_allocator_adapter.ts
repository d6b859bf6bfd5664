/**
 * Slot for a policy that shares power between a receiver and an echo:
 *
 *     equal_power                  P/F everywhere
 *     communications_water_filling the p of the largest rate, deaf to the echo
 *     scalarized_reference         the p of the largest utility, where its projected gradient is zero
 *     learned_artifact             a trained package: features [batch, subcarrier, 4] -> power [batch, subcarrier], projected
 *                                  onto {p >= 0, Σ p = P} (svc_exact_simplex_projection_v1): no policy spends more
 *
 * The features of a subcarrier are |g_c|²/N0, |g_s|²/N0, sensing_weight and total_power/F. Formulas: lib/numeric/isac.ts.
 *
 * Shapes: problem complex64 [example, subcarrier] -> decision float64 [example, subcarrier].
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { float } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { LEARNED_ARTIFACT, learnedParameters, learnedProblems, slotAbi } from "../../lib/artifact/learned.ts";
import { type IsacChannels, IsacUtility, rateOnlyAllocation, scalarizedAllocation } from "../../lib/numeric/isac.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { projectOntoSimplex } from "../../lib/numeric/water_filling.ts";
import { executed, exportPlanned } from "../_backends.ts";
import { ISAC_DECISION, ISAC_PROBLEM, type IsacProblem, isacProblemOf } from "../_isac.ts";

/** Examples in a call of a trained policy. */
const ROWS = 4096;

export default defineOperation({
  id: "model.isac_ofdm_allocator_adapter",
  name: "Joint sensing and communication allocator slot",
  description: "Shares OFDM power between a receiver and an echo, by a rule or by a trained artifact",
  inputs: { problem: [ISAC_PROBLEM] },
  outputs: { decision: ISAC_DECISION },
  params: z.strictObject({
    mode: z.enum(["equal_power", "communications_water_filling", "scalarized_reference", LEARNED_ARTIFACT])
      .default("equal_power"),
    ...learnedParameters("isac_allocator"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  materializations: [
    ...executed("numpy", "equal_power", { mode: "equal_power" }),
    ...executed("numpy", "communication_water_filling", { mode: "communications_water_filling" }),
    ...executed("numpy", "scalarized_projected_gradient_oracle", { mode: "scalarized_reference" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "label_free_scalarized_utility"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "allocator",
    component_role: "joint_isac_ofdm_power_allocator",
    entrypoint_id: "isac_allocator",
    inputs: { features: ["batch", "subcarrier", 4] },
    outputs: { power: ["batch", "subcarrier"] },
    required_operation_inputs: ["problem"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  outputMetadataGuarantees: { decision: { keys: ["allocator", "total_power"] } },
  check: (params) => params.mode === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { mode } = context.params, problem = isacProblemOf(context.inputs.problem);
    const { examples, subcarriers, totalPower, sensingWeight } = problem;
    const power = new Float64Array(examples * subcarriers);
    const scores = mode === LEARNED_ARTIFACT
      ? (await context.learned.run({ features: featuresOf(problem) }, { rows: ROWS })).power.data as Float32Array
      : undefined;

    const allocate = (channels: IsacChannels, from: number): Float64Array => {
      switch (mode) {
        case "equal_power":
          return new Float64Array(subcarriers).fill(totalPower / subcarriers);
        case "communications_water_filling":
          return rateOnlyAllocation(channels);
        case "scalarized_reference":
          return scalarizedAllocation(new IsacUtility(channels, sensingWeight));
        case LEARNED_ARTIFACT:
          return projectOntoSimplex(scores!.subarray(from, from + subcarriers), totalPower);
      }
    };

    for (let example = 0; example < examples; example++) {
      power.set(allocate(problem.channelsAt(example), example * subcarriers), example * subcarriers);
    }
    const metadata = { example_count: examples, allocator: mode, total_power: float(totalPower) };
    return { outputs: { decision: { array: ndarray("float64", power, [examples, subcarriers]), metadata } } };
  },
});

function featuresOf({ examples, subcarriers, communication, sensing, sensingWeight, totalPower }: IsacProblem) {
  const features = new Float32Array(4 * examples * subcarriers), mean = totalPower / subcarriers;
  communication.forEach((a, k) => features.set([a, sensing[k], sensingWeight, mean], 4 * k));
  return ndarray("float32", features, [examples, subcarriers, 4]);
}
