import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type BaseGraph, LIFTING_SIZES } from "../../../../lib/numeric/coding/nr_ldpc/base_graph.ts";
import type { CodeParameters } from "../../../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { legalBlockSize } from "../../../../lib/numeric/coding/nr_ldpc/block_size.ts";
import { CRC16, CRC24A } from "../../../../lib/numeric/coding/nr_ldpc/crc.ts";
import { decodeCodeBlock, decodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { encodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { bufferLayout } from "../../../../lib/numeric/coding/nr_ldpc/programs.ts";
import { goldSequence } from "../../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { wilsonInterval } from "../../../../lib/numeric/scores/statistics.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import stored from "../../../data/nr_ldpc/min_sum.json" with { type: "json" };
import {
  blockOf,
  measureBlockErrors,
  noiseVariance,
  noisyLlr,
  qpskBlock,
  randomBits,
  storedRate,
  storedRates,
} from "./_blocks.ts";

/** Decodes all code blocks. @returns iterations, and the digest of bits, iterations and CRCs */
function decoded(llr: Float32Array, parameters: CodeParameters, options: Parameters<typeof decodeCodeBlock>[3]) {
  const hash = createHash("sha256");
  let iterations = 0;
  parameters.codedBitsOfBlock.forEach((_, index) => {
    const segment = new Uint8Array(parameters.segmentBits);
    const found = decodeCodeBlock(llr, parameters, index, options, segment);
    hash.update(segment).update(`${found.iterations} ${found.crcPassed}`);
    iterations += found.iterations;
  });
  return { iterations, digest: hash.digest("hex").slice(0, 16) };
}

/** A code block that fills a lifted base graph but for `spare` bits, whatever block the standard would put there. */
function blockOfGraph(baseGraph: BaseGraph, liftingSize: number, spare: number, codeRate: number): CodeParameters {
  const most = (baseGraph === 1 ? 22 : 10) * liftingSize, blockCrc = most > 200 ? CRC24A : CRC16;
  const usedBits = Math.max(16, 8 * Math.floor((most - spare) / 8)), blockBits = Math.max(0, usedBits - blockCrc.bits);
  const codedBits = 2 * Math.ceil(usedBits / codeRate / 2);
  return {
    ...{ blockBits, codedBits, codeRate, bitsPerSymbol: 2, layers: 1, blockCrc, baseGraph, liftingSize },
    ...{ codeBlockCount: 1, codeBlockCrc: blockCrc, segmentBits: usedBits, usedBits, fillerBits: most - usedBits },
    codedBitsOfBlock: [codedBits],
  };
}

Deno.test("the kernel has the bits of the readable min-sum, at every lifting size of both base graphs", () => {
  const generator = Generator.seeded(10), digests: string[] = [];
  let iterations = 0, codes = 0;
  for (const baseGraph of [1, 2] as const) {
    LIFTING_SIZES.forEach((liftingSize, i) => {
      // Short and long codes, filler bits that leave a column partly or wholly.
      const codeRate = [0.8, 0.5, 0.3][i % 3], spare = liftingSize * [0, 0.4, 2.3][(i >> 1) % 3];
      const parameters = blockOfGraph(baseGraph, liftingSize, spare, codeRate);
      const coded = encodeTransportBlock(randomBits(generator, parameters.blockBits), parameters);
      const llr = noisyLlr(coded, 10 ** -(codeRate * 0.55), generator);
      const found = decoded(llr, parameters, { iterations: 4 });
      iterations += found.iterations;
      digests.push(found.digest);
      codes++;
    });
  }
  assert.deepEqual(digests, stored.lifting_sizes);
  assert.equal(codes, 102);
  assert.ok(
    iterations > 2 * codes && iterations < 4 * codes,
    `${iterations} iterations: too little noise, or too much`,
  );
});

Deno.test("the kernel has the bits of the readable min-sum on extreme and meaningless values", () => {
  const generator = Generator.seeded(11), digests: string[] = [];
  const keep = (...given: Parameters<typeof decoded>) => digests.push(decoded(...given).digest);
  const values = [0, 0.124, 0.125, -0.125, 0.375, -0.375, 20, -20, 31.75, -32, 1e30, -1e30, Infinity, -Infinity];
  for (const [blockBits, codeRate] of [[24, 0.5], [136, 0.05], [320, 0.9], [1032, 0.33], [3824, 0.69]]) {
    const parameters = qpskBlock(blockBits, codeRate), count = parameters.codedBits;
    const picks = generator.integers(0, values.length, count, "uint8") as Uint8Array;
    const scrambling = goldSequence(blockBits, count);
    const wild = Float32Array.from(picks, (pick) => values[pick]);
    // Repeated bits of both infinities have no sum.
    const repeats = parameters.codedBits > bufferLayout(parameters, count).bufferBits;
    const llr = repeats ? wild.map((value) => Math.max(-1e6, Math.min(1e6, value))) : wild;
    for (const earlyStop of [true, false]) {
      keep(llr, parameters, { iterations: 5, earlyStop, scrambling });
      keep(llr.map(Math.abs), parameters, { iterations: 3, earlyStop });
    }
    keep(llr.map((value) => value / 1e4), parameters, { iterations: 2 });
  }
  assert.deepEqual(digests, stored.extremes);
});

Deno.test("every modulation and layer count is undone, scrambling included", () => {
  const generator = Generator.seeded(12);
  for (const bitsPerSymbol of [1, 2, 4, 6, 8]) {
    for (const layers of [1, 4]) {
      for (const [blockBits, codeRate] of [[2024, 0.4], [8456, 0.8], [6152, 0.1], [24, 0.03]]) {
        const parameters = blockOf(blockBits, codeRate, bitsPerSymbol, layers);
        const bits = randomBits(generator, blockBits), scrambling = goldSequence(bitsPerSymbol, parameters.codedBits);
        const coded = encodeTransportBlock(bits, parameters, scrambling);
        const decoded = decodeTransportBlock(Float32Array.from(coded, (bit) => 2 - 4 * bit), parameters, {
          iterations: 20,
          scrambling,
        });
        assert.ok(decoded.crcPassed);
        assert.deepEqual(decoded.bits, bits);
      }
    }
  }
});

Deno.test("a code block depends on nothing but its own values", () => {
  const generator = Generator.seeded(13), parameters = qpskBlock(38936, 0.5);
  assert.equal(parameters.codeBlockCount, 5);
  const llr = noisyLlr(encodeTransportBlock(randomBits(generator, 38936), parameters), 0.7, generator);
  const whole = decodeTransportBlock(llr, parameters, { iterations: 20 });
  let start = parameters.codedBits;
  for (let index = 4; index >= 0; index--) {
    start -= parameters.codedBitsOfBlock[index];
    const alone = new Float32Array(llr.length).fill(NaN), segment = new Uint8Array(parameters.segmentBits);
    alone.set(llr.subarray(start, start + parameters.codedBitsOfBlock[index]), start);
    assert.deepEqual(decodeCodeBlock(alone, parameters, index, { iterations: 20 }, segment), whole.codeBlocks[index]);
    const end = Math.min(38936, (index + 1) * parameters.segmentBits) - index * parameters.segmentBits;
    assert.deepEqual(
      segment.subarray(0, end),
      whole.bits.subarray(index * parameters.segmentBits, index * parameters.segmentBits + end),
    );
  }
});

Deno.test("iterations are honoured, and running on changes nothing that was decoded", () => {
  const generator = Generator.seeded(14), parameters = qpskBlock(16136, 0.5);
  for (let i = 0; i < 10; i++) {
    const bits = randomBits(generator, 16136);
    const llr = noisyLlr(encodeTransportBlock(bits, parameters), noiseVariance(2, parameters), generator);
    const early = decodeTransportBlock(llr, parameters, { iterations: 20 });
    const late = decodeTransportBlock(llr, parameters, { iterations: 200, earlyStop: false });
    assert.ok(early.crcPassed && late.crcPassed);
    assert.deepEqual(early.bits, bits);
    assert.deepEqual(late.bits, bits);
    assert.ok(early.codeBlocks.every(({ iterations }) => iterations > 1 && iterations < 12));
    assert.deepEqual(late.codeBlocks.map(({ iterations }) => iterations), [200, 200]);
    const most = Math.max(...early.codeBlocks.map(({ iterations }) => iterations));
    assert.ok(decodeTransportBlock(llr, parameters, { iterations: most }).crcPassed);
    assert.ok(!decodeTransportBlock(llr, parameters, { iterations: most - 1 }).crcPassed);
  }
});

Deno.test("whatever arrives, the decoder answers with bits and stays sound", () => {
  const generator = Generator.seeded(19), sound = qpskBlock(2024, 0.4), sent = randomBits(generator, 2024);
  const good = Float32Array.from(encodeTransportBlock(sent, sound), (bit) => 2 - 4 * bit);
  for (let i = 0; i < 150; i++) {
    const [size, rate, order, layers, iterations] = generator.integers(0, 60_000, 5, "uint16");
    const codeRate = (5 + rate % 90) / 100,
      blockBits = legalBlockSize(1 + size % (i % 10 === 0 ? 30_000 : 3000), codeRate);
    const parameters = blockOf(blockBits, codeRate, [1, 2, 4, 6, 8][order % 5], 1 + layers % 4);
    // Any 32 bits are a binary32 value, NaN and infinities among them.
    const words = generator.integers(0, 2 ** 32, parameters.codedBits, "uint32") as Uint32Array;
    const { bits, codeBlocks } = decodeTransportBlock(new Float32Array(words.buffer), parameters, {
      iterations: 1 + iterations % 30,
    });
    assert.equal(bits.length, blockBits);
    assert.ok(bits.every((bit) => bit <= 1));
    assert.ok(codeBlocks.every((block) => block.iterations <= 30));
    assert.deepEqual(decodeTransportBlock(good, sound, { iterations: 20 }).bits, sent);
  }
});

Deno.test("nothing received is nothing decoded, though zeros have a valid CRC", () => {
  for (const parameters of [qpskBlock(1032, 0.5), qpskBlock(16136, 0.5), qpskBlock(24, 0.05)]) {
    const decoded = decodeTransportBlock(new Float32Array(parameters.codedBits), parameters, { iterations: 20 });
    assert.equal(decoded.crcPassed, false);
    assert.ok(decoded.codeBlocks.every(({ crcPassed }) => !crcPassed));
    assert.ok(decoded.bits.every((bit) => bit === 0));
  }
});

Deno.test("a code word with a wrong CRC stops the decoder and fails", () => {
  // A valid word of other information bits: the parity of the CRC is wrong by what flipping one payload bit changes.
  const parameters = qpskBlock(1032, 0.5),
    longer = { ...parameters, blockBits: 1048, blockCrc: { ...parameters.blockCrc, bits: 0 } };
  const bits = randomBits(Generator.seeded(15), 1048);
  const coded = encodeTransportBlock(bits, longer);
  const decoded = decodeTransportBlock(Float32Array.from(coded, (bit) => 4 - 8 * bit), parameters, { iterations: 50 });
  assert.equal(decoded.crcPassed, false);
  assert.deepEqual(decoded.bits, bits.slice(0, 1032));
  assert.ok(decoded.codeBlocks[0].iterations < 5);
});

Deno.test("the CRC of the block guards what the code blocks pass", () => {
  const parameters = qpskBlock(16136, 0.5), generator = Generator.seeded(16);
  const [a, b] = [0, 1].map(() => encodeTransportBlock(randomBits(generator, 16136), parameters));
  const half = parameters.codedBitsOfBlock[0];
  const mixed = Float32Array.from(a, (bit, i) => 4 - 8 * (i < half ? bit : b[i]));
  const decoded = decodeTransportBlock(mixed, parameters, { iterations: 20 });
  assert.deepEqual(decoded.codeBlocks.map(({ crcPassed }) => crcPassed), [true, true]);
  assert.equal(decoded.crcPassed, false);
});

Deno.test("blocks 4 dB above noise are decoded", () => {
  const generator = Generator.seeded(17), parameters = qpskBlock(272, 0.5);
  for (let i = 0; i < 8; i++) {
    const bits = randomBits(generator, 272);
    const llr = noisyLlr(encodeTransportBlock(bits, parameters), noiseVariance(4, parameters), generator);
    assert.deepEqual(decodeTransportBlock(llr, parameters, { iterations: 20 }).bits, bits);
  }
});

for (const [ebNoDb, seed] of [[1, 21], [1.25, 22], [1.5, 23]]) {
  Deno.test(`block error rate at ${ebNoDb} dB is within 0.1 dB of sum-product`, () => {
    const stored = storedRates("sionna_tbs1032"), parameters = qpskBlock(stored.block_bits, 0.5);
    assert.equal(parameters.codedBits, stored.coded_bits);
    const { blockErrors, blocks } = measureBlockErrors(parameters, ebNoDb, { errors: 100, blocks: 50_000, seed });
    assert.equal(blockErrors, 100);
    const { low, high } = wilsonInterval(blockErrors, blocks, 0.99);
    assert.ok(high < storedRate(stored.points, ebNoDb - 0.1), `${blockErrors} of ${blocks}`);
    // Nor is it better than a decoder can be: within a third of a dB of the stored layered one.
    assert.ok(low > storedRate(storedRates("srsran_tbs1032").points, ebNoDb + 0.35));
  });
}

Deno.test("arrays of other lengths are refused", () => {
  const parameters = qpskBlock(1032, 0.5);
  assert.throws(() => decodeTransportBlock(new Float32Array(5), parameters, { iterations: 5 }), RangeError);
  const llr = new Float32Array(2064).fill(1), scrambling = new Uint8Array(3);
  assert.throws(() => decodeTransportBlock(llr, parameters, { iterations: 5, scrambling }), RangeError);
});
