/** Link adaptation in time against closed forms: error rates of the chosen row, combining, the balance of the outer loop, ageing. */
import assert from "node:assert/strict";
import adaptedThroughput from "../../../ops/metrics/nr_adapted_throughput.ts";
import { ofdmStateArtifact } from "../../../lib/artifact/ofdm_state.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { maximumDopplerHz, movingTaps, ofdmSymbolInterval } from "../../../lib/numeric/channel/delay_profile.ts";
import { tabulatedEffectiveSnrDb } from "../../../lib/numeric/link/adaptation_loop.ts";
import { effectiveSnrDb, predictedBlockErrorRate } from "../../../lib/numeric/link/link_adaptation.ts";
import { mcsRows, transportFormat } from "../../../lib/numeric/link/nr_transport_format.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";

/** A flat state; gains move at a speed, or are 1. */
function stateOf(snrDb: number, slots: number, mobilityKmh?: number, seed = 1) {
  const symbols = 14 * slots, subcarriers = 12, h = new Float32Array(2 * symbols * subcarriers);
  const flat = { delays: Float64Array.of(0), powers: Float64Array.of(1), lineOfSight: false };
  const motion = {
    dopplerHz: maximumDopplerHz(mobilityKmh ?? 0, 3.5),
    interval: ofdmSymbolInterval(15),
    samples: symbols,
  };
  const gains = mobilityKmh === undefined ? undefined : movingTaps(flat, 1, motion, Generator.seeded(seed));
  for (let i = 0; i < symbols * subcarriers; i++) {
    const symbol = Math.floor(i / subcarriers);
    h[2 * i] = gains?.[2 * symbol] ?? 1;
    h[2 * i + 1] = gains?.[2 * symbol + 1] ?? 0;
  }
  const state = { grids: 1, symbols, subcarriers, h, noiseVariance: 10 ** (-snrDb / 10), averagePowerBudget: 1 };
  return { ...ofdmStateArtifact(state, {}), kind: "channel.ofdm_channel_state.numpy" };
}

async function adapt(channel_state: ReturnType<typeof stateOf>, params: JsonObject) {
  const settings = {
    prb_count: 1,
    snr_margin_db: float(0),
    outer_loop_step_db: float(0),
    report_delay_slots: 0,
    ...params,
  };
  const { metrics, outputs } = await runOperation(adaptedThroughput, {
    inputs: { channel_state },
    params: settings,
    seed: 5,
  });
  return { ...metrics, facts: outputs.report.json() } as Record<string, unknown> & { facts: JsonObject };
}

/** Error rates of the rows of table 1 on the resources. */
const rows = mcsRows({ table: "table_1", transformPrecoding: false, pi2Bpsk: false }).map((row) => {
  const format = transportFormat(row, {
    ...{ prbCount: 1, symbolCount: 12, dmrsPerPrb: 12, overheadPerPrb: 0, layers: 1, scaling: 1 },
  });
  return { bits: format.blockBits, rate: (snrDb: number) => predictedBlockErrorRate(format.parameters, snrDb) };
});

/** Whether a share of trials deviates from a probability by less than 4 standard deviations. */
function meets(found: unknown, probability: number, trials: unknown) {
  const deviation = Math.sqrt(probability * (1 - probability) / Number(trials));
  assert.ok(Math.abs(Number(found) - probability) < 4 * deviation, `${found} ${probability} ± ${deviation}`);
}

Deno.test("the table of effective Es/N0 has the values of the quadrature", () => {
  for (const modulation of ["qpsk", "qam64"] as const) {
    const snrs = [0.3, 2, 17, 60], exact = effectiveSnrDb(modulation, snrs);
    assert.ok(Math.abs(tabulatedEffectiveSnrDb(modulation, snrs) - exact) < 2e-3, modulation);
    assert.ok(Math.abs(tabulatedEffectiveSnrDb(modulation, [10]) - 10) < 2e-3);
  }
});

Deno.test("over a constant channel the row, its failures and the throughput are those of the normal approximation", async () => {
  for (const snr of [1.3, 9, 16.4]) {
    const best = rows.filter(({ rate }) => rate(snr) <= 0.1).reduce((a, b) => b.bits > a.bits ? b : a),
      p = best.rate(snr);
    const one = await adapt(stateOf(snr, 10_000), { max_transmissions: 1 });
    assert.equal(one["harq.block_count"], 10_000n);
    meets(one["harq.bler_1"], p, 10_000);
    const share = 1 - Number(one["harq.residual_bler"]);
    assert.ok(Math.abs(Number(one["harq.throughput_bits_per_symbol"]) - best.bits * share / 168) < 1e-9);
  }
});

Deno.test("combined copies fail as often as at the sum of their Es/N0", async () => {
  // A report of 6 dB too much: the row fails at first, and seldom after two or three copies.
  const snr = 5, row = rows.filter(({ rate }) => rate(snr + 3) <= 0.1).reduce((a, b) => b.bits > a.bits ? b : a);
  for (const copies of [1, 2, 3]) {
    const found = await adapt(stateOf(snr, 10_000), { report_bias_db: float(3), max_transmissions: copies });
    meets(found["harq.bler_1"], row.rate(snr), found["harq.block_count"]);
    meets(found["harq.residual_bler"], row.rate(snr + 10 * Math.log10(copies)), found["harq.block_count"]);
  }
});

Deno.test("the outer loop brings a biased report to the target block error rate", async () => {
  const n = 8000,
    state = stateOf(8, n),
    wrong = { report_bias_db: float(4), max_transmissions: 1, report_delay_slots: 3 };
  const open = await adapt(state, wrong);
  assert.ok(Number(open["harq.bler_1"]) > 0.9, `${open["harq.bler_1"]}`);
  for (const target of [0.1, 0.3]) {
    const closed = await adapt(state, { ...wrong, outer_loop_step_db: float(0.4), target_bler: float(target) });
    // f/n = t - (1 - t)·Δ/(n·step), but for the three acknowledgements that are still under way.
    const last = Number(closed.facts.last_outer_loop_offset_db),
      expected = target - (1 - target) * last / ((n - 3) * 0.4);
    assert.ok(Math.abs(Number(closed["harq.bler_1"]) - expected) < 4 / n, `${closed["harq.bler_1"]} ${expected}`);
    assert.ok(Number(closed["harq.throughput_bits_per_symbol"]) > 2 * Number(open["harq.throughput_bits_per_symbol"]));
  }
});

Deno.test("aged reports cost throughput over a moving channel; the outer loop restores the block error rate", async () => {
  const of = async (mobility: number | undefined, delay: number, step: number) => {
    const mean = { throughput: 0, failed: 0 };
    for (let seed = 0; seed < 8; seed++) {
      const params = { report_delay_slots: delay, outer_loop_step_db: float(step), max_transmissions: 1 };
      const found = await adapt(stateOf(12, 400, mobility, seed), params);
      mean.throughput += Number(found["harq.throughput_bits_per_symbol"]) / 8;
      mean.failed += Number(found["harq.bler_1"]) / 8;
    }
    return mean;
  };
  const fresh = await of(30, 0, 0), aged = await of(30, 8, 0), corrected = await of(30, 8, 0.5);
  assert.ok(fresh.failed < 0.1 && aged.throughput < 0.8 * fresh.throughput, `${aged.throughput} ${fresh.throughput}`);
  // Of n = 392 blocks t·n fail, but for the fall of the offset, at most 10 dB.
  assert.ok(aged.failed > 0.3 && Math.abs(corrected.failed - 0.1) < 0.9 * 10 / (392 * 0.5), `${corrected.failed}`);
  const still = [await of(undefined, 8, 0), await of(undefined, 0, 0)];
  assert.ok(Math.abs(still[0].throughput / still[1].throughput - 1) < 0.03);
});

Deno.test("states of other resources or several layers are refused", async () => {
  await refuses("params_conflict", () => adapt(stateOf(5, 2), { prb_count: 2 }));
  await refuses("params_conflict", () => adapt(stateOf(5, 2), { layers: 2 }));
});
