/**
 * The bundled codebooks of the toy VQ-VAE: for grey and for RGB images 16, 64 and 256 patches of 8 x 8 pixels with
 * 8-bit samples, ordered from dark to bright.
 *
 * They were trained by `_train_toy_codebook.ts` on the photographs of svc_sample_images only. Rates and qualities on
 * these photographs are therefore results on the training data. Patches of another size are the same patches resized
 * with the antialiased triangle filter and rounded; there is no training for that size.
 */
import { SvcError } from "../api.ts";
import { resizeTriangle, roundSamples } from "../../lib/artifact/image_resize.ts";
import stored from "./_toy_codebook.json" with { type: "json" };

/** Name of the codebooks in metadata; a new training gets a new name. */
export const CODEBOOK_ID = stored.id;
export const CODEBOOK_SIZES = [16, 64, 256] as const;
export const TRAINED_PATCH_SIZE = 8;

/** A codebook for patches of one size: `size` patches of patchSize x patchSize x channels samples, row by row. */
export interface Codebook {
  readonly dimension: number;
  readonly data: Uint8Array;
}

/**
 * The codebook for patches of a size.
 * @throws SvcError `boundary_shape_invalid` for images that are neither grey nor RGB
 */
export function toyCodebook(channels: number, size: number, patchSize: number): Codebook {
  if (channels !== 1 && channels !== 3) {
    throw new SvcError("boundary_shape_invalid", `Cannot quantise images with ${channels} channels`, {
      hint: "The codebooks have grey and RGB patches; remove the alpha channel at the source",
    });
  }
  const words = channels === 1 ? stored.grey : stored.rgb;
  const trained = Uint8Array.fromBase64((words as Record<string, string>)[size]);
  const dimension = patchSize * patchSize * channels;
  if (patchSize === TRAINED_PATCH_SIZE) return { dimension, data: trained };
  const data = new Uint8Array(size * dimension), side = TRAINED_PATCH_SIZE, length = side * side * channels;
  for (let word = 0; word < size; word++) {
    const patch = { width: side, height: side, channels, data: trained.subarray(word * length, (word + 1) * length) };
    data.set(roundSamples(resizeTriangle(patch, patchSize, patchSize)), word * dimension);
  }
  return { dimension, data };
}
