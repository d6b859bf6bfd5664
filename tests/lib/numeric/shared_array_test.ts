import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { hardBits } from "../../../lib/numeric/link/modulation.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { isShared, resultArray, sharedArray, takeRoom } from "../../../lib/numeric/array/shared_array.ts";
import { decodeArtifact, encodeArtifact } from "../../../lib/artifact/codec.ts";
import { LLR } from "../../../lib/contract/kinds.ts";

const COUNT = 1 << 18;

/** An array with room, filled. */
function filled(): Float32Array<SharedArrayBuffer> {
  const array = sharedArray(Float32Array<SharedArrayBuffer>, COUNT);
  for (let i = 0; i < COUNT; i++) array[i] = Math.sin(i);
  return array;
}

const encoded = (data: Float32Array, metadata = {}) =>
  encodeArtifact("llr", LLR, { array: ndarray("float32", data), metadata }).bytes;

Deno.test("the room around an array is given once, for the whole array, and as far as it reaches", () => {
  const bytes = (array: Float32Array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  const array = filled();
  assert.equal(takeRoom(bytes(array.subarray(1)), 8, 8), null);
  assert.equal(takeRoom(bytes(array), 1 << 20, 8), null);
  assert.equal(takeRoom(bytes(array), 8, 1 << 20), null);
  const taken = takeRoom(bytes(array), 8, 16);
  assert.deepEqual([taken?.buffer, taken?.length], [array.buffer, 4 * COUNT + 24]);
  assert.equal(takeRoom(bytes(array), 8, 16), null);
  assert.equal(takeRoom(bytes(sharedArray(Float32Array<SharedArrayBuffer>, 8)), 0, 0), null);
  assert.ok(resultArray<Float32Array>(Float32Array, 8).buffer instanceof ArrayBuffer);
});

Deno.test("shared arrays that are no longer used are collected while more are made", async () => {
  const made: WeakRef<SharedArrayBuffer>[] = [];
  for (let i = 0; i < 64; i++) {
    made.push(new WeakRef(sharedArray(Uint8Array<SharedArrayBuffer>, 1 << 25).buffer));
    // A reference is kept until its task ends.
    await new Promise((resolve) => setTimeout(resolve));
  }
  const kept = made.filter((buffer) => buffer.deref() !== undefined).length;
  assert.ok(kept < 32, `${kept} of 64 are kept`);
});

Deno.test("a file around its array in place has the bytes of a copied one", () => {
  const array = filled(), copied = encoded(array.slice());
  for (const metadata of [{}, { note: "x".repeat(40_000) }]) {
    const inPlace = filled(), file = encoded(inPlace, metadata);
    assert.equal(file.buffer === inPlace.buffer, !("note" in metadata));
    assert.equal(Buffer.compare(file, encoded(array.slice(), metadata)), 0);
  }
  // The second file of an array must not be written over the first one.
  const first = encoded(array), second = encoded(array, { other: 1 });
  assert.deepEqual([first.buffer === array.buffer, second.buffer === array.buffer], [true, false]);
  assert.equal(Buffer.compare(first, copied), 0);
});

Deno.test("an array that is read in place is a view for the sole reader, and a change is detected", () => {
  for (const data of [filled(), filled().slice(), Float32Array.of(1, 2, 3)]) {
    const file = encoded(data);
    assert.ok(decodeArtifact(LLR, file).array("llr", true).data.buffer !== file.buffer);
    const sole = decodeArtifact(LLR, file, true);
    const view = sole.array("llr", true).data as Float32Array;
    assert.ok(view.every((value, at) => value === data[at]));
    assert.equal(view.buffer === file.buffer, data.length === COUNT);
    assert.equal(sole.modified(), null);
    view[1]++;
    assert.equal(sole.modified(), "the array llr");
  }
});

Deno.test("a page without shared memory has its large arrays in private memory", () => {
  const kept = globalThis.SharedArrayBuffer;
  Reflect.deleteProperty(globalThis, "SharedArrayBuffer");
  try {
    const values = resultArray<Float32Array>(Float32Array, COUNT);
    values.set(Generator.seeded(1).randomFloat32(COUNT));
    assert.ok(!isShared(values) && values.buffer instanceof ArrayBuffer);
    assert.equal(hardBits(resultArray<Float32Array>(Float32Array, 4 * COUNT).fill(-1)).at(-1), 1);
  } finally {
    globalThis.SharedArrayBuffer = kept;
  }
});
