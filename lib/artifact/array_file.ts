/** Files of named arrays: NPZ and MATLAB. */
import { SvcError } from "../contract/error.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { type ByteSource, memorySource } from "./byte_source.ts";

/** Suffixes of files that {@link openArrays} opens. */
export const ARRAY_SUFFIXES = [".npz", ".mat"];
/** Arrays of a file, and bytes of all of them, however they are packed. */
const MAX_ARRAYS = 1024, MAX_BYTES = 2 ** 30;

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

/**
 * Opens a file by the suffix of its name.
 * @throws SvcError `usage_invalid` for another suffix, `artifact_archive_invalid`, `artifact_archive_unsupported`,
 *   `artifact_limit_exceeded`
 */
export async function openArrays(file: Uint8Array | ByteSource, name: string): Promise<ArrayFile> {
  const source = file instanceof Uint8Array ? memorySource(file) : file;
  if (/\.npz$/i.test(name)) {
    const { openNpz } = await import("./npz.ts");
    return { ...openNpz(source, name, { maxEntries: MAX_ARRAYS, maxExpandedBytes: MAX_BYTES }), [Symbol.dispose]() {} };
  }
  if (/\.mat$/i.test(name)) {
    const { openMat5 } = await import("./mat5.ts");
    return openMat5(source, name, { maxArrays: MAX_ARRAYS, maxBytes: MAX_BYTES });
  }
  throw new SvcError("usage_invalid", `Cannot open ${name} as arrays`, {
    hint: `Known suffixes: ${ARRAY_SUFFIXES.join(", ")}`,
  });
}
