/**
 * Frames with individual carrier offset and noise: y_n = x_n·exp(j(φ + 2πfn)) + noise of variance N0 = 10^(-snr_db/10),
 * with Es/N0, phase φ and frequency offset f of every frame uniform between their limits.
 *
 * Shapes: frames complex64 [frame, symbol] -> observation of the same shape, companions noise_variance and snr_db float64
 * [frame]. Draws: Es/N0, phase, frequency offset, each [frame], then noise complex [frame, symbol].
 */
import { defineOperation, seedParameter, z } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { travel } from "../../lib/artifact/values.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { complexNormal64Parallel } from "../../lib/numeric/parallel/draws.ts";
import { MODULATION_FRAMES, MODULATION_IQ } from "../_modulation.ts";

const limit = (fallback: number, unit: string) => z.number().default(fallback).meta({ "x-svc-ui": { unit } });
const RANGES = ["snr_db", "carrier_phase_rad", "frequency_offset_cycles_per_symbol"] as const;
const ends = (name: typeof RANGES[number]) => {
  const [, stem, unit] = /^(snr|carrier_phase|frequency_offset)_(.*)$/.exec(name)!;
  return name === "snr_db" ? ["snr_db_min", "snr_db_max"] : [`${stem}_min_${unit}`, `${stem}_max_${unit}`];
};

export default defineOperation({
  id: "wireless.modulation_awgn_observation",
  name: "Modulated frames under carrier noise",
  description: "Rotates frames by a carrier offset and adds noise",
  inputs: { frames: [MODULATION_FRAMES] },
  outputs: { observation: MODULATION_IQ },
  params: z.strictObject({
    snr_db_min: limit(8, "dB").describe("least Es/N0 of a frame in dB"),
    snr_db_max: limit(8, "dB").describe("largest Es/N0 of a frame in dB"),
    carrier_phase_min_rad: limit(0, "rad").describe("least carrier phase of a frame in rad"),
    carrier_phase_max_rad: limit(0, "rad").describe("largest carrier phase of a frame in rad"),
    frequency_offset_min_cycles_per_symbol: limit(0, "cycles/symbol")
      .describe("least frequency offset in cycles per symbol"),
    frequency_offset_max_cycles_per_symbol: limit(0, "cycles/symbol")
      .describe("largest frequency offset in cycles per symbol"),
    seed: seedParameter(23001),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  outputMetadataGuarantees: { observation: { from: "frames" } },
  check: (params) =>
    RANGES.flatMap((name) => {
      const [low, high] = ends(name) as (keyof typeof params)[];
      return Number(params[low]) <= Number(params[high]) ? [] : [{
        code: "params_conflict" as const,
        message: `Cannot draw between ${low} = ${params[low]} and ${high} = ${params[high]}`,
        place: [low],
        hint: `Set ${low} to at most ${high}`,
      }];
    }),
  twin: true,
  estimate: (_params, { frames: { bytes, shape } }) => ({
    observation: shape === undefined ? bytes : [["complex64", ...shape], ["float64", shape[0]], ["float64", shape[0]]],
  }),
  run({ inputs, params, generator, threads }) {
    const arrays = arraysOf(inputs.frames), frames = arrays.read("complex64", ["frame", "symbol"]);
    const count = arrays.size("frame"), length = arrays.size("symbol");
    const drawn = RANGES.map((name) => {
      const [low, high] = ends(name).map((end) => Number(params[end as keyof typeof params]));
      return (generator.random(count) as Float64Array<ArrayBuffer>).map((u) => low + (high - low) * u);
    });
    const [snr, phase, offset] = drawn, noiseVariance = snr.map((value) => dbToLinear(-value));
    const noise = complexNormal64Parallel(generator, count * length, 1, { threads });
    const received = new Float32Array(noise.length);
    for (let frame = 0, at = 0; frame < count; frame++) {
      const deviation = Math.sqrt(noiseVariance[frame]);
      for (let n = 0; n < length; n++, at += 2) {
        const angle = phase[frame] + 2 * Math.PI * offset[frame] * n, cosine = Math.cos(angle), sine = Math.sin(angle);
        received[at] = frames[at] * cosine - frames[at + 1] * sine + deviation * noise[at];
        received[at + 1] = frames[at] * sine + frames[at + 1] * cosine + deviation * noise[at + 1];
      }
    }
    return {
      outputs: {
        observation: {
          array: ndarray("complex64", received, [count, length]),
          companions: {
            noise_variance: ndarray("float64", noiseVariance, [count]),
            snr_db: ndarray("float64", snr, [count]),
          },
          metadata: travel(inputs.frames.metadata, { frame_count: count }),
        },
      },
    };
  },
});
