import assert from "node:assert/strict";
import age from "../../../ops/metrics/age_of_information.ts";
import semanticRate from "../../../ops/metrics/semantic_rate.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { embeddingsInput } from "../_fixtures/meaning.ts";
import { refuses, runOperation } from "../harness.ts";
import { bitsInput, someBits, symbolsInput, textsInput } from "../inputs.ts";

/** Six updates of 4 bits; those of the list arrive with a wrong bit. */
function updates(lost: number[], more: JsonObject = {}, symbols?: number) {
  const sent = someBits(24), received = sent.map((bit, at) => lost.includes(at / 4) ? 1 - bit : bit);
  return runOperation(age, {
    inputs: {
      reference: bitsInput(sent),
      candidate: bitsInput(received),
      ...(symbols === undefined ? {} : { symbols: symbolsInput(symbols) }),
    },
    params: { update_bits: 4, ...more },
  });
}

Deno.test("updates that arrive make the age fall to their delay", async () => {
  const { metrics } = await updates([1, 2], { transmission_s: 0.5, update_period_s: 1 });
  // Arrivals of updates 0, 3, 4, 5: gaps 3, 1, 1.
  assert.equal(metrics["age.average_s"], 0.5 + 11 / 10);
  assert.equal(metrics["age.peak_s"], 0.5 + 5 / 3);
  assert.equal(metrics["age.independent_average_s"], 0.5 + 6 / 4 - 0.5);
  assert.equal(metrics["age.update_loss_rate"], 2 / 6);
  assert.equal("age.queue_average_s" in metrics, false);
});

Deno.test("symbols set the time of a transmission, and updates follow each other", async () => {
  const { metrics, outputs } = await updates([], { symbol_rate_hz: 100, arrival_rate_hz: 4 }, 60);
  assert.equal(outputs.report.json().update_count, 6);
  // 10 symbols at 100 Hz: 0.1 s; without a loss the average age is 1.5 periods.
  assert.ok(Math.abs(Number(metrics["age.average_s"]) - 0.15) < 1e-12);
  // M/D/1 at a load of 0.4.
  const expected = 0.1 + 4 * 0.01 / (2 * 0.6) + 0.6 / (4 * Math.exp(-0.4));
  assert.ok(Math.abs(Number(metrics["age.queue_average_s"]) - expected) < 1e-12);
});

Deno.test("ages that are not finite are left out", async () => {
  const lost = await updates([0, 1, 2, 3, 5], { arrival_rate_hz: 4 });
  assert.deepEqual(Object.keys(lost.metrics).sort(), [
    "age.independent_average_s",
    "age.independent_peak_s",
    "age.update_loss_rate",
  ]);
  assert.match(JSON.stringify(lost.outputs.report.json()), /1 of 6 updates arrived.*its load 24 is not below 1/);
  await refuses("boundary_count_mismatch", () => updates([], { update_bits: 5 }));
});

Deno.test("the semantic rate is similarity times units over symbols", async () => {
  const { metrics } = await runOperation(semanticRate, {
    inputs: {
      reference: embeddingsInput({ a: [1, 0], b: [0, 1] }),
      candidate: embeddingsInput({ a: [3, 4], b: [0, -1] }),
      texts: textsInput({ a: "two words", b: "three more words" }),
      symbols: symbolsInput(20),
    },
    params: { units_per_word: 4, bandwidth_hz: 1000 },
  });
  // Similarities 0.6 and 0, 5 words in 20 symbols.
  const efficiency = 4 * 0.3 * 5 / 20;
  assert.ok(Math.abs(Number(metrics["semantic.spectral_efficiency_suts_s_hz"]) - efficiency) < 1e-7);
  assert.ok(Math.abs(Number(metrics["semantic.rate_suts_s"]) - 1000 * efficiency) < 1e-4);
});
