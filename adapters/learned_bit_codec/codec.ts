/**
 * Images to bits and back by two small convolutional networks: 32 bits per 8 x 8 pixels, 0.5 bit per pixel.
 *
 * An image is padded to whole blocks by repeating its last row and column. Bit (c, i, j) of an image, C order, is 1
 * where the encoder's output is negative; the decoder takes +1 for 0 and -1 for 1. The decoder gets number and sizes of
 * the images from the metadata that svc writes.
 *
 * Shapes: images uint8 or float32 in [0, 1], [N, H, W, C] with C = 1 or 3 -> bits uint8 [N · 32 · ceil(H/8) · ceil(W/8)];
 * back to uint8 [N, H, W, C].
 */
import type { ArrayValue, Call, CoderResult, Context } from "./svc_types.ts";

interface Shape {
  height: number;
  width: number;
  channels: number;
}

const BLOCK = 8, BITS = 32;
const blocks = (extent: number) => Math.ceil(extent / BLOCK);
const bitsOf = ({ height, width }: Shape) => BITS * blocks(height) * blocks(width);

export async function encode(images: ArrayValue, _params: unknown, context: Context): Promise<CoderResult> {
  const [count, height, width, channels] = images.shape;
  if (channels !== 1 && channels !== 3) throw new Error(`Cannot encode ${channels} channels: they are 1 or 3`);
  const shape = { height, width, channels }, each = bitsOf(shape);
  const bits = new Uint8Array(count * each);
  for (let item = 0; item < count; item++) {
    const { logits: { data: logits } } = await context.infer("encoder", { images: planes(images, item, shape) });
    for (let i = 0; i < each; i++) bits[item * each + i] = logits[i] < 0 ? 1 : 0;
    context.report_progress(item + 1, count, "images");
  }
  return {
    array: { dtype: "uint8", shape: [bits.length], data: bits },
    metadata: { source_item_counts: new Array(count).fill(each) },
  };
}

export async function decode({ array, metadata }: Call, context: Context): Promise<CoderResult> {
  const { image_count: count, image_height: height, image_width: width, image_channels: channels } = metadata;
  const layout = { height, width, channels }, each = bitsOf(layout);
  const bits = array.data as Uint8Array;
  if (bits.length !== count * each) {
    throw new Error(`Cannot decode ${bits.length} bits: ${count} images need ${count * each}`);
  }
  const images = new Uint8Array(count * height * width * channels);
  const shape = [1, BITS, blocks(height), blocks(width)];
  for (let item = 0; item < count; item++) {
    const signs = Float32Array.from(bits.subarray(item * each, (item + 1) * each), (bit) => 1 - 2 * bit);
    const { reconstruction } = await context.infer("decoder", { signs: { dtype: "float32", shape, data: signs } });
    pixels(reconstruction, layout, images.subarray(item * height * width * channels));
    context.report_progress(item + 1, count, "images");
  }
  return { array: { dtype: "uint8", shape: [count, height, width, channels], data: images } };
}

/** One image as float32 [1, 3, H, W] in [0, 1], grey repeated, padded to whole blocks. */
function planes(images: ArrayValue, item: number, { height, width, channels }: Shape): ArrayValue {
  const rows = BLOCK * blocks(height), columns = BLOCK * blocks(width);
  const data = new Float32Array(3 * rows * columns);
  const samples = images.data as Uint8Array | Float32Array;
  const scale = images.dtype === "uint8" ? 255 : 1, start = item * height * width * channels;
  for (let c = 0, at = 0; c < 3; c++) {
    for (let y = 0; y < rows; y++) {
      const row = start + Math.min(y, height - 1) * width * channels + Math.min(c, channels - 1);
      for (let x = 0; x < columns; x++) data[at++] = samples[row + Math.min(x, width - 1) * channels] / scale;
    }
  }
  return { dtype: "float32", shape: [1, 3, rows, columns], data };
}

/** Writes planes [1, 3, rows, columns] as bytes [H, W, C]; a grey image is the mean of its three planes. */
function pixels(
  { shape: [, , rows, columns], data: samples }: ArrayValue,
  { height, width, channels }: Shape,
  out: Uint8Array,
): void {
  const data = samples as Float32Array, plane = rows * columns;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const i = y * columns + x;
      if (channels === 1) out[at++] = byte((data[i] + data[plane + i] + data[2 * plane + i]) / 3);
      else for (let c = 0; c < 3; c++) out[at++] = byte(data[c * plane + i]);
    }
  }
}

const byte = (value: number) => Math.round(255 * Math.min(1, Math.max(0, value)));
