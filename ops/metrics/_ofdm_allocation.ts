/** An allocation with its channel state, and its scores; formulas: ofdm_power_allocation.ts. */
import { checkResourceElements, type OfdmState, ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { unitRatio } from "../../lib/artifact/statistical_unit.ts";
import { type InputArtifact, type JsonObject, type Metrics, SvcError } from "../api.ts";
import { powers } from "../../lib/numeric/linalg/complex.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import type { PooledMetric } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean, quantile, standardDeviation, sum } from "../../lib/numeric/scores/statistics.ts";
import { noiseFloors, waterFill, waterFillingResidual } from "../../lib/numeric/link/water_filling.ts";

/** Powers and gains of the elements of some states, each with the same budget and noise. */
export interface Allocated {
  readonly state: Pick<OfdmState, "noiseVariance" | "averagePowerBudget">;
  /** (grid, OFDM symbol) rows. */
  readonly states: number;
  readonly subcarriers: number;
  /** Power of each element, [state, subcarrier]. */
  readonly power: Float64Array;
  /** |h|² of each element. */
  readonly gain: Float64Array;
}

export interface AllocatedState extends Allocated {
  readonly state: OfdmState;
  /** Bits of each element under bit loading. */
  readonly loading?: Uint8Array;
}

/**
 * Reads allocation and state.
 * @throws SvcError `boundary_count_mismatch` unless there is one power per resource element, `boundary_value_invalid`
 *   for a power that is not finite, and the errors of reading a state
 */
export function allocatedState(stateInput: InputArtifact, allocation: InputArtifact): AllocatedState {
  const state = ofdmStateOf(stateInput);
  const states = state.grids * state.symbols, { subcarriers } = state;
  const { shape, data } = allocation.array(allocation.arrayNames.includes("power") ? "power" : undefined);
  if (shape.length !== 2 || shape[0] !== states || shape[1] !== subcarriers) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot score an allocation [${
        shape.join(", ")
      }] on a state of ${states} OFDM symbols × ${subcarriers} subcarriers`,
      { hint: "Wire the state of the transmission, and the allocation made for it" },
    );
  }
  const power = Float64Array.from(data as Float64Array);
  if (!power.every(Number.isFinite)) {
    throw new SvcError("boundary_value_invalid", "Cannot score an allocation with powers that are not finite");
  }
  const loading = allocation.arrayNames.includes("bits_per_symbol")
    ? Uint8Array.from(allocation.array("bits_per_symbol").data as Uint8Array)
    : undefined;
  return { state, states, subcarriers, power, gain: powers(state.h), loading };
}

/** The elements of one state, without a copy. */
export const rowOf = <T extends Float64Array | Uint8Array>(
  values: T,
  row: number,
  { subcarriers }: Allocated,
): T => values.subarray(row * subcarriers, (row + 1) * subcarriers) as T;

/** Checks that there are as many elements as symbols. @throws SvcError `boundary_count_mismatch` */
export function checkPlaced({ state }: AllocatedState, symbolCount: number): void {
  checkResourceElements(state, symbolCount);
}

/** log2(1 + p·g/N0) of each element; a negative power, which is not physical, counts as 0. */
export function shannonRates({ power, gain, state }: Allocated): Float64Array<ArrayBuffer> {
  return Float64Array.from(power, (p, i) => Math.log1p(Math.max(p, 0) * gain[i] / state.noiseVariance) * Math.LOG2E);
}

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

/** Distance of the powers and their rate from water-filling. @param metadata with the unit of the states, default each */
export function oracleMetrics(
  allocated: Allocated,
  efficiency: number,
  metadata: JsonObject = {},
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
    sums: unitRatio(metadata, squares.map((square) => square / scale ** 2), squares.map(() => subcarriers)),
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
