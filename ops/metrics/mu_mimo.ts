/**
 * Scores of a multi-user precoder over the true channel, y_k = H_k W s + n_k. The rate of a user is
 *
 *     R_k = log2 det(I + S_kS_kᴴ(N0 I + Σ_{j≠k} H_kW_jW_jᴴH_kᴴ)⁻¹), S_k = H_kW_k
 *
 * Means over the examples of the sum of the rates, of the least one and of Jain's index (ΣR)²/(K ΣR²); an example in which no
 * user has a rate does not count for the index. Interference to signal is mean ‖H_kW_j‖², j ≠ k, over mean ‖S_k‖², in dB; it
 * is left out when either is zero. The capacity of users that decode jointly, water-filling over the singular values of all
 * rows with total_power, bounds the sum rate of every precoder.
 */
import { float, SvcError } from "../api.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { jainIndex, singleUserRate, userRates } from "../../lib/numeric/antenna/mu_mimo.ts";
import { mean, sum } from "../../lib/numeric/scores/statistics.ts";
import { MU_MIMO_PRECODER, MU_MIMO_PROBLEM, muMimoProblemOf } from "../_mu_mimo.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.mu_mimo",
  name: "Multi-user rates",
  description: "Measures rates, fairness and interference of a multi-user precoder",
  inputs: { decision: [MU_MIMO_PRECODER], problem: [MU_MIMO_PROBLEM] },
  formats: { artifact: "json", tensor: "none" },
  twin: true,
  run({ inputs }) {
    const { arrays, examples, users, rx, tx, link } = muMimoProblemOf(inputs.problem, "true");
    const decision = arrays.beside(inputs.decision), w = decision.read("complex64", ["example", "tx", "stream"]);
    const streams = decision.size("stream"), size = 2 * tx * streams;
    if (streams % users !== 0) {
      throw new SvcError("shape_mismatch", `Cannot share ${streams} streams among ${users} users`, {
        hint: "Wire the precoder of this problem",
      });
    }
    const sums: number[] = [], least: number[] = [], fairness: number[] = [], means = new Float64Array(users);
    let signal = 0, interference = 0, capacity = 0;
    for (let example = 0; example < examples; example++) {
      const weights = Float64Array.from(w.subarray(example * size, (example + 1) * size));
      const downlink = link(example), found = userRates(downlink, weights, streams), jain = jainIndex(found.rates);
      capacity += singleUserRate({ ...downlink, users: 1, rx: users * rx }, 0) / examples;
      sums.push(sum(found.rates));
      least.push(found.rates.reduce((low, rate) => Math.min(low, rate), Infinity));
      if (jain !== undefined) fairness.push(jain);
      found.rates.forEach((rate, user) => means[user] += rate / examples);
      signal += sum(found.signal);
      interference += sum(found.interference);
    }
    return {
      metrics: {
        "mu_mimo.sum_rate_bps_hz": mean(sums),
        "mu_mimo.min_rate_bps_hz": mean(least),
        ...(fairness.length > 0 ? { "mu_mimo.jain_fairness": mean(fairness) } : {}),
        ...(signal > 0 && interference > 0
          ? { "mu_mimo.mean_interference_to_signal_db": linearToDb(interference / signal) }
          : {}),
        "mu_mimo.joint_decoding_capacity_bps_hz": capacity,
      },
      facts: { example_count: examples, user_rates_bps_hz: Array.from(means, float) },
    };
  },
});
