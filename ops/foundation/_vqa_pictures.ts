/** Assigns questions to the images of a batch. */
import { type JsonObject, SvcError } from "../api.ts";
import { idsOfImages } from "../_image_ids.ts";
import type { Question } from "../_vqa.ts";

/**
 * @param metadata of the batch of images
 * @returns the ids of the images, and the index of a question's image in the batch
 * @throws SvcError `pair_ids_mismatch` for a batch without ids, or without the image of a question
 */
export function picturesOfQuestions(
  questions: readonly Question[],
  metadata: JsonObject,
  count: number,
): { ids: string[]; indexOf(question: Question): number } {
  const ids = idsOfImages(metadata, count);
  if (ids === undefined) {
    throw new SvcError("pair_ids_mismatch", "Cannot find the images of the questions: the images have no ids");
  }
  const places = new Map(ids.map((id, index) => [id, index]));
  const missing = questions.filter(({ image_id }) => !places.has(image_id)).map(({ image_id }) => image_id);
  if (missing.length > 0) {
    const list = [...new Set(missing)].slice(0, 5).join(", ");
    throw new SvcError("pair_ids_mismatch", `Cannot answer questions about missing images: ${list}`);
  }
  return { ids, indexOf: ({ image_id }) => places.get(image_id)! };
}
