/**
 * Garbage collection on request, for memory that V8 does not count. V8 leaves shared memory out when it decides to collect:
 * a thread that passes on large images in shared memory would keep all of them.
 */
import { nodeV8, nodeVm } from "../contract/node_builtins.ts";

/** A thread collects after it has dropped this many bytes of shared memory. */
const DROPPED_BYTES = 128 * 1024 ** 2;

let gc: (() => void) | undefined;
let dropped = 0;

/** Collects the garbage of this thread. Without `gc` in the runtime, memory returns at V8's next own collection. */
export function collectGarbage(): void {
  if (gc === undefined) {
    // V8 has the function in contexts that are made while the flag is set.
    nodeV8().setFlagsFromString("--expose-gc");
    gc = nodeVm().runInNewContext("globalThis.gc ?? (() => {})") as () => void;
    nodeV8().setFlagsFromString("--no-expose-gc");
  }
  gc();
}

/** Counts shared memory that this thread does not need any more, and collects once it is much. */
export function dropShared(bytes: number): void {
  dropped += bytes;
  if (dropped < DROPPED_BYTES) return;
  dropped = 0;
  // Variables of the caller may still refer to it.
  setTimeout(collectGarbage, 0);
}
