/** Two batches of the same images, sample by sample, and the scale of their PSNR. */
import { type ImageBatch, type ImageSize, imagesOf, sizeAt } from "../../lib/artifact/values.ts";
import { type InputArtifact, SvcError, z } from "../api.ts";
import { exactPsnrDb } from "../../lib/numeric/scores/image_quality.ts";
import { pairedImageIds } from "../_image_ids.ts";

export const DATA_RANGE = z.number().nonnegative().default(0)
  .describe("largest minus smallest sample value; 0 uses 255 for uint8 and 1 for float32");
export const PSNR_CAP = z.number().nonnegative().default(99)
  .describe("score of an exact image in dB, raised when needed");

/** Canonical range, and the smallest difference two samples can have (binary32: the smallest subnormal number). */
const SAMPLE_TYPES = { uint8: { range: 255, step: 1 }, float32: { range: 1, step: 2 ** -149 } };

/** The range of the samples, and the score of an exact image in dB. */
export function psnrScale(
  batch: ImageBatch,
  { data_range, psnr_cap_db }: { data_range: number; psnr_cap_db: number },
): { range: number; exact: number } {
  const { step, range: canonical } = SAMPLE_TYPES[batch.dtype], range = data_range === 0 ? canonical : data_range;
  const pixels = shapesOf(batch).map(({ height, width }) => height * width);
  const largest = pixels.reduce((most, count) => Math.max(most, count));
  return { range, exact: exactPsnrDb(psnr_cap_db, { range, sampleCount: largest * batch.channels, step }) };
}

/** @throws SvcError `boundary_dtype_invalid`, `boundary_shape_invalid`, `pair_ids_mismatch` */
export function comparedImages(candidate: InputArtifact, original: InputArtifact) {
  const reference = imagesOf(original), reconstruction = imagesOf(candidate);
  checkComparable(reconstruction, reference);
  return { reference, reconstruction, ids: pairedImageIds(candidate, original, reference.count) };
}

const shapesOf = (batch: ImageBatch) => Array.from({ length: batch.count }, (_, index) => sizeAt(batch, index));

function checkComparable(candidate: ImageBatch, reference: ImageBatch): void {
  if (candidate.dtype !== reference.dtype) {
    throw new SvcError("boundary_dtype_invalid", `Cannot compare ${candidate.dtype} with ${reference.dtype} images`);
  }
  const theirs = shapesOf(candidate), ours = shapesOf(reference), { channels } = reference;
  const text = ({ height, width }: ImageSize, own: number) => `[${height}, ${width}, ${own}]`;
  if (theirs.length !== ours.length) {
    throw new SvcError("boundary_shape_invalid", `Cannot compare ${theirs.length} images with ${ours.length}`);
  }
  const other = ours.findIndex(({ height, width }, index) =>
    candidate.channels !== channels || theirs[index].height !== height || theirs[index].width !== width
  );
  if (other < 0) return;
  const [found, expected] = [text(theirs[other], candidate.channels), text(ours[other], channels)];
  throw new SvcError("boundary_shape_invalid", `Cannot compare images ${found} with ${expected}`, {
    hint: `Image ${other} of the batch is the first that differs`,
  });
}
