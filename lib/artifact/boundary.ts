/**
 * Boundary contracts: what a value must be where it crosses from one plane of an experiment to another.
 */
import type { NdArray } from "../numeric/ndarray.ts";
import { SvcError } from "../contract/error.ts";

/** Bits are 1-D uint8 with values 0 and 1. */
export function checkBits(array: NdArray): Uint8Array {
  if (array.dtype !== "uint8") throw new SvcError("boundary_dtype_invalid", `Cannot use ${array.dtype} data as bits`);
  return array.data as Uint8Array;
}
export function checkSymbols(array: NdArray): Float32Array {
  return array.data as Float32Array;
}
export function checkImages(array: NdArray): NdArray {
  return array;
}
