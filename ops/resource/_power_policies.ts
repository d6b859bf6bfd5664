/**
 * Power policies. A *unit* has one power: an element (per_subcarrier), a state (per_symbol), a stream, or everything
 * (global). Units share the budget of their *scope*: a state for per_subcarrier, everything otherwise. The gain of a
 * unit is the mean of its elements' gains.
 *
 *     fixed          p = P
 *     snr_sigmoid    p = min + (max - min)·sigma(snr), sigma(snr) = 1/(1 + exp(-(snr - midpoint)/slope)), of the mean Es/N0
 *                    g/N0 of the scope; unless global, times the weights 1 + contrast·(2 sigma_u - 1), of mean 1
 *     water-filling  lib/numeric/link/water_filling.ts, with the gains of the policy
 *
 * budget_mode fixed_average then scales to the mean power P of the scope; variable_average clips to min … max instead.
 */
import { noiseFloors, projectOntoSimplex, waterFill, waterFillBox } from "../../lib/numeric/link/water_filling.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { type DeepSet, deepSetScores } from "../../lib/numeric/linalg/deep_set.ts";
import { type ChannelKnowledge, reportedGains } from "./_power_csi.ts";
import type { PowerParams } from "./_power_params.ts";

/** Elements of the states, in the order of resource elements. */
export interface ElementGrid {
  readonly rows: number;
  readonly subcarriers: number;
  /** States per row of gains. */
  readonly repeat: number;
}

/** Every row repeated for its states, [row · repeat, subcarrier]. */
export function repeatRows(
  values: Float64Array,
  { rows, subcarriers, repeat }: ElementGrid,
): Float64Array<ArrayBuffer> {
  const all = new Float64Array(values.length * repeat);
  for (let state = 0; state < rows * repeat; state++) {
    const row = Math.floor(state / repeat);
    all.set(values.subarray(row * subcarriers, (row + 1) * subcarriers), state * subcarriers);
  }
  return all;
}

/**
 * Powers of all elements, [state, subcarrier].
 * @param snrs g/N0 at unit power of each row's elements, [row, subcarrier], with the gains of the policy
 */
export function sharePower(snrs: Float64Array, grid: ElementGrid, params: PowerParams): Float64Array<ArrayBuffer> {
  const { rows, subcarriers } = grid;
  if (params.granularity !== "per_subcarrier") {
    const all = repeatRows(snrs, grid);
    return all.length === 0 ? all : shareScope(unitMeans(all, subcarriers, params), params);
  }
  const powers = new Float64Array(snrs.length);
  for (let row = 0; row < rows; row++) {
    const own = snrs.subarray(row * subcarriers, (row + 1) * subcarriers);
    powers.set(shareScope(own, params), row * subcarriers);
  }
  return repeatRows(powers, grid);
}

/** The mean over each element's unit, instead of the element's value. */
function unitMeans(values: Float64Array, subcarriers: number, params: PowerParams): Float64Array {
  const units = params.granularity === "global"
    ? 1
    : params.granularity === "per_symbol"
    ? values.length / subcarriers
    : params.stream_count;
  const unitOf = (i: number) => (params.granularity === "per_symbol" ? Math.floor(i / subcarriers) : i % units);
  const totals = new Float64Array(units), sizes = new Float64Array(units);
  values.forEach((value, i) => {
    totals[unitOf(i)] += value;
    sizes[unitOf(i)]++;
  });
  return values.map((_, i) => totals[unitOf(i)] / sizes[unitOf(i)]);
}

/** Powers of the elements of one scope. Elements of one unit have equal gains, and so equal powers. */
function shareScope(snrs: Float64Array, params: PowerParams): Float64Array<ArrayBuffer> {
  const powers = policyPowers(snrs, params);
  if (params.budget_mode === "variable_average") {
    return powers.map((power) => Math.min(Math.max(power, params.min_power), params.max_power));
  }
  // Water-filling meets the budget without scaling.
  if (params.policy !== "snr_sigmoid") return powers;
  const average = mean(powers);
  return average < params.eps
    ? powers.fill(params.target_power)
    : powers.map((power) => power / average * params.target_power);
}

function policyPowers(snrs: Float64Array, params: PowerParams): Float64Array<ArrayBuffer> {
  const { target_power: average, policy } = params;
  const budget = average * snrs.length;
  switch (policy) {
    case "fixed":
      return new Float64Array(snrs.length).fill(average);
    case "snr_sigmoid":
      return sigmoidPowers(snrs, params);
    case "causal_ar_box_water_filling":
      return waterFillBox(noiseFloors(snrs, 1), budget, {
        lower: params.allocation_lower_power_ratio * average,
        upper: params.allocation_upper_power_ratio * average,
      });
    default:
      return waterFill(noiseFloors(snrs, 1), budget);
  }
}

function sigmoidPowers(snrs: Float64Array, params: PowerParams): Float64Array<ArrayBuffer> {
  const { min_power: least, max_power: most, allocation_contrast: contrast } = params;
  const sigma = (snr: number) => 1 / (1 + Math.exp(-(linearToDb(snr) - params.midpoint_snr_db) / params.slope_db));
  const power = least + (most - least) * sigma(mean(snrs));
  const weights = params.granularity === "global"
    ? new Float64Array(snrs.length).fill(1)
    : Float64Array.from(snrs, (snr) => 1 + contrast * (2 * sigma(snr) - 1));
  const average = mean(weights);
  return average < params.eps ? weights.fill(power) : weights.map((weight) => power * weight / average);
}

/** Powers of a learned policy, [state, subcarrier]: the scores of each row, times the mean power, on the simplex. */
export function learnedPowers(network: DeepSet, knowledge: ChannelKnowledge, params: PowerParams): Float64Array {
  const { rows, repeat, history, state: { subcarriers, noiseVariance } } = knowledge;
  const depth = network.phi[0].inputs;
  const ages = Array.from({ length: depth }, (_, i) => Math.min(depth - 1 - i, history - 1));
  const reports = ages.map((age) => reportedGains(knowledge, age));
  const powers = new Float64Array(rows * subcarriers);
  for (let row = 0; row < rows; row++) {
    const features = new Float64Array(subcarriers * depth);
    for (let k = 0; k < subcarriers; k++) {
      for (let t = 0; t < depth; t++) {
        const gain = reports[t][row * subcarriers + k];
        features[k * depth + t] = Math.log1p(params.target_power * gain / noiseVariance);
      }
    }
    const scores = deepSetScores(network, features).map((score) => score * params.target_power);
    powers.set(projectOntoSimplex(scores, params.target_power * subcarriers), row * subcarriers);
  }
  return repeatRows(powers, { rows, subcarriers, repeat });
}

/**
 * Features of a trained policy, float32: the mean power budget P and N0 of every row, and either the gains |h|² of its
 * last report or all its reports, the oldest first, as real and imaginary parts.
 */
export function policyFeatures(
  knowledge: ChannelKnowledge,
  params: PowerParams,
  feature: "channel_gain" | "csi_history",
) {
  const { rows, history, state: { h, subcarriers, noiseVariance } } = knowledge;
  const column = (value: number) => ndarray("float32", new Float32Array(rows).fill(value), [rows, 1]);
  return {
    average_power_budget: column(params.target_power),
    noise_variance: column(noiseVariance),
    [feature]: feature === "channel_gain"
      ? ndarray("float32", Float32Array.from(reportedGains(knowledge)), [rows, subcarriers])
      : ndarray("float32", h, [rows, history, subcarriers, 2]),
  };
}

/** Powers of a trained policy, [state, subcarrier]: the scores of each row on the simplex of its budget. */
export function projectScores(scores: Float32Array, grid: ElementGrid, params: PowerParams): Float64Array {
  const { rows, subcarriers } = grid;
  const powers = new Float64Array(rows * subcarriers);
  for (let at = 0; at < powers.length; at += subcarriers) {
    const own = scores.subarray(at, at + subcarriers);
    powers.set(projectOntoSimplex(own, params.target_power * subcarriers), at);
  }
  return repeatRows(powers, grid);
}
