/**
 * Scores an allocation for short packets that was made with delayed channel knowledge, by the normal approximation
 * (lib/numeric/link/finite_blocklength.ts): a packet of n channel uses at rate R is sent over one state of the channel,
 * whose subcarriers are parallel channels of Es/N0 p·g/N0. Mean over the states: capacity, predicted block error rate,
 * and goodput R·(1 - block error rate).
 *
 * Reported against true channel, the last report of each grid against all its OFDM symbols, pooled: complex correlation
 * |sum ĥ·conj(h)| / sqrt(sum |ĥ|²·sum |h|²), Pearson's correlation of |ĥ|² and |h|², and sum |ĥ - h|² / sum |h|².
 * Values with a zero denominator are omitted.
 */
import { OFDM_STATE, POWER_ALLOCATION } from "../../lib/contract/kinds.ts";
import { unitRatio } from "../../lib/artifact/statistical_unit.ts";
import { type InputArtifact, type JsonObject, type Metrics, SvcError, z } from "../api.ts";
import { type OfdmState, ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { metadataNumber } from "../../lib/artifact/values.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { normalApproximationErrorRate, parallelAwgn } from "../../lib/numeric/link/finite_blocklength.ts";
import type { PooledMetric } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean, quantile, sum } from "../../lib/numeric/scores/statistics.ts";
import { allocatedState, rowOf } from "./_ofdm_allocation.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.ofdm_finite_blocklength_allocation",
  name: "Short-packet allocation scores",
  description: "Predicts error rate and goodput of short packets for an allocation made with delayed channel knowledge",
  inputs: { actual_state: [OFDM_STATE], allocation: [POWER_ALLOCATION], transmitter_csi: [OFDM_STATE] },
  params: z.strictObject({
    blocklength_channel_uses: z.int().positive().default(128).describe("complex channel uses per packet"),
    target_rate_bps_hz: z.number().positive().default(2).describe("rate of the code in bits per complex channel use"),
    include_third_order_term: z.boolean().default(true).describe("add log2(n)/(2n) to the rate"),
  }),
  run({ inputs, params }) {
    const { blocklength_channel_uses: blocklength, target_rate_bps_hz: rate } = params;
    const allocated = allocatedState(inputs.actual_state, inputs.allocation);
    const { state, states, power, gain } = allocated;
    if (states === 0) return { metrics: {} };
    const snrs = power.map((p, i) => Math.max(p, 0) * gain[i] / state.noiseVariance);
    const capacities: number[] = [], failures: number[] = [];
    for (let row = 0; row < states; row++) {
      const channel = parallelAwgn(rowOf(snrs, row, allocated));
      capacities.push(channel.capacity);
      failures.push(
        normalApproximationErrorRate(channel, rate, { blocklength, thirdOrder: params.include_third_order_term }),
      );
    }
    const goodputs = failures.map((failure) => rate * (1 - failure));
    const name = (part: string) => `resource.finite_blocklength.${part}`;
    const { pooled, metrics } = knowledgeMetrics(
      ofdmStateOf(inputs.transmitter_csi),
      state,
      inputs.actual_state.metadata,
    );
    return {
      pooled,
      metrics: {
        [name("expected_goodput_bps_hz")]: mean(goodputs),
        [name("predicted_bler")]: mean(failures),
        [name("mean_capacity_bps_hz")]: mean(capacities),
        [name("p05_goodput_bps_hz")]: quantile(goodputs, 0.05),
        [name("blocklength_channel_uses")]: blocklength,
        [name("target_rate_bps_hz")]: rate,
        "resource.nominal_snr_db": linearToDb(state.averagePowerBudget / state.noiseVariance),
        ...ageMetrics(inputs.transmitter_csi),
        ...metrics,
      },
      facts: { state_count: states, include_third_order_term: params.include_third_order_term },
    };
  },
});

function ageMetrics({ metadata }: InputArtifact): Metrics {
  const delay = metadataNumber(metadata, "feedback_delay_ofdm_symbols");
  const interval = metadataNumber(metadata, "ofdm_symbol_interval_s");
  return {
    ...(delay === undefined ? {} : { "resource.csi.feedback_delay_ofdm_symbols": delay }),
    ...(delay === undefined || interval === undefined
      ? {}
      : { "resource.csi.feedback_delay_seconds": delay * interval }),
  };
}

function knowledgeMetrics(
  reported: OfdmState,
  actual: OfdmState,
  metadata: JsonObject,
): { pooled: Record<string, PooledMetric>; metrics: Metrics } {
  if (reported.grids !== actual.grids || reported.subcarriers !== actual.subcarriers) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot compare reports of ${reported.grids} grids × ${reported.subcarriers} subcarriers with a channel of ` +
        `${actual.grids} × ${actual.subcarriers}`,
      { hint: "Wire both outputs of one wireless.ofdm_delayed_csi" },
    );
  }
  const told = lastReports(reported, actual.symbols);
  const met = Float64Array.from(actual.h);
  const power = (h: Float64Array) => sum(h.map((part) => part * part));
  const [toldPower, metPower] = [power(told), power(met)];
  const products = { real: new Float64Array(met.length / 2), imaginary: new Float64Array(met.length / 2) };
  for (let i = 0; i < met.length; i += 2) {
    products.real[i / 2] = told[i] * met[i] + told[i + 1] * met[i + 1];
    products.imaginary[i / 2] = told[i + 1] * met[i] - told[i] * met[i + 1];
  }
  const gainCorrelation = pearson(gains(told), gains(met));
  const name = (part: string) => `resource.csi.observed_actual_${part}`;
  // A grid is a realisation of the channel, unless the state declares a larger one.
  const own = (h: Float64Array, grid: number) =>
    h.subarray(grid * h.length / actual.grids, (grid + 1) * h.length / actual.grids);
  const errors = told.map((part, i) => part - met[i]), grids = Array.from({ length: actual.grids }, (_, grid) => grid);
  const powers = (h: Float64Array) => grids.map((grid) => power(own(h, grid)));
  const sums = unitRatio(metadata, powers(errors), powers(met));
  const metrics = {
    ...(toldPower > 0 && metPower > 0
      ? {
        [name("complex_correlation")]: Math.hypot(sum(products.real), sum(products.imaginary)) /
          Math.sqrt(toldPower * metPower),
      }
      : {}),
    ...(gainCorrelation === null ? {} : { [name("gain_correlation")]: gainCorrelation }),
  };
  return { pooled: { [name("complex_nmse")]: { reduction: "ratio_of_sums", sums } }, metrics };
}

/** The last report of each grid, once for each OFDM symbol that follows. */
function lastReports({ grids, symbols, subcarriers, h }: OfdmState, repeat: number): Float64Array {
  const width = 2 * subcarriers;
  const all = new Float64Array(grids * repeat * width);
  for (let row = 0; row < grids * repeat; row++) {
    const from = ((Math.floor(row / repeat) + 1) * symbols - 1) * width;
    all.set(h.subarray(from, from + width), row * width);
  }
  return all;
}

const gains = (h: Float64Array) =>
  Float64Array.from({ length: h.length / 2 }, (_, i) => h[2 * i] ** 2 + h[2 * i + 1] ** 2);

/** Pearson's correlation; null if a side is constant. */
function pearson(a: Float64Array, b: Float64Array): number | null {
  const [meanA, meanB] = [mean(a), mean(b)];
  const [offA, offB] = [a.map((value) => value - meanA), b.map((value) => value - meanB)];
  const spread = Math.sqrt(sum(offA.map((value) => value * value)) * sum(offB.map((value) => value * value)));
  return spread > 0 ? sum(offA.map((value, i) => value * offB[i])) / spread : null;
}
