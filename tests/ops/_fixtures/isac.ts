/** Conformance cases of joint sensing and communication. */
import { ndarray } from "../../../lib/numeric/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput } from "../inputs.ts";

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

const problem = () => ({ problem: isacInput() });

export const ISAC_FIXTURES: Record<string, ConformanceCase[]> = {
  "source.isac_ofdm_scenario": [{ params: { example_count: 3, subcarriers: 5 } }],
  "model.isac_ofdm_allocator_adapter": [
    ...["equal_power", "communications_water_filling", "scalarized_reference"].map((mode) => ({
      name: mode,
      inputs: problem,
      params: { mode },
    })),
    {
      name: "learned_artifact",
      inputs: problem,
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: ({ features: { shape: [batch, subcarriers], data } }) => ({
        power: ndarray(
          "float32",
          Float32Array.from({ length: batch * subcarriers }, (_, k) => Number(data[4 * k]) - 5),
          [batch, subcarriers],
        ),
      }),
    },
  ],
  "metrics.isac_ofdm": [{
    inputs: () => ({
      ...problem(),
      decision: arrayInput(
        "isac.ofdm_power_allocation.numpy",
        "float64",
        Float64Array.of(1, 1, 1, 0, 3, 0),
        [2, 3],
        { total_power: 3 },
      ),
    }),
  }],
};
