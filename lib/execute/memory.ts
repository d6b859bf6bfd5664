/**
 * Garbage collection on request. V8 does not count shared memory when it decides to collect, so a thread that passes on
 * large images in shared memory would keep all of them.
 */
import { nodeV8, nodeVm } from "../contract/node_builtins.ts";

/** A thread collects after it has dropped this many bytes of shared memory. */
const DROPPED_BYTES = 128 * 1024 ** 2;

let gc: (() => void) | undefined;
let dropped = 0;

/** Collects the garbage of this thread. If the runtime has no `gc`, memory is freed at V8's next collection. */
export function collectGarbage(): void {
  if (gc === undefined) {
    // V8 has the function in contexts that are made while the flag is set.
    nodeV8().setFlagsFromString("--expose-gc");
    gc = nodeVm().runInNewContext("globalThis.gc ?? (() => {})") as () => void;
    nodeV8().setFlagsFromString("--no-expose-gc");
  }
  gc();
}

/** Collects the garbage of this thread when it has dropped much shared memory. */
export function collectDropped(): void {
  if (dropped < DROPPED_BYTES) return;
  dropped = 0;
  collectGarbage();
}

/** Counts unneeded shared memory, and collects above the limit. */
export function dropShared(bytes: number): void {
  dropped += bytes;
  // Variables of the caller may still refer to it.
  if (dropped >= DROPPED_BYTES) setTimeout(collectDropped, 0);
}
