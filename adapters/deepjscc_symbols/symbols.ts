/**
 * Images to complex channel symbols, and noisy symbols to images: two small networks,
 * a starting point for your own.
 *
 * Eight complex symbols per 4 x 4 pixels, in C order [channel, height/4, width/4] of an image; of the networks' 16 real
 * channels the first eight are the real parts. channel.symbol_power_normalize sets the power.
 *
 * Shapes: images uint8 or float32 in [0, 1], [N, H, W, C], H and W multiples of 4, C = 1 or 3 -> symbols complex64
 * [N · H · W / 2]; back to uint8 [N, H, W, 3].
 */
import type { ArrayValue, Call, CoderResult, Context } from "./svc_types.ts";

const STRIDE = 4, CHANNELS = 8;

export async function encode(images: ArrayValue, _params: unknown, context: Context): Promise<CoderResult> {
  const [count, height, width, channels] = images.shape;
  if (channels !== 1 && channels !== 3) throw new Error(`Cannot encode ${channels} channels: they are 1 or 3`);
  if (height % STRIDE !== 0 || width % STRIDE !== 0) {
    throw new Error(`Cannot encode images of ${height} x ${width} pixels: both are multiples of ${STRIDE}`);
  }
  const each = CHANNELS * height * width / STRIDE ** 2;
  const symbols = new Float32Array(2 * count * each);
  for (let item = 0; item < count; item++) {
    const { symbols_ri } = await context.infer("encoder", { images: planes(images, item) });
    const parts = real(symbols_ri);
    for (let i = 0; i < each; i++) {
      symbols[2 * (item * each + i)] = parts[i];
      symbols[2 * (item * each + i) + 1] = parts[each + i];
    }
    context.report_progress(item + 1, count, "images");
  }
  return {
    array: { dtype: "complex64", shape: [count * each], data: symbols },
    metadata: { source_item_counts: new Array(count).fill(each) },
  };
}

export async function decode({ array, metadata }: Call, context: Context): Promise<CoderResult> {
  const { image_count: count, image_height: height, image_width: width } = metadata;
  const each = CHANNELS * height * width / STRIDE ** 2, plane = height * width;
  if (array.shape[0] !== count * each) {
    throw new Error(`Cannot decode ${array.shape[0]} symbols: ${count} images need ${count * each}`);
  }
  const received = real(array), images = new Uint8Array(count * plane * 3);
  for (let item = 0; item < count; item++) {
    const parts = new Float32Array(2 * each);
    for (let i = 0; i < each; i++) {
      parts[i] = received[2 * (item * each + i)];
      parts[each + i] = received[2 * (item * each + i) + 1];
    }
    const shape = [1, 2 * CHANNELS, height / STRIDE, width / STRIDE];
    const { reconstruction } = await context.infer("decoder", { symbols_ri: { dtype: "float32", shape, data: parts } });
    const pixels = real(reconstruction);
    for (let i = 0; i < plane; i++) {
      for (let c = 0; c < 3; c++) images[3 * (item * plane + i) + c] = Math.round(255 * pixels[c * plane + i]);
    }
    context.report_progress(item + 1, count, "images");
  }
  return { array: { dtype: "uint8", shape: [count, height, width, 3], data: images } };
}

/** One image as float32 [1, 3, H, W] in [0, 1], grey repeated. */
function planes(images: ArrayValue, item: number): ArrayValue {
  const [, height, width, channels] = images.shape, plane = height * width;
  const scale = images.dtype === "uint8" ? 255 : 1;
  const samples = real(images), data = new Float32Array(3 * plane);
  for (let c = 0; c < 3; c++) {
    for (let i = 0; i < plane; i++) {
      data[c * plane + i] = samples[(item * plane + i) * channels + Math.min(c, channels - 1)] / scale;
    }
  }
  return { dtype: "float32", shape: [1, 3, height, width], data };
}

const real = ({ data }: ArrayValue) => data as Float32Array;
