/** Files of named arrays: NPZ, MATLAB and HDF5. */
import { SvcError } from "../contract/error.ts";
import type { ArrayFile, ArrayLimits } from "./array_access.ts";
import { type ByteSource, memorySource } from "./byte_source.ts";

/** Suffixes of files that {@link openArrays} opens. */
export const ARRAY_SUFFIXES = [".npz", ".mat", ".h5", ".hdf5"];

const LIMITS: ArrayLimits = { maxArrays: 1024, maxBytes: 2 ** 30 };

/**
 * Opens a file by the suffix of its name.
 * @param wanted the arrays whose values are asked for: an HDF5 file is read at once and closed
 * @throws SvcError `usage_invalid` for another suffix, `artifact_archive_invalid`, `artifact_archive_unsupported`,
 *   `artifact_limit_exceeded`
 */
export async function openArrays(
  file: Uint8Array | ByteSource,
  name: string,
  wanted: readonly string[],
): Promise<ArrayFile> {
  const source = file instanceof Uint8Array ? memorySource(file) : file;
  if (/\.npz$/i.test(name)) {
    const { openNpz } = await import("./npz.ts");
    return {
      ...openNpz(source, name, { maxEntries: LIMITS.maxArrays, maxExpandedBytes: LIMITS.maxBytes }),
      [Symbol.dispose]() {},
    };
  }
  if (/\.(mat|h5|hdf5)$/i.test(name)) {
    if (isHdf5(source)) {
      const { readHdf5 } = await import("./hdf5_file.ts");
      return await readHdf5(source, name, { wanted, limits: LIMITS });
    }
    const { openMat5 } = await import("./mat5.ts");
    return openMat5(source, name, LIMITS);
  }
  throw new SvcError("usage_invalid", `Cannot open ${name} as arrays`, {
    hint: `Known suffixes: ${ARRAY_SUFFIXES.join(", ")}`,
  });
}

/** Whether the signature of HDF5 is at the start, or behind the 512 bytes that MATLAB writes before it. */
const isHdf5 = (source: ByteSource) =>
  [0, 512].some((place) => String.fromCharCode(...source.at(place, 8)) === "\x89HDF\r\n\x1a\n");
