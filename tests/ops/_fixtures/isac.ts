/** Conformance cases of joint sensing and communication. */
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const METADATA = { total_power: 3, noise_variance: 0.1, sensing_weight: 0.4, example_count: 2 };

/** Responses of two examples with three subcarriers. */
export function isacInput(
  communication = [1, 0, 0.5, 0.5, 0, 2, 0.3, 0.1, 1, 1, 0, 0],
  sensing = [0.2, 0, 1, -1, 0.5, 0, 1, 0, 1, 0, 0, -0.2],
  metadata: Record<string, number> = {},
) {
  const shape = [communication.length / 6, 3];
  const received = Float32Array.from(communication), echoed = Float32Array.from(sensing);
  return {
    ...arrayInput("isac.ofdm_allocation_problem.numpy", "complex64", received, shape, { ...METADATA, ...metadata }),
    companions: { sensing: ndarray("complex64", echoed, shape) },
  };
}

/** An echo [example, subcarrier, symbol]; the reference is 1 everywhere unless given. */
export function echoInput(
  received: Float32Array,
  shape: number[],
  metadata: JsonObject = {},
  reference = received.map((_, i) => 1 - i % 2),
) {
  return {
    ...arrayInput("isac.ofdm_echo.numpy", "complex64", received, shape, {
      example_count: shape[0],
      subcarrier_spacing_hz: float(120e3),
      symbol_duration_s: float(9e-6),
      carrier_frequency_hz: float(28e9),
      noise_variance: float(0.5),
      ...metadata,
    }),
    companions: { reference: ndarray("complex64", reference, shape) },
  };
}

/** Two frames of 12 subcarriers and 10 symbols without a visible pattern. */
const echo = () => ({
  echo: echoInput(Float32Array.from({ length: 480 }, (_, i) => Math.sin(i * i) + Math.cos(0.3 * i)), [2, 12, 10]),
});

const FRAME = {
  subcarrier_count: 12,
  ofdm_symbol_count: 10,
  subcarrier_spacing_hz: float(120e3),
  symbol_duration_s: float(9e-6),
  carrier_frequency_hz: float(28e9),
  noise_variance: float(0.5),
};

/** Two examples of two targets, or of their estimates. */
const targetRows = (kind: string, places: number[], metadata: JsonObject = {}) => ({
  ...arrayInput(kind, "float64", Float64Array.from(places), [2, 2, 2], { example_count: 2, ...metadata }),
  companions: { power: ndarray("float64", Float64Array.of(1, 0.5, 1, 0.25), [2, 2]) },
});

const problem = () => ({ problem: isacInput() });

export const ISAC_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    problem,
    "problem and powers": () => ({
      ...problem(),
      decision: arrayInput("isac.ofdm_power_allocation.numpy", "float64", Float64Array.of(1, 1, 1, 0, 3, 0), [2, 3], {
        total_power: 3,
      }),
    }),
    echo,
    targets: () => ({
      estimate: targetRows("isac.range_velocity_estimate.numpy", [10, 1, 20, 2, 30, 3, 40, 4], FRAME),
      truth: targetRows("isac.range_velocity_truth.numpy", [21, 2, 10, 1.5, 30, 3, 41, 4]),
    }),
  },
  model: {
    powers: ({ features: { shape: [batch, subcarriers], data } }) => ({
      power: ndarray("float32", Float32Array.from({ length: batch * subcarriers }, (_, k) => Number(data[4 * k]) - 5), [
        batch,
        subcarriers,
      ]),
    }),
  },
});
