import assert from "node:assert/strict";
import errorRate from "../../../ops/metrics/error_rate.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { bitsInput, someBits } from "../inputs.ts";
import { runOperation } from "../harness.ts";

const [ber, bler] = errorRate;

const compare = (operation: typeof ber, candidate: number[], reference: number[], params: JsonObject = {}) =>
  runOperation(operation, { inputs: { candidate: bitsInput(candidate), reference: bitsInput(reference) }, params });

Deno.test("BER counts differing bits over the shorter stream", async () => {
  const { metrics, outputs } = await compare(ber, [1, 0, 1, 1, 0, 0], [1, 1, 1, 0]);
  assert.deepEqual(metrics, { "channel.ber": 0.5, "channel.error_count": 2n, "channel.compare_bit_count": 4n });
  const { metrics: _metrics, ...facts } = outputs.report.json();
  assert.deepEqual(facts, {
    kind: "metrics.report",
    schema_version: 1,
    operation: "metrics.bit_error_rate",
    label: "ber",
    reference_bit_count: 4,
    candidate_bit_count: 6,
    compare_bit_count: 4,
    length_mismatch: 2,
    metric_metadata: { "channel.ber": { events: 2, trials: 4, unit: "bit", units: 4, unit_failures: 2 } },
  });
});

Deno.test("a bit error rate that is certainly above one half is a warning, a guess is not", async () => {
  const codes = async (differing: number, count: number) => {
    const reference = Array.from({ length: count }, (_, i) => i % 2);
    const candidate = reference.map((bit, i) => i < differing ? 1 - bit : bit);
    const { warnings } = (await compare(ber, candidate, reference)).metadata as { warnings?: JsonObject[] };
    return (warnings ?? []).map(({ code, hint }) => `${code}: ${hint}`);
  };
  assert.deepEqual(await codes(4000, 4000), [
    "error_rate_above_half: Is the sign of the soft values inverted, or is the order of the bits reversed?",
  ]);
  assert.equal((await codes(2200, 4000)).length, 1);
  assert.deepEqual(await codes(2050, 4000), []);
  assert.deepEqual(await codes(3, 4), []);
  assert.deepEqual(await codes(0, 4000), []);
});

Deno.test("labels name the metrics, counts share the stem before ber or bler", async () => {
  const names = async (operation: typeof ber, label: string) =>
    Object.keys((await compare(operation, [1], [1], { label })).metrics);
  assert.deepEqual(await names(ber, "payload.ber"), [
    "channel.payload.ber",
    "channel.payload.error_count",
    "channel.payload.compare_bit_count",
  ]);
  assert.deepEqual(await names(ber, "uplink"), [
    "channel.uplink",
    "channel.uplink.error_count",
    "channel.uplink.compare_bit_count",
  ]);
  assert.deepEqual(await names(bler, "bler"), ["channel.bler", "channel.block_error_count", "channel.block_count"]);
  assert.deepEqual(await names(bler, "coded.bler"), [
    "channel.coded.bler",
    "channel.coded.block_error_count",
    "channel.coded.block_count",
  ]);
  assert.deepEqual(await names(bler, "uplink"), [
    "channel.uplink",
    "channel.uplink.block_error_count",
    "channel.uplink.block_count",
  ]);
});

Deno.test("with nothing to compare the rate is left out", async () => {
  assert.deepEqual((await compare(ber, [], [1])).metrics, {
    "channel.error_count": 0n,
    "channel.compare_bit_count": 0n,
  });
  assert.deepEqual((await compare(bler, [1], [])).metrics, {
    "channel.block_error_count": 0n,
    "channel.block_count": 0n,
  });
});

Deno.test("BLER counts a partial last block, and blocks that did not fully arrive as errors", async () => {
  const reference = [...someBits(10)];
  const whole = await compare(bler, reference, reference, { block_size: 4 });
  assert.deepEqual(whole.metrics, { "channel.bler": 0, "channel.block_error_count": 0n, "channel.block_count": 3n });
  const short = await compare(bler, reference.slice(0, 9), reference, { block_size: 4 });
  assert.equal(short.metrics["channel.block_error_count"], 1n);
  const shorter = await compare(bler, reference.slice(0, 7), reference, { block_size: 4 });
  assert.equal(shorter.metrics["channel.bler"], 2 / 3);
  const flipped = reference.with(0, 1 - reference[0]).with(3, 1 - reference[3]);
  assert.equal((await compare(bler, flipped, reference, { block_size: 4 })).metrics["channel.block_error_count"], 1n);
});

Deno.test("streams of different length warn, and fail the step where this is not allowed", async () => {
  for (const operation of [ber, bler]) {
    const run = (params: JsonObject) => compare(operation as typeof ber, [1, 0, 1], [1, 0], params);
    const { metadata } = await run({});
    assert.deepEqual((metadata.warnings as JsonObject[]).map(({ code, severity }) => [code, severity]), [
      ["length_mismatch", "warning"],
    ]);
    await assert.rejects(run({ allow_length_mismatch: false }), { code: "length_mismatch" });
    const equal = await compare(operation as typeof ber, [1, 0], [1, 1], { allow_length_mismatch: false });
    assert.equal(equal.metadata.warnings, undefined);
  }
});
