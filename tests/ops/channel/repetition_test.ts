import assert from "node:assert/strict";
import repetition from "../../../ops/channel/repetition.ts";
import { bitsInput, payloadInput, someBits } from "../inputs.ts";
import { outputOf, refuses, runOperation } from "../harness.ts";

const [encoder, decoder] = repetition;

Deno.test("each bit is repeated consecutively, and items grow with it", async () => {
  const { outputs } = await runOperation(encoder, {
    inputs: { bits: payloadInput([1, 0, 1], { source_item_counts: [1, 2], packet_total_bits: 136 }) },
    params: { factor: 3 },
  });
  assert.deepEqual([...outputs.coded_bits.array().data as Uint8Array], [1, 1, 1, 0, 0, 0, 1, 1, 1]);
  const { metadata } = outputs.coded_bits;
  assert.equal(metadata.repetition_factor, 3);
  assert.deepEqual(metadata.source_item_counts, [3, 6]);
  assert.equal(metadata.packet_total_bits, 136);
  assert.equal(metadata.bit_count, 9);
});

Deno.test("factor 0 takes the encoder's factor; the round trip restores bits and items", async () => {
  const sent = someBits(101);
  for (const factor of [1, 2, 3, 7]) {
    const coded = await runOperation(encoder, {
      inputs: { bits: payloadInput(sent, { source_item_counts: [1, 100] }) },
      params: { factor },
    });
    const { bits } = (await runOperation(decoder, {
      inputs: { coded_bits: { ...outputOf(coded.outputs.coded_bits), kind: "channel.demod_bits.numpy" } },
    })).outputs;
    assert.deepEqual(bits.array().data, sent);
    assert.deepEqual(bits.metadata.source_item_counts, [1, 100]);
    assert.equal(bits.metadata.repetition_factor, undefined);
  }
});

Deno.test("a majority decides, and an even split gives 1", async () => {
  const decode = async (bits: number[], factor: number) => {
    const { outputs } = await runOperation(decoder, { inputs: { coded_bits: bitsInput(bits) }, params: { factor } });
    return [...outputs.bits.array().data as Uint8Array];
  };
  assert.deepEqual(await decode([1, 0, 0, 0, 1, 1], 3), [0, 1]);
  assert.deepEqual(await decode([1, 0, 0, 1, 0, 0], 2), [1, 1, 0]);
  assert.deepEqual(await decode([1, 0, 0, 0, 1, 1, 0, 0], 4), [0, 1]);
});

Deno.test("an unknown factor and a torn group are refused", async () => {
  await refuses("params_conflict", () => runOperation(decoder, { inputs: { coded_bits: bitsInput(someBits(9)) } }));
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(decoder, { inputs: { coded_bits: bitsInput(someBits(8)) }, params: { factor: 3 } }),
  );
  const torn = bitsInput(someBits(9), { source_item_counts: [4, 5] });
  const { outputs } = await runOperation(decoder, { inputs: { coded_bits: torn }, params: { factor: 3 } });
  assert.equal(outputs.bits.metadata.source_item_counts, undefined);
});
