/** Typed n-dimensional arrays as in NumPy: a dtype, a shape, and C-order data. */

export type TypedData =
  | Uint8Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Float16Array
  | Float32Array
  | Float64Array;

/** C-order array; complex data is interleaved (real, imaginary), bool is one byte 0 or 1 per element. */
export interface NdArray {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly data: TypedData;
}

interface DtypeInfo {
  /** Bytes per element. */
  itemSize: number;
  /** Typed-array slots per element: 2 for complex. */
  slots: number;
  make: (buffer: ArrayBufferLike, byteOffset: number, slots: number) => TypedData;
}

export const DTYPES = {
  bool: { itemSize: 1, slots: 1, make: (b, o, n) => new Uint8Array(b, o, n) },
  int8: { itemSize: 1, slots: 1, make: (b, o, n) => new Int8Array(b, o, n) },
  int16: { itemSize: 2, slots: 1, make: (b, o, n) => new Int16Array(b, o, n) },
  int32: { itemSize: 4, slots: 1, make: (b, o, n) => new Int32Array(b, o, n) },
  int64: { itemSize: 8, slots: 1, make: (b, o, n) => new BigInt64Array(b, o, n) },
  uint8: { itemSize: 1, slots: 1, make: (b, o, n) => new Uint8Array(b, o, n) },
  uint16: { itemSize: 2, slots: 1, make: (b, o, n) => new Uint16Array(b, o, n) },
  uint32: { itemSize: 4, slots: 1, make: (b, o, n) => new Uint32Array(b, o, n) },
  uint64: { itemSize: 8, slots: 1, make: (b, o, n) => new BigUint64Array(b, o, n) },
  float16: { itemSize: 2, slots: 1, make: (b, o, n) => new Float16Array(b, o, n) },
  float32: { itemSize: 4, slots: 1, make: (b, o, n) => new Float32Array(b, o, n) },
  float64: { itemSize: 8, slots: 1, make: (b, o, n) => new Float64Array(b, o, n) },
  complex64: { itemSize: 8, slots: 2, make: (b, o, n) => new Float32Array(b, o, n) },
  complex128: { itemSize: 16, slots: 2, make: (b, o, n) => new Float64Array(b, o, n) },
} satisfies Record<string, DtypeInfo>;
export type Dtype = keyof typeof DTYPES;

/** The number of elements of a shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/**
 * Wraps data as an array.
 * @param shape defaults to one dimension
 * @throws RangeError for data that does not fill the shape (a defect of the caller)
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ndarray } from "./ndarray.ts";
 *
 * const grid = ndarray("complex64", new Float32Array(2 * 14 * 64), [14, 64]);
 * assert.deepEqual(grid.shape, [14, 64]);
 * assert.throws(() => ndarray("uint8", new Uint8Array(5), [2, 3]), RangeError);
 * ```
 */
export function ndarray(dtype: Dtype, data: TypedData, shape?: readonly number[]): NdArray {
  const slots = DTYPES[dtype].slots;
  const full = shape ?? [data.length / slots];
  if (elementCount(full) * slots !== data.length) {
    throw new RangeError(`Cannot shape ${data.length / slots} ${dtype} elements as [${full.join(", ")}]`);
  }
  return { dtype, shape: full, data };
}

/** The raw bytes of an array's data, without a copy. */
export function bytesOf(array: Pick<NdArray, "data">): Uint8Array {
  return new Uint8Array(array.data.buffer, array.data.byteOffset, array.data.byteLength);
}
