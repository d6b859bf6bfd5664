/**
 * SHA-256 on a thread of its own, for a thread that makes long arrays block by block: bytes go through a ring of pieces in
 * shared memory. The maker waits for a free piece, the hasher for a filled one; both waits have a limit, so that
 * neither waits for ever.
 */
import type { Digest } from "../contract/names.ts";
import { Thread } from "../numeric/parallel/thread.ts";

/** The shared memory of a maker and a hasher. */
export interface HashRing {
  /** {@link READY} and the following words, then {@link PIECE_WORDS} of each piece. */
  control: Int32Array<SharedArrayBuffer>;
  bytes: Uint8Array<SharedArrayBuffer>;
  digests: Uint8Array<SharedArrayBuffer>;
}

/** Several pieces fit in a second-level cache, beside the blocks of a chain. Exported for tests. */
export const PIECE_BYTES = 1 << 18;
/** Pieces of the ring. Exported for tests. */
export const PIECES = 32;
/** Streams at a time: more than a chain has arrays. */
const STREAMS = 256;
export const DIGEST_BYTES = 32;
/** Words of the control memory: set by the hasher at its start, pieces filled and hashed, and the state of the thread. */
export const READY = 0, FILLED = 1, HASHED = 2, STATE = 3;
/** States: only an idle thread ends, and only one that has not ended is used. */
export const IDLE = 0, USED = 1, ENDED = 2;
const PIECE_WORDS = 3, FIRST_PIECE = 4;
/** What a piece is to its stream: more follow, it is the last one, or the stream has no end. */
const MORE = 0;
export const LAST = 1, ABANDONED = 2;
/** Time after which a waiting thread looks whether the other one still runs. */
const LOOK_MS = 250;
/** Time without streams after which the thread ends: longer than the pause between points of a sweep. */
export const IDLE_MS = 2000;
/** Starting a thread takes about 20 ms on an idle processor. */
const START_MS = 2000;

/** Place of the words of a piece: its stream, its number of bytes, what it is. */
export const wordsOf = (piece: number): number => FIRST_PIECE + PIECE_WORDS * (piece % PIECES);
export const placeOf = (piece: number): number => PIECE_BYTES * (piece % PIECES);

/** A digest that is made beside the caller. */
export interface HashStream {
  update(bytes: Uint8Array): void;
  digest(): Digest;
  /** Gives a stream up that has no digest yet. */
  close(): void;
}

interface Hasher {
  ring: HashRing;
  /** Numbers of streams that are not open. */
  free: number[];
  filled: number;
}

let running: Hasher | null = null;

/**
 * A new stream on the thread that hashes for this one, which ends after a time without streams.
 * @returns null where no thread can be had: the caller then hashes itself
 */
export function hashStream(): HashStream | null {
  if (running === null || !isUsable(running)) running = start();
  const hasher = running, stream = hasher?.free.pop();
  if (hasher === null || stream === undefined) return null;
  let open = true;
  const end = () => {
    open = false;
    hasher.free.push(stream);
    if (hasher.free.length === STREAMS) Atomics.compareExchange(hasher.ring.control, STATE, USED, IDLE);
  };
  const put = (bytes: Uint8Array, what: number) => {
    const { ring: { control, bytes: ring } } = hasher, piece = hasher.filled;
    wait(control, (hashed) => piece - hashed < PIECES);
    ring.set(bytes, placeOf(piece));
    control.set([stream, bytes.length, what], wordsOf(piece));
    Atomics.store(control, FILLED, ++hasher.filled);
    Atomics.notify(control, FILLED);
  };
  return {
    update(bytes) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) put(bytes.subarray(at, at + PIECE_BYTES), MORE);
    },
    digest() {
      put(new Uint8Array(0), LAST);
      const { control, digests } = hasher.ring, last = hasher.filled;
      wait(control, (hashed) => hashed >= last);
      end();
      return digests.slice(stream * DIGEST_BYTES, (stream + 1) * DIGEST_BYTES).toHex() as Digest;
    },
    close() {
      if (!open) return;
      if (Atomics.load(hasher.ring.control, STATE) === USED) put(new Uint8Array(0), ABANDONED);
      end();
    },
  };
}

/** Waits until the number of hashed pieces is as wanted. @throws Error when the hasher has ended */
function wait(control: Int32Array<SharedArrayBuffer>, wanted: (hashed: number) => boolean): void {
  for (let hashed = Atomics.load(control, HASHED); !wanted(hashed); hashed = Atomics.load(control, HASHED)) {
    if (Atomics.load(control, STATE) === ENDED) throw new Error("Cannot hash: the thread that hashes has ended");
    Atomics.wait(control, HASHED, hashed, LOOK_MS);
  }
}

/** Keeps a thread from ending; false for one that has. */
const isUsable = ({ ring: { control } }: Hasher): boolean =>
  Atomics.compareExchange(control, STATE, IDLE, USED) !== ENDED;

function start(): Hasher | null {
  const url = new URL("./hash_worker.ts", import.meta.url);
  // A refused module would be reported on the terminal, although the caller then hashes itself.
  if (url.protocol === "file:" && Deno.permissions.querySync({ name: "read", path: url }).state !== "granted") {
    return null;
  }
  const ring: HashRing = {
    control: new Int32Array(new SharedArrayBuffer(4 * (FIRST_PIECE + PIECE_WORDS * PIECES))),
    bytes: new Uint8Array(new SharedArrayBuffer(PIECE_BYTES * PIECES)),
    digests: new Uint8Array(new SharedArrayBuffer(DIGEST_BYTES * STREAMS)),
  };
  const { control } = ring;
  control[STATE] = USED;
  // No number of pieces: a thread that is about to wait does not.
  const ending = { words: control, values: [[STATE, ENDED], [FILLED, -1]] as const };
  const thread = new Thread(url, { name: "svc hash", ending });
  thread.onerror = () => void Atomics.store(control, STATE, ENDED);
  thread.port.postMessage(ring);
  if (Atomics.wait(control, READY, 0, START_MS) !== "timed-out") {
    return { ring, free: Array.from({ length: STREAMS }, (_, stream) => stream), filled: 0 };
  }
  // One that starts too late ends at once.
  thread.end();
  return null;
}
