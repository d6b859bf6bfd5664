/** Transport blocks decoded on several threads against one after another: the same bits, CRCs and iterations. */
import assert from "node:assert/strict";
import { decodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { encodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { goldSequence } from "../../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { decodeTransportBlocks } from "../../../../lib/numeric/parallel/nr_ldpc.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import { blockOf, noiseVariance, noisyLlr, qpskBlock, randomBits } from "./_blocks.ts";

Deno.test("code blocks do not depend on the thread that decodes them", () => {
  // One code block; several; several with 256QAM interleaving on two layers. Some blocks are lost at these noise levels.
  const cases = [
    { parameters: qpskBlock(1032, 0.5), ebNoDb: 1.25 },
    { parameters: qpskBlock(16136, 0.5), ebNoDb: 1 },
    { parameters: blockOf(30216, 0.8, 8, 2), ebNoDb: 2.5 },
  ];
  for (const { parameters, ebNoDb } of cases) {
    const generator = Generator.seeded(parameters.blockBits), count = 9;
    const scrambling = goldSequence(77, parameters.codedBits), variance = noiseVariance(ebNoDb, parameters);
    const llr = new Float32Array(count * parameters.codedBits);
    for (let block = 0; block < count; block++) {
      const coded = encodeTransportBlock(randomBits(generator, parameters.blockBits), parameters, scrambling);
      llr.set(noisyLlr(coded, variance, generator).subarray(0, parameters.codedBits), block * parameters.codedBits);
    }
    const options = { iterations: 12, scrambling };
    const expected = Array.from({ length: count }, (_, block) =>
      decodeTransportBlock(
        llr.subarray(block * parameters.codedBits, (block + 1) * parameters.codedBits),
        parameters,
        options,
      ));
    assert.ok(expected.some(({ crcPassed }) => !crcPassed), `${parameters.blockBits}: a block is lost`);
    for (const threads of [1, 2, 3]) {
      const decoded = decodeTransportBlocks(llr, parameters, count, { ...options, threads });
      assert.deepEqual(decoded, expected, `${parameters.blockBits} bits on ${threads} threads`);
    }
  }
});

Deno.test("a transport block of two code blocks is spread over threads, too", () => {
  const parameters = qpskBlock(16136, 0.5), generator = Generator.seeded(3);
  assert.equal(parameters.codeBlockCount, 2);
  const llr = noisyLlr(
    encodeTransportBlock(randomBits(generator, 16136), parameters),
    noiseVariance(2, parameters),
    generator,
  );
  const [decoded] = decodeTransportBlocks(llr, parameters, 1, { iterations: 20, threads: 2 });
  assert.deepEqual(decoded, decodeTransportBlock(llr, parameters, { iterations: 20 }));
  assert.ok(decoded.crcPassed);
});

Deno.test("a transport block fails whose own CRC is wrong, although those of its code blocks hold", () => {
  const parameters = qpskBlock(16136, 0.5), generator = Generator.seeded(4);
  const other = { ...parameters, blockCrc: { ...parameters.blockCrc, name: "crc24b" as const } };
  const llr = noisyLlr(
    encodeTransportBlock(randomBits(generator, 16136), other),
    noiseVariance(3, parameters),
    generator,
  );
  for (const threads of [1, 2]) {
    const [decoded] = decodeTransportBlocks(llr, parameters, 1, { iterations: 20, threads });
    assert.deepEqual(decoded.codeBlocks.map(({ crcPassed }) => crcPassed), [true, true]);
    assert.equal(decoded.crcPassed, false);
  }
});

Deno.test("no blocks are no work, and other lengths are refused", () => {
  const parameters = qpskBlock(1032, 0.5);
  assert.deepEqual(decodeTransportBlocks(new Float32Array(), parameters, 0, { iterations: 20, threads: 2 }), []);
  const llr = new Float32Array(2 * parameters.codedBits), scrambling = new Uint8Array(5);
  assert.throws(() => decodeTransportBlocks(llr, parameters, 1, { iterations: 20, threads: 2 }), RangeError);
  assert.throws(
    () => decodeTransportBlocks(llr, parameters, 2, { iterations: 20, threads: 2, scrambling }),
    RangeError,
  );
});
