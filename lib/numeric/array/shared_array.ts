/** Arrays in shared memory: threads fill them together, and a file can be made around one without a copy. */

/** Smaller arrays are cheap to copy and have no room. */
const LEAST_BYTES = 1 << 20;
/** Free bytes before and after a large array. Memory is taken page by page on first use, so unused room costs nothing. */
const ROOM_BYTES = 1 << 16;

/**
 * Bytes of a block that is copied to or from shared memory. The engine copies shared memory word by word, which is fast
 * inside the first-level cache only.
 */
export const SHARED_BLOCK_BYTES = 4096;

/** What this thread knows of shared memory that it made. Weak collections would keep young buffers until a full collection. */
interface KnownBuffer extends SharedArrayBuffer {
  counted?: ArrayBuffer;
  /** Whether the room around one array is free. */
  roomy?: boolean;
}

/**
 * Shared memory of zeros that counts as memory for the garbage collector. V8 counts private memory only: a program that
 * uses each array for a short time would keep them all, every one in pages that are new. Therefore a large buffer holds
 * private address space of its size, which is never written and takes no memory.
 */
export function sharedBuffer(byteLength: number): KnownBuffer {
  const buffer: KnownBuffer = new SharedArrayBuffer(byteLength);
  if (byteLength >= LEAST_BYTES) buffer.counted = new ArrayBuffer(byteLength, { maxByteLength: byteLength });
  return buffer;
}

interface ArrayConstructor<T> {
  new (buffer: SharedArrayBuffer, byteOffset: number, length: number): T;
  BYTES_PER_ELEMENT: number;
}

/** An array of zeros in shared memory; a large one has room for {@link takeRoom}. */
export function sharedArray<T>(array: ArrayConstructor<T>, length: number): T {
  const size = length * array.BYTES_PER_ELEMENT, room = size < LEAST_BYTES ? 0 : ROOM_BYTES;
  const buffer = sharedBuffer(size + 2 * room);
  if (room > 0) buffer.roomy = true;
  return new array(buffer, room, length);
}

/** A page without cross-origin isolation has no shared memory. */
const hasShared = () => typeof SharedArrayBuffer === "function";

/** A large array of zeros in shared memory with room, a small one in private memory. */
export function resultArray<T>(array: ArrayConstructor<T> & (new (length: number) => T), length: number): T {
  const large = length * array.BYTES_PER_ELEMENT >= LEAST_BYTES;
  return large && hasShared() ? sharedArray(array, length) : new array(length);
}

/**
 * Arrays for blocks one after another, whose contents a caller overwrites: a block of the length of the one before has its memory.
 * New memory takes as long as simple kernels that fill it.
 */
export function blockMemory<T extends { length: number }>(array: new (length: number) => T): (length: number) => T {
  let last = new array(0);
  return (length) => last.length === length ? last : last = new array(length);
}

/**
 * The memory of an array with the room around it, given once: a file is then written around the array in place.
 * @param before needed bytes before the array
 * @param after needed bytes after it
 * @returns null for an array without that room, and for a part of an array
 */
export function takeRoom(array: Uint8Array, before: number, after: number): Uint8Array<SharedArrayBuffer> | null {
  const { byteOffset, byteLength } = array, buffer: ArrayBuffer | KnownBuffer = array.buffer;
  if (!(buffer instanceof SharedArrayBuffer) || byteOffset !== ROOM_BYTES) return null;
  if (buffer.byteLength !== byteLength + 2 * ROOM_BYTES || before > ROOM_BYTES || after > ROOM_BYTES) return null;
  if (!buffer.roomy) return null;
  buffer.roomy = false;
  return new Uint8Array(buffer, byteOffset - before, before + byteLength + after);
}

/** Whether an array lies in shared memory. */
export function isShared(array: ArrayBufferView): boolean {
  return hasShared() && array.buffer instanceof SharedArrayBuffer;
}
