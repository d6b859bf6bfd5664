/** Interleavers and scramblers: published sequences, the way back, and refusals. */
import assert from "node:assert/strict";
import operations from "../../../ops/channel/interleaver.ts";
import { permutationOf, scramblingBits } from "../../../lib/numeric/coding/interleaving.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const [interleave, deinterleave, scramble, descramble] = operations;

Deno.test("the scrambler of IEEE 802.11 gives its published sequence", () => {
  // IEEE 802.11-2020, 17.3.5.5, from the state of all ones.
  const published = "0000111011110010110010010000001000100110001011101011011000001100110101001110011110110100" +
    "001010101111101001010001101110001111111";
  assert.equal([...scramblingBits("ieee80211", 127)(127)].join(""), published);
});

Deno.test("orders are those of rows and columns, of NumPy and of the polynomial", () => {
  assert.deepEqual([...permutationOf({ kind: "block", size: 7, columns: 3 })], [0, 3, 6, 1, 4, 2, 5]);
  // numpy.random.default_rng(1).permutation(8)
  assert.deepEqual([...permutationOf({ kind: "random", size: 8, seed: 1 })], [5, 0, 1, 4, 2, 6, 3, 7]);
  // TS 36.212, table 5.1.3-3: K = 40 has (3, 10).
  assert.deepEqual([...permutationOf({ kind: "qpp", size: 40, f1: 3, f2: 10 })].slice(0, 5), [0, 13, 6, 19, 12]);
  assert.throws(() => permutationOf({ kind: "qpp", size: 40, f1: 2, f2: 10 }), RangeError);
});

Deno.test("what is permuted or scrambled comes back, also a shorter last block", async () => {
  const bits = someBits(2500),
    cases: [number, JsonObject][] = [
      [0, {}],
      [0, { kind: "random", block_bits: 400 }],
      [0, { kind: "qpp" }],
      [2, {}],
      [2, { kind: "nr_gold", seed_state: 70_000 }],
    ];
  for (const [at, params] of cases) {
    const { coded_bits } =
      (await runOperation(operations[at], { inputs: { bits: payloadInput(bits) }, params })).outputs;
    const sent = coded_bits.array().data as Uint8Array;
    assert.ok(sent.some((bit, i) => bit !== bits[i]));
    const llr = ndarray("float32", Float32Array.from(sent, (bit, i) => (1 - 2 * bit) * (1 + i)));
    const given = { kind: "channel.llr.numpy", array: llr, metadata: coded_bits.metadata };
    const back = (await runOperation(operations[at + 1], { inputs: { llr: given } })).outputs.llr;
    assert.deepEqual([...back.array().data as Float32Array].map((value) => value > 0 ? 0 : 1), [...bits]);
    assert.ok(!("block_interleaver" in back.metadata || "scrambler" in back.metadata));
  }
});

Deno.test("orders that are none, states of zero and foreign records are refused", async () => {
  const inputs = { bits: payloadInput(someBits(8)) };
  await refuses("params_conflict", () => runOperation(interleave, { inputs, params: { kind: "qpp", f1: 2 } }));
  await refuses("params_conflict", () => runOperation(scramble, { inputs, params: { seed_state: 0 } }));
  const llr = (metadata: JsonObject) => ({
    llr: { kind: "channel.llr.numpy", array: ndarray("float32", new Float32Array(8)), metadata },
  });
  const wrong: [typeof deinterleave, string, JsonObject][] = [
    [deinterleave, "block_interleaver", { kind: "block", size: -3, columns: 2 }],
    [deinterleave, "block_interleaver", { kind: "qpp", size: 8, f1: 2, f2: 2 }],
    [deinterleave, "block_interleaver", { kind: "other", size: 8 }],
    [descramble, "scrambler", { kind: "nr_gold", state: -1 }],
  ];
  for (const [operation, key, record] of wrong) {
    await refuses("boundary_value_invalid", () => runOperation(operation, { inputs: llr({ [key]: record }) }));
  }
});
