/** Bits per index. */
import { type JsonObject, SvcError } from "../api.ts";
import { metadataNumber } from "../../lib/artifact/values.ts";

/**
 * Size of the codebook and bits per index, ceil(log2(max(size, 2))).
 * @throws SvcError `boundary_value_invalid` for metadata without a size in 1 … 2^31
 */
export function codebookOf(metadata: JsonObject): { size: number; width: number } {
  const size = metadataNumber(metadata, "codebook_size");
  if (size === undefined || !Number.isInteger(size) || size < 1 || size > 2 ** 31) {
    throw new SvcError("boundary_value_invalid", `Cannot use ${size} as the codebook size of indices`);
  }
  return { size, width: 32 - Math.clz32(Math.max(size, 2) - 1) };
}
