/** Packed and unpacked bits: eight bits per byte, most significant bit first, or one bit per byte. */
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
