/** The turbo code of LTE: its rate matching, its decoders against all code words, error rates, and refusals. */
import assert from "node:assert/strict";
import operations from "../../../ops/channel/turbo.ts";
import { decodeTurbo, encodeTurbo, TURBO_SIZES, turboCode } from "../../../lib/numeric/coding/turbo.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import stored from "../../data/physical/turbo.json" with { type: "json" };
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const EXACT = { algorithm: "log_map", iterations: 8, scale: 1, earlyStop: true } as const;

Deno.test("every size has a permutation, and rate matching sends each bit once before it repeats", () => {
  assert.equal(TURBO_SIZES.length, 188);
  for (const size of [40, 512, 528, 6144]) {
    const all = 3 * size + 12, { permutation, places } = turboCode(size, all + 7, 0);
    assert.deepEqual([...permutation].sort((a, b) => a - b), Array.from({ length: size }, (_, i) => i));
    assert.equal(new Set(places.subarray(0, all)).size, all);
    assert.deepEqual(places.subarray(all), places.subarray(0, 7));
    // The buffer begins with systematic bits; its first two columns, 64 bits at most, are left out at first.
    assert.ok(places.subarray(0, size / 2).every((place) => place < size + 4));
  }
  const starts = [0, 1, 2, 3].map((version) => turboCode(512, 100, version).places[0]);
  assert.equal(new Set(starts).size, 4);
});

Deno.test("code words are those of an encoder written from the standard in NumPy", () => {
  for (const { bits, redundancy_version, coded } of stored.cases) {
    const code = turboCode(bits.length, coded.length, redundancy_version);
    assert.equal([...encodeTurbo(Uint8Array.from(bits, Number), code)].join(""), coded);
  }
});

Deno.test("the code is linear, ends in the state 0, and decodes hard and repeated bits", () => {
  const generator = Generator.seeded(6), draw = () => generator.integers(0, 2, 40, "uint8"), a = draw(), b = draw();
  const code = turboCode(40, 0, 0), sum = Uint8Array.from(a, (bit, i) => bit ^ b[i]);
  const [first, second] = [a, b].map((bits) => encodeTurbo(bits, code));
  assert.deepEqual(encodeTurbo(sum, code), Uint8Array.from(first, (bit, i) => bit ^ second[i]));
  for (const [sent, version] of [[0, 0], [100, 0], [100, 2], [400, 3]]) {
    const matched = turboCode(40, sent, version),
      llr = Float32Array.from(encodeTurbo(a, matched), (bit) => 2 - 4 * bit);
    for (const algorithm of ["log_map", "max_log_map"] as const) {
      assert.deepEqual(decodeTurbo(llr, matched, { ...EXACT, algorithm }).bits, a);
    }
  }
});

Deno.test("the first decoder gives the exact soft values of its code, by sums over all words", () => {
  // Without any value for the second encoder, one iteration is the BCJR algorithm of the first over six unknown bits.
  const code = turboCode(40, 0, 0), generator = Generator.seeded(9), known = 200;
  const zero = encodeTurbo(new Uint8Array(40), code);
  const llr = Float32Array.from(zero, (_, i) => code.places[i] >= 88 ? 0 : generator.standardNormal(1)[0]);
  code.places.forEach((place, i) => {
    if (place >= 6 && place < 40) llr[i] = known;
  });
  // The tail bits of the second encoder stand among those of the first.
  const second = [42, 43, 86, 87].flatMap((place) => place);
  code.places.forEach((place, i) => {
    if (second.includes(place)) llr[i] = 0;
  });
  const found = decodeTurbo(llr, code, { ...EXACT, iterations: 1 }).llr;
  const sums = Array.from({ length: 6 }, () => [0, 0]);
  for (let word = 0; word < 64; word++) {
    const bits = Uint8Array.from({ length: 40 }, (_, i) => i < 6 ? word >> i & 1 : 0), sent = encodeTurbo(bits, code);
    let metric = 0;
    sent.forEach((bit, i) => metric += (zero[i] - bit) * llr[i]);
    for (let i = 0; i < 6; i++) sums[i][bits[i]] += Math.exp(metric);
  }
  sums.forEach(([zeros, ones], i) => {
    assert.ok(Math.abs(found[i] - Math.log(zeros / ones)) < 1e-3, `${i}: ${found[i]} ${Math.log(zeros / ones)}`);
  });
});

Deno.test("1024 bits at rate 1/3 fail in the waterfall, and not above it", () => {
  const code = turboCode(1024, 0, 0),
    failures = [0, 1.4].map((ebn0) => {
      const generator = Generator.seeded(3), noise = 3 / 10 ** (ebn0 / 10);
      let failed = 0;
      for (let block = 0; block < 12; block++) {
        const bits = generator.integers(0, 2, 1024, "uint8"), drawn = generator.standardNormal(code.places.length);
        const llr = Float32Array.from(
          encodeTurbo(bits, code),
          (bit, i) => 4 * (1 - 2 * bit + Math.sqrt(noise / 2) * drawn[i]) / noise,
        );
        if (
          decodeTurbo(llr, code, EXACT).bits.some((bit, i) => bit !== bits[i])
        ) failed++;
      }
      return failed;
    });
  assert.ok(failures[0] >= 5 && failures[1] === 0, failures.join(", "));
});

Deno.test("the kernel has the values of the reference to the bit, beyond the range of probabilities too", () => {
  const generator = Generator.seeded(12);
  for (const size of [40, 104, 512]) {
    const code = turboCode(size, 0, 0), bits = generator.integers(0, 2, size, "uint8") as Uint8Array;
    const sent = encodeTurbo(bits, code);
    for (const algorithm of ["max_log_map", "log_map"] as const) {
      // With 400 some bits have probabilities below the range of numbers; whole numbers make equal metrics.
      for (const amplitude of [0, 0.3, 2, 400]) {
        const noise = generator.standardNormal(sent.length);
        const llr = Float32Array.from(sent, (bit, i) => {
          const value = 2 * (1 - 2 * bit) + 2 * noise[i];
          return amplitude === 0 ? Math.round(value) : amplitude * value;
        });
        const options = { ...EXACT, algorithm, iterations: 4 };
        const found = decodeTurbo(llr, code, options), expected = decodeTurbo(llr, code, options, true);
        assert.deepEqual(
          new Uint32Array(found.llr.buffer),
          new Uint32Array(expected.llr.buffer),
          `${size} ${algorithm}`,
        );
        assert.deepEqual([found.bits, found.iterations], [expected.bits, expected.iterations]);
      }
    }
  }
});

Deno.test("a stream comes back with its soft values; sizes that do not exist are refused", async () => {
  const [encoder, decoder] = operations, bits = someBits(100);
  const encode = (params: JsonObject) => runOperation(encoder, { inputs: { bits: payloadInput(bits) }, params });
  const { coded_bits } = (await encode({ block_bits: 40 })).outputs;
  const array = ndarray("float32", Float32Array.from(coded_bits.array().data as Uint8Array, (bit) => 3 - 6 * bit));
  const llr = { kind: "channel.llr.numpy", array, metadata: coded_bits.metadata };
  const { outputs } = await runOperation(decoder, { inputs: { llr } });
  assert.deepEqual([...outputs.bits.array().data as Uint8Array], [...bits]);
  (outputs.payload_llr.array().data as Float32Array).forEach((value, i) => assert.equal(value < 0 ? 1 : 0, bits[i]));
  await refuses("params_conflict", () => encode({ block_bits: 41 }));
});
