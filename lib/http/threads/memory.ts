/**
 * Returns the memory of ended threads to the system.
 *
 * V8 keeps the heap pages of an ended isolate in a pool of the process for 8 s. A delayed task of the main isolate then frees
 * them. The runtime runs such a task only when V8 posts another one, which may never happen in an idle server. A garbage
 * collection posts one, and frees what the main thread itself has dropped.
 */
import { collectGarbage } from "../../execute/memory.ts";

const INTERVAL_MS = 4000;
/** Collections after the end of a thread: the first frees what the main thread dropped, one after 8 s the pool. */
const COLLECTIONS = 4;

export class MemoryRelease {
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Releases memory soon; to be called when a thread has ended. */
  later(): void {
    this.close();
    let left = COLLECTIONS;
    this.#timer = setInterval(() => {
      collectGarbage();
      if (--left === 0) this.close();
    }, INTERVAL_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
