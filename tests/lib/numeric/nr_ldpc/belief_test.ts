/** Code blocks of NR decoded by the decoder of all LDPC codes. */
import assert from "node:assert/strict";
import { LDPC_CHECK_RULES, LDPC_SCHEDULES } from "../../../../lib/numeric/coding/ldpc/decoder.ts";
import { decodeCodeBlock, decodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { encodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { goldSequence } from "../../../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { decodeTransportBlocks } from "../../../../lib/numeric/parallel/nr_ldpc.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import { blockOf, measureBlockErrors, noiseVariance, noisyLlr, qpskBlock, randomBits, storedRates } from "./_blocks.ts";

const CHOICES = LDPC_SCHEDULES.flatMap((schedule) =>
  LDPC_CHECK_RULES.map((checkRule) => ({ schedule, checkRule, scale: 0.75, offset: 0.5 }))
);

Deno.test("every schedule and check rule undoes filler, repeated and scrambled bits", () => {
  const generator = Generator.seeded(21);
  for (const belief of CHOICES) {
    for (const [blockBits, codeRate, bitsPerSymbol] of [[2024, 0.4, 2], [8456, 0.8, 6], [24, 0.03, 1]]) {
      const parameters = blockOf(blockBits, codeRate, bitsPerSymbol, 1),
        scrambling = goldSequence(5, parameters.codedBits);
      const bits = randomBits(generator, blockBits), coded = encodeTransportBlock(bits, parameters, scrambling);
      // Some values are wrong, some have no limit.
      const llr = Float32Array.from(
        coded,
        (bit, i) => (6 - 12 * bit) * (i % 97 === 5 ? -0.5 : i % 89 === 3 ? Infinity : 1),
      );
      const options = { iterations: 20, scrambling, belief };
      const found = decodeTransportBlock(llr, parameters, options);
      assert.ok(found.crcPassed, `${belief.schedule} ${belief.checkRule} ${blockBits}`);
      assert.deepEqual(found.bits, bits);
    }
  }
});

Deno.test("flooding sum-product fails as often as that of a public implementation", () => {
  const { block_bits, points } = storedRates("sionna_tbs1032"), parameters = qpskBlock(block_bits, 0.5);
  const belief = { ...CHOICES[0], schedule: "flooding", checkRule: "sum_product" } as const;
  const theirs = points.find(({ ebno_db }) => ebno_db === 1)!;
  const ours = measureBlockErrors(
    parameters,
    1,
    { errors: 120, blocks: 4000, seed: 5 },
    (llr, own, index, options, segment) => decodeCodeBlock(llr, own, index, { ...options, belief }, segment),
  );
  const joint = (ours.blockErrors + theirs.block_errors) / (ours.blocks + theirs.blocks);
  const deviation = Math.sqrt(joint * (1 - joint) * (1 / ours.blocks + 1 / theirs.blocks));
  const difference = ours.blockErrors / ours.blocks - theirs.block_errors / theirs.blocks;
  assert.ok(ours.blockErrors >= 100 && Math.abs(difference) < 3.3 * deviation, JSON.stringify({ ours, theirs }));
});

Deno.test("a block has the same bits on any number of threads, and none without a received value", () => {
  const parameters = qpskBlock(16136, 0.5), generator = Generator.seeded(22), belief = CHOICES[1];
  const llr = new Float32Array(3 * parameters.codedBits);
  for (let block = 0; block < 2; block++) {
    const coded = encodeTransportBlock(randomBits(generator, 16136), parameters);
    llr.set(noisyLlr(coded, noiseVariance(1.2, parameters), generator), block * parameters.codedBits);
  }
  const [one, two] = [1, 2].map((threads) =>
    decodeTransportBlocks(llr, parameters, 3, { iterations: 15, belief, threads })
  );
  assert.deepEqual(two, one);
  assert.deepEqual([one[2].crcPassed, one[2].codeBlocks[0].iterations], [false, 0]);
  assert.ok(one[0].codeBlocks[0].iterations > 1);
});
