/**
 * Pilots of single sources in the near field of a large array, y = h(r, θ) + noise of the variance 10^(-snr_db/10) per antenna.
 * The wave is spherical, its amplitude the same at all antennas.
 *
 * Draws: uniform angles, uniform ranges, then noise [example, antenna].
 *
 * Shapes: problem complex64 [example, antenna], truth float64 [example, 2] (see ../_near_field.ts).
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { rayleighDistance, sphericalWave, wavelengthOf } from "../../lib/numeric/antenna/near_field.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { executed, exported } from "../_backends.ts";
import { fociArtifact, NEAR_FIELD_PROBLEM, NEAR_FIELD_TRUTH } from "../_near_field.ts";

const angleParameter = (fallback: number) =>
  z.number().min(-90).max(90).default(fallback).describe("from broadside").meta(shownIn("degree"));

export default defineOperation({
  id: "source.near_field_xl_mimo_scenario",
  name: "Near-field pilots at a large array",
  description: "Draws sources near a large array and receives their spherical waves",
  outputs: { problem: NEAR_FIELD_PROBLEM, truth: NEAR_FIELD_TRUTH },
  params: z.strictObject({
    example_count: z.int().positive().default(64).describe("number of sources"),
    antennas: z.int().positive().default(32).describe("antennas of the array, half a wavelength apart"),
    carrier_frequency_ghz: z.number().positive().default(28).describe("carrier frequency in GHz").meta(shownIn("GHz")),
    range_min_m: z.number().positive().default(0.5).describe("least distance from the centre of the array in m")
      .meta(shownIn("m")),
    range_max_m: z.number().positive().default(5).describe("largest distance from the centre of the array in m")
      .meta(shownIn("m")),
    angle_min_deg: angleParameter(-55),
    angle_max_deg: angleParameter(55),
    snr_db: z.number().default(15).describe("Es/N0 in dB, per antenna").meta(shownIn("dB")),
    seed: seedParameter(0),
  }),
  materializations: [
    ...executed("numpy", "spherical_wave_coherent_pilot"),
    exported("torch", "captured_range_angle_supervision"),
  ],
  check: ({ angle_min_deg: low, angle_max_deg: high, range_min_m: near, range_max_m: far }) => [
    ...(low <= high ? [] : [{
      message: `Cannot draw angles from ${low} to ${high} degrees`,
      place: ["angle_min_deg"],
      hint: "Set angle_min_deg to at most angle_max_deg",
    }]),
    ...(near <= far ? [] : [{
      message: `Cannot draw ranges from ${near} to ${far} m`,
      place: ["range_min_m"],
      hint: "Set range_min_m to at most range_max_m",
    }]),
  ],
  estimate: ({ example_count: n, antennas }) => ({
    problem: [["complex64", n, antennas]],
    truth: [["float64", n, 2]],
  }),
  run({ params, generator }) {
    const { example_count: examples, antennas, carrier_frequency_ghz: carrier } = params;
    const array = { antennas, wavelength: wavelengthOf(carrier) }, noiseVariance = dbToLinear(-params.snr_db);
    const angles = generator.uniform(params.angle_min_deg, params.angle_max_deg, examples);
    const ranges = generator.uniform(params.range_min_m, params.range_max_m, examples);
    const received = generator.complexNormal64(examples * antennas, noiseVariance),
      foci = new Float64Array(2 * examples);
    ranges.forEach((range, example) => {
      const angle = angles[example];
      foci.set([range, angle], 2 * example);
      sphericalWave(array, { range, angle }).forEach((part, i) => received[2 * antennas * example + i] += part);
    });
    return {
      outputs: {
        problem: {
          array: ndarray("complex64", Float32Array.from(received), [examples, antennas]),
          metadata: {
            example_count: examples,
            antenna_count: antennas,
            carrier_frequency_ghz: float(carrier),
            wavelength_m: float(array.wavelength),
            rayleigh_distance_m: float(rayleighDistance(array)),
            range_min_m: float(params.range_min_m),
            range_max_m: float(params.range_max_m),
            angle_min_deg: float(params.angle_min_deg),
            angle_max_deg: float(params.angle_max_deg),
            noise_variance: float(noiseVariance),
            snr_db: float(params.snr_db),
          },
        },
        truth: fociArtifact(foci, {}),
      },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});
