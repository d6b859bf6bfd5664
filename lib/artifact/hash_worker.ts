/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The thread that hashes the pieces of a ring; see `hash_thread.ts`. It ends after a time without streams. */
import { createHash, type Hash } from "node:crypto";
import { closeOwnThread, serveStarter } from "../numeric/parallel/thread.ts";
import {
  ABANDONED,
  DIGEST_BYTES,
  ENDED,
  FILLED,
  HASHED,
  type HashRing,
  IDLE,
  IDLE_MS,
  LAST,
  placeOf,
  READY,
  STATE,
  wordsOf,
} from "./hash_thread.ts";

serveStarter(({ control, bytes, digests }: HashRing) => {
  const streams = new Map<number, Hash>();
  Atomics.store(control, READY, 1);
  Atomics.notify(control, READY);
  try {
    for (let piece = 0; Atomics.load(control, STATE) !== ENDED;) {
      if (Atomics.load(control, FILLED) === piece) {
        const waited = Atomics.wait(control, FILLED, piece, IDLE_MS);
        if (waited === "timed-out" && Atomics.compareExchange(control, STATE, IDLE, ENDED) === IDLE) break;
        continue;
      }
      const [stream, length, what] = control.subarray(wordsOf(piece), wordsOf(piece) + 3);
      let hash = streams.get(stream);
      if (hash === undefined) streams.set(stream, hash = createHash("sha256"));
      hash.update(bytes.subarray(placeOf(piece), placeOf(piece) + length));
      if (what === LAST) digests.set(hash.digest(), stream * DIGEST_BYTES);
      if (what === LAST || what === ABANDONED) streams.delete(stream);
      Atomics.store(control, HASHED, ++piece);
      Atomics.notify(control, HASHED);
    }
  } finally {
    // A maker that waits learns of a failure.
    Atomics.store(control, STATE, ENDED);
    Atomics.notify(control, HASHED);
    closeOwnThread();
  }
});
