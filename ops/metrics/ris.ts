/**
 * Scores of the phases of a reflecting surface, with maximum-ratio weights at the transmitter:
 *
 *     gain                 mean of ‖h(θ)‖² over the mean of ‖h_d‖², in dB: relative to the direct path alone
 *     spectral efficiency  mean of log2(1 + ‖h(θ)‖²/N0)
 *
 * Without any direct path the gain is left out. The report holds the mean channel power in dB, and the spectral efficiency
 * of the direct path. Model: lib/numeric/antenna/reflecting_surface.ts.
 */
import { float } from "../api.ts";
import { energy } from "../../lib/numeric/linalg/complex.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { effectiveChannel } from "../../lib/numeric/antenna/reflecting_surface.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { notExported } from "../_backends.ts";
import { defineReport } from "../_report.ts";
import { RIS_CHANNEL, RIS_PHASES, risProblemOf } from "../_ris.ts";

export default defineReport({
  id: "metrics.ris",
  name: "Reflecting surface scores",
  description: "Measures the gain and the rate that the phases of a reflecting surface give",
  inputs: { decision: [RIS_PHASES], problem: [RIS_CHANNEL] },
  differentiability: notExported("torch", "full", "Smooth in the phases"),
  run({ inputs }) {
    const { arrays, examples, elements, channel, noiseVariance } = risProblemOf(inputs.problem);
    const phases = arrays.beside(inputs.decision).read("float64", ["example", "element"]);
    const gains: number[] = [], direct: number[] = [];
    for (let example = 0; example < examples; example++) {
      const own = phases.subarray(example * elements, (example + 1) * elements);
      gains.push(energy(effectiveChannel(channel(example), own)));
      direct.push(energy(channel(example).direct));
    }
    const rate = (powers: number[]) => mean(powers.map((power) => Math.log1p(power / noiseVariance) * Math.LOG2E));
    const power = mean(gains), reference = mean(direct);
    return {
      metrics: {
        ...(power > 0 && reference > 0 ? { "ris.gain_db": linearToDb(power / reference) } : {}),
        "ris.spectral_efficiency_bps_hz": rate(gains),
      },
      facts: {
        example_count: examples,
        elements,
        channel_power_db: power > 0 ? float(linearToDb(power)) : null,
        direct_spectral_efficiency_bps_hz: float(rate(direct)),
      },
    };
  },
});
