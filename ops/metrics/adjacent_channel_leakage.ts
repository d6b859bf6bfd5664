/**
 * Adjacent channel leakage ratio of a waveform: power in its channel over power in a channel of the same width beside it, the lesser
 * ratio of both sides. The channel is that of the active subcarriers, half a subcarrier spacing more at each end. The spectrum is that of
 * lib/numeric/link/spectrum.ts with four bins for a subcarrier, whose window
 * spreads 0.3 bins of a channel over its edge: channels that touch have a lower ratio.
 *
 * Shapes: waveform complex64 [n] -> report.
 *
 * Source: TS 38.104 V16.4.0, 6.6.3.1 (ratio of the powers centred on the assigned and on an adjacent channel).
 */
import { SvcError, z } from "../api.ts";
import type { Scores } from "../../lib/artifact/values.ts";
import { bandPower, powerSpectrum } from "../../lib/numeric/link/spectrum.ts";
import { defineReport } from "../_report.ts";
import { readWaveform, WAVEFORM } from "../_waveform.ts";

const BINS = 4;

export default defineReport({
  id: "metrics.adjacent_channel_leakage",
  name: "Adjacent channel leakage",
  description: "Ratio of the power in the channel of a waveform to that in the channels beside it",
  inputs: { waveform: [WAVEFORM] },
  params: z.strictObject({
    spacing_subcarriers: z.int().min(0).max(65536).default(0)
      .describe("distance of the centres of both channels in subcarriers; 0 is fft_size"),
  }),
  formats: { artifact: "json", tensor: "none" },
  run({ inputs, params }) {
    const { samples, layout } = readWaveform(inputs.waveform), { fftSize, oversampling, active } = layout;
    const spacing = params.spacing_subcarriers || fftSize;
    if (spacing + active / 2 > oversampling * fftSize / 2) {
      throw new SvcError(
        "params_conflict",
        `Cannot measure a channel ${spacing} subcarriers beside one of ${active}: the samples hold ${
          oversampling * fftSize
        }`,
        { hint: "Raise oversampling of modulation.ofdm_waveform, or lower spacing_subcarriers" },
      );
    }
    const length = BINS * oversampling * fftSize;
    if (samples.length < 2 * length) {
      throw new SvcError(
        "params_conflict",
        `Cannot measure a spectrum on ${samples.length / 2} samples: it takes ${length}`,
        {
          hint: "Send more symbols",
        },
      );
    }
    const power = powerSpectrum(samples, length), first = -Math.floor(active / 2) - 0.5;
    const powerAt = (shift: number) => bandPower(power, BINS * (first + shift), BINS * (first + shift + active));
    const own = powerAt(0), sides = [powerAt(-spacing), powerAt(spacing)];
    const ratios = sides.map((side) => 10 * Math.log10(own / side));
    const metrics: Scores = ratios.every(Number.isFinite)
      ? { "ofdm.aclr_db": Math.min(...ratios), "ofdm.aclr_lower_db": ratios[0], "ofdm.aclr_upper_db": ratios[1] }
      : {};
    return { metrics };
  },
});
