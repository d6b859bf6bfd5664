/** The memory of the kernels: views of its fixed parts, and allocation of the arrays of a call after them. */
import * as kernels from "../../kernels/nr_ldpc.wasm";

const memory = kernels.memory as WebAssembly.Memory;
const PAGE = 65536;
const FREE = kernels.freeOffset() as number;

/** Vectors may read and write this far past the end of an array. */
export const SLACK = 64;

export { kernels };

/** Addresses of arrays of these byte lengths, each aligned and followed by slack; the memory grows as needed. */
export function allocate(...lengths: readonly number[]): number[] {
  let end = FREE;
  const addresses = lengths.map((length) => {
    const address = end;
    end += (length + SLACK + 63) & ~63;
    return address;
  });
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  return addresses;
}

export const bytesAt = (address: number, length: number) => new Uint8Array(memory.buffer, address, length);
export const floatsAt = (address: number, length: number) => new Float32Array(memory.buffer, address, length);

/** Copies a program into the memory of the kernels. */
export function load(program: Int32Array): void {
  new Int32Array(memory.buffer, kernels.programOffset() as number, program.length).set(program);
}
