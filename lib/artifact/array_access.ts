/** Access to a file of named arrays, of any format. */
import { SvcError } from "../contract/error.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";

export interface ArrayLimits {
  readonly maxArrays: number;
  /** Bytes of an array, and in NPZ and MATLAB files of all, however they are packed. */
  readonly maxBytes: number;
}
/** An open file; arrays are read on request. */
export interface ArrayFile extends Disposable {
  /** Names in the order of the file. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Type and shape; the values are not read. @throws SvcError `artifact_array_missing` and those of the format */
  form(name: string): { readonly dtype: string; readonly shape: readonly number[] };
  /** @throws SvcError `artifact_array_missing` and those of the format */
  array(name: string): NdArray;
}

/** The error for an array that a file does not hold. */
export const missingArray = (array: string, name: string, names: readonly string[]): SvcError =>
  new SvcError("artifact_array_missing", `Cannot find the array ${array} in ${name}`, {
    hint: `It holds ${names.slice(0, 20).join(", ") || "no arrays"}`,
  });
