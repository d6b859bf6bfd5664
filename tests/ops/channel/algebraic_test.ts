/** Reed-Solomon and BCH codes: published generators, errors up to the bound and beyond, and refusals. */
import assert from "node:assert/strict";
import operations from "../../../ops/channel/algebraic.ts";
import { bchCode, correctAlgebraic, encodeAlgebraic, reedSolomonCode } from "../../../lib/numeric/coding/algebraic.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const [rsEncoder, rsDecoder, bchEncoder, bchDecoder] = operations;

Deno.test("generators are the published ones", () => {
  // Lin and Costello, Error Control Coding, appendix C: octal, with the bits of the message.
  const table = [[4, 2, "721", 7], [4, 3, "2467", 5], [5, 2, "3551", 21], [5, 3, "107657", 16], [6, 3, "1701317", 45], [
    7,
    2,
    "41567",
    113,
  ]] as const;
  for (const [degree, errors, octal, message] of table) {
    const code = bchCode({ degree, errors, shortened: 0 });
    assert.equal(parseInt(code.generator.join(""), 2).toString(8), octal);
    assert.equal(code.message, message);
  }
  // ETSI EN 300 744, 4.3.2: the product of x + α^i, i = 0 … 15, over x⁸ + x⁴ + x³ + x² + 1.
  const dvb = reedSolomonCode({ degree: 8, length: 204, message: 188, firstRoot: 0 });
  assert.deepEqual(dvb.generator, [1, 59, 13, 104, 189, 68, 209, 30, 8, 163, 65, 41, 229, 98, 50, 36, 59]);
});

Deno.test("up to t errors are corrected at any place, and more are found or give another code word", () => {
  const generator = Generator.seeded(1), draw = (below: number) => generator.integers(0, below, 1, "int32")[0];
  const codes = [
    reedSolomonCode({ degree: 8, length: 204, message: 188, firstRoot: 0 }),
    reedSolomonCode({ degree: 4, length: 15, message: 9, firstRoot: 1 }),
    bchCode({ degree: 6, errors: 5, shortened: 3 }),
  ];
  for (const code of codes) {
    const binary = code.generator.every((value) => value < 2), symbols = binary ? 2 : code.field.order + 1;
    const most = Math.floor(code.roots / 2);
    for (let trial = 0; trial < 60; trial++) {
      const word = Int32Array.from({ length: code.length }, (_, i) => i < code.message ? draw(symbols) : 0);
      encodeAlgebraic(word, code);
      const errors = trial % (most + 2), received = word.slice();
      for (const place of generator.permutation(code.length).slice(0, errors)) {
        received[place] ^= binary ? 1 : 1 + draw(symbols - 1);
      }
      const before = received.slice(), found = correctAlgebraic(received, code);
      if (errors <= most) {
        assert.equal(found, errors);
        assert.deepEqual(received, word);
      } else if (found < 0) {
        assert.deepEqual(received, before);
      } else {
        assert.equal(correctAlgebraic(received.slice(), code), 0, "what was corrected is a code word");
      }
    }
  }
});

async function sent(at: number, bits: Uint8Array, params: JsonObject) {
  const { coded_bits } = (await runOperation(operations[at], { inputs: { bits: payloadInput(bits) }, params })).outputs;
  const llr = Float32Array.from(coded_bits.array().data as Uint8Array, (bit) => 1 - 2 * bit);
  return { llr, metadata: coded_bits.metadata };
}
async function received(at: number, { llr, metadata }: Awaited<ReturnType<typeof sent>>, params: JsonObject = {}) {
  const given = { kind: "channel.llr.numpy", array: ndarray("float32", llr), metadata };
  const { outputs, metrics } = await runOperation(operations[at + 1], { inputs: { llr: given }, params });
  return { bits: outputs.bits.array().data as Uint8Array, metadata: outputs.bits.metadata, metrics };
}

Deno.test("a stream of code words comes back, and a lost one is counted", async () => {
  const bits = someBits(400);
  const cases: [number, JsonObject, number][] = [
    [0, { field_degree: 4, codeword_symbols: 15, message_symbols: 9 }, 12],
    [0, { field_degree: 5, codeword_symbols: 20, message_symbols: 10, primitive_polynomial: 61 }, 25],
    [2, {}, 3],
    [2, { field_degree: 5, correctable_errors: 2, shortened_bits: 4 }, 2],
  ];
  for (const [at, params, burst] of cases) {
    const code = await sent(at, bits, params);
    // A burst within the reach of the first code word: RS symbols fail as a whole.
    for (let i = 0; i < burst; i++) code.llr[i] = -code.llr[i];
    const found = await received(at, code);
    assert.deepEqual([...found.bits], [...bits], JSON.stringify(params));
    assert.equal(found.metrics["channel.payload_delivery_block_error_rate"], 0);
  }
  const code = await sent(0, bits, { field_degree: 4, codeword_symbols: 15, message_symbols: 9 });
  for (let i = 0; i < 40; i += 4) code.llr[i] = -code.llr[i];
  const kept = await received(0, code), filled = await received(0, code, { on_failure: "zero_fill" });
  assert.deepEqual(kept.metadata.failed_block_indices, [0]);
  assert.equal(kept.metrics["channel.payload_delivery_block_error_rate"], 1 / 12);
  assert.equal(kept.bits[1], bits[1]);
  assert.ok(filled.bits.subarray(0, 36).every((bit) => bit === 0));
});

Deno.test("sizes that do not exist and foreign records are refused", async () => {
  const inputs = { bits: payloadInput(someBits(8)) };
  const encode = (at: number, params: JsonObject) => runOperation(operations[at], { inputs, params });
  await refuses("params_conflict", () => encode(0, { codeword_symbols: 256 }));
  await refuses("params_conflict", () => encode(0, { message_symbols: 204 }));
  await refuses("params_conflict", () => encode(0, { primitive_polynomial: 257 }));
  await refuses("params_conflict", () => encode(2, { correctable_errors: 40 }));
  const code = await sent(2, someBits(45), {}), key = "bch_code", record = code.metadata[key] as JsonObject;
  const wrong: JsonObject[] = [
    { padding_bits: 60 },
    { parameters: { ...record.parameters as JsonObject, correctable_errors: 40 } },
    { parameters: { correctable_errors: "three" } },
    { block_count: -1 },
  ];
  for (const part of wrong) {
    const metadata = { ...code.metadata, [key]: { ...record, ...part } };
    await refuses("boundary_value_invalid", () => received(2, { ...code, metadata }));
  }
  assert.ok(rsEncoder.id === "channel.reed_solomon_encoder" && rsDecoder && bchEncoder && bchDecoder);
});
