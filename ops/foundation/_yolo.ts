/** Shared by both YOLO operations: parameters, and checks of the inputs and outputs of the model. */
import { type InputArtifact, type ModelSession, type NamedModel, type Progress, SvcError, z } from "../api.ts";
import { imageAt, imagesOf, sizeAt } from "../../lib/artifact/values.ts";
import { elementCount, type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  fillLetterbox,
  type HeadDetection,
  type Letterbox,
  letterbox,
  readHead,
} from "../../lib/numeric/image/yolo.ts";
import { idsOfImages } from "../_image_ids.ts";

const MODEL_FILE = "model.onnx";
/** Input side of a model with a free size and no recorded one. */
const DEFAULT_SIDE = 640;
/** Images per call of a model with a free batch size. */
const BATCH = 8;

/** Parameters of both operations, except the name of the model. */
export const yoloParameters = {
  confidence: z.number().min(0).max(1).default(0.25).describe("probability that a detection must exceed"),
  iou: z.number().min(0).max(1).default(0.7).describe("maximum IoU of two kept boxes of one class"),
  device: z.string().min(1).default("cpu").describe("models run on the processor: cpu"),
  expected_model_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("").describe(
    "required SHA-256 of the ONNX file; needed for a model at a URL",
  ),
};

/** The model that the parameters name. */
export function yoloModel({ model_id, expected_model_sha256 }: { model_id: string; expected_model_sha256: string }) {
  return [{ role: "network", id: model_id, sha256: expected_model_sha256, files: [MODEL_FILE] }];
}

/** The outputs of the model for one image. */
export interface YoloAnswer {
  readonly id: string;
  readonly letter: Letterbox;
  readonly detections: readonly HeadDetection[];
  /** [rows, cells] of the head. */
  readonly head: ArrayLike<number>;
  readonly cells: number;
  /** Undefined for a model without masks. */
  readonly prototypes?: NdArray;
}

/**
 * Runs a model over a batch of images.
 * @param masks whether the model must have prototypes, or must have none
 * @throws SvcError `artifact_abi_mismatch` for a model of another layout
 */
export async function runYolo(
  input: InputArtifact,
  network: NamedModel,
  params: { confidence: number; iou: number },
  { masks, progress }: { masks: boolean; progress: Progress },
) {
  const images = imagesOf(input);
  const session = await network.open(MODEL_FILE);
  const { name, dtype, rows, width, height } = inputOf(session);
  const letters = Array.from({ length: images.count }, (_, index) => {
    const size = sizeAt(images, index);
    return letterbox(size.width, size.height, width, height);
  });
  const size = 3 * width * height, answers: YoloAnswer[] = [];
  const ids = idsOfImages(input.metadata, images.count) ??
    Array.from({ length: images.count }, (_, index) => `image_${index}`);
  let names: readonly string[] = [];
  for (let start = 0; start < images.count; start += rows) {
    const count = Math.min(rows, images.count - start);
    const planes = new Float32Array(count * size);
    for (let i = 0; i < count; i++) {
      const scale = images.dtype === "uint8" ? 1 / 255 : 1;
      fillLetterbox(
        imageAt(images, start + i),
        images.channels,
        scale,
        letters[start + i],
        planes.subarray(i * size, (i + 1) * size),
      );
    }
    const shape = [count, 3, height, width];
    const feed = dtype === "float16"
      ? ndarray(dtype, new Float16Array(planes), shape)
      : ndarray("float32", planes, shape);
    const outputs = await session.run({ [name]: feed });
    const layout = layoutOf(session, outputs, masks);
    names = layout.names;
    for (let i = 0; i < count; i++) {
      const head = row(layout.head, i).data as ArrayLike<number>, { cells } = layout;
      const detections = readHead(head, { ...params, cells, classes: names.length }, letters[start + i]);
      const prototypes = layout.prototypes && row(layout.prototypes, i);
      answers.push({ id: ids[start + i], letter: letters[start + i], detections, head, cells, prototypes });
    }
    progress(answers.length, images.count, { phase: "detecting", unit: "images" });
  }
  return { answers, names };
}

/** One entry along the first axis. */
function row(array: NdArray, index: number): NdArray {
  const shape = array.shape.slice(1), size = elementCount(shape);
  return ndarray(array.dtype, (array.data as Float32Array).subarray(index * size, (index + 1) * size), shape);
}

/** The input of a model: its name, type, size, and images per call. */
function inputOf(session: ModelSession) {
  const [input, ...others] = session.inputs;
  const { name, dtype, shape } = input;
  if (others.length > 0 || shape.length !== 4 || (dtype !== "float32" && dtype !== "float16")) {
    throw mismatch(`its input is not images [batch, 3, height, width], but ${dtype} [${shape.join(", ")}]`);
  }
  const [batch, , height, width] = shape;
  if (typeof batch === "number" && batch !== 1) {
    throw mismatch(`it takes ${batch} images per call`, "Export it with batch=1 or dynamic=True");
  }
  const [statedHeight, statedWidth] = statedSize(session.metadata.imgsz);
  return {
    name,
    dtype,
    rows: batch === 1 ? 1 : BATCH,
    height: typeof height === "number" ? height : statedHeight,
    width: typeof width === "number" ? width : statedWidth,
  };
}

/** `imgsz` as written by an export, "[480, 640]": height, then width. */
function statedSize(text = ""): [number, number] {
  const sizes = (text.match(/\d+/g) ?? []).map(Number).filter((side) => side > 0);
  return sizes.length === 0 ? [DEFAULT_SIDE, DEFAULT_SIDE] : [sizes[0], sizes[1] ?? sizes[0]];
}

/** Finds head and prototypes among the outputs and checks that they match each other and the names. */
function layoutOf(session: ModelSession, outputs: Record<string, NdArray>, masks: boolean) {
  const arrays = session.outputs.map(({ name }) => floats(outputs[name]));
  const head = arrays.find(({ shape }) => shape.length === 3);
  const prototypes = arrays.find(({ shape }) => shape.length === 4);
  const shown = arrays.map(({ shape }) => `[${shape.join(", ")}]`).join(" and ");
  if (head === undefined) throw mismatch(`its outputs ${shown} include no head [batch, rows, cells]`);
  if (masks && prototypes === undefined) {
    throw mismatch(`its outputs ${shown} include no mask prototypes`, "Use a segmentation model");
  }
  const [, rows, cells] = head.shape;
  const classes = rows - 4 - (prototypes?.shape[1] ?? 0);
  const names = namesOf(session.metadata.names) ?? Array.from({ length: classes }, (_, index) => `class_${index}`);
  if (classes < 1 || names.length !== classes) {
    throw mismatch(
      `its head of ${rows} rows has ${classes} classes, but ${names.length} names`,
      "Export YOLOv8 or YOLO11 to ONNX without nms=True",
    );
  }
  return { head, cells, names, prototypes };
}

function floats(array: NdArray): NdArray {
  if (array.dtype === "float32") return array;
  if (array.dtype !== "float16") throw mismatch(`its output has the dtype ${array.dtype}`);
  return ndarray("float32", Float32Array.from(array.data as Float16Array), array.shape);
}

/**
 * Names of classes as an export writes them, a Python dictionary: {0: 'person', 1: "driver's cab"}. Exported for tests.
 * @returns undefined without names
 */
export function namesOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const names: string[] = [];
  for (const [, index, single, double] of text.matchAll(/(\d+)\s*:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g)) {
    names[Number(index)] = (single ?? double).replace(/\\(.)/g, "$1");
  }
  return names.length === 0 ? undefined : Array.from(names, (name, index) => name ?? `class_${index}`);
}

function mismatch(why: string, hint?: string): SvcError {
  return new SvcError("artifact_abi_mismatch", `Cannot use the model: ${why}`, { hint });
}
