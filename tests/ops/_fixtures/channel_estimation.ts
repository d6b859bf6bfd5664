/** Conformance cases of channel estimation. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const EXAMPLES = 2, RX = 2, TX = 2, SUBCARRIERS = 8;
const METADATA = { noise_variance: 0.1, pilot_density: 0.25, example_count: EXAMPLES };
const values = (count: number, step: number) => Float32Array.from({ length: 2 * count }, (_, i) => Math.cos(step * i));

export const CHANNEL = values(EXAMPLES * RX * TX * SUBCARRIERS, 3);

/** A comb of every fourth subcarrier for each of two antennas. */
function combPattern() {
  const pilots = new Float32Array(2 * TX * SUBCARRIERS);
  for (let t = 0; t < TX; t++) {
    for (let k = t; k < SUBCARRIERS; k += 4) pilots.set([0.6, -0.8], 2 * (t * SUBCARRIERS + k));
  }
  return pilots;
}

const pattern = () => arrayInput("ai_phy.pilot_pattern.numpy", "complex64", combPattern(), [TX, SUBCARRIERS]);

/** Received pilots; an observation has no true channel. */
export function pilotsInput(kind: "problem" | "observation") {
  const received = values(EXAMPLES * RX * SUBCARRIERS, 5);
  return {
    ...arrayInput(
      `ai_phy.channel_estimation_${kind}.numpy`,
      "complex64",
      received,
      [EXAMPLES, RX, SUBCARRIERS],
      METADATA,
    ),
    companions: {
      pilots: ndarray("complex64", combPattern(), [TX, SUBCARRIERS]),
      ...(kind === "problem" ? { channel: ndarray("complex64", CHANNEL, [EXAMPLES, RX, TX, SUBCARRIERS]) } : {}),
    },
  };
}

const GRID = [EXAMPLES, RX, TX, SUBCARRIERS];
const estimate = arrayInput(
  "ai_phy.channel_estimate.numpy",
  "complex64",
  values(GRID.reduce((a, b) => a * b), 3.01),
  GRID,
);
const truth = arrayInput("ai_phy.channel_estimation_truth.numpy", "complex64", CHANNEL, GRID, METADATA);

export const CHANNEL_ESTIMATION_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    "channel and pilots": () => ({
      channel: arrayInput("ai_phy.channel_realization.numpy", "complex64", CHANNEL, GRID),
      pilots: pattern(),
    }),
    problem: () => ({ problem: pilotsInput("problem") }),
    observation: () => ({ problem: pilotsInput("observation") }),
    "estimate and problem": () => ({ estimate, problem: pilotsInput("problem") }),
    "estimate and truth": () => ({ estimate, problem: truth }),
  },
  model: {
    estimate: ({ ls_estimate_ri: { shape, data } }) => ({ h_hat_ri: ndarray("float32", data.slice(), shape) }),
    "estimate with error variances": ({ ls_estimate_ri: { shape, data } }) => ({
      h_hat_ri: ndarray("float32", data.slice(), shape),
      error_variance: ndarray(
        "float32",
        Float32Array.from({ length: data.length / 2 }, (_, i) => i % 5),
        shape.slice(0, 4),
      ),
    }),
  },
});
