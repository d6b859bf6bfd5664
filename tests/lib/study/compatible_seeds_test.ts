/** One coded link, six seeds, each stopped at 100 failed blocks: the intervals agree, where intervals over bits do not. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { shownAggregates } from "../../../lib/study/rows/estimates.ts";
import type { AggregateRow } from "../../../lib/study/pack/types.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { runBenchmark } from "../../support/session.ts";
import { twoLinks, withPack } from "./packs.ts";
import { testWhole } from "../../support/sample.ts";

const CODED = `name: coded
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 24000}}
  - {id: encoder, op: channel.nr_ldpc_encoder, params: {transport_block_size_bits: 480, target_coderate: 0.5}, inputs: {bits: data.bits}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: encoder.coded_bits}}
  - {id: channel, op: wireless.channel, params: {channel: awgn, snr_db: 1.6}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: channel.rx_symbols}}
  - {id: decoder, op: channel.nr_ldpc_decoder, params: {on_tb_crc_failure: keep_estimate}, inputs: {llr: demodulator.llr}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: decoder.bits}}
`;

/** Whether intervals all share a value, and the sum of squared standard scores around their mean. */
function agreement(intervals: readonly { low: number; high: number }[]): { pairs: number; score: number } {
  const centres = intervals.map(({ low, high }) => (low + high) / 2);
  const deviations = intervals.map(({ low, high }) => (high - low) / 2 / 1.96);
  const weights = deviations.map((deviation) => 1 / deviation ** 2);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = centres.reduce((sum, centre, i) => sum + weights[i] * centre, 0) / total;
  return {
    pairs: intervals.flatMap((a, i) => intervals.slice(i + 1).filter((b) => a.low <= b.high && b.low <= a.high)).length,
    score: centres.reduce((sum, centre, i) => sum + weights[i] * (centre - mean) ** 2, 0),
  };
}

/** The coverage of such intervals has a test of every day: tests/lib/numeric/coverage_test.ts. */
testWhole("six seeds of one coded link, stopped at 100 failed blocks, have compatible intervals", async () => {
  const shown: AggregateRow[] = [];
  for (const base_seed of [1, 2, 3, 4, 5, 6]) {
    const document = twoLinks({
      baselines: [],
      recipes: [{ id: "coded", path: "coded.yaml" }],
      replication: { base_seed, until_errors: 100 },
    });
    await withPack(document, async ({ pack, projectRoot }) => {
      Deno.writeTextFileSync(join(projectRoot, "coded.yaml"), CODED);
      const { result } = await runBenchmark(pack, { projectRoot });
      assert.equal(result.status, "completed", result.error?.message);
      shown.push(...shownAggregates(result));
    });
  }
  for (const { ci_method, unit, unit_failures, n, stop_reason } of shown) {
    assert.deepEqual([ci_method, unit, stop_reason], ["gaffke", "transport_block", "errors"]);
    assert.ok(unit_failures! >= 100 && n >= 10, `${unit_failures} failures in ${n} replicates`);
  }
  const clusters = agreement(shown.map(({ ci_low, ci_high }) => ({ low: Number(ci_low), high: Number(ci_high) })));
  const bits = agreement(shown.map(({ events, trials }) => wilsonInterval(events!, trials!)));
  // The 99.9 % point of chi-square with 5 degrees of freedom; 15 pairs of intervals.
  assert.ok(clusters.score < 20.5, `score ${clusters.score}`);
  assert.equal(clusters.pairs, 15, "all intervals meet");
  assert.ok(bits.score > 20.5 && bits.pairs < 15, `intervals over bits: score ${bits.score}, ${bits.pairs} pairs meet`);
});
