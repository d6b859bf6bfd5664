/**
 * Memory of the kernels of the codec (lib/numeric/kernels/assembly/jpeg.ts). A task lays out what it needs for a strip of the image,
 * a row of minimum coded units, so that the memory grows with the width of images and not with their height. Nothing in it
 * outlives a call of the codec.
 */
import * as kernels from "../../numeric/kernels/jpeg.wasm";

export { kernels };

/** Kernels read and write whole vectors past the end of a part. */
const SLACK = 64;

let bytes = new Uint8Array((kernels.memory as WebAssembly.Memory).buffer);

/** The memory of the kernels; another array after {@link Layout.reserve}. */
export function memory(): Uint8Array {
  return bytes;
}

/** A part of the memory as 16-bit values. */
export function values(address: number, length: number): Int16Array {
  return new Int16Array(bytes.buffer, address, length);
}

/** A part of the memory as 32-bit words. */
export function words(address: number, length: number): Uint32Array {
  return new Uint32Array(bytes.buffer, address, length);
}

/** Addresses of the parts that one task needs. */
export class Layout {
  #end = kernels.base() as number;

  /** The address of a new part. */
  take(byteCount: number): number {
    const at = this.#end;
    this.#end = at + byteCount + SLACK + 15 & ~15;
    return at;
  }

  /** Makes room for all parts. @throws RangeError where no memory is left */
  reserve(): void {
    if (!kernels.reserve(this.#end)) throw new RangeError("Cannot code an image of this width: no memory is left");
    const { buffer } = kernels.memory as WebAssembly.Memory;
    if (bytes.buffer !== buffer) bytes = new Uint8Array(buffer);
  }
}
