/**
 * Direction of arrival by MUSIC: the minimum of ‖E_nᴴa(θ)‖² over a grid from -90 to 90 degrees, moved to the vertex of
 * the parabola through it and its neighbours; formulas and ties: lib/numeric/antenna/direction_finding.ts. At high Es/N0 it meets
 * the Cramér-Rao bound.
 *
 * Shapes: problem complex64 [example, antenna, snapshot] -> estimate float64 [example], degrees.
 */
import { defineOperation, float, z } from "../api.ts";
import {
  AOA_ESTIMATE,
  AOA_OBSERVATION,
  AOA_PROBLEM,
  arrayProblemOf,
  directionsArtifact,
  gridOfStep,
  searchBearings,
} from "../_aoa.ts";

export default defineOperation({
  id: "model.music_aoa_estimator",
  name: "MUSIC angle-of-arrival baseline",
  description: "Estimates the direction of arrival of a single source by MUSIC",
  inputs: { problem: [AOA_PROBLEM, AOA_OBSERVATION] },
  outputs: { estimate: AOA_ESTIMATE },
  params: z.strictObject({
    grid_size: z.int().min(2).max(1_000_000).default(721).describe("points from -90 to 90 degrees"),
    grid_step_deg: z.number().min(0.001).max(90).optional().describe("step of the grid, instead of grid_size")
      .meta({ "x-svc-ui": { unit: "degree" } }),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  formats: { artifact: "npz", tensor: "none" },
  inputMetadataRequirements: { problem: { all_of: ["element_spacing_wavelengths"] } },
  outputMetadataGuarantees: { estimate: { keys: ["grid_step_deg"] } },
  run({ inputs, params }) {
    const step = params.grid_step_deg ?? 180 / (params.grid_size - 1);
    const angles = searchBearings(arrayProblemOf(inputs.problem), gridOfStep(step), "music");
    return { outputs: { estimate: directionsArtifact(angles, { estimator: "music", grid_step_deg: float(step) }) } };
  },
});
