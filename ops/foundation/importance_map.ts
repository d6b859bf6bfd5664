/**
 * Importance of every pixel for the receiver's task, scaled to the maximum 1 in each image:
 *
 *     detections             max(background, c) inside a detected box of confidence c, else background
 *     occlusion_sensitivity  share of the detector's confidence that is lost when a grey square covers the pixel's cell,
 *                            1 - Σ_d max_d' (IoU(d, d')·c_d') / Σ_d c_d over the detections d of the whole image and d' of
 *                            the same label of the covered one; at least background
 *     local_contrast         standard deviation of the luminance in the pixel's cell; at least background
 *
 * The map is the sender's: it knows the image, not the channel. Cells have cell_size x cell_size pixels. An image without a
 * detection, or without contrast, has the same importance everywhere. Luminance: ITU-R BT.601, Y = 0.299 R + 0.587 G + 0.114 B.
 *
 * Shapes: images [N, H, W, C] -> importance_map float32 [N, H, W]; images of several sizes -> items [H, W].
 *
 * Source: Zeiler and Fergus, Visualizing and Understanding Convolutional Networks, ECCV 2014, section 4.2, for occlusion.
 */
import { defineOperation, type InputArtifact, type NamedModel, type Progress, SvcError, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import {
  type ImageBatch,
  imagesArtifact,
  imagesOf,
  oneImage,
  sizeAt,
  travel,
  type UniformImages,
} from "../../lib/artifact/values.ts";
import { DETECTIONS, detectionsOf } from "../../lib/artifact/vision.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { boxIou } from "../../lib/numeric/scores/detection.ts";
import type { HeadDetection } from "../../lib/numeric/image/yolo.ts";
import { idsOfImages } from "../_image_ids.ts";
import { NAMED_IMPORTANCE_MAP } from "../_importance.ts";
import { DELIVERY_KEYS } from "../_jpeg_images.ts";
import { rgbAt } from "./_rgb_images.ts";
import { checkDevice } from "./_pretrained.ts";
import { runYolo, yoloModel, yoloParameters } from "./_yolo.ts";

const METHODS = ["local_contrast", "detections", "occlusion_sensitivity"] as const;
const OF_NETWORK = { "x-svc-used-when": { method: "occlusion_sensitivity" } };

export default defineOperation({
  id: "foundation.importance_map",
  name: "Importance map of images",
  description:
    "Estimates the importance of every pixel from detections, occlusion of a task network, or local contrast",
  inputs: { images: [IMAGES] },
  optionalInputs: { detections: [DETECTIONS] },
  outputs: { importance_map: NAMED_IMPORTANCE_MAP },
  params: z.strictObject({
    method: z.enum(METHODS).default("local_contrast").describe("origin of the importance"),
    background: z.number().min(0).max(1).default(0.1).describe("minimum importance"),
    cell_size: z.int().min(1).max(1024).default(16).describe("side in pixels of the cells of contrast and occlusion")
      .meta({ "x-svc-used-when": { method: ["local_contrast", "occlusion_sensitivity"] } }),
    model_id: z.string().min(1).default("svc-tiny-detector-v1")
      .describe("svc-tiny-detector-v1, or an ONNX file of the project").meta(OF_NETWORK),
    confidence: yoloParameters.confidence.meta(OF_NETWORK),
    iou: yoloParameters.iou.meta(OF_NETWORK),
    device: yoloParameters.device.meta(OF_NETWORK),
    expected_model_sha256: yoloParameters.expected_model_sha256.meta(OF_NETWORK),
  }),
  outputMetadataGuarantees: { importance_map: { from: "images" } },
  timingMetric: "encoder.inference",
  check: (params, connected) => [
    ...checkDevice(params),
    ...(params.method === "detections" && !connected.has("detections")
      ? [{
        place: ["method"],
        message: "Cannot take the importance from detections: none are wired",
        hint: "Wire detections, or choose another method",
      }]
      : []),
  ],
  models: (params) => params.method === "occlusion_sensitivity" ? yoloModel(params) : [],
  async run({ inputs, params, model, progress, cancellation }) {
    const images = imagesOf(inputs.images), { count, sizes } = images, { method, background } = params;
    const maps = Array.from({ length: count }, (_, index) => {
      const { height, width } = sizeAt(images, index);
      return ndarray("float32", new Float32Array(height * width), [height, width]);
    });
    const mapAt = (index: number) => maps[index].data as Float32Array;
    if (method === "detections") {
      boxes(inputs.images, inputs.detections!, images, mapAt);
    } else {
      const network = method === "occlusion_sensitivity" ? model("network") : undefined;
      for (let index = 0; index < count; index++) {
        cancellation.throwIfCancelled();
        const cells = network === undefined
          ? contrasts(images, index, params.cell_size)
          : await sensitivities(oneImage(images, index), network, params);
        paintCells(mapAt(index), cells, sizeAt(images, index).width, params.cell_size);
        progress(index + 1, count, { phase: "importance", unit: "images" });
      }
    }
    for (let index = 0; index < count; index++) scaleToOne(mapAt(index), background);
    const metadata = travel(inputs.images.metadata, { importance_method: method }, [
      ...DELIVERY_KEYS,
      "image_count",
      "source_item_counts",
    ]);
    if (sizes !== undefined) return { outputs: { importance_map: { items: maps, metadata } } };
    const [{ shape }] = maps, joined = new Float32Array(count * shape[0] * shape[1]);
    maps.forEach((_, index) => joined.set(mapAt(index), index * shape[0] * shape[1]));
    return { outputs: { importance_map: { array: ndarray("float32", joined, [count, ...shape]), metadata } } };
  },
});

/** The maximum becomes 1 and values below the background the background; a map without a maximum is 1 everywhere. */
function scaleToOne(map: Float32Array, background: number): void {
  const largest = map.reduce((most, value) => Math.max(most, value), 0);
  for (let i = 0; i < map.length; i++) map[i] = largest > 0 ? Math.max(background, map[i] / largest) : 1;
}

function boxes(
  images: InputArtifact,
  input: InputArtifact,
  batch: ImageBatch,
  mapAt: (index: number) => Float32Array,
): void {
  const { count } = batch, items = detectionsOf(input), ids = idsOfImages(images.metadata, count);
  if (items.length !== count || ids?.some((id, index) => id !== items[index].id)) {
    throw new SvcError("pair_ids_mismatch", "Cannot take the importance from detections of other images");
  }
  items.forEach(({ detections }, index) => {
    const map = mapAt(index), { height, width } = sizeAt(batch, index);
    for (const { box: [left, top, right, bottom], confidence } of detections) {
      for (let y = Math.max(0, Math.floor(top)); y < Math.min(height, Math.ceil(bottom)); y++) {
        for (let x = Math.max(0, Math.floor(left)); x < Math.min(width, Math.ceil(right)); x++) {
          map[y * width + x] = Math.max(map[y * width + x], confidence);
        }
      }
    }
  });
}

/** Cells of an image in reading order; those at the edges may be smaller. */
function cellsOf({ width, height }: { width: number; height: number }, size: number) {
  const columns = Math.ceil(width / size);
  return Array.from({ length: Math.ceil(height / size) * columns }, (_, cell) => {
    const left = (cell % columns) * size, top = Math.floor(cell / columns) * size;
    return { left, top, right: Math.min(width, left + size), bottom: Math.min(height, top + size) };
  });
}

function paintCells(map: Float32Array, values: readonly number[], width: number, size: number): void {
  const columns = Math.ceil(width / size);
  for (let i = 0; i < map.length; i++) {
    const x = i % width, y = Math.floor(i / width);
    map[i] = values[Math.floor(y / size) * columns + Math.floor(x / size)];
  }
}

function contrasts(images: ImageBatch, index: number, size: number): number[] {
  const { data, width, height } = rgbAt(images, index);
  return cellsOf({ width, height }, size).map(({ left, top, right, bottom }) => {
    let sum = 0, squares = 0;
    for (let y = top; y < bottom; y++) {
      for (let at = 3 * (y * width + left); at < 3 * (y * width + right); at += 3) {
        const luminance = 0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2];
        sum += luminance;
        squares += luminance ** 2;
      }
    }
    const pixels = (right - left) * (bottom - top);
    return Math.sqrt(Math.max(0, squares / pixels - (sum / pixels) ** 2));
  });
}

const UNHURRIED: Progress = () => {};

/** Lost share of confidence by covered cell. The network gets the whole image and its covered copies in one batch. */
async function sensitivities(
  image: UniformImages,
  network: NamedModel,
  params: { confidence: number; iou: number; cell_size: number },
): Promise<number[]> {
  const { height, width, channels, dtype, data: whole } = image;
  const cells = cellsOf(image, params.cell_size), grey = dtype === "uint8" ? 128 : 0.5;
  const copies = new (dtype === "uint8" ? Uint8Array : Float32Array)((cells.length + 1) * whole.length);
  for (let copy = 0; copy <= cells.length; copy++) copies.set(whole, copy * whole.length);
  cells.forEach(({ left, top, right, bottom }, cell) => {
    const start = (cell + 1) * whole.length;
    for (let y = top; y < bottom; y++) {
      copies.fill(grey, start + (y * width + left) * channels, start + (y * width + right) * channels);
    }
  });
  const { array, metadata } = imagesArtifact({ count: cells.length + 1, height, width, channels, dtype, data: copies });
  const batch = { kind: IMAGES, metadata, arrayNames: ["images"], array: () => array!, json: () => ({}) };
  const { answers } = await runYolo(batch, network, params, { masks: false, progress: UNHURRIED });
  const found = answers[0].detections, total = found.reduce((sum, { score }) => sum + score, 0);
  if (total === 0) return cells.map(() => 0);
  return answers.slice(1).map(({ detections }) => Math.max(0, 1 - keptConfidence(found, detections) / total));
}

/** Confidence that remains: of each detection, the best one of its label in the covered image, times their IoU. */
function keptConfidence(found: readonly HeadDetection[], covered: readonly HeadDetection[]): number {
  return found.reduce((sum, { box, label }) => {
    const same = covered.filter((other) => other.label === label);
    return sum + same.reduce((best, other) => Math.max(best, boxIou(box, other.box) * other.score), 0);
  }, 0);
}
