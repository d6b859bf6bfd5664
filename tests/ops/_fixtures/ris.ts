/** Conformance cases of reflecting surfaces, link budgets and beam patterns. */
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";

const waves = (count: number, step: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(step * i + 1));

/** Three channels of a surface of five elements. */
export const risProblem = (antennas = 1, direct = waves(6 * antennas, 3)) => ({
  ...arrayInput("ris.channel.numpy", "complex64", direct, [3, antennas], { noise_variance: 0.1, example_count: 3 }),
  companions: {
    h_r: ndarray("complex64", waves(30, 5), [3, 5]),
    g: ndarray("complex64", waves(30 * antennas, 7), [3, 5, antennas]),
  },
});

const problem = (antennas?: number) => ({ inputs: () => ({ problem: risProblem(antennas) }) });

export const RIS_FIXTURES: Record<string, ConformanceCase[]> = {
  "source.ris_scenario": [1, 3].map((tx_antennas) => ({
    name: `${tx_antennas} antennas`,
    params: { elements: 5, example_count: 4, tx_antennas },
  })),
  "model.ris_phase_optimizer": [
    { ...problem(), name: "closed form", stochastic: false },
    { ...problem(3), name: "alternating", params: { mode: "alternating", phase_bits: 2 }, stochastic: false },
    { ...problem(), name: "random", params: { mode: "random" } },
  ],
  "metrics.ris": [{
    inputs: () => ({
      problem: risProblem(),
      decision: arrayInput("ris.phases.numpy", "float64", Float64Array.from(waves(15, 2)), [3, 5]),
    }),
  }],
  "source.leo_link_budget": [{}],
  "model.beampattern": [
    {
      inputs: () => ({
        decision: arrayInput("ai_phy.beamforming_decision.numpy", "complex64", waves(24, 2), [3, 4]),
      }),
    },
    {
      name: "precoder",
      inputs: () => ({
        decision: arrayInput("ai_phy.mu_mimo_precoder.numpy", "complex64", waves(48, 2), [3, 4, 2]),
      }),
    },
  ],
};
