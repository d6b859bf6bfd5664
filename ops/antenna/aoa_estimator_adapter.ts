/**
 * Trainable estimator of the direction of arrival of a single source:
 *
 *     bartlett_reference  maximum of aᴴRa over a grid
 *     music               minimum of ‖E_nᴴa‖² over a grid
 *     learned_artifact    snapshots_ri [batch, antenna, snapshot, 2] -> angles_deg [batch]
 *
 * Formulas: lib/numeric/antenna/direction_finding.ts. No mode receives true angles.
 *
 * Shapes: problem complex64 [example, antenna, snapshot] -> estimate float64 [example], degrees.
 */
import { defineSlot, float, type JsonObject, LEARNED_ARTIFACT, usedWhen, z } from "../api.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  AOA_ESTIMATE,
  AOA_OBSERVATION,
  AOA_PROBLEM,
  arrayProblemOf,
  directionsArtifact,
  gridOfStep,
  searchBearings,
} from "../_aoa.ts";

export default defineSlot({
  id: "model.aoa_estimator_adapter",
  name: "Angle-of-arrival estimator slot",
  description: "Estimates the direction of arrival of a single source, by a spectrum or by a trained artifact",
  inputs: { problem: [AOA_PROBLEM, AOA_OBSERVATION] },
  outputs: { estimate: AOA_ESTIMATE },
  params: {
    grid_step_deg: z.number().min(0.001).max(90).default(0.25).describe("angular step of the spectra")
      .meta(usedWhen({ mode: ["music", "bartlett_reference"] }, { unit: "degree" })),
  },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  inputMetadataRequirements: { problem: { all_of: ["element_spacing_wavelengths"] } },
  gradient: "surrogate",
  exports: { torch: "trainable_aoa_estimator_endpoint", phylib: "phylib_rt_aoa_training_endpoint" },
  twin: true,
  mode: { default: "bartlett_reference" },
  read: ({ inputs }) => arrayProblemOf(inputs.problem),
  modes: {
    music: {
      implementation: "music_spatial_spectrum_reference",
      run: (problem, { params }) => searchBearings(problem, gridOfStep(params.grid_step_deg), "music"),
    },
    bartlett_reference: {
      implementation: "bartlett_spatial_spectrum_reference",
      label: "bartlett",
      run: (problem, { params }) => searchBearings(problem, gridOfStep(params.grid_step_deg), "bartlett"),
    },
  },
  learned: {
    component: { id: "aoa_estimator", role: "single_source_ula_aoa_estimator", entrypoint: "aoa_estimator" },
    inputs: { snapshots_ri: ["batch", "antenna", "snapshot", 2] },
    outputs: { angles_deg: ["batch"] },
    meaning: {
      snapshots_ri: "received values of each antenna and time, real and imaginary part",
      angles_deg: "direction of arrival in degrees from broadside, -90 to 90",
    },
    rows: 1024,
    async run({ received, examples, antennas, snapshots }, call) {
      const { angles_deg } = await call({
        snapshots_ri: ndarray("float32", received, [examples, antennas, snapshots, 2]),
      });
      return Float64Array.from(angles_deg.data);
    },
  },
  result(angles, _, { mode, label, params }) {
    const grid: JsonObject = mode === LEARNED_ARTIFACT ? {} : { grid_step_deg: float(params.grid_step_deg) };
    return { outputs: { estimate: directionsArtifact(angles, { estimator: label, ...grid }) } };
  },
});
