/** Conformance cases of near-field focusing. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { sphericalWave } from "../../../lib/numeric/antenna/near_field.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const FOCI = Float64Array.of(0.5, -12, 2, 20), ANTENNAS = 16, WAVELENGTH = 0.01;

/** Noiseless snapshots of two sources. */
export function nearFieldInput(metadata: Record<string, number> = {}, scale = 1) {
  const received = [0, 1].flatMap((example) => [
    ...sphericalWave(
      { antennas: ANTENNAS, wavelength: WAVELENGTH },
      { range: FOCI[2 * example], angle: FOCI[2 * example + 1] },
    ),
  ]);
  return arrayInput(
    "near_field.array_observation.numpy",
    "complex64",
    Float32Array.from(received, (value) => scale * value),
    [2, ANTENNAS],
    {
      wavelength_m: WAVELENGTH,
      range_min_m: 0.5,
      range_max_m: 2,
      angle_min_deg: -20,
      angle_max_deg: 20,
      ...metadata,
    },
  );
}

export const nearFieldTruth = () => arrayInput("near_field.range_angle_truth.numpy", "float64", FOCI, [2, 2]);

export const NEAR_FIELD_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    problem: () => ({ problem: nearFieldInput() }),
    "problem and truth": () => ({ problem: nearFieldInput(), truth: nearFieldTruth() }),
    estimate: () => ({
      problem: nearFieldInput(),
      truth: nearFieldTruth(),
      estimate: arrayInput("near_field.range_angle_estimate.numpy", "float64", Float64Array.of(0.6, -12, 2, 21), [
        2,
        2,
      ]),
    }),
  },
  model: {
    "ranges and angles": ({ array_ri: { shape, data } }) => ({
      range_angle: ndarray("float32", Float32Array.from({ length: 2 * shape[0] }, (_, i) => 1 + Number(data[i])), [
        shape[0],
        2,
      ]),
    }),
  },
});
