/**
 * Power, strongest frequency, mean frequency and bandwidth of complex samples, by the spectrum P of lib/numeric/link/spectrum.ts:
 *
 *     power = Σ P[m],   mean = Σ f_m P[m] / power,   bandwidth² = Σ (f_m - mean)² P[m] / power
 *
 * f_m = m·fs/L from -fs/2 on. The window widens the spectrum: a tone has the bandwidth fs/(√3 L). The strongest frequency has the
 * resolution fs/L.
 *
 * Shapes: signal complex64 [n] -> report. Unit: Hz, with the sample rate of a recording or of sample_rate_hz.
 *
 * Source: Welch, IEEE Trans. Audio Electroacoust. 15, 1967; Gabor, "Theory of communication", J. IEE 93, 1946 (moments of a spectrum).
 */
import { float, isNumber, type JsonObject, SvcError, toNumber, z } from "../api.ts";
import { type Scores, symbolsOf } from "../../lib/artifact/values.ts";
import { SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { powerSpectrum } from "../../lib/numeric/link/spectrum.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.spectrum",
  name: "Spectrum of samples",
  description: "Power, strongest frequency, mean frequency and bandwidth of complex samples",
  inputs: { signal: SYMBOLS_ANY },
  params: z.strictObject({
    segment_samples: z.int().min(8).max(1 << 20).default(256).describe(
      "samples of a segment, and bins of the spectrum",
    ),
    sample_rate_hz: z.number().nonnegative().default(0).describe("sample rate in Hz; 0: that of the recording"),
  }),
  formats: { artifact: "json", tensor: "none" },
  run({ inputs, params }) {
    const samples = symbolsOf(inputs.signal), length = params.segment_samples;
    const rate = params.sample_rate_hz || recordedRate(inputs.signal.metadata);
    if (samples.length < 2 * length) {
      throw new SvcError(
        "params_conflict",
        `Cannot measure a spectrum of ${length} bins on ${samples.length / 2} samples`,
        { hint: "Lower segment_samples" },
      );
    }
    const spectrum = powerSpectrum(samples, length), power = spectrum.reduce((sum, value) => sum + value, 0);
    if (power === 0) return { metrics: {} };
    const frequency = (bin: number) => rate / length * (bin < length / 2 ? bin : bin - length);
    const mean = spectrum.reduce((sum, value, bin) => sum + frequency(bin) * value, 0) / power;
    const variance = spectrum.reduce((sum, value, bin) => sum + (frequency(bin) - mean) ** 2 * value, 0) / power;
    const strongest = spectrum.reduce((best, value, bin) => value > spectrum[best] ? bin : best, 0);
    const metrics: Scores = {
      "spectrum.power_db": 10 * Math.log10(power),
      "spectrum.peak_hz": frequency(strongest),
      "spectrum.mean_hz": mean,
      "spectrum.rms_bandwidth_hz": Math.sqrt(variance),
    };
    return { metrics, facts: { sample_rate_hz: float(rate) } };
  },
});

function recordedRate({ recording }: JsonObject): number {
  const rate = (recording as JsonObject | undefined)?.sample_rate_hz;
  if (isNumber(rate)) return toNumber(rate);
  throw new SvcError("params_conflict", "Cannot measure frequencies: the sample rate of the signal is unknown", {
    hint: "Set sample_rate_hz",
  });
}
