/** Labels of codewords: permutations, and what a bit error costs. */
import assert from "node:assert/strict";
import {
  bitErrorDistortion,
  INDEX_ASSIGNMENTS,
  indexAssignment,
  inverseAssignment,
  squaredDistances,
} from "../../../lib/numeric/coding/index_assignment.ts";
import { toyCodebook } from "../../../ops/codec/_toy_codebook.ts";

/** Levels of a uniform quantiser with step 1. */
const uniform = (size: number) => ({ dimension: 1, data: Float64Array.from({ length: size }, (_, i) => i) });

Deno.test("every assignment names each codeword once, and its inverse gives the codeword back", () => {
  for (const kind of INDEX_ASSIGNMENTS) {
    for (const size of [1, 2, 16, 64]) {
      const labels = indexAssignment(kind, uniform(size)), words = inverseAssignment(labels);
      labels.forEach((label, word) => assert.equal(words[label], word));
      assert.equal(new Set(labels).size, size, kind);
    }
  }
  assert.deepEqual([...indexAssignment("gray", uniform(8))], [0, 1, 3, 2, 6, 7, 5, 4]);
  assert.throws(() => indexAssignment("natural", uniform(12)), RangeError);
});

Deno.test("bit errors of a uniform quantiser cost (N² - 1)/(3·log2 N) with natural labels, the least possible", () => {
  for (const size of [4, 8, 16]) {
    const codebook = uniform(size), distances = squaredDistances(codebook);
    const cost = (kind: typeof INDEX_ASSIGNMENTS[number]) =>
      bitErrorDistortion(distances, indexAssignment(kind, codebook));
    // Bit k moves a level by 2^k: the mean of 4^k.
    const least = (size ** 2 - 1) / (3 * Math.log2(size));
    assert.ok(Math.abs(cost("natural") - least) < 1e-9);
    assert.ok(Math.abs(cost("by_distance") - least) < 1e-9);
    assert.ok(cost("gray") > least + 0.1 || size === 4);
  }
});

Deno.test("by_distance has a lower cost than the order from dark to bright, and no exchange lowers it", () => {
  const codebook = toyCodebook(3, 64, 8), distances = squaredDistances(codebook);
  const labels = indexAssignment("by_distance", codebook), cost = bitErrorDistortion(distances, labels);
  const other = (kind: typeof INDEX_ASSIGNMENTS[number]) =>
    bitErrorDistortion(distances, indexAssignment(kind, codebook));
  assert.ok(cost < 0.8 * other("natural") && cost < 0.8 * other("gray") && other("random") > 1.5 * other("natural"));
  for (let i = 0; i < 64; i++) {
    for (let j = 0; j < i; j++) {
      const exchanged = Int32Array.from(labels);
      [exchanged[i], exchanged[j]] = [labels[j], labels[i]];
      assert.ok(bitErrorDistortion(distances, exchanged) > cost - 1e-4);
    }
  }
});
