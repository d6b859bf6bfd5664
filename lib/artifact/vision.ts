/** Detections and segmentations as artifacts. */
import { SvcError } from "../contract/error.ts";
import type { InputArtifact, OutputArtifact } from "../contract/operation.ts";
import { float, isNumber, isObject, type JsonObject, toNumber } from "../contract/value.ts";
import { itemsOf } from "./values.ts";
import type { Box, Detection } from "../numeric/detection.ts";
import { type NdArray, ndarray } from "../numeric/ndarray.ts";

export const DETECTIONS = "vision.detections.json";
export const SEGMENTATION = "vision.segmentation_mask.numpy";
/** The class of what no object covers, value 0 of every raster. */
export const BACKGROUND = "background";

/** A detection that also says which class of its model or data set it is. */
export interface LabelledDetection extends Detection {
  readonly label_id: number;
}

/** The detections of one picture. */
export interface DetectionItem {
  readonly id: string;
  readonly detections: readonly LabelledDetection[];
}

/**
 * The detections of an artifact, one item a picture.
 *
 * @throws SvcError `boundary_shape_invalid` without items, `boundary_value_invalid` for a malformed one
 */
export function detectionsOf(input: InputArtifact): DetectionItem[] {
  return itemsOf(input).map(({ id, detections }) => {
    if (typeof id !== "string" || !Array.isArray(detections)) {
      throw new SvcError("boundary_value_invalid", "Cannot read detections without an id and a list of them");
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
  return {
    label,
    label_id: isNumber(label_id) ? toNumber(label_id) : -1,
    confidence: toNumber(confidence),
    box: box.map((edge) => toNumber(edge as number)) as unknown as Box,
  };
}

/** Detections of a batch of pictures. */
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

/** Rasters of classes, [image, height, width], with the names that their values have. */
export interface Rasters {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly data: ArrayLike<number>;
  /** Name of each value; undefined where the artifact names none. */
  readonly classNames?: readonly string[];
}

/**
 * The rasters of a segmentation.
 *
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
      "Cannot use a value that is negative or that class_names does not name",
    );
  }
  return { count, height, width, data, classNames };
}

/**
 * Rasters of a batch of pictures.
 *
 * @param data [image, height, width], 0 the background, 1 + the class else
 * @param classNames of the objects, the background left out
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

/** A raster that holds so many classes and the background: 8 bits, or 16 where there are more than 255 classes. */
export function emptyRaster(pixels: number, classes: number): Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> {
  return classes < 256 ? new Uint8Array(pixels) : new Uint16Array(pixels);
}
