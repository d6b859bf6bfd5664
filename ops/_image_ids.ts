/** Image ids of a batch, from its metadata. */
import { checkPairedIds } from "../lib/artifact/values.ts";
import { type InputArtifact, type JsonObject, SvcError } from "./api.ts";

/**
 * Reads `image_ids`.
 * @returns one id per image, or undefined for metadata without ids
 * @throws SvcError `boundary_count_mismatch`, `boundary_value_invalid`
 */
export function idsOfImages(metadata: JsonObject, count: number): string[] | undefined {
  const ids = metadata.image_ids;
  if (ids === undefined || ids === null) return undefined;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string")) {
    throw new SvcError("boundary_value_invalid", "Cannot read the metadata image_ids as a list of ids");
  }
  if (ids.length !== count) {
    throw new SvcError("boundary_count_mismatch", `Cannot name ${count} images with ${ids.length} ids`);
  }
  return ids as string[];
}

/** The ids of compared images, `image_0`, … if neither side has any. @throws SvcError `pair_ids_mismatch` if both have others */
export function pairedImageIds(candidate: InputArtifact, reference: InputArtifact, count: number): string[] {
  const theirs = idsOfImages(candidate.metadata, count), ours = idsOfImages(reference.metadata, count);
  if (theirs !== undefined && ours !== undefined) {
    checkPairedIds(theirs.map((id) => ({ id })), ours.map((id) => ({ id })));
  }
  return ours ?? theirs ?? Array.from({ length: count }, (_, index) => `image_${index}`);
}
