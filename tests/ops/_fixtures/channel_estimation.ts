/** Conformance cases of channel estimation. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput } from "../inputs.ts";

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
const WIDE = { example_count: 2, rx_antennas: 2, tx_antennas: 2, subcarriers: 8 };

export const CHANNEL_ESTIMATION_FIXTURES: Record<string, ConformanceCase[]> = {
  "source.ai_phy_channel_realization": [
    { params: { example_count: 3 } },
    { name: "flat_siso", params: { scenario: "flat_siso", subcarriers: 4 } },
    { name: "mimo_ofdm", params: { scenario: "mimo_ofdm", ...WIDE } },
    { name: "tdl", params: { scenario: "mimo_ofdm_3gpp_tdl", ...WIDE } },
    { name: "phylib", params: { scenario: "mimo_ofdm", wireless_backend: "phylib", ...WIDE } },
  ],
  "source.ai_phy_pilot_pattern": [
    { params: { subcarriers: 3 }, stochastic: false },
    { name: "comb", params: { scenario: "comb", tx_antennas: 2, subcarriers: 16 } },
  ],
  "source.ai_phy_pilot_channel": ["numpy", "phylib"].flatMap((wireless_backend) => [
    { name: `pilot_awgn on ${wireless_backend}`, params: { wireless_backend, subcarriers: 3, rx_antennas: 2 } },
    { name: `mimo on ${wireless_backend}`, params: { wireless_backend, scenario: "mimo_ofdm_pilot", ...WIDE } },
  ]),
  "wireless.pilot_observation": ["auto", "numpy", "phylib"].map((wireless_backend) => ({
    name: wireless_backend,
    inputs: () => ({
      channel: arrayInput("ai_phy.channel_realization.numpy", "complex64", CHANNEL, GRID),
      pilots: pattern(),
    }),
    params: { wireless_backend },
  })),
  "model.ls_channel_estimator": [
    { inputs: () => ({ problem: pilotsInput("problem") }) },
    { name: "without truth", inputs: () => ({ problem: pilotsInput("observation") }) },
  ],
  "model.channel_estimator_adapter": [
    ...["least_squares", "linear_mmse_reference"].map((mode) => ({
      name: mode,
      inputs: () => ({ problem: pilotsInput("observation") }),
      params: { mode },
    })),
    {
      name: "learned_artifact",
      inputs: () => ({ problem: pilotsInput("problem") }),
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: ({ ls_estimate_ri: { shape, data } }) => ({
        h_hat_ri: ndarray("float32", data.slice() as Float32Array, shape),
      }),
    },
    {
      name: "learned_artifact with error variances",
      inputs: () => ({ problem: pilotsInput("observation") }),
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: ({ ls_estimate_ri: { shape, data } }) => ({
        h_hat_ri: ndarray("float32", data.slice() as Float32Array, shape),
        error_variance: ndarray(
          "float32",
          Float32Array.from({ length: data.length / 2 }, (_, i) => i % 5),
          shape.slice(0, 4),
        ),
      }),
    },
  ],
  "metrics.channel_estimation": [
    { inputs: () => ({ estimate, problem: pilotsInput("problem") }) },
    { name: "truth apart", inputs: () => ({ estimate, problem: truth }) },
  ],
};
