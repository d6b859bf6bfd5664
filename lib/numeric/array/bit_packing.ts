/** Packed and unpacked bits: eight per byte or `width` per integer, most significant bit first, or one bit per byte. */
import { inBlocks, inputBytes, kernels, outputBytes } from "./bits_kernel.ts";

/**
 * Packs bits into bytes, most significant bit first; the last byte is padded with zeros.
 * @param bits one bit per element; only the lowest bit of each counts
 */
export function packBits(bits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array((bits.length + 7) >> 3);
  inBlocks(bits, inputBytes, 8, bytes, outputBytes, 1, bytes.length, (size) => kernels.pack(size));
  return bytes;
}

/**
 * Unpacks bytes into bits, most significant bit first.
 * @param bitCount number of bits to read from the start; default all
 * @throws RangeError for fewer bits than requested (a defect of the caller)
 */
export function unpackBits(bytes: Uint8Array, bitCount: number = bytes.length * 8): Uint8Array {
  if (!Number.isSafeInteger(bitCount) || bitCount < 0 || bitCount > bytes.length * 8) {
    throw new RangeError(`Cannot take ${bitCount} bits from ${bytes.length} bytes`);
  }
  const bits = new Uint8Array(bitCount);
  const whole = Math.floor(bitCount / 8);
  for (let index = 0, at = 0; index < whole; index++, at += 8) {
    const byte = bytes[index];
    bits[at] = byte >> 7;
    bits[at + 1] = byte >> 6 & 1;
    bits[at + 2] = byte >> 5 & 1;
    bits[at + 3] = byte >> 4 & 1;
    bits[at + 4] = byte >> 3 & 1;
    bits[at + 5] = byte >> 2 & 1;
    bits[at + 6] = byte >> 1 & 1;
    bits[at + 7] = byte & 1;
  }
  for (let at = whole * 8; at < bitCount; at++) bits[at] = bytes[whole] >> (7 - (at & 7)) & 1;
  return bits;
}

/**
 * The bits of integers.
 * @param width bits of each, at most 31
 */
export function indexBits(indices: Int32Array, width: number): Uint8Array {
  const bits = new Uint8Array(indices.length * width);
  let at = 0;
  for (const index of indices) {
    for (let shift = width - 1; shift >= 0; shift--) bits[at++] = index >>> shift & 1;
  }
  return bits;
}

/**
 * Integers from their bits; those of at least `size` are wrapped, or with `clamp` replaced by the last one.
 * @returns the integers, and the number of those beyond the size
 */
export function bitsIndex(bits: Uint8Array, width: number, size: number, clamp: boolean) {
  const indices = new Int32Array(bits.length / width);
  let beyond = 0;
  for (let i = 0, at = 0; i < indices.length; i++) {
    let index = 0;
    for (const end = at + width; at < end; at++) index = index * 2 + bits[at];
    if (index >= size) {
      beyond++;
      index = clamp ? size - 1 : index % size;
    }
    indices[i] = index;
  }
  return { indices, beyond };
}
