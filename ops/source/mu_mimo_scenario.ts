/**
 * Channels from a base station to several users, y_k = H_k W s + n_k with E|h|² = g_k, N0 = total_power·10^(-snr_db/10):
 *
 *     iid_complex_gaussian  entries CN(0, 1)
 *     clustered_ula         H_k = b·a(θ)ᴴ, b ~ CN(0, I), a half-wavelength array, θ around one of the centres -40°, 0°, 35°
 *                           with a standard deviation of 5°
 *
 * g_k is uniform in dB within ±path_gain_spread_db/2; a user keeps it in all examples. With an error the problem holds h + e, e ~ CN(0, csi_error_variance),
 * and h as true_channel.
 *
 * Examples are independent, or with time_variation doppler successive slots of users in motion: each entry of an iid channel, each b of a
 * clustered one, is 8 sums of sinusoids of Jakes' spectrum (lib/numeric/channel/delay_profile.ts), and a user keeps its θ.
 *
 * Draws: h as complex [example, user, rx, tx]; clustered: integers(0, 3) [example, user], normal angles [example, user],
 * complex gains [example, user, rx]; then uniform user gains [user], then e. In motion integers and angles are [user], and the complex
 * values are drawn as random(), a [user, rx, tx or 1] at a time: angles [8, 20], then phases.
 *
 * Shapes: problem complex64 [example, user, rx, tx].
 */
import { defineOperation, float, seedParameter, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { maximumDopplerHz, movingTaps } from "../../lib/numeric/channel/delay_profile.ts";
import { steeringVector } from "../../lib/numeric/antenna/array_response.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { MU_MIMO_PROBLEM, TRUE_CHANNEL } from "../_mu_mimo.ts";

const HOTSPOTS_DEG = [-40, 0, 35], SPREAD_DEG = 5;
const IN_MOTION = { "x-svc-effective-when": { time_variation: "doppler" } };
/** Sums of sinusoids that make an entry. One sum of 20 has gains |h|² of correlation J0² - 1/20, eight have J0² - 1/160. */
const SUMS = 8;
const FLAT = { delays: new Float64Array(SUMS), powers: new Float64Array(SUMS).fill(1 / SUMS), lineOfSight: false };
const dB = { "x-svc-ui": { unit: "dB" } };

export default defineOperation({
  id: "source.mu_mimo_scenario",
  name: "Multi-user downlink channel batch",
  description: "Draws channels from a base station to several users",
  outputs: { problem: MU_MIMO_PROBLEM },
  params: z.strictObject({
    users: z.int().min(1).max(64).default(4).describe("users served at once"),
    tx_antennas: z.int().min(1).max(256).default(8).describe("antennas of the base station"),
    rx_antennas: z.int().min(1).max(16).default(1).describe("antennas of each user"),
    channel_model: z.enum(["iid_complex_gaussian", "clustered_ula"]).default("iid_complex_gaussian")
      .describe("independent complex Gaussian entries, or clustered directions of a uniform linear array"),
    snr_db: z.number().default(10).describe("total power over noise power in dB").meta(dB),
    path_gain_spread_db: z.number().nonnegative().default(0)
      .describe("range of the users' mean gains in dB, the same in all examples").meta(dB),
    csi_error_variance: z.number().nonnegative().default(0)
      .describe("variance of the error of each known channel entry, linear"),
    time_variation: z.enum(["independent", "doppler"]).default("independent")
      .describe("independent examples, or successive slots of users in motion"),
    mobility_kmh: z.number().nonnegative().default(3).meta({ ...IN_MOTION, "x-svc-ui": { unit: "km/h" } })
      .describe("speed of the users in km/h"),
    carrier_frequency_ghz: z.number().positive().default(3.5).meta({ ...IN_MOTION, "x-svc-ui": { unit: "GHz" } })
      .describe("carrier frequency in GHz"),
    slot_interval_ms: z.number().positive().default(1).meta({ ...IN_MOTION, "x-svc-ui": { unit: "ms" } })
      .describe("time from one example to the next in ms"),
    total_power: z.number().positive().default(1).describe("power budget of the base station, linear"),
    example_count: z.int().positive().default(32).describe("number of channel realisations"),
    seed: seedParameter(),
  }),
  equivalence: { type: "statistical" },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  formats: { artifact: "npz", tensor: "none" },
  estimate: ({ example_count, users, rx_antennas, tx_antennas, csi_error_variance }) => {
    const array: ["complex64", ...number[]] = ["complex64", example_count, users, rx_antennas, tx_antennas];
    return { problem: csi_error_variance > 0 ? [array, array] : [array] };
  },
  run({ params, generator }) {
    const { example_count: examples, users, rx_antennas: rx, tx_antennas: tx } = params;
    const shape = [examples, users, rx, tx], moving = params.time_variation === "doppler";
    /** Complex gains of variance 1, [example, user, link]. */
    const gainsOf = (links: number) =>
      moving ? movingGains(users * links, params, generator) : generator.complexNormal64(examples * users * links, 1);
    const channels = params.channel_model === "clustered_ula"
      ? clustered(shape, moving ? users : examples * users, gainsOf, generator)
      : gainsOf(rx * tx);
    const half = params.path_gain_spread_db / 2, gains = generator.uniform(-half, half, users);
    for (let i = 0; i < channels.length; i++) {
      channels[i] *= Math.sqrt(dbToLinear(gains[Math.floor(i / (2 * rx * tx)) % users]));
    }
    const noiseVariance = params.total_power * dbToLinear(-params.snr_db);
    const truth = ndarray("complex64", Float32Array.from(channels), shape);
    const known = params.csi_error_variance > 0 ? withError(channels, params.csi_error_variance, generator) : undefined;
    const arrays: { array: NdArray; companions?: Record<string, NdArray> } = known === undefined
      ? { array: truth }
      : { array: ndarray("complex64", known, shape), companions: { [TRUE_CHANNEL]: truth } };
    return {
      outputs: {
        problem: {
          ...arrays,
          metadata: {
            example_count: examples,
            users,
            rx_antennas: rx,
            tx_antennas: tx,
            channel_model: params.channel_model,
            noise_variance: float(noiseVariance),
            total_power: float(params.total_power),
            snr_db: float(params.snr_db),
          },
        },
      },
      metrics: { "channel.noise_variance": noiseVariance, "channel.snr_db": params.snr_db },
    };
  },
});

/** Gains of successive slots, [example, link]. */
function movingGains(
  links: number,
  { example_count: samples, mobility_kmh, carrier_frequency_ghz, slot_interval_ms }: Motion,
  generator: Generator,
): Float64Array {
  const motion = {
    dopplerHz: maximumDopplerHz(mobility_kmh, carrier_frequency_ghz),
    interval: slot_interval_ms * 1e-3,
    samples,
  };
  const gains = new Float64Array(2 * links * samples);
  for (let link = 0; link < links; link++) {
    movingTaps(FLAT, 1, motion, generator).forEach((value, i) => {
      gains[2 * (Math.floor(i / (2 * SUMS)) * links + link) + i % 2] += value;
    });
  }
  return gains;
}

interface Motion {
  example_count: number;
  mobility_kmh: number;
  carrier_frequency_ghz: number;
  slot_interval_ms: number;
}

/** Channels of rank one, b·a(θ)ᴴ, [example, user, rx, tx]. @param places angles that are drawn: of users, or of each example too */
function clustered(
  [examples, users, rx, tx]: number[],
  places: number,
  gainsOf: (links: number) => Float64Array,
  generator: Generator,
): Float64Array {
  const hotspots = generator.integers(0, HOTSPOTS_DEG.length, places, "int64") as BigInt64Array;
  const spread = generator.standardNormal(places) as Float64Array, gains = gainsOf(rx);
  const channels = new Float64Array(2 * examples * users * rx * tx);
  for (let user = 0; user < examples * users; user++) {
    const place = user % places;
    const a = steeringVector(HOTSPOTS_DEG[Number(hotspots[place])] + SPREAD_DEG * spread[place], tx, 0.5);
    for (let row = user * rx; row < (user + 1) * rx; row++) {
      const re = gains[2 * row], im = gains[2 * row + 1];
      for (let m = 0; m < tx; m++) {
        const at = 2 * (row * tx + m);
        channels[at] = re * a[2 * m] + im * a[2 * m + 1];
        channels[at + 1] = im * a[2 * m] - re * a[2 * m + 1];
      }
    }
  }
  return channels;
}

function withError(channels: Float64Array, variance: number, generator: Generator): Float32Array<ArrayBuffer> {
  const error = generator.complexNormal64(channels.length / 2, variance);
  return Float32Array.from(channels, (value, i) => value + error[i]);
}
