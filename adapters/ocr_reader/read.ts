/**
 * Reads one line of text per image with the recogniser of PP-OCRv4.
 *
 * Input of the network: float32 [1, 3, 48, width], channels blue, green, red, values v/127.5 - 1. The image is scaled to
 * 48 rows by bilinear interpolation between pixel centres; its width follows the aspect ratio. Output: probabilities
 * [1, width/8, 96] of the blank and of 95 ASCII characters. Decoding is greedy: the most probable class of each column,
 * without repetitions and blanks (Graves et al., Connectionist Temporal Classification, ICML 2006, section 3.2).
 */
import type { ArrayValue, Context, Reading } from "./svc_types.ts";

export interface Settings {
  /** Mean probability of the characters below which the text is empty. */
  min_confidence?: number;
}

const ROWS = 48;

/** @param images uint8 or float32 in [0, 1], [image, height, width, channel] with 1 or at least 3 channels */
export async function read(images: ArrayValue, settings: Settings, context: Context): Promise<Reading> {
  const classes = [...await Deno.readTextFile(new URL("models/classes.txt", import.meta.url))];
  const texts: string[] = [], confidences: number[] = [], [count] = images.shape;
  for (let index = 0; index < count; index++) {
    const { probabilities } = await context.infer("recognition", { image: line(images, index) });
    const { text, confidence } = decoded(probabilities, classes);
    texts.push(confidence < (settings.min_confidence ?? 0.5) ? "" : text);
    confidences.push(confidence);
    context.report_progress(index + 1, count);
  }
  return { texts, metadata: { confidences } };
}

/** One image as input of the network. */
export function line({ dtype, shape, data }: ArrayValue, index: number): ArrayValue {
  const [, height, width, channels] = shape;
  const columns = Math.max(8, Math.round(ROWS * width / height));
  const scaled = new Float32Array(3 * ROWS * columns), half = dtype === "uint8" ? 127.5 : 0.5;
  const vertical = taps(height, ROWS), horizontal = taps(width, columns);
  const at = (y: number, x: number, c: number) => Number(data[((index * height + y) * width + x) * channels + c]);
  for (let plane = 0; plane < 3; plane++) {
    const c = channels < 3 ? 0 : 2 - plane;
    for (let y = 0; y < ROWS; y++) {
      const [top, bottom, down] = vertical[y];
      for (let x = 0; x < columns; x++) {
        const [left, right, across] = horizontal[x];
        const upper = at(top, left, c) * (1 - across) + at(top, right, c) * across;
        const lower = at(bottom, left, c) * (1 - across) + at(bottom, right, c) * across;
        scaled[(plane * ROWS + y) * columns + x] = (upper * (1 - down) + lower * down) / half - 1;
      }
    }
  }
  return { dtype: "float32", shape: [1, 3, ROWS, columns], data: scaled };
}

/** For each output position the two input positions and the weight of the second. */
function taps(from: number, to: number): [number, number, number][] {
  return Array.from({ length: to }, (_, position) => {
    const centre = Math.min(Math.max((position + 0.5) * from / to - 0.5, 0), from - 1);
    const low = Math.floor(centre);
    return [low, Math.min(low + 1, from - 1), centre - low];
  });
}

/** Greedy decoding, and the mean probability of the kept characters; 0 without any. */
export function decoded({ shape, data }: ArrayValue, classes: readonly string[]): { text: string; confidence: number } {
  const [, columns, size] = shape, kept: string[] = [];
  let before = 0, sum = 0;
  for (let column = 0; column < columns; column++) {
    const own = (data as Float32Array).subarray(column * size, (column + 1) * size);
    const best = own.reduce((top, value, index) => value > own[top] ? index : top, 0);
    if (best !== 0 && best !== before) {
      kept.push(classes[best - 1]);
      sum += own[best];
    }
    before = best;
  }
  return { text: kept.join("").trim(), confidence: kept.length === 0 ? 0 : sum / kept.length };
}
