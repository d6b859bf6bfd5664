/**
 * Scores powers over parallel channels against water-filling: Shannon rates, distance to the oracle, residual of its optimality
 * conditions, fairness and the budget; formulas: ofdm_power_allocation.ts. A snapshot is a state, with total_power/F as its
 * mean budget. task.score is the rate over that of the oracle.
 */
import { SvcError } from "../api.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { RESOURCE_DECISION, RESOURCE_PROBLEM, resourceProblemOf } from "../_resource.ts";
import {
  type Allocated,
  budgetMetrics,
  oracleMetrics,
  powerMetrics,
  rateMetrics,
  shannonRates,
} from "./_ofdm_allocation.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.resource_allocation",
  name: "Resource allocation scores",
  description: "Scores a power allocation against water-filling",
  inputs: { decision: [RESOURCE_DECISION], problem: [RESOURCE_PROBLEM] },
  twin: true,
  run({ inputs }) {
    const { arrays, snapshots, subcarriers, gains, noiseVariance, totalPower } = resourceProblemOf(inputs.problem);
    const power = arrays.beside(inputs.decision).read("float64", ["snapshot", "subcarrier"]);
    if (power.some((p) => p < 0)) {
      throw new SvcError("boundary_value_invalid", "Cannot score an allocation with a negative power");
    }
    const allocated: Allocated = {
      state: { noiseVariance, averagePowerBudget: totalPower / subcarriers },
      states: snapshots,
      subcarriers,
      power,
      gain: gains,
    };
    const rates = shannonRates(allocated);
    const { pooled, metrics } = oracleMetrics(allocated, mean(rates));
    return {
      pooled,
      metrics: {
        ...rateMetrics(allocated, rates),
        ...metrics,
        ...powerMetrics(allocated, "per_subcarrier"),
        ...budgetMetrics(allocated),
      },
      facts: { state_count: snapshots, subcarrier_count: subcarriers },
    };
  },
});
