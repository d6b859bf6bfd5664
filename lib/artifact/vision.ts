/** Detections and segmentations as artifacts. */
import { SvcError } from "../contract/error.ts";
import type { InputArtifact, OutputArtifact } from "../contract/operation.ts";
import { float, isNumber, isObject, type JsonObject, toNumber } from "../contract/value.ts";
import { itemsOf } from "./values.ts";
import type { Detection } from "../numeric/scores/detection.ts";
import { type NdArray, ndarray } from "../numeric/array/ndarray.ts";

export const DETECTIONS = "vision.detections.json";
export const SEGMENTATION = "vision.segmentation_mask.numpy";
/** The class without an object, value 0 of every raster. */
export const BACKGROUND = "background";

/** A detection with its class name. */
export interface LabelledDetection extends Detection {
  readonly label_id: number;
}

/** The detections of one image. */
export interface DetectionItem {
  readonly id: string;
  readonly detections: readonly LabelledDetection[];
}

/**
 * The detections of an artifact, one item per image.
 * @throws SvcError `boundary_shape_invalid` without items, `boundary_value_invalid` for a malformed one
 */
export function detectionsOf(input: InputArtifact): DetectionItem[] {
  return itemsOf(input).map(({ id, detections }) => {
    if (typeof id !== "string" || !Array.isArray(detections)) {
      throw new SvcError("boundary_value_invalid", "Cannot read detections without an id and a list of detections");
    }
    return { id, detections: detections.map((detection) => detectionOf(detection, id)) };
  });
}

function detectionOf(value: unknown, id: string): LabelledDetection {
  const refuse = (what: string): never => {
    throw new SvcError("boundary_value_invalid", `Cannot read ${what} of a detection of ${id}`);
  };
  if (!isObject(value)) return refuse("the members");
  const { label, label_id, confidence, box } = value;
  if (typeof label !== "string") return refuse("the label");
  if (!isNumber(confidence) || !Number.isFinite(toNumber(confidence))) return refuse("the confidence");
  if (!Array.isArray(box) || box.length !== 4 || !box.every((edge) => isNumber(edge))) return refuse("the box");
  const [left, top, right, bottom] = box.map((edge) => toNumber(edge as number));
  if (!(left <= right && top <= bottom)) return refuse("the box, whose edges are not x_min, y_min, x_max, y_max,");
  return {
    label,
    label_id: isNumber(label_id) ? toNumber(label_id) : -1,
    confidence: toNumber(confidence),
    box: [left, top, right, bottom],
  };
}

export function detectionsArtifact(items: readonly DetectionItem[], metadata: JsonObject = {}): OutputArtifact {
  const rows = items.map(({ id, detections }): JsonObject => ({
    id,
    detections: detections.map(({ label, label_id, confidence, box }) => ({
      label,
      label_id,
      confidence: float(confidence),
      box: box.map(float),
    })),
  }));
  return { json: { kind: "vision.detections", schema_version: 1, items: rows }, metadata };
}

/** Rasters of classes, [image, height, width], with class names. */
export interface Rasters {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly data: ArrayLike<number>;
  /** Name of each value; undefined for an artifact without names. */
  readonly classNames?: readonly string[];
}

/**
 * The rasters of a segmentation.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_value_invalid`
 */
export function rastersOf(input: InputArtifact): Rasters {
  const array = input.array();
  if (!/^u?int(8|16|32)$/.test(array.dtype)) {
    throw new SvcError("boundary_dtype_invalid", `Cannot use ${array.dtype} values as classes of pixels`, {
      hint: "Use integers of 8, 16 or 32 bits",
    });
  }
  if (array.shape.length !== 3) {
    throw new SvcError(
      "boundary_rank_invalid",
      `Cannot use an array of shape [${array.shape.join(", ")}] as rasters [image, height, width]`,
    );
  }
  const data = array.data as Int32Array, [count, height, width] = array.shape;
  const names = input.metadata.class_names;
  const classNames = Array.isArray(names) && names.every((name) => typeof name === "string") ? names : undefined;
  const highest = data.reduce((most, value) => Math.max(most, value), 0);
  if (data.some((value) => value < 0) || (classNames !== undefined && highest >= classNames.length)) {
    throw new SvcError(
      "boundary_value_invalid",
      "Cannot use a negative class value or one without an entry in class_names",
    );
  }
  return { count, height, width, data, classNames };
}

/**
 * Rasters of a batch of images.
 * @param data [image, height, width], 0 for the background, else 1 + the class
 * @param classNames of the objects, without the background
 */
export function rastersArtifact(
  { data, shape, classNames, companions = {} }: {
    data: Uint8Array | Uint16Array;
    shape: readonly number[];
    classNames: readonly string[];
    companions?: Record<string, NdArray>;
  },
  metadata: JsonObject,
): OutputArtifact {
  const dtype = data instanceof Uint8Array ? "uint8" : "uint16";
  return {
    array: ndarray(dtype, data, shape),
    companions,
    metadata: { ...metadata, class_names: [BACKGROUND, ...classNames] },
  };
}

/** An empty raster for this number of classes plus background: 8 bits, or 16 for more than 255 classes. */
export function emptyRaster(pixels: number, classes: number): Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> {
  return classes < 256 ? new Uint8Array(pixels) : new Uint16Array(pixels);
}
