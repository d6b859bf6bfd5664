import assert from "node:assert/strict";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { packBits, unpackBits } from "../../../lib/numeric/array/bit_packing.ts";

Deno.test("bits are packed most significant first and padded with zeros", () => {
  assert.deepEqual(packBits(Uint8Array.of(1, 0, 1, 0, 0, 0, 0, 1, 1, 1)), Uint8Array.of(0xa1, 0xc0));
  assert.deepEqual(packBits(new Uint8Array(0)), new Uint8Array(0));
  assert.deepEqual(unpackBits(Uint8Array.of(0xa1, 0xc0), 10), Uint8Array.of(1, 0, 1, 0, 0, 0, 0, 1, 1, 1));
  assert.deepEqual(unpackBits(Uint8Array.of(0x0f)), Uint8Array.of(0, 0, 0, 0, 1, 1, 1, 1));
});

Deno.test("every length survives the round trip", () => {
  for (let length = 0; length < 70; length++) {
    const bits = Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 3 === 0 ? 1 : 0);
    const bytes = packBits(bits);
    assert.equal(bytes.length, Math.ceil(length / 8));
    assert.deepEqual(unpackBits(bytes, length), bits);
  }
});

Deno.test("only the lowest bit of each element counts, for any length and any position in a buffer", () => {
  const all = Generator.seeded(4).integers(0, 256, 131_200, "uint8") as Uint8Array;
  for (const [from, length] of [[1, 15], [3, 64], [5, 65_535], [7, 65_537], [2, 131_173]]) {
    const values = all.subarray(from, from + length), expected = new Uint8Array(Math.ceil(length / 8));
    values.forEach((value, at) => expected[at >> 3] |= (value & 1) << (7 - at % 8));
    assert.deepEqual(packBits(values), expected, String(length));
  }
});

Deno.test("more bits than the bytes hold are a defect", () => {
  assert.throws(() => unpackBits(Uint8Array.of(1), 9), RangeError);
  assert.throws(() => unpackBits(Uint8Array.of(1), -1), RangeError);
  assert.throws(() => unpackBits(Uint8Array.of(1), 1.5), RangeError);
});
