/** Shared by the serialisers of indices and latents: shapes in metadata, and source items counted in another unit. */
import { type JsonObject, SvcError } from "../api.ts";
import { metadataCounts, sourceItemCounts } from "../../lib/artifact/values.ts";
import { elementCount } from "../../lib/numeric/array/ndarray.ts";

/** Source items of `length` elements recounted at `factor` new elements each (a fraction groups them), if whole. */
export function recountedItems(metadata: JsonObject, length: number, factor: number): JsonObject {
  const counts = sourceItemCounts(metadata, length)?.map((count) => count * factor);
  return counts?.every(Number.isInteger) ? { source_item_counts: counts } : {};
}

/** Source items of coded blocks, where each item fills whole blocks of `size`; the last one may be padded. */
export function itemsInBlocks(counts: readonly number[] | undefined, size: number, codedSize: number): JsonObject {
  if (!counts?.every((count, item) => count % size === 0 || item === counts.length - 1)) return {};
  return { source_item_counts: counts.map((count) => Math.ceil(count / size) * codedSize) };
}

/**
 * The recorded shape of a serialiser, compared with the received bits.
 * @throws SvcError `boundary_shape_invalid` without a shape, `boundary_count_mismatch` for another number of bits
 */
export function recordedShape(metadata: JsonObject, key: string, bitCount: number, width: number): number[] {
  const shape = metadataCounts(metadata, key);
  if (shape === undefined) throw new SvcError("boundary_shape_invalid", `Cannot shape ${bitCount} bits without ${key}`);
  if (elementCount(shape) * width !== bitCount) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot read ${bitCount} bits as [${shape.join(", ")}] values of ${width} bits`,
    );
  }
  return shape;
}
