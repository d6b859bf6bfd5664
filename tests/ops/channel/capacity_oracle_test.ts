import assert from "node:assert/strict";
import oracle from "../../../ops/channel/capacity_oracle_digital_link.ts";
import { bitsInput, someBits } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const run = (bits: number, params: Record<string, number | string>, metadata = {}) =>
  runOperation(oracle, { inputs: { bits: bitsInput(someBits(bits), metadata) }, params });

Deno.test("rate 1/2 QPSK carries one bit per channel use: capacity is met at 0 dB", async () => {
  // log2(1 + 1) = 1 bit per use: n bits, n uses.
  const met = await run(1000, { snr_db: 0, ldpc_rate: 0.5 });
  assert.deepEqual(met.outputs.bits.array().data, someBits(1000));
  assert.equal(met.metrics["channel.outage_rate"], 0);
  assert.equal(met.metrics["channel.channel_use_count"], 1000n);
  assert.deepEqual(met.outputs.bits.metadata.failed_item_indices, []);
  const missed = await run(1000, { snr_db: -0.001, ldpc_rate: 0.5 });
  assert.deepEqual(missed.outputs.bits.array().data, new Uint8Array(1000));
  assert.equal(missed.metrics["channel.outage_rate"], 1);
  assert.deepEqual(missed.outputs.bits.metadata.failed_item_indices, [0]);
});

Deno.test("a last partial symbol counts as a use", async () => {
  // 3 bits at rate 3/4 of QPSK: exactly 2 uses; 4 bits: 2.67, so 3.
  assert.equal((await run(3, { ldpc_rate: 0.75 })).metrics["channel.channel_use_count"], 2n);
  assert.equal((await run(4, { ldpc_rate: 0.75 })).metrics["channel.channel_use_count"], 3n);
  assert.equal((await run(3, { ldpc_rate: 0.1 })).metrics["channel.channel_use_count"], 15n);
  // 21 / 1.4 is 15.000000000000002 in binary64, and 15 all the same.
  assert.equal((await run(21, { ldpc_rate: 0.7 })).metrics["channel.channel_use_count"], 15n);
});

Deno.test("an outage loses every item; report_outage differs in the record alone", async () => {
  for (const on_decode_failure of ["gray_image", "erasure", "report_outage"]) {
    const lost = await run(10, { snr_db: -20, on_decode_failure }, {
      source_item_counts: [4, 6],
      packet_total_bits: 136,
    });
    assert.deepEqual(lost.outputs.bits.array().data, new Uint8Array(10));
    assert.deepEqual(lost.outputs.bits.metadata.failed_item_indices, [0, 1]);
    assert.equal(lost.outputs.bits.metadata.on_decode_failure, on_decode_failure);
    assert.equal(lost.outputs.bits.metadata.packet_total_bits, 136);
  }
});

Deno.test("rates outside (0, 1] are refused", async () => {
  await refuses("params_invalid", () => run(4, { ldpc_rate: 0 }));
  await refuses("params_invalid", () => run(4, { ldpc_rate: 1.01 }));
});
