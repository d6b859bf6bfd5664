import assert from "node:assert/strict";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import identityModulate from "../../../ops/modulation/identity_modulate.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { payloadInput, someBits } from "../inputs.ts";
import { runOperation } from "../harness.ts";

const map = async (bits: number[], modulation: string, metadata: JsonObject = {}) =>
  (await runOperation(digitalModulate, { inputs: { bits: payloadInput(bits, metadata) }, params: { modulation } }))
    .outputs.symbols;

Deno.test("symbols follow TS 38.211 section 5.1", async () => {
  const points = async (bits: number[], modulation: string, unit: number) =>
    [...(await map(bits, modulation)).array().data as Float32Array].map((value) =>
      Math.round(value / unit * 1e6) / 1e6 + 0
    );
  assert.deepEqual(await points([0, 1], "bpsk", 1), [1, 0, -1, 0]);
  assert.deepEqual(await points([0, 0, 0, 1, 1, 0, 1, 1], "qpsk", Math.SQRT1_2), [1, 1, 1, -1, -1, 1, -1, -1]);
  assert.deepEqual(await points([0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1], "qam16", Math.sqrt(0.1)), [
    1,
    1,
    3,
    3,
    -3,
    1,
    -1,
    -3,
  ]);
});

Deno.test("padding is told, and items become symbol items where each fills whole symbols", async () => {
  const aligned = await map([...someBits(11)], "qpsk", { source_item_counts: [4, 6, 1] });
  assert.equal(aligned.array().shape[0], 6);
  const { modulation, bits_per_symbol, bit_count, modulation_padding_bits } = aligned.metadata;
  assert.deepEqual([modulation, bits_per_symbol, bit_count, modulation_padding_bits], ["qpsk", 2, 11, 1]);
  assert.deepEqual(aligned.metadata.source_item_counts, [2, 3, 1]);
  const torn = await map([...someBits(11)], "qpsk", { source_item_counts: [5, 6] });
  assert.equal(torn.metadata.source_item_counts, undefined);
  assert.equal((await map([...someBits(8)], "qam16")).metadata.modulation_padding_bits, 0);
});

Deno.test("the identity mapper makes each bit a real symbol", async () => {
  const { symbols } = (await runOperation(identityModulate, { inputs: { bits: payloadInput([1, 0, 1]) } })).outputs;
  assert.deepEqual(symbols.array().data, Float32Array.of(1, 0, 0, 0, 1, 0));
  assert.deepEqual([symbols.metadata.modulation, symbols.metadata.bits_per_symbol], ["identity", 1]);
});
