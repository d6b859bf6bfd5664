import assert from "node:assert/strict";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { majorityBits } from "../../../lib/numeric/coding/repetition.ts";

Deno.test("the majority of the copies decides, an even split gives 1, for any length and any position in a buffer", () => {
  const drawn = Generator.seeded(8).integers(0, 2, 700_000, "uint8") as Uint8Array;
  for (const factor of [1, 2, 3, 4, 7, 8, 9, 20]) {
    for (const count of [0, 1, 5, 33, 8193, 66_001 / factor | 0]) {
      const bits = drawn.subarray(3, 3 + count * factor);
      const expected = Uint8Array.from({ length: count }, (_, bit) => {
        const ones = bits.subarray(bit * factor, (bit + 1) * factor).reduce((sum, value) => sum + value, 0);
        return ones / factor >= 0.5 ? 1 : 0;
      });
      assert.deepEqual(majorityBits(bits, factor), expected, `${count} groups of ${factor}`);
    }
  }
});
