/** Importance sampling by noise scaling: unbiased against closed forms and plain Monte Carlo, refused where weights are ignored. */
import assert from "node:assert/strict";
import { recordedPooled } from "../../../lib/contract/metric_metadata.ts";
import { WEIGHTS } from "../../../lib/contract/importance.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { gaussianTail } from "../../../lib/numeric/linalg/error_function.ts";
import { pooledEstimate, pooledSums } from "../../../lib/numeric/scores/pooled_ratio.ts";
import { aggregate } from "../../../lib/study/rows/aggregate.ts";
import { stopReason } from "../../../lib/study/rows/stop.ts";
import { Tally } from "../../../lib/study/rows/tally.ts";
import errorRate from "../../../ops/metrics/error_rate.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import ldpcDecoder from "../../../ops/channel/nr_ldpc_decoder.ts";
import ldpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import polar from "../../../ops/channel/nr_polar.ts";
import repetition from "../../../ops/channel/repetition.ts";
import channel from "../../../ops/wireless/channel.ts";
import { open } from "../../../mod.ts";
import { payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { type GivenInput, outputOf, refuses, runOperation, type RunResult } from "../harness.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const [ber, bler] = errorRate;
const [polarEncoder, polarDecoder] = polar, [repeat, majority] = repetition;

interface Link {
  bits: number;
  snr_db: number;
  /** Further parameters of the channel. */
  channel: JsonObject;
  code?: [encoder: Operation, decoder: Operation, encode?: JsonObject, decode?: JsonObject];
  measure?: [Operation, JsonObject];
}

/** Runs a QPSK link over AWGN. */
async function link({ bits, snr_db, channel: params, code, measure = [ber, {}] }: Link): Promise<RunResult> {
  const payload = payloadInput(someBits(bits));
  const step = async (operation: Operation, port: string, from: GivenInput, params: JsonObject = {}) =>
    await runOperation(operation, { inputs: { [port]: from }, params });
  const taken = (result: RunResult, port: string) => {
    const output = result.outputs[port];
    return { kind: output.kind, ...outputOf(output) };
  };
  const coded = code === undefined ? payload : taken(await step(code[0], "bits", payload, code[2]), "coded_bits");
  const sent = taken(await step(digitalModulate, "bits", coded, { modulation: "qpsk" }), "symbols");
  const received = taken(await step(channel, "symbols", sent, { seed: 5, snr_db, ...params }), "rx_symbols");
  const demapped = await step(digitalDemodulate, "rx_symbols", received);
  const soft = code?.[1] === polarDecoder || code?.[1] === ldpcDecoder;
  const decoded = code === undefined ? taken(demapped, "bits") : taken(
    await step(code[1], soft ? "llr" : "coded_bits", taken(demapped, soft ? "llr" : "bits"), code[3]),
    "bits",
  );
  return await runOperation(measure[0], { inputs: { candidate: decoded, reference: payload }, params: measure[1] });
}

function estimateOf({ metadata }: RunResult, metric: string) {
  const { mean, low, high } = pooledEstimate(recordedPooled(metadata as JsonObject, metric)!, 0.95)!;
  return { mean, low: low!, high: high! };
}
const inside = ({ low, high }: { low: number; high: number }, value: number) => low <= value && value <= high;

Deno.test("weights have mean 1 under the scaled noise, one for each block of symbols", async () => {
  const { outputs: { rx_symbols } } = await runOperation(channel, {
    inputs: { symbols: symbolsInput(40_000) },
    params: { seed: 3, snr_db: 6, importance_scale: 1.3, importance_block_symbols: 4 },
  });
  const weights = [...rx_symbols.array(WEIGHTS).data as Float64Array], { length } = weights;
  const mean = weights.reduce((sum, one) => sum + one, 0) / length;
  const variance = weights.reduce((sum, one) => sum + (one - mean) ** 2, 0) / length;
  assert.equal(length, 10_000);
  assert.ok(Math.abs(mean - 1) < 4 * Math.sqrt(variance / length), `${mean}`);
  assert.deepEqual(rx_symbols.metadata.importance_sampling, { scale: 1.3, units: 10_000, symbols: 4 });
  assert.equal(Number(rx_symbols.metadata.noise_variance).toFixed(6), (10 ** -0.6).toFixed(6));
});

Deno.test("a bit error rate of 1e-9 is that of the closed form, with the draws that it saves", async () => {
  const snr_db = 15.56, exact = gaussianTail(Math.sqrt(10 ** (snr_db / 10)));
  const result = await link({ bits: 100_000, snr_db, channel: { importance_scale: 4 } });
  const estimate = estimateOf(result, "channel.ber"), { metrics } = result;
  assert.ok(inside(estimate, exact), `${exact} ${JSON.stringify(estimate)}`);
  assert.ok((estimate.high - estimate.low) / 2 < 0.15 * exact);
  assert.equal(metrics["channel.ber"], estimate.mean);
  assert.equal(metrics["channel.compare_bit_count"], 100_000n);
  // s²/a·Q(d√a)/Q(d) is the second moment of a weighted bit over the first, a = 2 - 1/s².
  const d = Math.sqrt(10 ** (snr_db / 10)), a = 2 - 1 / 16;
  const expected = exact / (16 / a * gaussianTail(d * Math.sqrt(a)));
  const reduction = Number(metrics["channel.ber_variance_reduction"]);
  assert.ok(reduction > 0.7 * expected && reduction < 1.4 * expected, `${reduction} ${expected}`);
});

Deno.test("at 1e-4 plain and scaled noise agree", async () => {
  const snr_db = 11.4, exact = gaussianTail(Math.sqrt(10 ** (snr_db / 10)));
  const plain = await link({ bits: 2_000_000, snr_db, channel: {} });
  const scaled = await link({ bits: 40_000, snr_db, channel: { importance_scale: 2.2 } });
  const errors = Number(plain.metrics["channel.error_count"]);
  assert.ok(errors > 100 && Math.abs(errors / 2e6 - exact) < 3 * Math.sqrt(exact / 2e6));
  const estimate = estimateOf(scaled, "channel.ber");
  assert.ok(inside(estimate, exact) && inside(estimate, errors / 2e6), JSON.stringify(estimate));
});

Deno.test("rates of short codes agree with plain Monte Carlo", async () => {
  const words = 3000;
  const polarLink: Link = {
    bits: 32 * words,
    snr_db: -1.5,
    channel: {},
    code: [
      polarEncoder,
      polarDecoder,
      { message_type: "uci", payload_bits: 32, coded_bits: 128 },
      { list_size: 1, on_crc_failure: "keep_estimate" },
    ],
    measure: [bler, { block_size: 32 }],
  };
  const ldpcLink: Link = {
    bits: 24 * words,
    snr_db: 2.5,
    channel: {},
    code: [
      ldpcEncoder,
      ldpcDecoder,
      { transport_block_size_bits: 24, target_coderate: 0.25, num_bits_per_symbol: 2 },
      { on_tb_crc_failure: "keep_estimate" },
    ],
    measure: [bler, { block_size: 24 }],
  };
  for (const [coded, symbols] of [[polarLink, 64], [ldpcLink, 48]] as const) {
    const plain = await link(coded);
    const scaled = await link({ ...coded, channel: { importance_scale: 1.06, importance_block_symbols: symbols } });
    const [rate, estimate] = [Number(plain.metrics["channel.bler"]), estimateOf(scaled, "channel.bler")];
    const sigma = Math.hypot(Math.sqrt(rate / words), (estimate.high - estimate.low) / 4);
    assert.ok(rate > 0.003 && Math.abs(rate - estimate.mean) < 3 * sigma, `${rate} ${JSON.stringify(estimate)}`);
  }

  // Two of three copies fail, each with Q(√(Es/N0)): p = 3q²(1-q) + q³.
  const snr_db = 9, q = gaussianTail(Math.sqrt(10 ** (snr_db / 10))), exact = 3 * q * q * (1 - q) + q ** 3;
  const repeated = await link({
    bits: 40_000,
    snr_db,
    channel: { importance_scale: 1.8, importance_block_symbols: 3 },
    code: [repeat, majority],
  });
  assert.ok(inside(estimateOf(repeated, "channel.ber"), exact), JSON.stringify(estimateOf(repeated, "channel.ber")));
});

Deno.test("replicates pool to one weighted rate, which stops at effective errors", async () => {
  const results = await Promise.all(
    [1, 2, 3].map((seed) => link({ bits: 20_000, snr_db: 12, channel: { importance_scale: 3, seed } })),
  );
  const tally = new Tally("channel.ber");
  results.forEach(({ metrics, metadata }, replicate) => {
    const pooled = recordedPooled(metadata as JsonObject, "channel.ber")!;
    const sample = {
      values: { "channel.ber": Number(metrics["channel.ber"]) },
      rates: {},
      pooled: { "channel.ber": pooled },
    };
    tally.add({ ...sample, replicate, items: {} } as Parameters<Tally["add"]>[0]);
  });
  const [row] = aggregate([{ id: "qpsk", tallies: [tally] }], 0.95);
  const sums = results.map(({ metadata }) => recordedPooled(metadata as JsonObject, "channel.ber")!.sums);
  const pooled = pooledEstimate({ reduction: "weighted_rate", sums: sums.reduce(pooledSums) }, 0.95)!;
  assert.deepEqual([row.ci_method, Number(row.mean), Number(row.ci_high)], ["weighted_t", pooled.mean, pooled.high]);
  assert.equal(row.units, 30_000);
  const rule = { until_halfwidth: null, max_bits: null, replicates: 9, min_replicates: 1, confidence_level: 0.95 };
  const stop = (until_errors: number) =>
    stopReason(tally, 3, { ...rule, until_errors } as Parameters<typeof stopReason>[2]);
  assert.deepEqual([stop(100), stop(1e6)], ["errors", null]);
});

Deno.test("without an error there is no rate, but a warning", async () => {
  const { metrics, metadata } = await link({ bits: 200, snr_db: 25, channel: { importance_scale: 1.1 } });
  assert.ok(!Object.hasOwn(metrics, "channel.ber"));
  assert.deepEqual((metadata as { warnings: { code: string }[] }).warnings.map(({ code }) => code), [
    "importance_no_error",
  ]);
});

Deno.test("what ignores the weights is refused, in the plan and in the run", async () => {
  const coded = { bits: 320, snr_db: 5, channel: { importance_scale: 1.1 }, code: [repeat, majority] } satisfies Link;
  await refuses("importance_unsupported", () => link(coded));
  const uneven = { ...coded.channel, importance_block_symbols: 5 };
  await refuses("importance_block_mismatch", () => link({ ...coded, channel: uneven }));
  // Of three symbols with a bit of padding it is not known which has it.
  await refuses("importance_block_mismatch", () => link({ bits: 5, snr_db: 5, channel: { importance_scale: 1.1 } }));
  await refuses("importance_unsupported", async () => {
    const { outputs: { rx_symbols } } = await runOperation(channel, {
      inputs: { symbols: symbolsInput(8) },
      params: { importance_scale: 2 },
    });
    return runOperation(channel, {
      inputs: { symbols: { kind: "channel.symbols.complex_numpy", ...outputOf(rx_symbols) } },
      params: {},
    });
  });
  const stateDir = temporaryFolder("svc-importance-");
  await using svc = await open({ stateDir });
  const recipe = (more: JsonObject[], params: JsonObject = {}): JsonObject => ({
    name: "scaled",
    execution_profile: { id: "custom" },
    steps: [
      { id: "data", op: "source.random_bits", params: { bit_count: 60 } },
      { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
      {
        id: "air",
        op: "wireless.channel",
        inputs: { symbols: "modulator.symbols" },
        params: { importance_scale: 2, ...params },
      },
      ...more,
    ] as JsonObject[],
  });
  const planned = async (given: JsonObject) =>
    (await svc.recipes.plan(given)).diagnostics.filter(({ severity }) => severity === "error").map(({ code, path }) =>
      `${code} ${path}`
    );
  const demodulator = {
    id: "demodulator",
    op: "demodulation.digital_demodulate",
    inputs: { rx_symbols: "air.rx_symbols" },
  };
  const decoder = {
    id: "decoder",
    op: "channel.repetition_decoder",
    inputs: { coded_bits: "demodulator.bits" },
    params: { factor: 3 },
  };
  const phase = { id: "phase", op: "wireless.carrier_phase_impairment", inputs: { rx_symbols: "air.rx_symbols" } };
  assert.deepEqual(await planned(recipe([demodulator])), []);
  assert.deepEqual(await planned(recipe([demodulator, decoder])), ["importance_unsupported $.steps[4].op"]);
  assert.deepEqual(await planned(recipe([demodulator, decoder], { importance_block_symbols: 3 })), []);
  assert.deepEqual(await planned(recipe([], { channel: "flat_rayleigh" })), [
    "params_conflict $.steps[2].params.importance_scale",
  ]);
  assert.deepEqual(await planned(recipe([phase])), ["importance_unsupported $.steps[3].op"]);
});
