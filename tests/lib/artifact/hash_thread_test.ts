import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type HashStream, hashStream, IDLE_MS, PIECE_BYTES, PIECES } from "../../../lib/artifact/hash_thread.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";

/** The thread ends by itself after the test. */
const test = (name: string, fn: () => void | Promise<void>) =>
  Deno.test({ name, sanitizeOps: false, sanitizeResources: false, fn });

const bytesOf = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, index) => Math.imul(index + 1, 2 * seed + 1) >>> 7);

function opened(): HashStream {
  const stream = hashStream();
  assert.ok(stream !== null, "there is no thread");
  return stream;
}

test("streams that take turns have the digests of their bytes, in blocks of any size, also beyond the ring", () => {
  const sizes = [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES + 5];
  const streams = sizes.map((size, seed) => ({ contents: bytesOf(size, seed), stream: opened() }));
  for (let at = 0; at < Math.max(...sizes); at += 100_003) {
    for (const { contents, stream } of streams) stream.update(contents.subarray(at, at + 100_003));
  }
  for (const { contents, stream } of streams) assert.equal(stream.digest(), sha256Hex(contents));
  const long = bytesOf((PIECES + 3) * PIECE_BYTES, 9), stream = opened();
  stream.update(long);
  assert.equal(stream.digest(), sha256Hex(long));
});

test("streams are given up and used again, and a thread that has ended is replaced", async () => {
  for (let round = 0; round < 3; round++) {
    // More in all than there can be at once.
    for (let count = 0; count < 200; count++) {
      const stream = opened();
      stream.update(bytesOf(10, count));
      stream.close();
      stream.close();
    }
    const stream = opened();
    stream.update(bytesOf(10, round));
    assert.equal(stream.digest(), sha256Hex(bytesOf(10, round)));
    stream.close();
    // The first thread is used again, the second one has ended.
    if (round === 1) await sleep(2 * IDLE_MS);
  }
});
