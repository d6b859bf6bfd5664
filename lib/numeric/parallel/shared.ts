/** Options of parallel calls, and their arguments in shared memory. */
import { isShared, sharedArray } from "../array/shared_array.ts";
import { availableThreads, worthwhileThreads } from "./team.ts";

export interface ParallelOptions {
  /**
   * Maximum number of threads; default the number that can run at once. 1 runs on the calling thread, as the sequential
   * call.
   */
  threads?: number;
  /** Size of a job from which on it takes all threads; default as measured. Values do not depend on it. */
  least?: number;
}

/** @throws RangeError when the number of threads is not a positive integer */
export function threadsOf({ threads = availableThreads() }: ParallelOptions): number {
  if (!Number.isInteger(threads) || threads < 1) throw new RangeError(`Cannot work on ${threads} threads`);
  return threads;
}

/**
 * The number of threads that a job takes.
 * @param size size of the job, in the unit of `options.least`
 * @param least size from which on a running helper shortens the job
 * @throws RangeError when the number of threads is not a positive integer
 */
export function threadsFor(size: number, least: number, options: ParallelOptions): number {
  const threads = threadsOf(options);
  if (options.least !== undefined) return size < options.least ? 1 : threads;
  return worthwhileThreads(size, least, threads);
}

/** The array itself if it lies in shared memory, else a copy there. */
export function shared<T extends Uint8Array | Float32Array>(array: T): T {
  if (isShared(array)) return array;
  const copy = sharedArray(array.constructor as Uint8ArrayConstructor, array.length);
  copy.set(array);
  return copy as T;
}
