/**
 * Channel knowledge of a power allocator, and the gains of a policy.
 *
 * A true state has its own gains in each (grid, OFDM symbol) row. Of reports (csi_role transmitter) [grid, history,
 * subcarrier] each grid has one row, which is used for the next allocation_ofdm_symbols.
 *
 *     robust_csi     (1 - s)·g + s·mean over the row of g
 *     causal_ar      per subcarrier a = sum of h_t·conj(h_{t-1}) / sum of |h_{t-1}|², |a| at most 1, and
 *                    c·|a^d·h|² + (1 - c)·|h|² of the last report h, d OFDM symbols ahead
 *
 * With one report, or a zero denominator, a = 1.
 */
import { type OfdmState, ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { metadataNumber } from "../../lib/artifact/values.ts";
import { type InputArtifact, SvcError } from "../api.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import type { PowerParams } from "./_power_params.ts";

export interface ChannelKnowledge {
  readonly state: OfdmState;
  readonly isReport: boolean;
  /** Rows of separate gains. */
  readonly rows: number;
  /** States (OFDM symbols) per row. */
  readonly repeat: number;
  /** Reports per row, the last one being the newest. */
  readonly history: number;
  /** OFDM symbols from the last report to its use. */
  readonly delay: number;
}

/**
 * Reads the wired channel state.
 * @throws SvcError `ofdm_scenario_conflict` for a state with another power budget,
 *   `delayed_csi_water_filling_policy_invalid` for water_filling with a report
 */
export function channelKnowledge(input: InputArtifact, params: PowerParams): ChannelKnowledge {
  const state = ofdmStateOf(input);
  if (state.averagePowerBudget !== params.target_power) {
    throw new SvcError(
      "ofdm_scenario_conflict",
      `Cannot allocate a mean power of ${params.target_power} over a state whose budget is ${state.averagePowerBudget}`,
      { hint: "Give target_power and average_power_budget of the channel state the same value" },
    );
  }
  const isReport = input.metadata.csi_role === "transmitter";
  if (isReport && params.policy === "water_filling") {
    throw new SvcError(
      "delayed_csi_water_filling_policy_invalid",
      "Cannot use the policy water_filling with delayed CSI: it needs the true state",
      { hint: "Use observed_csi_water_filling, robust_csi_water_filling or causal_ar_water_filling" },
    );
  }
  return {
    state,
    isReport,
    rows: isReport ? state.grids : state.grids * state.symbols,
    repeat: isReport ? metadataNumber(input.metadata, "allocation_ofdm_symbols") ?? 1 : 1,
    history: isReport ? state.symbols : 1,
    delay: params.csi_prediction_horizon_ofdm_symbols ||
      (isReport ? metadataNumber(input.metadata, "feedback_delay_ofdm_symbols") ?? 0 : 0),
  };
}

/** |h|² of one report of every row, [row, subcarrier]; `age` 0 is the last report. */
export function reportedGains({ state: { h, subcarriers }, rows, history }: ChannelKnowledge, age = 0): Float64Array {
  const gains = new Float64Array(rows * subcarriers);
  for (let row = 0; row < rows; row++) {
    const from = (row * history + history - 1 - age) * subcarriers;
    for (let k = 0; k < subcarriers; k++) {
      gains[row * subcarriers + k] = h[2 * (from + k)] ** 2 + h[2 * (from + k) + 1] ** 2;
    }
  }
  return gains;
}

/** The gains of a policy, [row, subcarrier]. */
export function policyGains(knowledge: ChannelKnowledge, params: PowerParams): Float64Array {
  const gains = reportedGains(knowledge);
  if (params.policy === "robust_csi_water_filling") shrink(gains, knowledge, params.csi_gain_shrinkage);
  if (params.policy.startsWith("causal_ar_")) predict(gains, knowledge, params.csi_prediction_gain_confidence);
  return gains;
}

function shrink(gains: Float64Array, { rows, state: { subcarriers } }: ChannelKnowledge, shrinkage: number): void {
  for (let row = 0; row < rows; row++) {
    const own = gains.subarray(row * subcarriers, (row + 1) * subcarriers);
    const centre = mean(own);
    for (let k = 0; k < subcarriers; k++) own[k] = (1 - shrinkage) * own[k] + shrinkage * centre;
  }
}

function predict(gains: Float64Array, knowledge: ChannelKnowledge, confidence: number): void {
  const { rows, history, delay, state: { h, subcarriers } } = knowledge;
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < subcarriers; k++) {
      let real = 0, imaginary = 0, before = 0;
      for (let t = 1; t < history; t++) {
        const old = 2 * ((row * history + t - 1) * subcarriers + k), now = old + 2 * subcarriers;
        real += h[now] * h[old] + h[now + 1] * h[old + 1];
        imaginary += h[now + 1] * h[old] - h[now] * h[old + 1];
        before += h[old] ** 2 + h[old + 1] ** 2;
      }
      // A gain depends only on the modulus of a.
      const squared = before > 0 ? Math.min((real * real + imaginary * imaginary) / (before * before), 1) : 1;
      gains[row * subcarriers + k] *= confidence * squared ** delay + 1 - confidence;
    }
  }
}
