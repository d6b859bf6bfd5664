/**
 * Reads the text of each image with PP-OCRv4: an image is one line, or its lines are found first (detect.ts).
 *
 * Input of the network: float32 [1, 3, 48, width], channels blue, green, red, values v/127.5 - 1. A line is scaled
 * to 48 rows by bilinear interpolation between pixel centres; its width follows the aspect ratio. Output: probabilities
 * [1, width/8, 96] of the blank and of 95 ASCII characters. Decoding is greedy: the most probable class of each column,
 * without repetitions and blanks (Graves et al., Connectionist Temporal Classification, ICML 2006, section 3.2).
 */
import { detect } from "./detect.ts";
import { type Box, scaled, wholeImage } from "./sample.ts";
import type { ArrayValue, Context, Reading } from "./svc_types.ts";

export interface Settings {
  /** line: the image is one line of text; scene: lines are found first. */
  layout?: "line" | "scene";
  /** Mean probability of the characters below which a line is dropped. */
  min_confidence?: number;
}

interface Line {
  text: string;
  confidence: number;
  box: Box;
}

const ROWS = 48;

/** @param images uint8 or float32 in [0, 1], [image, height, width, channel] with 1 or at least 3 channels */
export async function read(images: ArrayValue, settings: Settings, context: Context): Promise<Reading> {
  const classes = [...await Deno.readTextFile(new URL("models/classes.txt", import.meta.url))];
  const least = settings.min_confidence ?? 0.5, [count] = images.shape;
  const texts: string[] = [], lines: Line[][] = [];
  for (let index = 0; index < count; index++) {
    const boxes = settings.layout === "scene" ? await detect(images, index, context) : [wholeImage(images)];
    const found: Line[] = [];
    for (const box of boxes) {
      const { probabilities } = await context.infer("recognition", { image: line(images, index, box) });
      found.push({ ...decoded(probabilities, classes), box });
    }
    texts.push(
      found.filter(({ text, confidence }) => text !== "" && confidence >= least).map(({ text }) => text).join(" "),
    );
    lines.push(found);
    context.report_progress(index + 1, count);
  }
  return { texts, metadata: { lines } };
}

/** A line of text as input of the recogniser. */
export function line(images: ArrayValue, index: number, box: Box = wholeImage(images)): ArrayValue {
  const columns = Math.max(8, Math.round(ROWS * Math.hypot(...box.across) / Math.hypot(...box.down)));
  const image = scaled(images, index, box, { rows: ROWS, columns });
  return { ...image, dtype: "float32", data: (image.data as Float32Array).map((value) => 2 * value - 1) };
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
