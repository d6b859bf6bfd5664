/** Conformance cases of beamforming and resource allocation. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput } from "../inputs.ts";

const NOISE = { noise_variance: 0.1 };
const waves = (count: number, step: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(step * i + 1));

/** Five channels of four antennas. */
export const beamProblem = (channels = waves(40, 3)) =>
  arrayInput("ai_phy.beamforming_problem.numpy", "complex64", channels, [channels.length / 8, 4], NOISE);

/** Three channels on eight subcarriers. */
export const resourceProblem = (h = waves(48, 5)) =>
  arrayInput("ai_phy.resource_allocation_problem.numpy", "complex64", h, [h.length / 16, 8], {
    noise_variance: 0.05,
    total_power: 2,
  });

const problem = { inputs: () => ({ problem: resourceProblem() }) };
const channels = { inputs: () => ({ problem: beamProblem() }) };

export const ALLOCATION_FIXTURES: Record<string, ConformanceCase[]> = {
  "source.beamforming_scenario": ["iid_complex_gaussian", "clustered_ula"].map((channel_model) => ({
    name: channel_model,
    params: { example_count: 3, channel_model },
  })),
  "model.mrt_beamformer": [channels],
  "model.beamforming_adapter": [
    ...["mrt", "codebook_sweep_reference"].map((mode) => ({ ...channels, name: mode, params: { mode } })),
    {
      ...channels,
      name: "learned_artifact",
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      // Weights of any norm, and none at all for one example.
      model: ({ channels_ri: { shape, data } }) => ({
        weights_ri: ndarray(
          "float32",
          Float32Array.from(data as Float32Array, (value, i) => i < 8 ? 0 : 3 * value),
          shape,
        ),
      }),
    },
  ],
  "metrics.beamforming": [{
    inputs: () => ({
      problem: beamProblem(),
      decision: arrayInput(
        "ai_phy.beamforming_decision.numpy",
        "complex64",
        Float32Array.from({ length: 40 }, (_, i) => i % 2 === 0 ? 0.5 : 0),
        [5, 4],
      ),
    }),
  }],
  "source.resource_allocation_scenario": [{ params: { snapshot_count: 3, subcarrier_count: 8 } }],
  "model.equal_power_allocator": [problem],
  "model.water_filling_power_allocator": [problem],
  "model.resource_allocation_adapter": [problem, { ...problem, name: "cold", params: { temperature: 0.01 } }],
  "metrics.resource_allocation": [{
    inputs: () => ({
      problem: resourceProblem(),
      decision: arrayInput(
        "ai_phy.resource_allocation_decision.numpy",
        "float64",
        new Float64Array(24).fill(0.25),
        [3, 8],
      ),
    }),
  }],
};
