/** The codes of 5G NR for 1 to 11 control bits: distances, tables of the standard, error rates against closed forms and bounds. */
import assert from "node:assert/strict";
import operations from "../../../ops/channel/small_block.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { decodeSmallBlock, encodeSmallBlock, smallBlockCode } from "../../../lib/numeric/coding/small_block.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const bits = (text: string) => Uint8Array.from(text, Number);
const sent = (message: string, width: number, count: number) =>
  encodeSmallBlock(bits(message), smallBlockCode(message.length, width), count).join("");

/** Number of code words of each weight. */
function weights(size: number): Map<number, number> {
  const { length, words } = smallBlockCode(size, 1), found = new Map<number, number>();
  for (let value = 0; value < 2 ** size; value++) {
    const weight = words.subarray(value * length, (value + 1) * length).reduce((sum, bit) => sum + bit, 0);
    found.set(weight, (found.get(weight) ?? 0) + 1);
  }
  return found;
}

Deno.test("3 to 6 bits are a first-order Reed-Muller code, more keep the distances of the standard's code", () => {
  assert.deepEqual([...weights(6)].sort(([a], [b]) => a - b), [[0, 1], [16, 62], [32, 1]]);
  const least = (size: number) => Math.min(...[...weights(size).keys()].filter((weight) => weight > 0));
  assert.deepEqual([3, 4, 5, 6, 7, 8, 9, 10, 11].map(least), [16, 16, 16, 16, 12, 12, 12, 12, 10]);
});

Deno.test("words are those of the tables: rows, symbols with placeholders, repetition and cuts", () => {
  // The first column is all ones; row 0 has the bits 0, 1 and 10; the last row bit 0 alone.
  assert.equal(sent("10000000000", 2, 32), "1".repeat(32));
  assert.deepEqual([...sent("01000000001", 2, 32)].filter((_, i) => [0, 1, 30, 31].includes(i)).join(""), "0000");
  assert.equal(sent("00000000001", 2, 40), sent("00000000001", 2, 32) + sent("00000000001", 2, 8));
  assert.deepEqual(["0", "1"].map((bit) => sent(bit, 1, 3)), ["000", "111"]);
  assert.deepEqual(["0", "1"].map((bit) => sent(bit, 4, 5)), ["00110", "11111"]);
  assert.equal(sent("10", 1, 4), "1011");
  assert.equal(sent("10", 2, 6), "101101");
  assert.equal(sent("10", 6, 18), "101111" + "111111" + "011111");
});

const upperTail = (x: number): number => {
  // Q(x) by the integral of Craig, exact for a smooth integrand on the half period.
  let sum = 0;
  for (let i = 0; i < 2000; i++) sum += Math.exp(-(x ** 2) / (2 * Math.sin((i + 0.5) * Math.PI / 4000) ** 2));
  return sum / 4000;
};

/** Word errors over BPSK and AWGN at Es/N0. */
function wordErrors(size: number, count: number, esn0: number, words: number): number {
  const code = smallBlockCode(size, 1), generator = Generator.seeded(size), deviation = Math.sqrt(1 / (2 * esn0));
  let errors = 0;
  for (let word = 0; word < words; word++) {
    const message = generator.integers(0, 2, size, "uint8"), noise = generator.standardNormal(count);
    const coded = encodeSmallBlock(message, code, count);
    const llr = Float32Array.from(coded, (bit, i) => 4 * esn0 * (1 - 2 * bit + deviation * noise[i]));
    if (decodeSmallBlock(llr, code).bits.some((bit, k) => bit !== message[k])) errors++;
  }
  return errors;
}

Deno.test("1 and 6 bits fail as often as closed forms say, 11 within the union bound", () => {
  const words = 4000,
    close = (found: number, expected: number) => {
      assert.ok(expected > 100 && Math.abs(found - expected) < 3.3 * Math.sqrt(expected), `${found} ${expected}`);
    };
  close(wordErrors(1, 5, 0.2, words), words * upperTail(Math.sqrt(2 * 5 * 0.2)));
  // The words of 6 bits are biorthogonal: one correlation of 32 has the mean, all have unit variance.
  const mean = Math.sqrt(2 * 32 * 0.25), step = 1 / 64;
  let right = 0;
  for (let y = step / 2; y < mean + 8; y += step) {
    const density = Math.exp(-((y - mean) ** 2) / 2) / Math.sqrt(2 * Math.PI);
    right += step * density * (1 - 2 * upperTail(y)) ** 31;
  }
  close(wordErrors(6, 32, 0.25, words), words * (1 - right));
  const union = [...weights(11)].filter(([weight]) => weight > 0)
    .reduce((sum, [weight, count]) => sum + count * upperTail(Math.sqrt(2 * weight * 0.6)), 0) * 6500;
  const errors = wordErrors(11, 32, 0.6, 6500), deviation = 3.3 * Math.sqrt(union);
  assert.ok(errors >= 100 && errors < union + deviation && errors > union / 4, `${errors} ${union}`);
});

Deno.test("a stream comes back with its soft values", async () => {
  const [encoder, decoder] = operations, payload = someBits(100);
  for (
    const params of [{}, { message_bits: 1, coded_bits: 6, num_bits_per_symbol: 6 }, {
      message_bits: 7,
      coded_bits: 50,
    }]
  ) {
    const given = { inputs: { bits: payloadInput(payload) }, params: params as JsonObject };
    const { coded_bits } = (await runOperation(encoder, given)).outputs;
    const array = ndarray("float32", Float32Array.from(coded_bits.array().data as Uint8Array, (bit) => 3 - 6 * bit));
    const llr = { kind: "channel.llr.numpy", array, metadata: coded_bits.metadata };
    const { outputs } = await runOperation(decoder, { inputs: { llr } });
    assert.deepEqual([...outputs.bits.array().data as Uint8Array], [...payload]);
    const values = outputs.payload_llr.array().data as Float32Array;
    assert.ok(values.every((value, i) => (value < 0 ? 1 : 0) === payload[i]));
  }
});
