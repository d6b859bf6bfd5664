/** Memory of the kernels of bits and symbols (lib/numeric/kernels/assembly/bits.ts), and how arrays of any length pass through it. */
import * as kernels from "../kernels/bits.wasm";
import { isShared, SHARED_BLOCK_BYTES } from "./shared_array.ts";

export { kernels };

const { buffer } = kernels.memory as WebAssembly.Memory;
const BLOCK_BYTES = kernels.blockBytes() as number;

export const inputBytes = new Uint8Array(buffer, kernels.inputOffset(), BLOCK_BYTES);
export const inputFloats = new Float32Array(buffer, kernels.inputOffset(), BLOCK_BYTES / 4);
export const outputBytes = new Uint8Array(buffer, kernels.outputOffset(), BLOCK_BYTES);
export const outputFloats = new Float32Array(buffer, kernels.outputOffset(), BLOCK_BYTES / 4);
export const kernelVariances = new Float32Array(buffer, kernels.variancesOffset(), BLOCK_BYTES / 8);
export const kernelPoints = new Float32Array(buffer, kernels.pointsOffset(), 512);

/** Groups of a block are a multiple of this, so that only the last block ends inside a vector. */
const VECTOR = 16;

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
  const larger = input.byteLength > output.byteLength ? input : output;
  const bytes = isShared(larger) ? SHARED_BLOCK_BYTES : BLOCK_BYTES;
  const most = Math.min(bytes / input.BYTES_PER_ELEMENT / taken, bytes / output.BYTES_PER_ELEMENT / given);
  const block = most - most % VECTOR, results = outputView.subarray(0, block * given);
  for (let from = 0; from < count; from += block) {
    const size = Math.min(block, count - from), part = input.subarray(from * taken, (from + size) * taken);
    inputView.set(part);
    if (part.length < size * taken) inputView.fill(0, part.length, size * taken);
    run(size, from);
    output.set(size === block ? results : results.subarray(0, size * given), from * given);
  }
}
