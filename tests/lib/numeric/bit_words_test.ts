import assert from "node:assert/strict";
import { countOnes } from "../../../lib/numeric/array/count_ones.ts";
import { differingBits } from "../../../lib/numeric/coding/bit_errors.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

Deno.test("ones and differences of bits are those counted one by one, at any alignment and length", () => {
  const bits = Generator.seeded(3).integers(0, 2, 5000, "uint8") as Uint8Array<ArrayBuffer>;
  const full = new Uint8Array(4096).fill(1);
  for (const start of [0, 1, 2, 3, 4]) {
    for (const length of [0, 1, 3, 4, 7, 1019, 1020, 1021, 4000]) {
      const a = bits.subarray(start, start + length), b = bits.subarray(4 - start, 4 - start + length);
      const differing = Array.from(a, (bit, at) => bit ^ b[at]);
      assert.deepEqual([...differingBits(a, b)], differing);
      assert.deepEqual(differingBits(a, b.subarray(0, length >> 1)).length, length >> 1);
      assert.equal(countOnes(bits, start, start + length), a.reduce((sum, bit) => sum + bit, 0));
      assert.equal(countOnes(full.subarray(start), 0, Math.min(length, 4096 - start)), Math.min(length, 4096 - start));
    }
  }
});
