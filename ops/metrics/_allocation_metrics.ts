/** Scores of a power allocation over parallel channels; formulas: ofdm_power_allocation.ts. */
import type { Metrics } from "../api.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { type PooledMetric, ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean, quantile, standardDeviation, sum } from "../../lib/numeric/scores/statistics.ts";
import { noiseFloors, waterFill, waterFillingResidual } from "../../lib/numeric/link/water_filling.ts";
import { type Allocated, rowOf, shannonRates } from "./_ofdm_allocation.ts";

/** Rates over states and subcarriers, and their fairness. */
export function rateMetrics(allocated: Allocated, rates: Float64Array): Metrics {
  const rows = rowsOf(allocated, rates), stateRates = rows.map(mean);
  const subcarrierRates = Array.from({ length: allocated.subcarriers }, (_, k) => mean(rows.map((row) => row[k])));
  const name = (part: string) => `resource.theoretical_shannon_${part}`;
  return {
    [name("sum_bits_per_ofdm_symbol")]: mean(rows.map(sum)),
    [name("spectral_efficiency_bps_hz")]: mean(rates),
    [name("min_subcarrier_spectral_efficiency_bps_hz")]: quantile(subcarrierRates, 0),
    [name("min_state_spectral_efficiency_bps_hz")]: quantile(stateRates, 0),
    [name("p05_state_spectral_efficiency_bps_hz")]: quantile(stateRates, 0.05),
    "resource.fairness_jain": mean(rows.map(jain)),
  };
}

/** Share of the states whose rate is below the target. */
export function outageMetrics(allocated: Allocated, rates: Float64Array, target: number): Metrics {
  const stateRates = rowsOf(allocated, rates).map(mean);
  return {
    "resource.theoretical_outage_probability": stateRates.filter((rate) => rate < target).length / allocated.states,
    "resource.theoretical_outage_target_bps_hz": target,
  };
}

export function budgetMetrics({ state: { averagePowerBudget, noiseVariance } }: Allocated): Metrics {
  return {
    "resource.average_transmit_power_budget": averagePowerBudget,
    "resource.nominal_snr_db": linearToDb(averagePowerBudget / noiseVariance),
  };
}

const rowsOf = (allocated: Allocated, values: Float64Array) =>
  Array.from({ length: allocated.states }, (_, row) => rowOf(values, row, allocated));

/** (sum r)²/(n·sum r²); 1 when all are zero. */
function jain(rates: Float64Array): number {
  const squares = sum(rates.map((rate) => rate * rate));
  return squares === 0 ? 1 : sum(rates) ** 2 / (rates.length * squares);
}

/** Distance of the powers and their rate from water-filling. */
export function oracleMetrics(
  allocated: Allocated,
  efficiency: number,
): { pooled: Record<string, PooledMetric>; metrics: Metrics } {
  const { state, states, subcarriers, power, gain } = allocated;
  const budget = state.averagePowerBudget * subcarriers;
  const best = new Float64Array(power.length);
  let residual = 0;
  for (let row = 0; row < states; row++) {
    const floors = noiseFloors(rowOf(gain, row, allocated), state.noiseVariance);
    best.set(waterFill(floors, budget), row * subcarriers);
    residual = Math.max(residual, waterFillingResidual(rowOf(power, row, allocated), floors, budget));
  }
  const oracle = mean(shannonRates({ ...allocated, power: best }));
  const squares = rowsOf(allocated, power.map((p, i) => (p - best[i]) ** 2)).map(sum);
  const rmse = (scale: number): PooledMetric => ({
    reduction: "root_mean_square",
    sums: ratioSums(squares.map((square) => square / scale ** 2), new Float64Array(states).fill(subcarriers)),
  });
  const metrics = {
    "resource.water_filling_oracle_spectral_efficiency_bps_hz": oracle,
    "resource.water_filling_optimality_gap_bps_hz": oracle - efficiency,
    ...(oracle > 0
      ? {
        "resource.water_filling_relative_optimality_gap": (oracle - efficiency) / oracle,
        "task.score": Math.min(efficiency / oracle, 1),
      }
      : {}),
    "resource.water_filling_kkt_normalized_residual": residual,
  };
  const pooled = {
    "resource.water_filling_power_rmse": rmse(1),
    "resource.water_filling_power_normalized_rmse": rmse(state.averagePowerBudget),
  };
  return { pooled, metrics };
}

/** Budget violation, and statistics of the powers. @param granularity level that shares a budget */
export function powerMetrics(allocated: Allocated, granularity: string): Metrics {
  const { state: { averagePowerBudget: budget }, states, power, gain } = allocated;
  const means = granularity === "per_subcarrier"
    ? Array.from({ length: states }, (_, row) => mean(rowOf(power, row, allocated)))
    : [mean(power)];
  const miss = means.reduce((most, average) => Math.max(most, Math.abs(average - budget)), 0);
  const average = mean(power), averageGain = mean(gain);
  return {
    "resource.power_constraint.max_abs_error": miss,
    "resource.power_constraint.max_relative_error": miss / budget,
    "resource.power_constraint.max_negative_violation": power.reduce((most, p) => Math.max(most, -p), 0),
    "resource.active_resource_element_fraction": power.filter((p) => p > 0).length / power.length,
    ...(average > 0
      ? { "resource.allocation_power_coefficient_of_variation": standardDeviation(power, 0) / average }
      : {}),
    ...(average > 0 && averageGain > 0
      ? {
        "resource.allocated_power_weighted_channel_gain_lift": mean(power.map((p, i) => p * gain[i])) /
          (average * averageGain),
      }
      : {}),
  };
}
