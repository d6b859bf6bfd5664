/**
 * Echoes of point targets in OFDM frames of random QPSK. Formulas: lib/numeric/antenna/range_doppler.ts.
 *
 * Ranges and velocities are uniform, the latter in ±velocity_max_mps; positive velocities approach. Powers in dB are uniform over
 * target_power_spread_db, and the strongest target of an example has the power 1, so that N0 = 10^(-snr_db/10). The symbol
 * duration is (1 + cyclic_prefix_fraction)/Δf. Echoes keep within the cyclic prefix or not: the model has no interference.
 *
 * Draws for each example: ranges, velocities, phases in 0 … 2π, powers in dB, each [target], then QPSK labels l with
 * X = exp(jπ/4·(2l + 1)) and complex noise, both [subcarrier, symbol]. The step metrics are the Cramér-Rao bounds of single
 * targets, the root of the mean variance over targets.
 *
 * Shapes: echo complex64 [example, subcarrier, symbol], truth float64 [example, target, 2] (see ../_range_doppler.ts).
 */
import { defineOperation, seedParameter, z } from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { type PooledMetric, ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { addEchoes, cramerRao, type EchoFrame } from "../../lib/numeric/antenna/range_doppler.ts";
import { notExported } from "../_backends.ts";
import { ECHO_TRUTH, FRAME_KEYS, frameMetadata, OFDM_ECHO, targetsArtifact } from "../_range_doppler.ts";

/** exp(jπ/4·(2l + 1)) of the labels 0 … 3. */
const QPSK = Array.from({ length: 4 }, (_, label) => {
  const angle = Math.PI / 4 * (2 * label + 1);
  return [Math.cos(angle), Math.sin(angle)];
});

const inUnit = <T extends z.ZodType>(schema: T, unit: string) => schema.meta({ "x-svc-ui": { unit } });

export default defineOperation({
  id: "source.isac_echo_scenario",
  name: "OFDM radar echoes",
  description: "Draws targets and the echoes of OFDM frames from them",
  outputs: { echo: OFDM_ECHO, truth: ECHO_TRUTH },
  params: z.strictObject({
    subcarriers: z.int().positive().default(256).describe("subcarriers of a frame"),
    ofdm_symbols: z.int().positive().default(64).describe("OFDM symbols of a frame"),
    subcarrier_spacing_khz: inUnit(z.number().positive().default(120).describe("subcarrier spacing in kHz"), "kHz"),
    cyclic_prefix_fraction: z.number().nonnegative().default(0.0703125)
      .describe("length of the cyclic prefix over that of the symbol without it"),
    carrier_frequency_ghz: inUnit(z.number().positive().default(28).describe("carrier frequency in GHz"), "GHz"),
    target_count: z.int().positive().default(1).describe("targets of an example"),
    range_min_m: inUnit(z.number().nonnegative().default(5).describe("least range in m"), "m"),
    range_max_m: inUnit(z.number().nonnegative().default(150).describe("largest range in m"), "m"),
    velocity_max_mps: inUnit(z.number().nonnegative().default(50).describe("largest radial speed in m/s"), "m/s"),
    target_power_spread_db: inUnit(
      z.number().nonnegative().default(0).describe("range of the drawn powers in dB"),
      "dB",
    ),
    snr_db: inUnit(z.number().default(0).describe("Es/N0 in dB of a resource element, strongest target"), "dB"),
    example_count: z.int().positive().default(16).describe("number of examples"),
    seed: seedParameter(0),
  }),
  differentiability: notExported("torch", "none", "Draws targets, symbols and noise"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { echo: { keys: [...FRAME_KEYS] }, truth: { keys: [...FRAME_KEYS] } },
  check: ({ range_min_m: low, range_max_m: high }) =>
    low <= high ? [] : [{
      message: `Cannot draw ranges from ${low} to ${high} m`,
      place: ["range_min_m"],
      hint: "Set range_min_m to at most range_max_m",
    }],
  estimate: ({ example_count: n, subcarriers: f, ofdm_symbols: m, target_count: t }) => ({
    echo: [["complex64", n, f, m], ["complex64", n, f, m]],
    truth: [["float64", n, t, 2], ["float64", n, t]],
  }),
  run({ params, generator, progress }) {
    const { example_count: examples, target_count: targets, subcarriers, ofdm_symbols: symbols } = params;
    const spacingHz = params.subcarrier_spacing_khz * 1e3,
      symbolSeconds = (1 + params.cyclic_prefix_fraction) / spacingHz;
    const carrierHz = params.carrier_frequency_ghz * 1e9, noise = dbToLinear(-params.snr_db);
    const frame: EchoFrame = { subcarriers, symbols, spacingHz, symbolSeconds, carrierHz };
    const size = subcarriers * symbols, reference = new Float64Array(2 * size);
    const sent = new Float32Array(2 * size * examples), received = new Float32Array(sent.length);
    const places = new Float64Array(2 * targets * examples), power = new Float64Array(targets * examples);
    // Sums of the bounds of an example over its targets.
    const bounds = { range: new Float64Array(examples), velocity: new Float64Array(examples) };
    for (let example = 0; example < examples; example++) {
      const ranges = generator.uniform(params.range_min_m, params.range_max_m, targets);
      const velocities = generator.uniform(-params.velocity_max_mps, params.velocity_max_mps, targets);
      const phases = generator.uniform(0, 2 * Math.PI, targets);
      const drawn = generator.uniform(-params.target_power_spread_db, 0, targets), most = Math.max(...drawn);
      const found = Array.from(ranges, (range, i) => ({
        range,
        velocity: velocities[i],
        power: dbToLinear(drawn[i] - most),
        phase: phases[i],
      }));
      generator.integers(0, 4, size).forEach((label, at) => reference.set(QPSK[Number(label)], 2 * at));
      const echo = generator.complexNormal64(size, noise);
      addEchoes(frame, found, reference, echo);
      sent.set(reference, 2 * size * example);
      received.set(echo, 2 * size * example);
      found.forEach((target, i) => {
        const at = example * targets + i, bound = cramerRao(frame, target.power / noise);
        places.set([target.range, target.velocity], 2 * at);
        power[at] = target.power;
        bounds.range[example] += bound.range;
        bounds.velocity[example] += bound.velocity;
      });
      progress(example + 1, examples, { unit: "examples" });
    }
    const shape = [examples, subcarriers, symbols], facts = frameMetadata(frame, noise);
    const counts = new Float64Array(examples).fill(targets);
    const bound = (sums: Float64Array): PooledMetric => ({
      reduction: "root_mean_square",
      sums: ratioSums(sums, counts),
    });
    // One subcarrier has no range bound, one symbol no velocity bound.
    const pooled = {
      ...(subcarriers > 1 ? { "isac.cramer_rao_range_rmse_m": bound(bounds.range) } : {}),
      ...(symbols > 1 ? { "isac.cramer_rao_velocity_rmse_mps": bound(bounds.velocity) } : {}),
    };
    return {
      outputs: {
        echo: {
          array: ndarray("complex64", received, shape),
          companions: { reference: ndarray("complex64", sent, shape) },
          metadata: { ...facts, example_count: examples },
        },
        truth: targetsArtifact(places, power, examples, facts),
      },
      metrics: {
        "channel.snr_db": params.snr_db,
        "channel.noise_variance": noise,
        ...pooledMetrics(pooled),
      },
      metadata: pooledMetadata(pooled),
    };
  },
});
