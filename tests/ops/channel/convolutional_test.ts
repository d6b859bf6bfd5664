/** Convolutional codes: a published vector, every code without noise, error rates beside the union bound, and refusals. */
import assert from "node:assert/strict";
import operations from "../../../ops/channel/convolutional.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import {
  convolutionalCode,
  decodeConvolutional,
  encodeConvolutional,
  viterbi,
} from "../../../lib/numeric/coding/convolutional.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { gaussianTail } from "../../../lib/numeric/linalg/error_function.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const [encoder, decoder] = operations;
const IEEE = convolutionalCode(["133", "171"]);

async function coded(bits: Uint8Array, params: JsonObject = {}) {
  return (await runOperation(encoder, { inputs: { bits: payloadInput(bits) }, params })).outputs.coded_bits;
}
type Coded = Awaited<ReturnType<typeof coded>>;
const values = (code: Coded) => Float32Array.from(code.array().data as Uint8Array, (bit) => 4 - 8 * bit);
async function decoded(code: Coded, llr: Float32Array, params: JsonObject = {}) {
  const given = { kind: "channel.llr.numpy", array: ndarray("float32", llr), metadata: code.metadata };
  return (await runOperation(decoder, { inputs: { llr: given }, params })).outputs;
}

Deno.test("the SIGNAL field of IEEE 802.11 is encoded as the standard's example shows", async () => {
  // IEEE 802.11a-1999, annex G, tables G.7 and G.8; six of the bits are the tail.
  const bits = Uint8Array.from("101100010011000000", Number);
  const expected = "110100011010000100000010001111100111000000000000";
  assert.equal([...(await coded(bits, { block_bits: 18 })).array().data as Uint8Array].join(""), expected);
});

Deno.test("rates of the patterns are those of their names, and every code returns its bits without noise", async () => {
  const bits = someBits(700),
    cases: [JsonObject, number][] = [
      [{}, 1 / 2],
      [{ puncturing: "ieee80211_2_3" }, 2 / 3],
      [{ puncturing: "ieee80211_3_4" }, 3 / 4],
      [{ puncturing: "ieee80211_5_6" }, 5 / 6],
      [{ puncturing: "dvb_2_3", generators: ["171", "133"] }, 2 / 3],
      [{ puncturing: "dvb_3_4", generators: ["171", "133"] }, 3 / 4],
      [{ puncturing: "dvb_5_6", generators: ["171", "133"] }, 5 / 6],
      [{ puncturing: "dvb_7_8", generators: ["171", "133"] }, 7 / 8],
      [{ generators: ["133", "171", "165"] }, 1 / 3],
      [{ generators: ["5", "7"], puncture_pattern: ["10", "11"] }, 2 / 3],
      [{ generators: ["1"] }, 1],
    ];
  for (const [params, rate] of cases) {
    for (const termination of ["truncated", "zero_tail", "tail_biting"]) {
      const code = await coded(bits, { ...params, termination, block_bits: 210 });
      const record = code.metadata.convolutional_code as Record<string, number>;
      assert.equal(record.block_count, 4);
      if (termination !== "zero_tail") assert.equal(210 / record.coded_bits_per_block, rate, JSON.stringify(params));
      for (const algorithm of ["viterbi", "bcjr", "max_log_bcjr"]) {
        const { bits: found, payload_llr } = await decoded(code, values(code), { algorithm });
        // The last bits of a code word that ends anywhere have little protection, punctured ones none.
        const sure = termination === "truncated" ? 190 : 210;
        for (let i = 0; i < 700; i++) {
          if (i % 210 < sure) {
            assert.equal(
              (found.array().data as Uint8Array)[i],
              bits[i],
              `${JSON.stringify(params)} ${termination} ${i}`,
            );
          }
        }
        const soft = payload_llr.array().data as Float32Array;
        found.array().data.forEach((bit, i) => assert.ok(bit === 0 ? soft[i] >= 0 : soft[i] <= 0));
      }
    }
  }
});

/** Wrong bits over blocks of 500 bits at Eb/N0. */
function errors(
  ebn0: number,
  decodings: readonly Parameters<typeof decodeConvolutional>[4][],
  blocks: number,
): number[] {
  const generator = Generator.seeded(4), wrong = decodings.map(() => 0), noise = 1 / (10 ** (ebn0 / 10) * 0.5);
  for (let block = 0; block < blocks; block++) {
    const bits = generator.integers(0, 2, 500, "uint8"), sent = encodeConvolutional(bits, IEEE, "tail_biting");
    const drawn = generator.standardNormal(sent.length);
    const llr = Float32Array.from(sent, (bit, i) => 4 * (1 - 2 * bit + Math.sqrt(noise / 2) * drawn[i]) / noise);
    decodings.forEach((algorithm, at) => {
      const found = decodeConvolutional(llr, 500, IEEE, "tail_biting", algorithm).bits;
      for (let i = 0; i < 500; i++) wrong[at] += found[i] ^ bits[i];
    });
  }
  return wrong;
}

Deno.test("the kernel of Viterbi's algorithm decides as the reference, ties and all register lengths included", () => {
  const generator = Generator.seeded(11);
  for (
    const generators of [["7", "5"], ["15", "13", "11"], ["23", "35"], ["75", "53"], ["133", "171"], ["561", "753"]]
  ) {
    const code = convolutionalCode(generators), n = generators.length;
    for (const size of [1, 7, 61]) {
      for (const integers of [false, true]) {
        for (const termination of ["zero_tail", "truncated"] as const) {
          const steps = size + (termination === "zero_tail" ? code.memory : 0);
          const drawn = generator.standardNormal(steps * n);
          // Whole numbers make equal metrics.
          const llr = Float32Array.from(drawn, (value) => integers ? Math.round(2 * value) : 3 * value);
          const ends = { start: 0, end: termination === "zero_tail" ? 0 : null };
          const found = decodeConvolutional(llr, size, code, termination, "viterbi");
          const expected = viterbi(llr, steps, code, ends);
          assert.deepEqual(
            found.bits,
            expected.bits.slice(0, size),
            `${generators} ${size} ${termination} ${integers}`,
          );
          assert.deepEqual(found.llr, expected.llr.slice(0, size));
        }
      }
    }
  }
  const longest = convolutionalCode(["4335", "5723", "7777", "4001", "6543", "7001"]), size = 90;
  const llr = Float32Array.from(generator.standardNormal((size + 11) * 6));
  const found = decodeConvolutional(llr, size, longest, "zero_tail", "viterbi").bits;
  assert.deepEqual(found, viterbi(llr, size + 11, longest, { start: 0, end: 0 }).bits.slice(0, size));
});

Deno.test("the error rate stays below the union bound and comes near it; BCJR errs in about as many bits", () => {
  const [rate] = errors(3.5, ["viterbi"], 1500).map((wrong) => wrong / 750_000);
  // Weights of wrong bits at the distances 10 to 20 (Conan, IEEE Trans. Commun. 32, 1984).
  const weights = [36, 211, 1404, 11633, 77433, 502690];
  const bound = weights.reduce(
    (sum, weight, i) => sum + weight * gaussianTail(Math.sqrt((10 + 2 * i) * 10 ** 0.35)),
    0,
  );
  assert.ok(rate < 1.2 * bound && rate > bound / 5, `${rate} ${bound}`);
  const [viterbi, bcjr] = errors(1.5, ["viterbi", "bcjr"], 60);
  assert.ok(bcjr < 1.2 * viterbi && bcjr > viterbi / 2, `${bcjr} ${viterbi}`);
});

Deno.test("soft values of BCJR are the exact ones of a short code, summed over all code words", () => {
  const code = convolutionalCode(["5", "7"]), size = 6, generator = Generator.seeded(2);
  for (const termination of ["zero_tail", "truncated"] as const) {
    const length = encodeConvolutional(new Uint8Array(size), code, termination).length;
    const llr = Float32Array.from(generator.standardNormal(length), (value) => 2 * value);
    const sums = Array.from({ length: size }, () => [0, 0]);
    for (let word = 0; word < 2 ** size; word++) {
      const bits = Uint8Array.from({ length: size }, (_, i) => word >> i & 1);
      const metric = encodeConvolutional(bits, code, termination).reduce(
        (sum, bit, i) => sum + (1 - 2 * bit) * llr[i] / 2,
        0,
      );
      bits.forEach((bit, i) => sums[i][bit] += Math.exp(metric));
    }
    const exact = decodeConvolutional(llr, size, code, termination, "bcjr").llr;
    sums.forEach(([zero, one], i) => assert.ok(Math.abs(exact[i] - Math.log(zero / one)) < 1e-5));
  }
});

Deno.test("codes that do not exist, foreign metadata and values that cannot be decoded are refused", async () => {
  const bits = someBits(8), send = (params: JsonObject) => coded(bits, params);
  await refuses("params_conflict", () => send({ generators: ["0", "7"] }));
  await refuses("params_conflict", () => send({ generators: ["77777", "7"] }));
  await refuses("params_conflict", () => send({ puncture_pattern: ["11"] }));
  await refuses("params_conflict", () => send({ puncture_pattern: ["00", "00"] }));
  await refuses("params_conflict", () => send({ termination: "tail_biting", block_bits: 3 }));
  const code = await send({ block_bits: 8 });
  await refuses("boundary_count_mismatch", () => decoded(code, new Float32Array(5)));
  await refuses("boundary_non_finite", () => decoded(code, values(code).fill(Infinity)));
  const large = await coded(new Uint8Array(65_536), { block_bits: 65_536, generators: ["7777", "4001"] });
  await refuses("params_conflict", () => decoded(large, values(large), { algorithm: "bcjr" }));
  const foreign = { ...code, metadata: { ...code.metadata, convolutional_code: { generators: [float(1)] } } } as Coded;
  await refuses("boundary_value_invalid", () => decoded(foreign, values(code)));
});

Deno.test("a code around another one of the family: each decoder reads its own record", async () => {
  const bits = someBits(200), outer = await coded(bits, { block_bits: 100 });
  const outerBits = outer.array().data as Uint8Array;
  const input = { kind: "channel.coded_bits.numpy", array: ndarray("uint8", outerBits), metadata: outer.metadata };
  const inner = (await runOperation(encoder, {
    inputs: { bits: input },
    params: { generators: ["5", "7"], block_bits: 53 },
  })).outputs.coded_bits;
  const between = (await decoded(inner, values(inner))).payload_llr;
  const llr = between.array().data as Float32Array;
  assert.deepEqual(Uint8Array.from(llr, (value) => Number(value < 0)), outerBits);
  const { bits: found } = await decoded(between, llr);
  assert.deepEqual([...found.array().data as Uint8Array], [...bits]);
  assert.equal("convolutional_code" in found.metadata, false);
});
