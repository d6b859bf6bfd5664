/** Conformance cases of reflecting surfaces, link budgets and beam patterns. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const waves = (count: number, step: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(step * i + 1));

/** Three channels of a surface of five elements. */
export const risProblem = (antennas = 1, direct = waves(6 * antennas, 3)) => ({
  ...arrayInput("ris.channel.numpy", "complex64", direct, [3, antennas], { noise_variance: 0.1, example_count: 3 }),
  companions: {
    h_r: ndarray("complex64", waves(30, 5), [3, 5]),
    g: ndarray("complex64", waves(30 * antennas, 7), [3, 5, antennas]),
  },
});

export const RIS_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    problem: () => ({ problem: risProblem() }),
    "problem of three antennas": () => ({ problem: risProblem(3) }),
    "problem and phases": () => ({
      problem: risProblem(),
      decision: arrayInput("ris.phases.numpy", "float64", Float64Array.from(waves(15, 2)), [3, 5]),
    }),
    weights: () => ({
      decision: arrayInput("ai_phy.beamforming_decision.numpy", "complex64", waves(24, 2), [3, 4]),
    }),
    precoder: () => ({
      decision: arrayInput("ai_phy.mu_mimo_precoder.numpy", "complex64", waves(48, 2), [3, 4, 2]),
    }),
  },
});
