/** What parallel calls have in common: their options and arrays that all threads see. */
import { availableThreads } from "./team.ts";

export interface ParallelOptions {
  /** How many threads may work; default as many as can run at once. 1: this thread alone, as the sequential call does. */
  threads?: number;
}

/** @throws RangeError when the number of threads is not a positive integer */
export function threadsOf({ threads = availableThreads() }: ParallelOptions): number {
  if (!Number.isInteger(threads) || threads < 1) throw new RangeError(`Cannot work on ${threads} threads`);
  return threads;
}

/** Does every thread see the memory of an array? */
export function isShared(array: ArrayBufferView): boolean {
  return array.buffer instanceof SharedArrayBuffer;
}

/** An array of zeros that every thread sees. */
export function sharedArray<T>(
  array: { new (buffer: SharedArrayBuffer): T; BYTES_PER_ELEMENT: number },
  length: number,
): T {
  return new array(new SharedArrayBuffer(length * array.BYTES_PER_ELEMENT));
}

/** The array itself where every thread sees it, else a copy that they do. */
export function shared<T extends Uint8Array | Float32Array>(array: T): T {
  if (isShared(array)) return array;
  const copy = sharedArray(array.constructor as Uint8ArrayConstructor, array.length);
  copy.set(array);
  return copy as T;
}
