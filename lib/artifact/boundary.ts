/**
 * Boundary contracts: required form of values between the planes of an experiment.
 *
 *     payload.bits, channel.bits   uint8 [n], values 0 and 1
 *     channel.symbols              complex64 [n], finite
 *     image.tensor                 uint8, or float32 in [0, 1]; [count, height, width, channels], channels 1, 3 or 4
 *     semantic.embedding           float [n, d], finite, not empty; passed on as float32
 *
 * Every check throws an SvcError whose code names the violated rule. Scans read 32-bit words, so a check costs about as
 * much as reading the data.
 */
import { type Code, SvcError } from "../contract/error.ts";
import { elementCount, type NdArray } from "../numeric/array/ndarray.ts";

function refuse(code: Code, what: string, why: string): never {
  throw new SvcError(code, `Cannot use ${what}: ${why}`);
}

function shapeText(array: NdArray): string {
  return `${array.dtype} [${array.shape.join(", ")}]`;
}

/**
 * Checks bits: uint8, one dimension, values 0 and 1.
 * @param scan whether all values are 0 or 1
 * @returns the bits, not copied
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_value_invalid`
 */
export function checkBits(array: NdArray, scan: (bits: Uint8Array) => boolean = areBits): Uint8Array {
  const what = `${shapeText(array)} as bits`;
  if (array.dtype !== "uint8") refuse("boundary_dtype_invalid", what, "bits are uint8");
  if (array.shape.length !== 1) refuse("boundary_rank_invalid", what, "bits have one dimension");
  const bits = array.data as Uint8Array;
  if (!scan(bits)) {
    const index = bits.findIndex((bit) => bit > 1);
    refuse("boundary_value_invalid", what, `element ${index} is ${bits[index]}`);
  }
  return bits;
}

/** Whether all values are 0 or 1: the union of all words has no other bit. */
export function areBits(bits: Uint8Array): boolean {
  const head = Math.min(bits.length, -bits.byteOffset & 3);
  const count = (bits.length - head) >>> 2;
  const words = new Uint32Array(bits.buffer, count > 0 ? bits.byteOffset + head : 0, count);
  let union = 0;
  for (let i = 0; i < words.length; i++) union |= words[i];
  for (let i = 0; i < head; i++) union |= bits[i];
  for (let i = head + 4 * words.length; i < bits.length; i++) union |= bits[i];
  return (union & 0xfefefefe) === 0;
}

/**
 * Checks that all values of a float array are finite.
 * @param what description of the values, for the message
 * @throws SvcError `boundary_non_finite`
 */
export function checkFinite(data: Float16Array | Float32Array | Float64Array, what: string): void {
  if (isAllFinite(data)) return;
  const index = data.findIndex((value) => !Number.isFinite(value));
  refuse("boundary_non_finite", what, `value ${index} is ${data[index]}`);
}

/**
 * A float is not finite when all bits of its exponent are set; adding one to the exponent then carries into the sign
 * bit. A binary64 exponent is in the upper word.
 */
export function isAllFinite(data: Float16Array | Float32Array | Float64Array): boolean {
  const { buffer, byteOffset, length } = data;
  let carries = 0;
  if (data instanceof Float16Array) {
    const words = new Uint16Array(buffer, byteOffset, length);
    for (let i = 0; i < words.length; i++) carries |= (words[i] & 0x7c00) + 0x0400;
    return (carries & 0x8000) === 0;
  }
  if (data instanceof Float32Array) {
    const words = new Int32Array(buffer, byteOffset, length);
    for (let i = 0; i < words.length; i++) carries |= (words[i] & 0x7f800000) + 0x00800000;
    return carries >= 0;
  }
  const words = new Int32Array(buffer, byteOffset, 2 * length);
  for (let i = 1; i < words.length; i += 2) carries |= (words[i] & 0x7ff00000) + 0x00100000;
  return carries >= 0;
}

/**
 * Checks complex baseband symbols: complex64, one dimension, finite.
 * @returns interleaved (real, imaginary) values, not copied
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_non_finite`
 */
export function checkSymbols(array: NdArray): Float32Array {
  const what = `${shapeText(array)} as complex symbols`;
  if (array.dtype !== "complex64") refuse("boundary_dtype_invalid", what, "complex symbols are complex64");
  if (array.shape.length !== 1) refuse("boundary_rank_invalid", what, "complex symbols have one dimension");
  checkFinite(array.data as Float32Array, what);
  return array.data as Float32Array;
}

/**
 * Checks a batch of images: [count, height, width, channels], not empty; uint8, or float32 in [0, 1].
 * @returns the same array
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_shape_invalid`, `boundary_empty`,
 *   `boundary_non_finite`, `boundary_value_invalid`
 */
export function checkImages(array: NdArray): NdArray {
  const what = `${shapeText(array)} as images`;
  const { dtype, shape, data } = array;
  if (dtype !== "uint8" && dtype !== "float32") refuse("boundary_dtype_invalid", what, "images are uint8 or float32");
  if (shape.length !== 4) refuse("boundary_rank_invalid", what, "images are [count, height, width, channels]");
  if (elementCount(shape) === 0) refuse("boundary_empty", what, "it is empty");
  if (![1, 3, 4].includes(shape[3])) refuse("boundary_shape_invalid", what, "images have 1, 3 or 4 channels");
  if (dtype === "float32") {
    const values = data as Float32Array;
    for (let i = 0; i < values.length; i++) {
      if (values[i] >= 0 && values[i] <= 1) continue;
      checkFinite(values, what);
      refuse("boundary_value_invalid", what, `float images lie in [0, 1], value ${i} is ${values[i]}`);
    }
  }
  return array;
}

/**
 * Checks embeddings: floats [n, d], finite also as float32, not empty.
 * @returns the embeddings as float32, not copied if already float32
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_empty`, `boundary_non_finite`
 */
export function checkEmbedding(array: NdArray): NdArray {
  const what = `${shapeText(array)} as embeddings`;
  if (!["float16", "float32", "float64"].includes(array.dtype)) {
    refuse("boundary_dtype_invalid", what, "embeddings are floats");
  }
  if (array.shape.length !== 2) refuse("boundary_rank_invalid", what, "embeddings are [count, dimensions]");
  if (elementCount(array.shape) === 0) refuse("boundary_empty", what, "it is empty");
  const data = array.dtype === "float32" ? array.data as Float32Array : Float32Array.from(array.data as Float64Array);
  checkFinite(data, what);
  return { dtype: "float32", shape: array.shape, data };
}
