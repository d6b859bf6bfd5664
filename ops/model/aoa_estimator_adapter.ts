/**
 * Slot for an estimator of the bearing of a single source:
 *
 *     bartlett_reference  maximum of aᴴRa over a grid
 *     music               minimum of ‖E_nᴴa‖² over a grid
 *     learned_artifact    a trained package: snapshots_ri [batch, antenna, snapshot, 2] -> angles_deg [batch]
 *
 * Formulas: lib/numeric/direction_finding.ts. No mode sees true angles.
 *
 * Shapes: problem complex64 [example, antenna, snapshot] -> estimate float64 [example], degrees.
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
  AOA_ESTIMATE,
  AOA_OBSERVATION,
  AOA_PROBLEM,
  arrayProblemOf,
  bearingsArtifact,
  gridOfStep,
  searchBearings,
} from "../_aoa.ts";

/** Examples in a call of a trained estimator. */
const ROWS = 1024;

export default defineOperation({
  id: "model.aoa_estimator_adapter",
  name: "Angle-of-arrival estimator slot",
  description: "Finds the bearing of a single source, by a spectrum or by a trained artifact",
  inputs: { problem: [AOA_PROBLEM, AOA_OBSERVATION] },
  outputs: { estimate: AOA_ESTIMATE },
  params: z.strictObject({
    mode: z.enum(["music", "bartlett_reference", LEARNED_ARTIFACT]).default("bartlett_reference"),
    grid_step_deg: z.number().min(0.001).max(90).default(0.25).describe("of the spectra")
      .meta({ "x-svc-ui": { unit: "degree" } }),
    ...learnedParameters("aoa_estimator"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch", "phylib"],
  },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [
    ...executed("numpy", "music_spatial_spectrum_reference", { mode: "music" }),
    ...executed("numpy", "bartlett_spatial_spectrum_reference", { mode: "bartlett_reference" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "trainable_aoa_estimator_endpoint"),
    exportPlanned("phylib", "phylib_rt_aoa_training_endpoint"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "aoa_estimator",
    component_role: "single_source_ula_aoa_estimator",
    entrypoint_id: "aoa_estimator",
    inputs: { snapshots_ri: ["batch", "antenna", "snapshot", 2] },
    outputs: { angles_deg: ["batch"] },
    required_operation_inputs: ["problem"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  inputMetadataRequirements: { problem: { all_of: ["element_spacing_wavelengths"] } },
  outputMetadataGuarantees: { estimate: { keys: ["example_count", "unit", "estimator"] } },
  check: (params) => params.mode === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { mode, grid_step_deg: step } = context.params, problem = arrayProblemOf(context.inputs.problem);
    if (mode === LEARNED_ARTIFACT) {
      const { examples, antennas, snapshots, received } = problem;
      const feeds = { snapshots_ri: realImaginary(ndarray("complex64", received, [examples, antennas, snapshots])) };
      const found = (await context.learned.run(feeds, { rows: ROWS })).angles_deg.data as Float32Array;
      return { outputs: { estimate: bearingsArtifact(Float64Array.from(found), { estimator: mode }) } };
    }
    const method = mode === "music" ? "music" : "bartlett";
    const angles = searchBearings(problem, gridOfStep(step), method);
    return { outputs: { estimate: bearingsArtifact(angles, { estimator: method, grid_step_deg: float(step) }) } };
  },
});
