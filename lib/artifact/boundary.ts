/**
 * Boundary contracts: what a value must be where it crosses from one plane of an experiment to another.
 *
 * payload.bits, channel.bits   uint8 [n], values 0 and 1
 * channel.symbols              complex64 [n] finite, or float32 [n] or [n, d] finite with representation "real"
 * image.tensor                 uint8, or float32 in [0, 1]; [count, height, width, channels], channels 1, 3 or 4
 * text.utf8_bytes              text, bytes, or bits (uint8 [8 n], most significant first) that form valid UTF-8
 * semantic.embedding           float [n, d] finite, not empty; handed on as float32
 * metric.scalar                finite number; not negative where it is a rate, a count or a latency
 * artifact.file                regular file; a recorded SHA-256 matches
 *
 * Every check throws an SvcError whose code names the rule that was broken. Scans read whole 32-bit words, so checking
 * ten million bits costs about as much as reading them.
 */
import { SvcError } from "../contract/error.ts";
import { isNumber, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { elementCount, type NdArray } from "../numeric/ndarray.ts";

/** Values of the metadata key `boundary_contract`. */
export const BOUNDARY_CONTRACTS = [
  "payload.bits",
  "channel.bits",
  "channel.symbols",
  "image.tensor",
  "text.utf8_bytes",
  "semantic.embedding",
  "metric.scalar",
  "artifact.file",
] as const;
export type BoundaryContract = typeof BOUNDARY_CONTRACTS[number];

function refuse(code: string, what: string, why: string): never {
  throw new SvcError(code, `Cannot use ${what}: ${why}`);
}

function shapeText(array: NdArray): string {
  return `${array.dtype} [${array.shape.join(", ")}]`;
}

/**
 * Checks bits: uint8, one dimension, values 0 and 1.
 *
 * @returns the bits, without a copy
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_value_invalid`
 */
export function checkBits(array: NdArray): Uint8Array {
  const what = `${shapeText(array)} as bits`;
  if (array.dtype !== "uint8") refuse("boundary_dtype_invalid", what, "bits are uint8");
  if (array.shape.length !== 1) refuse("boundary_rank_invalid", what, "bits have one dimension");
  const bits = array.data as Uint8Array;
  if (!areBits(bits)) {
    const index = bits.findIndex((bit) => bit > 1);
    refuse("boundary_value_invalid", what, `element ${index} is ${bits[index]}`);
  }
  return bits;
}

/** Whether all values are 0 or 1: the union of all words may hold no other bit. */
function areBits(bits: Uint8Array): boolean {
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
 *
 * @param what what the values are, for the message
 * @throws SvcError `boundary_non_finite`
 */
export function checkFinite(data: Float16Array | Float32Array | Float64Array, what: string): void {
  if (isAllFinite(data)) return;
  const index = data.findIndex((value) => !Number.isFinite(value));
  refuse("boundary_non_finite", what, `value ${index} is ${data[index]}`);
}

/**
 * A float is not finite when all bits of its exponent are set; adding one to the exponent then carries into the sign
 * bit. The exponent of a binary64 number is in its upper word.
 */
function isAllFinite(data: Float16Array | Float32Array | Float64Array): boolean {
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
 *
 * @returns interleaved (real, imaginary) values, without a copy
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
 * Checks real symbols: float32, [n] or [n, d], finite.
 *
 * @returns the values, without a copy
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_non_finite`
 */
export function checkRealSymbols(array: NdArray): Float32Array {
  const what = `${shapeText(array)} as real symbols`;
  if (array.dtype !== "float32") refuse("boundary_dtype_invalid", what, "real symbols are float32");
  if (array.shape.length !== 1 && array.shape.length !== 2) {
    refuse("boundary_rank_invalid", what, "real symbols have one or two dimensions");
  }
  checkFinite(array.data as Float32Array, what);
  return array.data as Float32Array;
}

/**
 * Checks symbols of either representation: real where the metadata key `representation` says so, else complex.
 *
 * @returns the values as they are stored, without a copy
 * @throws SvcError as {@link checkSymbols} and {@link checkRealSymbols}
 */
export function checkAnySymbols(array: NdArray, metadata: JsonObject): Float32Array {
  return metadata.representation === "real" ? checkRealSymbols(array) : checkSymbols(array);
}

/**
 * Checks a batch of images: [count, height, width, channels], not empty; uint8, or float32 in [0, 1].
 *
 * @returns the same array
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_shape_invalid`, `boundary_empty`,
 * `boundary_non_finite`, `boundary_value_invalid`
 */
export function checkImages(array: NdArray): NdArray {
  const what = `${shapeText(array)} as images`;
  const { dtype, shape, data } = array;
  if (dtype !== "uint8" && dtype !== "float32") refuse("boundary_dtype_invalid", what, "images are uint8 or float32");
  if (shape.length !== 4) refuse("boundary_rank_invalid", what, "images are [count, height, width, channels]");
  if (elementCount(shape) === 0) refuse("boundary_empty", what, "there are none");
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
 * Checks content that crosses as UTF-8.
 *
 * @param content a text, bytes, or an array of bits, most significant first
 * @returns the text
 * @throws SvcError `boundary_utf8_invalid`, and for bits what {@link checkBits} throws
 */
export function checkUtf8(content: string | Uint8Array | NdArray): string {
  if (typeof content === "string") {
    if (!content.isWellFormed()) refuse("boundary_utf8_invalid", "the text as UTF-8", "it holds a lone surrogate");
    return content;
  }
  const bytes = content instanceof Uint8Array ? content.slice() : packBits(checkBits(content));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    refuse("boundary_utf8_invalid", `${bytes.length} bytes as UTF-8`, "they are no valid byte sequence");
  }
}

function packBits(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  if (bits.length % 8 !== 0) {
    refuse("boundary_utf8_invalid", `${bits.length} bits as UTF-8`, "they do not fill whole bytes");
  }
  const bytes = new Uint8Array(bits.length / 8);
  for (let i = 0; i < bits.length; i++) bytes[i >> 3] |= bits[i] << (7 - (i & 7));
  return bytes;
}

/**
 * Checks embeddings: floats [n, d], finite also as float32, not empty.
 *
 * @returns the embeddings as float32; without a copy when they are that already
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_empty`, `boundary_non_finite`
 */
export function checkEmbedding(array: NdArray): NdArray {
  const what = `${shapeText(array)} as embeddings`;
  if (!["float16", "float32", "float64"].includes(array.dtype)) {
    refuse("boundary_dtype_invalid", what, "embeddings are floats");
  }
  if (array.shape.length !== 2) refuse("boundary_rank_invalid", what, "embeddings are [count, dimensions]");
  if (elementCount(array.shape) === 0) refuse("boundary_empty", what, "there are none");
  const data = array.dtype === "float32" ? array.data as Float32Array : Float32Array.from(array.data as Float64Array);
  checkFinite(data, what);
  return { dtype: "float32", shape: array.shape, data };
}

/**
 * Checks a metric value: a finite number, and not a boolean.
 *
 * @param name what is measured, for the message
 * @param options `nonNegative` for rates, counts and latencies
 * @throws SvcError `boundary_dtype_invalid`, `boundary_non_finite`, `boundary_count_negative`
 */
export function checkMetricScalar(
  value: Value | undefined,
  name = "the metric",
  options: { nonNegative?: boolean } = {},
): number {
  if (!isNumber(value)) {
    refuse("boundary_dtype_invalid", `a ${value === null ? "null" : typeof value} as ${name}`, "it is no number");
  }
  const number = toNumber(value);
  if (!Number.isFinite(number)) refuse("boundary_non_finite", `${number} as ${name}`, "it is not finite");
  if (options.nonNegative && number < 0) refuse("boundary_count_negative", `${number} as ${name}`, "it is below zero");
  return number;
}
