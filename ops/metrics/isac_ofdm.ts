/**
 * Scores powers for communication and sensing; all are means over the examples, and formulas are in
 * lib/numeric/antenna/isac.ts:
 *
 *     isac.scalarized_utility            (1-w)·R/R_max + w·S/S_max, at most 1; also task.score
 *     isac.communication_rate_bps_hz     R
 *     isac.sensing_snr_db                10·log10 of the mean S; omitted if no echo has power
 *     isac.power_constraint_max_abs_error  largest |Σ p - total_power| of an example
 */
import { SvcError } from "../api.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { communicationRate, IsacUtility, sensingSnr } from "../../lib/numeric/antenna/isac.ts";
import { mean, sum } from "../../lib/numeric/scores/statistics.ts";
import { ISAC_DECISION, ISAC_PROBLEM, isacProblemOf } from "../_isac.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.isac_ofdm",
  name: "Joint sensing and communication scores",
  description: "Scores a power allocation by its rate and its echo",
  inputs: { decision: [ISAC_DECISION], problem: [ISAC_PROBLEM] },
  twin: true,
  run({ inputs }) {
    const problem = isacProblemOf(inputs.problem), { examples, subcarriers, totalPower, sensingWeight } = problem;
    const power = problem.arrays.beside(inputs.decision).read("float64", ["example", "subcarrier"]);
    if (power.some((p) => p < 0)) {
      throw new SvcError("boundary_value_invalid", "Cannot score an allocation with a negative power");
    }
    const utilities = new Float64Array(examples), rates = utilities.slice(), echoes = utilities.slice();
    let miss = 0;
    for (let example = 0; example < examples; example++) {
      const own = power.subarray(example * subcarriers, (example + 1) * subcarriers);
      const channels = problem.channelsAt(example);
      utilities[example] = new IsacUtility(channels, sensingWeight).at(own);
      rates[example] = communicationRate(own, channels);
      echoes[example] = sensingSnr(own, channels);
      miss = Math.max(miss, Math.abs(sum(own) - totalPower));
    }
    const utility = mean(utilities), echo = mean(echoes);
    return {
      metrics: {
        "isac.scalarized_utility": utility,
        "isac.communication_rate_bps_hz": mean(rates),
        ...(echo > 0 ? { "isac.sensing_snr_db": linearToDb(echo) } : {}),
        "isac.power_constraint_max_abs_error": miss,
        "task.score": utility,
      },
      facts: { example_count: examples, subcarrier_count: subcarriers },
    };
  },
});
