/** HARQ counts by hand. */
import assert from "node:assert/strict";
import harq from "../../../ops/metrics/harq.ts";
import { reportResult } from "../../../lib/artifact/values.ts";
import { refuses, runOperation } from "../harness.ts";

const report = (passed: boolean[], size = 100) => ({
  kind: "metrics.report",
  ...reportResult("channel.nr_ldpc_decoder", {}, {
    facts: { crc_passed: passed, transport_block_size_bits: size, payload_bits: 350, symbols_per_block: 60 },
  }).outputs.report,
});

Deno.test("blocks succeed at their first passed report; the last block is shorter", async () => {
  // Delivered at 1, 2, never, 2 (a later failure does not count).
  const inputs = {
    report_1: report([true, false, false, false]),
    report_2: report([true, true, false, true]),
    report_3: report([false, true, false, true]),
  };
  const { metrics, outputs } = await runOperation(harq, { inputs });
  assert.equal(metrics["harq.bler_1"], 0.75);
  assert.equal(metrics["harq.bler_2"], 0.25);
  assert.equal(metrics["harq.residual_bler"], 0.25);
  assert.equal(metrics["harq.mean_transmissions"], (1 + 2 + 3 + 2) / 4);
  assert.equal(metrics["harq.throughput_bits_per_symbol"], (100 + 100 + 50) / (8 * 60));
  assert.equal(metrics["harq.delivered_block_count"], 3n);
  assert.deepEqual(outputs.report.json().delivered_at_transmission, [1, 2, 0]);
  const late = await runOperation(harq, { inputs, params: { feedback_delay_transmissions: 1 } });
  assert.equal(late.metrics["harq.mean_transmissions"], (2 + 3 + 3 + 3) / 4);
});

Deno.test("reports of other blocks and gaps between reports are refused", async () => {
  const report_1 = report([true, false]);
  await refuses("params_conflict", () => runOperation(harq, { inputs: { report_1, report_2: report([true]) } }));
  await refuses(
    "params_conflict",
    () => runOperation(harq, { inputs: { report_1, report_2: report([true, true], 99) } }),
  );
  await refuses("params_conflict", () => runOperation(harq, { inputs: { report_1, report_3: report([true, true]) } }));
});
