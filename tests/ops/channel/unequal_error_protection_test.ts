import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import decoder from "../../../ops/channel/unequal_error_protection_decoder.ts";
import encoder from "../../../ops/channel/unequal_error_protection.ts";
import ldpcEncoder from "../../../ops/channel/nr_ldpc_encoder.ts";
import repetition from "../../../ops/channel/repetition.ts";
import modulator from "../../../ops/modulation/digital_modulate.ts";
import transmitter from "../../../ops/channel/symbol_power_allocation.ts";
import { payload, ramps, received, SMALL_LDPC } from "../_fixtures/importance.ts";
import { arrayInput, payloadInput, someBits } from "../inputs.ts";
import { outputOf, refuses, runOperation } from "../harness.ts";

const [repetitionEncoder, repetitionDecoder] = repetition;

const encode = (params: JsonObject) =>
  runOperation(encoder, { inputs: { bits: payload(), importance_map: ramps() }, params });
const bitsOf = (output: { array(): { data: unknown } }) => output.array().data as Uint8Array;

/** Bits of the class map of an item of the fixture: 4 cells of 1 bit, and the CRC. */
const MAP_BITS = 4 + 16;

Deno.test("one class gives the bits of the ordinary codes, and their decisions", async () => {
  const one: JsonObject = { class_fractions: [float(1)] };
  const repeated = await encode({ ...one, repetition_factors: [3] });
  const ordinary = await runOperation(repetitionEncoder, { inputs: { bits: payload() }, params: { factor: 3 } });
  assert.deepEqual(bitsOf(repeated.outputs.coded_bits), bitsOf(ordinary.outputs.coded_bits));

  const rates = { target_coderate: float(0.4), transport_block_size_bits: 80 };
  const coded = await encode({ ...SMALL_LDPC, ...one, code_rates: [float(0.4)] });
  const ldpc = await runOperation(ldpcEncoder, { inputs: { bits: payload() }, params: rates });
  assert.deepEqual(bitsOf(coded.outputs.coded_bits), bitsOf(ldpc.outputs.coded_bits));

  const plain = await encode({ ...one, protection: "power", class_powers: [float(5)] });
  assert.deepEqual(bitsOf(plain.outputs.coded_bits), payload().array!.data);
  assert.ok((plain.outputs.allocation.array().data as Float64Array).every((power) => power === 1));

  // Wrong copies are decided alike.
  const noisy = someBits(960, 7);
  const given = (output: Parameters<typeof outputOf>[0]) => ({
    ...outputOf(output),
    kind: "channel.demod_bits.numpy",
    array: { dtype: "uint8" as const, shape: [960], data: noisy },
  });
  const ours = await runOperation(decoder, { inputs: { received: given(repeated.outputs.coded_bits) } });
  const theirs = await runOperation(repetitionDecoder, { inputs: { coded_bits: given(ordinary.outputs.coded_bits) } });
  assert.deepEqual(bitsOf(ours.outputs.bits), bitsOf(theirs.outputs.bits));
});

Deno.test("rates add up: class map, classes and filler bits are all coded bits", async () => {
  // A quarter of 4 cells is one cell of 4 blocks of 10 bits in each of 2 images.
  const { outputs, metrics } = await encode({ repetition_factors: [5, 2], total_coded_bits: 1200 });
  const map = 2 * MAP_BITS * 7, classes = 2 * (1 * 40 * 5 + 3 * 40 * 2);
  assert.equal(metrics["channel.class_map_bit_count"], BigInt(2 * MAP_BITS));
  assert.equal(metrics["channel.class_map_coded_bit_count"], BigInt(map));
  assert.equal(metrics["channel.filler_bit_count"], BigInt(1200 - map - classes));
  assert.equal(bitsOf(outputs.coded_bits).length, 1200);
  await refuses("params_conflict", () => encode({ repetition_factors: [5, 2], total_coded_bits: 1100 }));
});

Deno.test("the important cells of each image are those with more copies", async () => {
  // Class 0 follows the maps: the last cell of the first ramp, the first cell of the reverse one.
  const sent = payload().array!.data as Uint8Array;
  const coded = bitsOf((await encode({ repetition_factors: [3, 1], class_map_repetition: 1 })).outputs.coded_bits);
  const blocks = [[10, 11, 14, 15], [0, 1, 4, 5]];
  const expected = blocks.flatMap((own, item) =>
    own.flatMap((block) => [...sent.subarray(160 * item + 10 * block, 160 * item + 10 * block + 10)])
  ).flatMap((bit) => [bit, bit, bit]);
  assert.deepEqual([...coded.subarray(2 * MAP_BITS, 2 * MAP_BITS + 240)], expected);
});

Deno.test("each protection restores payload and items", async () => {
  for (const params of [{}, { protection: "power" }, SMALL_LDPC, { class_map_cell: 1, repetition_factors: [4, 1] }]) {
    for (const soft of params === SMALL_LDPC ? [true] : [true, false]) {
      const { outputs, metrics } = await runOperation(decoder, {
        inputs: { received: await received(params as JsonObject, [], soft) },
      });
      assert.deepEqual(bitsOf(outputs.bits), payload().array!.data);
      assert.deepEqual(outputs.bits.metadata.source_item_counts, [160, 160]);
      assert.deepEqual(outputs.bits.metadata.failed_item_indices, []);
      assert.equal(metrics["channel.class_map_failure_rate"], 0);
    }
  }
});

Deno.test("a lost class map loses its item only, and is counted", async () => {
  // Four of seven copies of the first bit of the second map.
  const wrong = Array.from({ length: 4 }, (_, copy) => MAP_BITS * 7 + copy);
  const { outputs, metrics } = await runOperation(decoder, { inputs: { received: await received({}, wrong) } });
  const bits = bitsOf(outputs.bits), sent = payload().array!.data as Uint8Array;
  assert.equal(metrics["channel.class_map_failure_rate"], 0.5);
  assert.deepEqual(outputs.bits.metadata.failed_item_indices, [1]);
  assert.deepEqual(bits.subarray(0, 160), sent.subarray(0, 160));
  assert.ok(bits.subarray(160).every((bit) => bit === 0));
});

Deno.test("power is unequal by class, with the mean 1, and the transmitter applies it", async () => {
  const { outputs } = await encode({
    protection: "power",
    class_powers: [float(4), float(1)],
    class_map_repetition: 1,
  });
  const power = outputs.allocation.array().data as Float64Array;
  assert.ok(Math.abs(power.reduce((sum, p) => sum + p, 0) / power.length - 1) < 1e-12);
  assert.ok(Math.abs(power[0] / power[power.length - 1] - 4) < 1e-12);
  const mapped = await runOperation(modulator, {
    inputs: { bits: outputOf(outputs.coded_bits) },
    params: { modulation: "qpsk" },
  });
  const allocation = outputOf(outputs.allocation);
  const { symbols } = (await runOperation(transmitter, {
    inputs: { symbols: outputOf(mapped.outputs.symbols), allocation },
  })).outputs;
  const points = symbols.array().data as Float32Array;
  for (const at of [0, power.length - 1]) {
    assert.ok(Math.abs(points[2 * at] ** 2 + points[2 * at + 1] ** 2 - power[at]) < 1e-6);
  }
});

Deno.test("payloads that are no blocks of the map, and hard bits of LDPC, are refused", async () => {
  const inputs = { bits: payloadInput(someBits(321)), importance_map: ramps() };
  await refuses("boundary_count_mismatch", () => runOperation(encoder, { inputs }));
  await refuses("boundary_count_mismatch", () => encode({ class_map_cell: 3 }));
  const negative = arrayInput("semantic.importance_map.numpy", "float32", new Float32Array(2048).fill(-1), [2, 32, 32]);
  await refuses(
    "boundary_value_invalid",
    () => runOperation(encoder, { inputs: { bits: payload(), importance_map: negative } }),
  );
  await refuses(
    "params_conflict",
    async () => runOperation(decoder, { inputs: { received: await received(SMALL_LDPC, [], false) } }),
  );
});

/** Two items of 40 words of 4 bits, whose first bit is in class 0. */
const words = () => payloadInput(someBits(320, 5), { source_item_counts: [160, 160] });
const BY_BITS: JsonObject = { bit_classes: [0, 1, 1, 1], repetition_factors: [5, 2] };
const encodeWords = (params: JsonObject) => runOperation(encoder, { inputs: { bits: words() }, params });

Deno.test("the first bits of all words have the code of their class, and no class map is sent", async () => {
  const sent = words().array!.data as Uint8Array, { outputs, metrics } = await encodeWords(BY_BITS);
  const copies = (bits: number[], factor: number) => bits.flatMap((bit) => Array<number>(factor).fill(bit));
  const first = [...sent].filter((_, at) => at % 4 === 0), others = [...sent].filter((_, at) => at % 4 > 0);
  assert.deepEqual([...bitsOf(outputs.coded_bits)], [...copies(first, 5), ...copies(others, 2)]);
  assert.equal(metrics["channel.class_map_bit_count"], 0n);

  // The LDPC code of a class is the ordinary one of its bits.
  const ldpc = await encodeWords({ ...SMALL_LDPC, ...BY_BITS, code_rates: [float(0.25), float(0.5)] });
  const alone = await runOperation(ldpcEncoder, {
    inputs: { bits: payloadInput(Uint8Array.from(first)) },
    params: { target_coderate: float(0.25), transport_block_size_bits: 80 },
  });
  const ordinary = bitsOf(alone.outputs.coded_bits);
  assert.deepEqual(bitsOf(ldpc.outputs.coded_bits).subarray(0, ordinary.length), ordinary);
});

Deno.test("classes of bits restore the words, and an error stays in its word", async () => {
  for (const params of [BY_BITS, { ...BY_BITS, protection: "power" }, { ...SMALL_LDPC, ...BY_BITS }] as JsonObject[]) {
    const { coded_bits } = (await encodeWords({ ...params, total_coded_bits: 1600 })).outputs;
    const receive = (wrong: readonly number[]) => {
      const llr = Float32Array.from(bitsOf(coded_bits), (bit, at) => (4 - 8 * bit) * (wrong.includes(at) ? -1 : 1));
      const received = {
        ...outputOf(coded_bits),
        kind: "channel.llr.numpy",
        array: { dtype: "float32" as const, shape: [llr.length], data: llr },
      };
      return runOperation(decoder, { inputs: { received } });
    };
    const { outputs } = await receive([]), sent = words().array!.data as Uint8Array;
    assert.deepEqual(bitsOf(outputs.bits), sent);
    assert.deepEqual(outputs.bits.metadata.source_item_counts, [160, 160]);
    if (params !== BY_BITS) continue;
    // Three of the five copies of the first bit of word 41, the second of the second item.
    const wrong = bitsOf((await receive([205, 206, 207])).outputs.bits);
    assert.deepEqual([...wrong].flatMap((bit, at) => bit === sent[at] ? [] : [at]), [164]);
  }
});

Deno.test("classes of bits that are no classes of the words are refused", async () => {
  await refuses("params_conflict", () => encodeWords({ bit_classes: [0, 2, 2, 2], repetition_factors: [5, 2] }));
  await refuses("params_conflict", () => encodeWords({ bit_classes: [0, 1, 1, 1], repetition_factors: [5, 2, 1] }));
  await refuses("boundary_count_mismatch", () => encodeWords({ bit_classes: [0, 1, 1], repetition_factors: [5, 2] }));
  await refuses("params_conflict", () => encodeWords({}));
  await refuses("params_conflict", () => encode(BY_BITS));
});
