/**
 * Inputs, boxes and masks of one-stage detectors whose ONNX files have the layout of Ultralytics' exports of YOLOv8 and
 * YOLO11:
 *
 *     input    [batch, 3, height, width], red, green and blue in [0, 1], letterboxed
 *     output0  [batch, 4 + classes (+ coefficients), cells]  centre, width and height of a box in pixels of the input, a
 *                                                            probability for each class, mask coefficients
 *     output1  [batch, coefficients, height/4, width/4]      prototypes: a mask's logit is their sum weighted by coefficients
 *
 * Source: Ultralytics 8.3, data/augment.py (LetterBox), utils/ops.py (non_max_suppression, scale_boxes, process_mask_native);
 * Bolya et al., YOLACT, 2019.
 */
import { type Box, suppressOverlaps } from "../scores/detection.ts";

/** Grey of the bars of a letterboxed image. */
const PADDING = 114 / 255;
/** Maximum number of candidates for suppression, and of detections. */
const MAX_CANDIDATES = 30_000, MAX_DETECTIONS = 300;

/** Position of an image in the input of a model: X = x·gain + left, Y = y·gain + top, in pixels. */
export interface Letterbox {
  readonly width: number;
  readonly height: number;
  readonly inputWidth: number;
  readonly inputHeight: number;
  readonly gain: number;
  /** Size of the image within the input. */
  readonly innerWidth: number;
  readonly innerHeight: number;
  readonly left: number;
  readonly top: number;
}

/** Fits an image into the middle of an input and keeps its proportions. */
export function letterbox(width: number, height: number, inputWidth: number, inputHeight: number): Letterbox {
  const gain = Math.min(inputWidth / width, inputHeight / height);
  const innerWidth = roundHalfEven(width * gain), innerHeight = roundHalfEven(height * gain);
  const left = roundHalfEven((inputWidth - innerWidth) / 2 - 0.1);
  const top = roundHalfEven((inputHeight - innerHeight) / 2 - 0.1);
  return { width, height, inputWidth, inputHeight, gain, innerWidth, innerHeight, left, top };
}

/** To the nearest integer, halves to even, as in Python. */
function roundHalfEven(value: number): number {
  const below = Math.floor(value), rest = value - below;
  return rest < 0.5 ? below : rest > 0.5 ? below + 1 : below + (below % 2);
}

/** Samples of a resampled line: two neighbours, and the weight of the second. */
function taps(size: number, from: number): { at: Int32Array; next: Int32Array; weight: Float64Array } {
  const at = new Int32Array(size), next = new Int32Array(size), weight = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const place = Math.min(from - 1, Math.max(0, (i + 0.5) * from / size - 0.5));
    at[i] = Math.floor(place);
    next[i] = Math.min(from - 1, at[i] + 1);
    weight[i] = place - at[i];
  }
  return { at, next, weight };
}

/**
 * Puts an image into the input of a model: resized bilinearly (half-pixel centres, edges repeated, no antialiasing),
 * grey bars.
 * @param samples [height, width, channels], red first; grey is repeated, alpha dropped
 * @param scale factor of a sample, so that white is 1
 * @param out planes [3, inputHeight, inputWidth]
 */
export function fillLetterbox(
  samples: ArrayLike<number>,
  channels: number,
  scale: number,
  box: Letterbox,
  out: Float32Array,
): void {
  const { width, inputWidth, inputHeight, innerWidth, innerHeight, left, top } = box;
  const columns = taps(innerWidth, width), rows = taps(innerHeight, box.height);
  out.fill(PADDING);
  for (let channel = 0; channel < 3; channel++) {
    const source = channels < 3 ? 0 : channel, plane = channel * inputWidth * inputHeight;
    const sample = (x: number, y: number) => samples[(y * width + x) * channels + source];
    for (let y = 0; y < innerHeight; y++) {
      const y0 = rows.at[y], y1 = rows.next[y], v = rows.weight[y];
      const line = plane + (top + y) * inputWidth + left;
      for (let x = 0; x < innerWidth; x++) {
        const x0 = columns.at[x], x1 = columns.next[x], u = columns.weight[x];
        const upper = sample(x0, y0) * (1 - u) + sample(x1, y0) * u;
        const lower = sample(x0, y1) * (1 - u) + sample(x1, y1) * u;
        out[line + x] = scale * (upper * (1 - v) + lower * v);
      }
    }
  }
}

/** A detection of a head. */
export interface HeadDetection {
  /** In pixels of the image, within it. */
  readonly box: Box;
  readonly score: number;
  /** Index of the class. */
  readonly label: number;
  /** Column of the head, which also holds the mask coefficients. */
  readonly cell: number;
}

/**
 * Decodes a head: the likeliest class of every cell, if its probability is above `confidence`; suppression of boxes of
 * one class that overlap by more than `iou`; boxes mapped back to the image and cut at its edges.
 * @param head [rows, cells] of one image
 * @param classes number of classes
 * @returns greatest score first, at most 300
 */
export function readHead(
  head: ArrayLike<number>,
  { cells, classes, confidence, iou }: { cells: number; classes: number; confidence: number; iou: number },
  box: Letterbox,
): HeadDetection[] {
  let candidates: HeadDetection[] = [];
  for (let cell = 0; cell < cells; cell++) {
    let label = 0;
    for (let other = 1; other < classes; other++) {
      if (head[(4 + other) * cells + cell] > head[(4 + label) * cells + cell]) label = other;
    }
    const score = head[(4 + label) * cells + cell];
    if (!(score > confidence)) continue;
    const [x, y, width, height] = [0, 1, 2, 3].map((row) => head[row * cells + cell]);
    candidates.push({
      box: [x - width / 2, y - height / 2, x + width / 2, y + height / 2],
      score,
      label,
      cell,
    });
  }
  if (candidates.length > MAX_CANDIDATES) {
    candidates = candidates.sort((a, b) => b.score - a.score || a.cell - b.cell).slice(0, MAX_CANDIDATES);
  }
  return suppressOverlaps(candidates, iou, MAX_DETECTIONS).map((index) => {
    const candidate = candidates[index];
    return { ...candidate, box: toPicture(candidate.box, box) };
  });
}

/** A box in pixels of the input as a box in pixels of the image, within it. */
function toPicture([xMin, yMin, xMax, yMax]: Box, { width, height, gain, left, top }: Letterbox): Box {
  const x = (value: number) => Math.min(width, Math.max(0, (value - left) / gain));
  const y = (value: number) => Math.min(height, Math.max(0, (value - top) / gain));
  return [x(xMin), y(yMin), x(xMax), y(yMax)];
}

/** Prototypes of one image, [count, height, width]. */
export interface Prototypes {
  readonly data: ArrayLike<number>;
  readonly count: number;
  readonly height: number;
  readonly width: number;
}

/**
 * Calls `cover` for every pixel of a detection's mask: those whose centre lies in its box and where the weighted
 * prototypes, interpolated bilinearly at that centre, have a probability above `threshold`.
 * @param coefficients one per prototype
 * @param cover receives the index of the pixel, row by row
 */
export function forMask(
  { box }: HeadDetection,
  coefficients: ArrayLike<number>,
  prototypes: Prototypes,
  threshold: number,
  letter: Letterbox,
  cover: (pixel: number) => void,
): void {
  const { data, count, height, width } = prototypes;
  const logits = new Float64Array(width * height);
  for (let k = 0; k < count; k++) {
    for (let i = 0; i < logits.length; i++) logits[i] += coefficients[k] * data[k * logits.length + i];
  }
  const limit = Math.log(threshold / (1 - threshold));
  const across = Array.from({ length: letter.width }, (_, x) => x).filter((x) => x + 0.5 > box[0] && x + 0.5 < box[2])
    .map((x) => ({ pixel: x, ...place((x + 0.5) * letter.gain + letter.left, width, letter.inputWidth) }));
  for (let y = 0; y < letter.height; y++) {
    if (!(y + 0.5 > box[1] && y + 0.5 < box[3])) continue;
    const row = place((y + 0.5) * letter.gain + letter.top, height, letter.inputHeight);
    for (const column of across) {
      const along = (line: number) =>
        logits[line * width + column.at] * (1 - column.weight) + logits[line * width + column.next] * column.weight;
      if (along(row.at) * (1 - row.weight) + along(row.next) * row.weight > limit) {
        cover(y * letter.width + column.pixel);
      }
    }
  }
}

/** Position of a coordinate of the input among the prototypes. */
function place(value: number, size: number, inputSize: number): { at: number; next: number; weight: number } {
  const position = Math.min(size - 1, Math.max(0, value * size / inputSize - 0.5)), at = Math.floor(position);
  return { at, next: Math.min(size - 1, at + 1), weight: position - at };
}
