/** Memory of the kernels of bits and symbols (./assembly/bits.ts), and how arrays of any length pass through it. */
import * as kernels from "./bits.wasm";

export { kernels };

const { buffer } = kernels.memory as WebAssembly.Memory;
/** Most groups of a block, a group being a symbol, a value or a byte. */
const BLOCK = kernels.blockSymbols() as number;

export const inputBytes = new Uint8Array(buffer, kernels.inputOffset(), 8 * BLOCK);
export const inputFloats = new Float32Array(buffer, kernels.inputOffset(), 2 * BLOCK);
export const outputBytes = new Uint8Array(buffer, kernels.outputOffset(), 32 * BLOCK);
export const outputFloats = new Float32Array(buffer, kernels.outputOffset(), 8 * BLOCK);
export const kernelVariances = new Float32Array(buffer, kernels.variancesOffset(), BLOCK);
export const kernelPoints = new Float32Array(buffer, kernels.pointsOffset(), 512);

/**
 * Passes groups of values through a kernel, block by block; zeros fill the last group of the input.
 * @param taken values of the input that a group takes
 * @param given values of the output that a group gives
 * @param run the kernel, for a number of groups from a number on
 */
export function inBlocks<T extends Uint8Array | Float32Array>(
  input: Uint8Array | Float32Array,
  inputView: Uint8Array | Float32Array,
  taken: number,
  output: T,
  outputView: T,
  given: number,
  count: number,
  run: (size: number, from: number) => void,
): void {
  for (let from = 0; from < count; from += BLOCK) {
    const size = Math.min(BLOCK, count - from), part = input.subarray(from * taken, (from + size) * taken);
    inputView.set(part);
    inputView.fill(0, part.length, size * taken);
    run(size, from);
    output.set(outputView.subarray(0, size * given), from * given);
  }
}
