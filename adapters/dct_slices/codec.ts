/**
 * An image codec of constant rate that tolerates bit errors: 8 x 8 cosine transform, uniform quantisation and adaptive
 * arithmetic coding in slices of 16 rows. Each slice has the same number of bytes and its own checksum, so a decoder
 * finds it by its position, and wrong bits damage only their own slices; lost rows repeat the nearest undamaged row.
 * There are no packets, lengths or headers.
 *
 * A slice: quantisation step (1 byte, index in STEPS), CRC-16 over that byte and the data (2 bytes), data, zeros. The
 * step is the finest one whose data fits.
 *
 * Colour: RGB becomes luminance and two colour differences (ITU-R BT.601, full range) at half resolution. Quantisation:
 * levels sign(c)·floor(|c|/step + 1/3), reconstructed as level·step; colour differences with step·1.5.
 */
import { crc16 } from "./crc16.ts";
import { RangeDecoder, RangeEncoder } from "./range_coder.ts";
import { codeSlice } from "./slice.ts";
import type { ArrayValue, Call, CoderResult, Context } from "./svc_types.ts";
import { forward, inverse } from "./transform.ts";

const ROWS = 16, COLOUR_STEP = 1.5, HEADER = 3;
/** Quantisation steps in units of 8-bit samples, 1.5 … 256, each 1/12 octave above the previous one. */
const STEPS = Array.from({ length: 90 }, (_, index) => 1.5 * 2 ** (index / 12));

/** One component of 16 rows; sides are multiples of 8. */
interface Plane {
  width: number;
  height: number;
  samples: Float64Array;
}

/** Sides of the planes of a slice, padded to whole blocks. */
function planeSizes(width: number, channels: number): { width: number; height: number }[] {
  const luminance = { width: 16 * Math.ceil(width / 16), height: ROWS };
  const colour = { width: luminance.width / 2, height: ROWS / 2 };
  return channels === 1 ? [luminance] : [luminance, colour, colour];
}

/** Bytes of each slice for a width. */
function sliceBytes(width: number, bitsPerPixel: number): number {
  return Math.max(HEADER, Math.floor(bitsPerPixel * width * ROWS / 8));
}

/**
 * Encodes a batch of images.
 *
 * @param images [count, height, width, 1 or 3]; uint8, or float32 in [0, 1]
 * @param params.bits_per_pixel rate of full slices; the last slice of an image has the same size for fewer rows
 * @returns bytes, slice by slice
 */
export function encode(images: ArrayValue, params: { bits_per_pixel: number }, context: Context): CoderResult {
  const [count, height, width, channels] = images.shape;
  if (channels !== 1 && channels !== 3) throw new Error(`Cannot encode images with ${channels} channels`);
  const perImage = Math.ceil(height / ROWS), length = sliceBytes(width, params.bits_per_pixel);
  const bytes = new Uint8Array(count * perImage * length);
  for (let image = 0; image < count; image++) {
    for (let row = 0; row < perImage; row++) {
      const at = (image * perImage + row) * length;
      encodeSlice(bytes.subarray(at, at + length), planesOf(images, image, row * ROWS));
    }
    context.report_progress(image + 1, count);
  }
  return {
    array: { dtype: "uint8", shape: [bytes.length], data: bytes },
    metadata: {
      slice_bytes: length,
      source_item_counts: Array(count).fill(8 * perImage * length),
    },
  };
}

/** Fills a slice with the finest data that fits. If none fits, the slice stays zero, which is not a valid checksum. */
function encodeSlice(slice: Uint8Array, planes: readonly Plane[]): void {
  const coefficients = planes.map(transformed);
  const dataAt = (index: number) => {
    const coder = new RangeEncoder();
    codeSlice(coder, coefficients.map((plane, at) => quantised(plane, stepOf(index, at))));
    return coder.finish();
  };
  let low = 0, high = STEPS.length, best: Uint8Array | undefined;
  while (low < high) {
    const middle = (low + high) >> 1, data = dataAt(middle);
    if (data.length <= slice.length - HEADER) [high, best] = [middle, data];
    else low = middle + 1;
  }
  if (best === undefined) return;
  slice[0] = high;
  slice.set(best, HEADER);
  const check = crc16(slice.subarray(HEADER), high);
  slice[1] = check >> 8;
  slice[2] = check & 255;
}

function stepOf(index: number, plane: number): number {
  return STEPS[index] * (plane === 0 ? 1 : COLOUR_STEP);
}

/** Decodes received bytes; slices with a wrong checksum are filled from their neighbours. */
export function decode({ array, metadata }: Call, context: Context): CoderResult {
  const { slice_bytes: length } = metadata.adapter_metadata;
  const { image_count: count, image_height: height, image_width: width, image_channels: channels } = metadata;
  const shape = [count, height, width, channels], dtype = metadata.image_dtype;
  const perImage = Math.ceil(height / ROWS), size = height * width * channels;
  const samples = new Uint8Array(count * size);
  for (let image = 0; image < count; image++) {
    const lost: number[] = [];
    for (let row = 0; row < perImage; row++) {
      const at = (image * perImage + row) * length;
      const planes = decodeSlice((array.data as Uint8Array).subarray(at, at + length), width, channels);
      if (planes === null) lost.push(row);
      else putRows(samples, shape, image, row * ROWS, planes);
    }
    repair(samples.subarray(image * size, (image + 1) * size), shape, lost);
    context.report_progress(image + 1, count);
  }
  if (dtype === "float32") return { dtype, shape, data: Float32Array.from(samples, (sample) => sample / 255) };
  return { dtype: "uint8", shape, data: samples };
}

/** The planes of a slice, or null for a damaged one. */
function decodeSlice(slice: Uint8Array, width: number, channels: number): Plane[] | null {
  const [index, high, low] = slice, data = slice.subarray(HEADER);
  if (index >= STEPS.length || (high << 8 | low) !== crc16(data, index)) return null;
  const sizes = planeSizes(width, channels), levels = sizes.map((size) => new Int32Array(size.width * size.height));
  codeSlice(new RangeDecoder(data), levels);
  return sizes.map((size, plane) => restored(levels[plane], size, stepOf(index, plane)));
}

/** The planes of 16 rows, centred at zero; the outermost pixels are repeated beyond the edges. */
function planesOf({ shape, dtype, data }: ArrayValue, image: number, top: number): Plane[] {
  const [, height, width, channels] = shape, scale = dtype === "uint8" ? 1 : 255;
  const sizes = planeSizes(width, channels);
  const planes = sizes.map((size) => ({ ...size, samples: new Float64Array(size.width * size.height) }));
  const [luminance, blue, red] = planes;
  for (let y = 0; y < ROWS; y++) {
    const line = (image * height + Math.min(top + y, height - 1)) * width;
    for (let x = 0; x < luminance.width; x++) {
      const from = (line + Math.min(x, width - 1)) * channels, to = y * luminance.width + x;
      if (channels === 1) {
        luminance.samples[to] = scale * Number(data[from]) - 128;
        continue;
      }
      const [r, g, b] = [0, 1, 2].map((channel) => scale * Number(data[from + channel]));
      const brightness = 0.299 * r + 0.587 * g + 0.114 * b;
      luminance.samples[to] = brightness - 128;
      const half = (y >> 1) * blue.width + (x >> 1);
      blue.samples[half] += (b - brightness) / 1.772 / 4;
      red.samples[half] += (r - brightness) / 1.402 / 4;
    }
  }
  return planes;
}

/** Calls a body with every block of a plane and the offset of its first sample. */
function eachBlock({ width, height }: { width: number; height: number }, body: (offset: number, at: number) => void) {
  let at = 0;
  for (let y = 0; y < height; y += 8) for (let x = 0; x < width; x += 8) body(y * width + x, at++);
}

/** The coefficients of a plane, block by block. */
function transformed(plane: Plane): Float64Array {
  const coefficients = new Float64Array(plane.samples.length);
  eachBlock(plane, (offset, at) => {
    const block = coefficients.subarray(64 * at, 64 * at + 64);
    for (let i = 0; i < 64; i++) block[i] = plane.samples[offset + (i >> 3) * plane.width + (i & 7)];
    forward(block);
  });
  return coefficients;
}

function quantised(coefficients: Float64Array, step: number): Int32Array {
  return Int32Array.from(
    coefficients,
    (value) => Math.sign(value) * Math.min(4095, Math.floor(Math.abs(value) / step + 1 / 3)),
  );
}

function restored(levels: Int32Array, size: { width: number; height: number }, step: number): Plane {
  const samples = new Float64Array(levels.length), block = new Float64Array(64);
  eachBlock(size, (offset, at) => {
    for (let i = 0; i < 64; i++) block[i] = step * levels[64 * at + i];
    inverse(block);
    for (let i = 0; i < 64; i++) samples[offset + (i >> 3) * size.width + (i & 7)] = block[i];
  });
  return { ...size, samples };
}

function putRows(samples: Uint8Array, shape: number[], image: number, top: number, planes: Plane[]): void {
  const [, height, width, channels] = shape, [luminance, blue, red] = planes;
  const clamped = (value: number) => Math.min(255, Math.max(0, Math.round(value)));
  for (let y = 0; y < Math.min(ROWS, height - top); y++) {
    for (let x = 0; x < width; x++) {
      const to = ((image * height + top + y) * width + x) * channels;
      const brightness = luminance.samples[y * luminance.width + x] + 128;
      if (channels === 1) {
        samples[to] = clamped(brightness);
        continue;
      }
      const half = (y >> 1) * blue.width + (x >> 1);
      const r = brightness + 1.402 * red.samples[half], b = brightness + 1.772 * blue.samples[half];
      samples[to] = clamped(r);
      samples[to + 1] = clamped((brightness - 0.299 * r - 0.114 * b) / 0.587);
      samples[to + 2] = clamped(b);
    }
  }
}

/** Fills lost slices of an image with the nearest undamaged row, or with middle grey without one. */
function repair(image: Uint8Array, shape: number[], lost: readonly number[]): void {
  const [, height, width, channels] = shape, length = width * channels;
  const isLost = (y: number) => lost.includes(Math.floor(y / ROWS));
  for (const slice of lost) {
    for (let y = slice * ROWS; y < Math.min((slice + 1) * ROWS, height); y++) {
      let above = y, below = y;
      while (above >= 0 && isLost(above)) above--;
      while (below < height && isLost(below)) below++;
      const nearest = above >= 0 && (below >= height || y - above <= below - y) ? above : below;
      if (nearest >= height) image.fill(128, y * length, (y + 1) * length);
      else image.copyWithin(y * length, nearest * length, (nearest + 1) * length);
    }
  }
}
