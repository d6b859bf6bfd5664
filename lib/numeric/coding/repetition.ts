/** Repeated bits, whose copies follow each other, and decisions by their majority. */
import { inBlocks, inputBytes, kernels, outputBytes } from "../array/bits_kernel.ts";
import { resultArray } from "../array/shared_array.ts";

/** `factor` copies of each bit in a row. */
export function repeatBits(bits: Uint8Array, factor: number): Uint8Array {
  const copies = new Uint8Array(bits.length * factor);
  for (let i = 0, at = 0; i < bits.length; i++) {
    for (const end = at + factor; at < end; at++) copies[at] = bits[i];
  }
  return copies;
}

/** Most copies that the kernel reads at once. */
const KERNEL_FACTOR = 8;

/**
 * The majority of each group of copies; an even split gives 1.
 * @param bits whole groups of `factor` bits (0 or 1), one per byte
 */
export function majorityBits(bits: Uint8Array, factor: number): Uint8Array {
  const decided = resultArray<Uint8Array>(Uint8Array, bits.length / factor);
  if (factor <= KERNEL_FACTOR) {
    inBlocks(bits, inputBytes, factor, decided, outputBytes, 1, decided.length, (size) => {
      kernels.majority(factor, size);
    });
    return decided;
  }
  for (let bit = 0, at = 0; bit < decided.length; bit++) {
    let ones = 0;
    for (const end = at + factor; at < end; at++) ones += bits[at];
    decided[bit] = 2 * ones >= factor ? 1 : 0;
  }
  return decided;
}
