/** Readable parts of NR LDPC codes: parity checks, received values in steps of 1/4, and the CRC by long division. */
import { type Circulant, type LiftedCode, PUNCTURED_COLUMNS } from "../../lib/numeric/coding/nr_ldpc/base_graph.ts";
import type { CodeParameters } from "../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import type { Crc } from "../../lib/numeric/coding/nr_ldpc/crc.ts";
import { bufferLayout } from "../../lib/numeric/coding/nr_ldpc/programs.ts";

/** Bits of a code word that a check of a row includes. */
function* bitsOfCheck(row: readonly Circulant[], check: number, liftingSize: number): Iterable<number> {
  for (const { column, shift } of row) yield column * liftingSize + (check + shift) % liftingSize;
}

/** Whether every check of the first rows of a code holds. */
export function checksHold(code: LiftedCode, bits: Uint8Array, rows = code.rows.length): boolean {
  return code.rows.slice(0, rows).every((row) => {
    for (let check = 0; check < code.liftingSize; check++) {
      let sum = 0;
      for (const bit of bitsOfCheck(row, check, code.liftingSize)) sum ^= bits[bit];
      if (sum !== 0) return false;
    }
    return true;
  });
}

/**
 * Values of a code block as received: repeated bits added up, 0 where nothing was sent, infinity for filler bits.
 *
 * @param llr those of the whole transport block
 */
export function receivedValues(
  llr: Float32Array,
  parameters: CodeParameters,
  index: number,
  scrambling?: Uint8Array,
): Float64Array<ArrayBuffer> {
  const { codedBitsOfBlock, bitsPerSymbol, liftingSize, usedBits, fillerBits } = parameters;
  const count = codedBitsOfBlock[index], length = count / bitsPerSymbol;
  const start = codedBitsOfBlock.slice(0, index).reduce((sum, bits) => sum + bits, 0);
  const { code, bufferBits, sentInformationBits } = bufferLayout(parameters, count);
  const values = new Float64Array(code.columns * liftingSize);
  for (let k = 0; k < count; k++) {
    const at = start + (k % length) * bitsPerSymbol + Math.floor(k / length);
    const place = k % bufferBits + PUNCTURED_COLUMNS * liftingSize;
    values[place + (k % bufferBits < sentInformationBits ? 0 : fillerBits)] += scrambling?.[at] ? -llr[at] : llr[at];
  }
  return values.fill(Infinity, usedBits, usedBits + fillerBits);
}

/** A log-likelihood ratio in steps of 1/4, rounded half to even, at most ±127. */
export function roundedLlr(llr: number): number {
  const scaled = Math.max(-127, Math.min(127, Math.fround(Math.fround(llr) * 4)));
  const floor = Math.floor(scaled), rest = scaled - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/**
 * Remainder of bits times D^crc.bits by long division, the reference of the kernel.
 *
 * @param bits one bit per byte, highest power first
 * @returns the parity bits as a number, first one highest
 */
export function crcRemainder(bits: Uint8Array, crc: Crc): number {
  const top = 2 ** (crc.bits - 1), mask = 2 ** crc.bits - 1;
  let remainder = 0;
  for (const bit of bits) {
    const feedback = ((remainder & top) !== 0 ? 1 : 0) ^ bit;
    remainder = (remainder << 1 & mask) ^ (feedback ? crc.polynomial : 0);
  }
  return remainder;
}
