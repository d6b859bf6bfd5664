/**
 * Real images as one batch, uint8 [image, height, width, channel], or one array [height, width, channel] an image where
 * their sizes differ.
 *
 * Per image: decoding (EXIF orientation applied, 16-bit samples v become round(v/257)), resizing of the shorter side by
 * an antialiased triangle filter in binary64, centre crop. Grey images become RGB when the batch also holds colour.
 * svc_sample_images is part of the program; kodak is read from `dataset_dir`; any other dataset, and any file of one,
 * is pinned by the SHA-256 of an image-dataset manifest.
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { defineOperation, diagnostic, type JsonObject, sha256Hex, SvcError, z } from "../api.ts";
import { BUNDLED_DATASETS } from "../../lib/artifact/bundled_datasets.ts";
import { type Image, toRgb } from "../../lib/artifact/image.ts";
import { emptyImages, imageAt, type ImageBatch, imageForm, imagesArtifact } from "../../lib/artifact/values.ts";
import { parseIds, repeatIds } from "./_ids.ts";
import { checkSelection, KODAK_IDS, selectImages } from "./_image_selection.ts";

/** An image for the batch, with properties of its file. */
interface LoadedImage {
  id: string;
  image: Image;
  sha256: string;
  /** Chroma subsampling of a JPEG file that the codec supports; null for other files. */
  subsampling: string | null;
  warnings: readonly string[];
}

const FAULT = { severity: "warning", hint: "Write the file again, or replace it" } as const;

export default defineOperation({
  id: "source.image_dataset",
  name: "Real image batch",
  description: "Loads images of a bundled, pinned or local dataset, resized and cropped to one size",
  outputs: { images: IMAGES },
  params: z.strictObject({
    dataset: z.string().min(1).default("kodak").describe("id of the dataset; svc_sample_images is part of the program"),
    image_ids: z.string().default(KODAK_IDS.join(",")).describe("comma-separated ids, in this order; empty uses split"),
    split: z.string().default("").describe("split, used if image_ids is empty; empty uses all images of the manifest"),
    resize_shorter_side: z.int().nonnegative().default(0).describe("pixels of the shorter side; 0 keeps the size"),
    crop_size: z.int().nonnegative().default(0).describe(
      "side of the centre crop in pixels; 0 keeps the size, which may differ between images",
    ),
    repeat_count: z.int().positive().default(1).describe("number of repetitions of the whole selection"),
    manifest_path: z.string().default("").describe("image-dataset manifest, relative to the project"),
    manifest_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("").describe("required SHA-256 of the manifest"),
    dataset_dir: z.string().default(".svc/datasets/kodak").describe("folder of the kodak images"),
    training_validation_count: z.int().nonnegative().default(0)
      .describe("last images that an export for training keeps for validation; a run uses all"),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  outputMetadataGuarantees: { images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] } },
  estimate({ dataset, image_ids, split, manifest_path, crop_size, repeat_count }) {
    const bundled = manifest_path === "" ? BUNDLED_DATASETS[dataset]?.splits[split]?.length : undefined;
    const count = parseIds(image_ids).length || bundled;
    if (count === undefined) return { images: null };
    const images = count * repeat_count;
    return { images: crop_size > 0 ? [["uint8", images, crop_size, crop_size, 3]] : images * 768 * 512 * 3 };
  },
  check: checkSelection,
  requires({ dataset, dataset_dir, manifest_path }) {
    if (manifest_path !== "") return [{ kind: "file", id: manifest_path }];
    const fetched = dataset === "kodak" && dataset_dir === ".svc/datasets/kodak";
    return fetched || Object.hasOwn(BUNDLED_DATASETS, dataset) ? [{ kind: "dataset", id: dataset }] : [];
  },
  async run({ params, files, progress }) {
    const selection = await selectImages(params, files);
    const loaded: LoadedImage[] = [];
    for (const { id, read, sha256 } of selection.files) {
      loaded.push(await load(id, await read(), sha256, params));
      progress(loaded.length, selection.files.length, { phase: "loading", unit: "images" });
    }
    const all = repeatIds(loaded, params.repeat_count, (item, suffix) => ({ ...item, id: item.id + suffix }));
    const metadata = {
      dataset: { id: params.dataset, version: selection.version },
      image_ids: all.map(({ id }) => id),
      source_files: all.map(({ sha256 }): JsonObject => ({ sha256 })),
      jpeg_subsampling: all.map(({ subsampling }) => subsampling),
    };
    const warnings = loaded.flatMap(({ id, warnings }) =>
      warnings.map((fault) => diagnostic("image_file_damaged", [], `The file of ${id} has a fault: ${fault}`, FAULT))
    );
    return {
      outputs: { images: imagesArtifact(batchOf(all.map(({ image }) => image)), metadata) },
      ...(warnings.length === 0 ? {} : { metadata: { warnings: warnings as unknown as JsonObject[] } }),
    };
  },
});

async function load(
  id: string,
  bytes: Uint8Array,
  expected: string | undefined,
  { resize_shorter_side, crop_size }: { resize_shorter_side: number; crop_size: number },
): Promise<LoadedImage> {
  const sha256 = sha256Hex(bytes);
  if (expected !== undefined && sha256 !== expected) {
    throw new SvcError(
      "boundary_hash_mismatch",
      `Cannot use the file of ${id}: its SHA-256 differs from the manifest`,
      { hint: `Its SHA-256 is ${sha256}` },
    );
  }
  // Loaded on first use, so that listing operations loads no decoder.
  const [{ decodeImage }, { centreCrop, resizeShorterSide }, { jpegSubsampling }] = await Promise.all([
    import("../../lib/artifact/image_file.ts"),
    import("../../lib/artifact/image_resize.ts"),
    import("../../lib/artifact/jpeg/decoder.ts"),
  ]);
  const decoded = decodeImage(bytes);
  const sampling = decoded.format === "jpeg" ? jpegSubsampling(bytes) : "other";
  let image: Image = decoded;
  if (resize_shorter_side > 0) image = resizeShorterSide(image, resize_shorter_side);
  if (crop_size > 0) image = centreCrop(image, crop_size);
  return { id, image, sha256, subsampling: sampling === "other" ? null : sampling, warnings: decoded.warnings };
}

/** Joins images of equal channels to a batch. */
function batchOf(pictures: readonly Image[]): ImageBatch {
  const colour = pictures.some(({ channels }) => channels !== 1);
  const images = pictures.map((image) => colour && image.channels === 1 ? toRgb(image) : image);
  const [{ channels }] = images, other = images.find((image) => image.channels !== channels);
  if (other !== undefined) {
    throw new SvcError(
      "boundary_shape_invalid",
      `Cannot batch images of ${channels} and ${other.channels} channels`,
      { hint: "Choose images that all have an alpha channel, or none" },
    );
  }
  const batch = emptyImages(imageForm(images, { channels, dtype: "uint8" }));
  images.forEach(({ data }, index) => imageAt(batch, index).set(data));
  return batch;
}
