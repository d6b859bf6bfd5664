/** Shared memory that a thread has dropped is freed soon, although V8 does not count it. */
import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { ValueStore } from "../../../lib/execute/value_store.ts";

const MIB = 1024 ** 2;
const turns = async () => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 0));
};

Deno.test("images are freed once their last consumers have finished", async () => {
  const store = new ValueStore();
  const put = (reference: string) => {
    const bytes = new Uint8Array(new SharedArrayBuffer(64 * MIB));
    store.put(reference, bytes, 2);
    return new WeakRef(bytes);
  };
  const images = ["a", "b", "c"].map(put);
  for (const reference of ["a", "b", "c"]) store.release(reference);
  await turns();
  assert.deepEqual(images.map((image) => image.deref() !== undefined), [true, true, true]);
  store.release("a");
  store.release("b");
  await turns();
  assert.deepEqual(images.map((image) => image.deref() !== undefined), [false, false, true]);
  assert.equal(runInNewContext("typeof gc"), "undefined", "later contexts do not have the function");
});
