/**
 * Channels of a link with a reconfigurable intelligent surface: a direct path that is obstructed, and a path by each of
 * N elements. In units of the mean received power of an unobstructed antenna, N0 = 10^(-snr_db/10):
 *
 *     h_d [tx]              CN(0, 10^(direct_gain_db/10))
 *     h_r [element]         sqrt(p)·(sqrt(K/(K+1))·a_N(30°) + sqrt(1/(K+1))·CN(0, 1))
 *     G [element, tx]       sqrt(p)·(sqrt(K/(K+1))·a_N(-20°)·1ᵀ + sqrt(1/(K+1))·CN(0, 1))
 *
 * p = 10^(cascade_gain_db/20), so that the path by one element has the mean power 10^(cascade_gain_db/10). The surface is a
 * uniform linear array with half a wavelength between its elements; it sees the receiver at 30° and the transmitter at
 * -20°, and lies at broadside of the transmit array.
 *
 * Draws: complex normal h_d [example, tx], h_r [example, element], G [example, element, tx].
 *
 * Shapes: problem complex64 [example, tx] with companions (see ../_ris.ts).
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { steeringVector } from "../../lib/numeric/antenna/array_response.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { notExported } from "../_backends.ts";
import { RIS_CHANNEL } from "../_ris.ts";

const RECEIVER_DEG = 30, TRANSMITTER_DEG = -20, SPACING = 0.5;

const decibels = (fallback: number, what: string) =>
  z.number().min(-300).max(300).default(fallback).describe(what).meta(shownIn("dB"));

export default defineOperation({
  id: "source.ris_scenario",
  name: "Link with a reflecting surface",
  description: "Draws direct and reflected channels of a link with a reconfigurable intelligent surface",
  outputs: { problem: RIS_CHANNEL },
  params: z.strictObject({
    elements: z.int().positive().default(64).describe("elements of the surface"),
    tx_antennas: z.int().positive().default(1).describe("transmit antennas"),
    direct_gain_db: decibels(-10, "mean power of the direct path in dB"),
    cascade_gain_db: decibels(0, "mean power of the path by one element in dB"),
    k_factor_db: decibels(10, "Rician K factor in dB of the two channels of the surface"),
    snr_db: decibels(0, "Es/N0 in dB at unit channel power"),
    example_count: z.int().positive().default(32).describe("number of channel realisations"),
    seed: seedParameter(),
  }),
  differentiability: notExported("numpy", "none", "A source of random channels"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "statistical" },
  estimate: ({ example_count: n, elements, tx_antennas }) => ({
    problem: [["complex64", n, tx_antennas], ["complex64", n, elements], ["complex64", n, elements, tx_antennas]],
  }),
  run({ params, generator }) {
    const { example_count: examples, elements, tx_antennas: antennas } = params;
    const direct = generator.complexNormal64(examples * antennas, dbToLinear(params.direct_gain_db));
    const reflected = generator.complexNormal64(examples * elements, 1);
    const incident = generator.complexNormal64(examples * elements * antennas, 1);
    const ratio = dbToLinear(params.k_factor_db), power = dbToLinear(params.cascade_gain_db / 2);
    const rician = (scattered: Float64Array, degrees: number, copies: number) => {
      const a = steeringVector(degrees, elements, SPACING), out = new Float32Array(scattered.length);
      const fixed = Math.sqrt(power * ratio / (ratio + 1)), random = Math.sqrt(power / (ratio + 1));
      for (let i = 0; i < out.length; i++) {
        const element = Math.floor(i / (2 * copies)) % elements;
        out[i] = fixed * a[2 * element + i % 2] + random * scattered[i];
      }
      return out;
    };
    const noiseVariance = dbToLinear(-params.snr_db);
    return {
      outputs: {
        problem: {
          array: ndarray("complex64", Float32Array.from(direct), [examples, antennas]),
          companions: {
            h_r: ndarray("complex64", rician(reflected, RECEIVER_DEG, 1), [examples, elements]),
            g: ndarray("complex64", rician(incident, TRANSMITTER_DEG, antennas), [examples, elements, antennas]),
          },
          metadata: {
            example_count: examples,
            elements,
            tx_antennas: antennas,
            receiver_angle_deg: float(RECEIVER_DEG),
            transmitter_angle_deg: float(TRANSMITTER_DEG),
            noise_variance: float(noiseVariance),
            snr_db: float(params.snr_db),
          },
        },
      },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});
