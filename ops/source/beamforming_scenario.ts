/**
 * Channels from an array of antennas to one receiver, in units of unit power per antenna, N0 = 10^(-snr_db/10):
 *
 *     iid_complex_gaussian  h_m ~ CN(0, 1)
 *     clustered_ula         h = g·a(θ), g ~ CN(0, 1), a half-wavelength array, θ around one of the centres -40°, 0°,
 *                           35° with a standard deviation of 5°
 *
 * Draws: complex [example, tx]; clustered: integers(0, 3, example), normal angles [example], complex gains [example].
 *
 * Shapes: problem complex64 [example, tx].
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { steeringVector } from "../../lib/numeric/antenna/array_response.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { executed, exported } from "../_backends.ts";
import { BEAMFORMING_PROBLEM } from "../_beamforming.ts";

const HOTSPOTS_DEG = [-40, 0, 35], SPREAD_DEG = 5;

export default defineOperation({
  id: "source.beamforming_scenario",
  name: "MISO beamforming channel batch",
  description: "Draws channels from an antenna array to one receiver",
  outputs: { problem: BEAMFORMING_PROBLEM },
  params: z.strictObject({
    example_count: z.int().positive().default(32).describe("number of channel vectors"),
    tx_antennas: z.int().positive().default(8).describe("transmit antennas"),
    channel_model: z.enum(["iid_complex_gaussian", "clustered_ula"]).default("iid_complex_gaussian")
      .describe("independent complex Gaussian entries, or clustered paths of a uniform linear array"),
    snr_db: z.number().default(10).describe("Es/N0 in dB of one antenna").meta(shownIn("dB")),
    seed: seedParameter(0),
  }),
  equivalence: { type: "statistical" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [
    ...executed("numpy", "synthetic_miso_channel_batch"),
    exported("torch", "torch_miso_channel_batch"),
    exported("phylib", "phylib_miso_channel_batch"),
  ],
  estimate: ({ example_count, tx_antennas }) => ({ problem: [["complex64", example_count, tx_antennas]] }),
  run({ params, generator }) {
    const { example_count: examples, tx_antennas: antennas } = params;
    const channels = params.channel_model === "clustered_ula"
      ? clustered(examples, antennas, generator)
      : generator.complexNormal64(examples * antennas, 1);
    const noiseVariance = dbToLinear(-params.snr_db);
    return {
      outputs: {
        problem: {
          array: ndarray("complex64", Float32Array.from(channels), [examples, antennas]),
          metadata: {
            example_count: examples,
            tx_antennas: antennas,
            channel_model: params.channel_model,
            noise_variance: float(noiseVariance),
            snr_db: float(params.snr_db),
          },
        },
      },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});

function clustered(examples: number, antennas: number, generator: Generator): Float64Array {
  const hotspots = generator.integers(0, HOTSPOTS_DEG.length, examples, "int64") as BigInt64Array;
  const spread = generator.standardNormal(examples) as Float64Array, gains = generator.complexNormal64(examples, 1);
  const channels = new Float64Array(2 * examples * antennas);
  for (let example = 0; example < examples; example++) {
    const a = steeringVector(HOTSPOTS_DEG[Number(hotspots[example])] + SPREAD_DEG * spread[example], antennas, 0.5);
    const gr = gains[2 * example], gi = gains[2 * example + 1];
    for (let m = 0; m < antennas; m++) {
      const at = 2 * (example * antennas + m);
      channels[at] = gr * a[2 * m] - gi * a[2 * m + 1];
      channels[at + 1] = gr * a[2 * m + 1] + gi * a[2 * m];
    }
  }
  return channels;
}
