import assert from "node:assert/strict";
import { packBits, unpackBits } from "../../../lib/numeric/bit_packing.ts";

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

Deno.test("more bits than the bytes hold are a defect", () => {
  assert.throws(() => unpackBits(Uint8Array.of(1), 9), RangeError);
  assert.throws(() => unpackBits(Uint8Array.of(1), -1), RangeError);
  assert.throws(() => unpackBits(Uint8Array.of(1), 1.5), RangeError);
});
