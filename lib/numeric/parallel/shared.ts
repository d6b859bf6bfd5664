/** Options of parallel calls, and their arguments in shared memory. */
import { isShared, sharedArray } from "../shared_array.ts";
import { availableThreads } from "./team.ts";

export interface ParallelOptions {
  /**
   * Maximum number of threads; default the number that can run at once. 1 runs on the calling thread, as the sequential
   * call.
   */
  threads?: number;
}

/** @throws RangeError when the number of threads is not a positive integer */
export function threadsOf({ threads = availableThreads() }: ParallelOptions): number {
  if (!Number.isInteger(threads) || threads < 1) throw new RangeError(`Cannot work on ${threads} threads`);
  return threads;
}

/** The array itself if it lies in shared memory, else a copy there. */
export function shared<T extends Uint8Array | Float32Array>(array: T): T {
  if (isShared(array)) return array;
  const copy = sharedArray(array.constructor as Uint8ArrayConstructor, array.length);
  copy.set(array);
  return copy as T;
}
