/**
 * Noise on source images, drawn over the batch [image, row, column, channel] in C order. `sigma` and `mask_value` are
 * fractions of the sample range (255 for uint8, 1 for float32); results are clipped to it and rounded once.
 *
 *     gaussian     x + sigma·range·standard_normal(size)
 *     blur         Gaussian of standard deviation `blur_radius` pixels; no draw
 *     patch_mask   one square of `patch_size` pixels per image becomes mask_value; random(2·images) gives row and
 *                  column, floor(u·(side - patch + 1))
 *     salt_pepper  samples with random(size) < probability become the range's end if random(size) < 1/2, else 0
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { defineOperation, seedParameter, z } from "../api.ts";
import { gaussianBlur, roundSamples } from "../../lib/artifact/image_resize.ts";
import {
  type ImageBatch,
  imagesArtifact,
  imagesOf,
  oneImage,
  pixelsOf,
  sizeAt,
  travel,
} from "../../lib/artifact/values.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";

/** Annotation of a parameter that one mode reads. */
const usedBy = (mode: string) => ({ "x-svc-used-when": { mode } });

export default defineOperation({
  id: "noise.source_image_perturbation",
  name: "Image input corruption",
  description: "Seeded noise, blur, patch masking or salt-and-pepper on source images",
  inputs: { images: [IMAGES] },
  outputs: { images: IMAGES },
  params: z.strictObject({
    mode: z.enum(["none", "gaussian", "blur", "patch_mask", "salt_pepper"]).default("none")
      .describe("none, Gaussian noise, Gaussian blur, a grey patch, or salt and pepper"),
    sigma: z.number().min(0).max(1).default(0.02).meta(usedBy("gaussian"))
      .describe("standard deviation of the noise, as a fraction of the range"),
    probability: z.number().min(0).max(1).default(0.02).meta(usedBy("salt_pepper"))
      .describe("probability of a sample to become salt or pepper"),
    blur_radius: z.number().nonnegative().default(1.5).meta(usedBy("blur"))
      .describe("standard deviation of the blur in pixels"),
    patch_size: z.int().positive().default(32).meta(usedBy("patch_mask"))
      .describe("side of the masked square in pixels"),
    mask_value: z.number().min(0).max(1).default(0).meta(usedBy("patch_mask"))
      .describe("value of masked samples, as a fraction of the range"),
    seed: seedParameter(0, { mode: ["gaussian", "patch_mask", "salt_pepper"] }),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "statistical", reason: "Implementations share the distribution and the seed policy" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { images: { from: "images", keys: ["source_noise"] } },
  run({ inputs, params, generator }) {
    const images = imagesOf(inputs.images);
    const range = images.dtype === "uint8" ? 255 : 1;
    const samples = perturb(images, range, params, generator);
    const data = images.dtype === "uint8" ? roundSamples(samples) : Float32Array.from(samples, clipToOne);
    const metadata = travel(inputs.images.metadata, { source_noise: { mode: params.mode } });
    return { outputs: { images: imagesArtifact({ ...images, data }, metadata) } };
  },
});

interface Perturbation {
  mode: "none" | "gaussian" | "blur" | "patch_mask" | "salt_pepper";
  sigma: number;
  probability: number;
  blur_radius: number;
  patch_size: number;
  mask_value: number;
}

/** Perturbed samples in binary64, not yet clipped or rounded. */
function perturb(images: ImageBatch, range: number, params: Perturbation, generator: Generator): Float64Array {
  const samples = Float64Array.from(images.data);
  const size = samples.length;
  switch (params.mode) {
    case "gaussian": {
      const noise = generator.standardNormal(size);
      for (let i = 0; i < size; i++) samples[i] += params.sigma * range * noise[i];
      break;
    }
    case "salt_pepper": {
      const draws = generator.random(size), values = generator.random(size);
      for (let i = 0; i < size; i++) if (draws[i] < params.probability) samples[i] = values[i] < 0.5 ? range : 0;
      break;
    }
    case "blur":
      for (let image = 0, at = 0; image < images.count; image++) {
        const raster = oneImage(images, image);
        samples.set(gaussianBlur(raster, params.blur_radius), at);
        at += raster.data.length;
      }
      break;
    case "patch_mask":
      maskPatches(samples, images, params, params.mask_value * range, generator.random(2 * images.count));
  }
  return samples;
}

function maskPatches(
  samples: Float64Array,
  images: ImageBatch,
  { patch_size }: Perturbation,
  value: number,
  draws: Float64Array,
): void {
  const { count, channels } = images;
  for (let image = 0; image < count; image++) {
    const { height, width } = sizeAt(images, image), before = pixelsOf(images, image);
    const patchHeight = Math.min(patch_size, height), patchWidth = Math.min(patch_size, width);
    const top = Math.floor(draws[2 * image] * (height - patchHeight + 1));
    const left = Math.floor(draws[2 * image + 1] * (width - patchWidth + 1));
    for (let row = top; row < top + patchHeight; row++) {
      const start = (before + row * width + left) * channels;
      samples.fill(value, start, start + patchWidth * channels);
    }
  }
}

function clipToOne(value: number): number {
  return Math.min(1, Math.max(0, value));
}
