/** The native decoder against the portable one: bits, CRC outcome and number of iterations, on every level. */
import assert from "node:assert/strict";
import { LEVELS, NativeKernels } from "../../../../lib/numeric/native/kernels.ts";
import { codedBitCount, type CodeParameters } from "../../../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import {
  decodeCodeBlock,
  type DecoderOptions,
  decodeTransportBlock,
} from "../../../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { legalBlockSize } from "../../../../lib/numeric/coding/nr_ldpc/block_size.ts";
import { encodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { goldSequence } from "../../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import { NATIVE_LIBRARY, needsNative } from "../../../support/native.ts";
import { blockOf, noisyLlr, qpskBlock, randomBits } from "../nr_ldpc/_blocks.ts";

const highest = NATIVE_LIBRARY === null ? -1 : LEVELS.indexOf(NativeKernels.open(NATIVE_LIBRARY).level);
const kernels = LEVELS.slice(0, highest + 1).map((level) => NativeKernels.open(NATIVE_LIBRARY!, level));

/** Decodes every code block both ways; returns iterations done. */
function agree(llr: Float32Array, parameters: CodeParameters, options: DecoderOptions): number {
  let iterations = 0;
  parameters.codedBitsOfBlock.forEach((_, index) => {
    const expectedBits = new Uint8Array(parameters.segmentBits);
    const expected = decodeCodeBlock(llr, parameters, index, options, expectedBits);
    for (const native of kernels) {
      const bits = new Uint8Array(parameters.segmentBits).fill(7);
      const where = `${native.level}, base graph ${parameters.baseGraph}, Z = ${parameters.liftingSize}`;
      assert.deepEqual(native.decodeCodeBlock(llr, parameters, index, options, bits), expected, where);
      assert.deepEqual(bits, expectedBits, where);
    }
    iterations += expected.iterations;
  });
  return iterations;
}

/** One block per base graph and lifting size, with the rate that leads there. */
function everyCode(): Map<string, [number, number]> {
  const codes = new Map<string, [number, number]>();
  for (const rate of [0.2, 0.5, 0.8]) {
    for (let bits = 24; bits <= 8424; bits += 8) {
      const blockBits = legalBlockSize(bits, rate);
      const { baseGraph, liftingSize } = blockOf(blockBits, rate, 2, 1);
      const key = `${baseGraph}/${liftingSize}`;
      if (!codes.has(key)) codes.set(key, [blockBits, rate]);
    }
  }
  return codes;
}

Deno.test("every code that the standard chooses, with noise that some blocks do not survive", needsNative(), () => {
  const generator = Generator.seeded(31), codes = everyCode();
  assert.ok(codes.size > 60, `${codes.size} codes`);
  let iterations = 0, runs = 0;
  for (const [blockBits, rate] of codes.values()) {
    const parameters = blockOf(blockBits, rate, 2, 1);
    const coded = encodeTransportBlock(randomBits(generator, blockBits), parameters);
    for (const variance of [10 ** -(0.55 * rate), 1.1 * 10 ** -(0.2 * rate)]) {
      iterations += agree(noisyLlr(coded, variance, generator), parameters, { iterations: 6 });
      runs++;
    }
  }
  assert.ok(iterations > 2 * runs && iterations < 6 * runs, `${iterations} iterations in ${runs} runs`);
});

Deno.test("all iterations, one, and none of an early stop", needsNative(), () => {
  const generator = Generator.seeded(32);
  // CRC16 on its own, CRC24A on its own, and two code blocks with CRC24B.
  for (const parameters of [qpskBlock(128, 1 / 3), qpskBlock(1032, 0.5), qpskBlock(legalBlockSize(9000, 0.5), 0.5)]) {
    const coded = encodeTransportBlock(randomBits(generator, parameters.blockBits), parameters);
    for (const variance of [0.4, 0.7, 1.2]) {
      const llr = noisyLlr(coded, variance, generator);
      for (const iterations of [1, 2, 9]) {
        for (const earlyStop of [true, false]) agree(llr, parameters, { iterations, earlyStop });
      }
    }
  }
});

Deno.test("every number of bits per symbol, scrambled, repeated, saturated and silent", needsNative(), () => {
  const generator = Generator.seeded(33);
  for (const bitsPerSymbol of [1, 2, 4, 6, 8]) {
    for (const rate of [0.7, 0.12]) {
      const parameters = blockOf(504, rate, bitsPerSymbol, 1), { codedBits } = parameters;
      const scrambling = goldSequence(77, codedBits);
      const coded = encodeTransportBlock(randomBits(generator, 504), parameters, scrambling);
      for (const gain of [0.4, 3, 1e4, 1e30]) {
        const noise = generator.standardNormal(codedBits);
        const llr = Float32Array.from(coded, (bit, i) => gain * (1.6 * (1 - 2 * bit) + noise[i]));
        agree(llr, parameters, { iterations: 5, scrambling });
        agree(llr, parameters, { iterations: 2 });
      }
      for (const value of [0, 0.124, 0.125, 0.126, -0.375, Infinity, -Infinity]) {
        agree(new Float32Array(codedBits).fill(value), parameters, { iterations: 2 });
      }
    }
  }
});

Deno.test("a transport block of many code blocks decodes through either", needsNative(), () => {
  const blockBits = legalBlockSize(40000, 0.6),
    codedBits = codedBitCount(blockBits, 0.6, 2, 1),
    parameters = qpskBlock(blockBits, 0.6, codedBits);
  const generator = Generator.seeded(34), bits = randomBits(generator, blockBits);
  const llr = noisyLlr(encodeTransportBlock(bits, parameters), 0.45, generator);
  const expected = decodeTransportBlock(llr, parameters, { iterations: 20 });
  assert.ok(expected.crcPassed && parameters.codeBlockCount > 3);
  assert.deepEqual(expected.bits, bits);
  for (const native of kernels) {
    assert.deepEqual(decodeTransportBlock(llr, parameters, { iterations: 20 }, native.decodeCodeBlock), expected);
  }
});
