/**
 * Out-of-band power of a waveform. The channel is that of the active subcarriers, half a subcarrier spacing more at each end.
 *
 *     ofdm.aclr_db          power in the channel over power in a channel of the same width beside it, the lesser ratio of both sides
 *     ofdm.out_of_band_db   power outside of the channel, in the whole band of the samples, over power in it (dBc)
 *     ofdm.mask_margin_db   least limit of the mask minus density of power, over both sides and all bins between its first and last offset
 *
 * Densities are relative to the mean density in the channel; offsets count from its centre. Between two points of a mask its limit in dB
 * is linear. The items of the report are the densities at the points of the mask. Without amplifier, and with white symbols, the density of
 * OFDM and of DFT-s-OFDM is Σ_k sinc²((f - k)(1 + cp_length/fft_size)), f and k in subcarriers, where images are far.
 *
 * The spectrum is Welch's of lib/numeric/link/spectrum.ts: periodic Hann window of bins_per_subcarrier symbols without prefix, half
 * overlapped. The window spreads 0.3 bins of a channel over each edge, so that channels that touch have a lower ratio; more bins spread less.
 *
 * Shapes: waveform complex64 [n] -> report.
 *
 * Source: TS 38.104 V16.4.0, 6.6.3.1 (ratio of the powers centred on the assigned and on an adjacent channel); IEEE Std 802.11-2016,
 * 17.3.9.3 (spectrum mask of points, linear in dB between them, relative to the density in the channel).
 */
import { float, type JsonObject, type ParameterProblem, SvcError, z } from "../api.ts";
import type { Scores } from "../../lib/artifact/values.ts";
import { bandPower, powerSpectrum } from "../../lib/numeric/link/spectrum.ts";
import { defineReport } from "../_report.ts";
import { readWaveform, WAVEFORM } from "../_waveform.ts";

export default defineReport({
  id: "metrics.adjacent_channel_leakage",
  name: "Adjacent channel leakage and out-of-band power",
  description:
    "Power in the channel of a waveform over that in the channels beside it, power outside, and a spectrum mask",
  inputs: { waveform: [WAVEFORM] },
  params: z.strictObject({
    spacing_subcarriers: z.int().min(0).max(65536).default(0)
      .describe("distance of the centres of both channels in subcarriers; 0 is fft_size"),
    bins_per_subcarrier: z.literal([4, 8, 16, 32]).optional()
      .describe("bins of the spectrum for a subcarrier, which lengthen the window; default 4"),
    mask: z.array(z.array(z.number().min(-65536).max(65536)).min(2).max(2)).min(1).max(64).optional()
      .describe("points [offset from the centre in subcarriers, limit in dB], rising offsets; default no mask"),
  }),
  check({ mask = [] }) {
    const found: ParameterProblem[] = [];
    mask.forEach(([offset], i) => {
      if (offset < 0 || i > 0 && offset <= mask[i - 1][0]) {
        found.push({
          place: ["mask"],
          message: `Cannot use the offset ${offset} in point ${i + 1} of a mask`,
          hint: "Give offsets of 0 or more, each above the one before; the mask counts on both sides",
        });
      }
    });
    return found;
  },
  formats: { artifact: "json", tensor: "none" },
  run({ inputs, params }) {
    const { samples, layout } = readWaveform(inputs.waveform), { fftSize, oversampling, active } = layout;
    const spacing = params.spacing_subcarriers || fftSize,
      bins = params.bins_per_subcarrier ?? 4,
      { mask = [] } = params;
    const first = -Math.floor(active / 2) - 0.5, centre = first + active / 2, last = mask.at(-1)?.[0] ?? 0;
    if (last + Math.abs(centre) > oversampling * fftSize / 2) {
      throw new SvcError(
        "params_conflict",
        `Cannot measure a density ${last} subcarriers beside the centre: the samples hold ${oversampling * fftSize}`,
        { hint: "Raise oversampling of modulation.ofdm_waveform, or shorten the mask" },
      );
    }
    if (spacing + active / 2 > oversampling * fftSize / 2) {
      throw new SvcError(
        "params_conflict",
        `Cannot measure a channel ${spacing} subcarriers beside one of ${active}: the samples hold ${
          oversampling * fftSize
        }`,
        { hint: "Raise oversampling of modulation.ofdm_waveform, or lower spacing_subcarriers" },
      );
    }
    const length = bins * oversampling * fftSize;
    if (samples.length < 2 * length) {
      throw new SvcError(
        "params_conflict",
        `Cannot measure a spectrum on ${samples.length / 2} samples: it takes ${length}`,
        {
          hint: "Send more symbols",
        },
      );
    }
    const power = powerSpectrum(samples, length);
    const powerAt = (shift: number) => bandPower(power, bins * (first + shift), bins * (first + shift + active));
    const own = powerAt(0), sides = [powerAt(-spacing), powerAt(spacing)];
    const ratios = sides.map((side) => 10 * Math.log10(own / side));
    if (!ratios.every(Number.isFinite)) return { metrics: {} };
    const outside = power.reduce((sum, value) => sum + value, 0) - own;
    // A bin without power has a finite density.
    const densityAt = (bin: number) =>
      10 * Math.log10(Math.max(bins * active * power[(bin % length + length) % length] / own, Number.MIN_VALUE));
    const metrics: Scores = {
      "ofdm.aclr_db": Math.min(...ratios),
      "ofdm.aclr_lower_db": ratios[0],
      "ofdm.aclr_upper_db": ratios[1],
      "ofdm.out_of_band_db": 10 * Math.log10(outside / own),
      ...mask.length > 0 ? { "ofdm.mask_margin_db": marginOf(mask, densityAt, { bins, centre }) } : {},
    };
    const nearest = (offset: number) => densityAt(Math.round(bins * (centre + offset)));
    const items: JsonObject[] = mask.map(([offset, limit]) => ({
      offset_subcarriers: float(offset),
      limit_db: float(limit),
      lower_db: float(nearest(-offset)),
      upper_db: float(nearest(offset)),
    }));
    return { metrics, ...items.length > 0 ? { items } : {} };
  },
});

/** Least limit minus density over the bins from the one nearest to the first point to that nearest to the last. */
function marginOf(
  mask: readonly number[][],
  densityAt: (bin: number) => number,
  { bins, centre }: { bins: number; centre: number },
): number {
  const from = mask[0][0], to = mask.at(-1)![0];
  let margin = Infinity;
  for (const side of [-1, 1]) {
    const ends = [from, to].map((offset) => Math.round(bins * (centre + side * offset))).sort((a, b) => a - b);
    for (let bin = ends[0]; bin <= ends[1]; bin++) {
      margin = Math.min(margin, limitAt(mask, Math.abs(bin / bins - centre)) - densityAt(bin));
    }
  }
  return margin;
}

/** Limit of a mask at an offset, linear between points, that of the nearest point outside. */
function limitAt(mask: readonly number[][], offset: number): number {
  const next = mask.findIndex(([own]) => own >= offset);
  if (next <= 0) return next === 0 ? mask[0][1] : mask.at(-1)![1];
  const [[from, low], [to, high]] = [mask[next - 1], mask[next]];
  return low + (high - low) * (offset - from) / (to - from);
}
