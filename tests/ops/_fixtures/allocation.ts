/** Conformance cases of beamforming and resource allocation. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

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

export const ALLOCATION_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    beams: () => ({ problem: beamProblem() }),
    "beams with weights": () => ({
      problem: beamProblem(),
      decision: arrayInput(
        "ai_phy.beamforming_decision.numpy",
        "complex64",
        Float32Array.from({ length: 40 }, (_, i) => i % 2 === 0 ? 0.5 : 0),
        [5, 4],
      ),
    }),
    resources: () => ({ problem: resourceProblem() }),
    "resources with powers": () => ({
      problem: resourceProblem(),
      decision: arrayInput("ai_phy.resource_allocation_decision.numpy", "float64", new Float64Array(24).fill(0.25), [
        3,
        8,
      ]),
    }),
  },
  model: {
    // Weights of any norm, and none at all for one example.
    weights: ({ channels_ri: { shape, data } }) => ({
      weights_ri: ndarray(
        "float32",
        Float32Array.from(data as Float32Array, (value, i) => i < 8 ? 0 : 3 * value),
        shape,
      ),
    }),
  },
});
