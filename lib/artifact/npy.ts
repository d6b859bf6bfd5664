/**
 * NPY arrays, compatible with NumPy.
 *
 * Read: bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and complex128, either byte order, C and
 * Fortran order, versions 1.0 to 3.0; single Unicode texts by {@link readNpyText}. Written, as `np.save` does: version
 * 1.0, little-endian, C order. All platforms of Deno are little-endian, so native arrays are stored as in memory.
 */
import { nodeBuffer } from "../contract/node_builtins.ts";
import { SvcError } from "../contract/error.ts";
import { DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import { type NpyHeader, npyHeader, parseNpyHeader } from "./npy_header.ts";

/**
 * Reads an NPY file into private memory, in C order and native byte order.
 * @param name name of the array, for messages
 * @throws SvcError `artifact_npy_invalid`, `artifact_npy_truncated`, `artifact_npy_unsupported`
 */
export function readNpy(bytes: Uint8Array, name = "the array"): NdArray {
  const header = parseNpyHeader(bytes, name);
  if (header.dtype === "text") {
    throw new SvcError("artifact_npy_unsupported", `Cannot read ${name} as numbers: it holds text`);
  }
  const { itemSize, slots, make } = DTYPES[header.dtype];
  const region = dataRegion(bytes, header, name);
  // Allocated only after the file is known to hold as much.
  const copy = new Uint8Array(new ArrayBuffer(region.length));
  copy.set(region);
  // Complex numbers are swapped part by part.
  if (header.bigEndian) swapBytes(copy, itemSize / slots);
  const ordered = header.fortranOrder ? fortranToC(copy, header.shape, itemSize) : copy;
  if (header.dtype === "bool") { for (let i = 0; i < ordered.length; i++) if (ordered[i] > 1) ordered[i] = 1; }
  return {
    dtype: header.dtype,
    shape: header.shape,
    data: make(ordered.buffer, 0, elementCount(header.shape) * slots),
  };
}

/**
 * Type and shape of an NPY file.
 * @param head its first bytes, with the header
 * @param size bytes of the file, which must be those of the shape
 * @throws SvcError as {@link readNpy}
 */
export function npyForm(head: Uint8Array, size: number, name: string): Pick<NpyHeader, "dtype" | "shape"> {
  const header = parseNpyHeader(head, name);
  checkSize(size, header, name);
  return { dtype: header.dtype, shape: header.shape };
}

/**
 * A view of an NPY file's data, if it has the layout of memory.
 * @returns null for data that must be converted
 */
export function nativeRegion(bytes: Uint8Array, name: string): Uint8Array | null {
  const header = parseNpyHeader(bytes, name);
  const oneDimensional = header.shape.length < 2;
  if (header.bigEndian || header.dtype === "bool" || (header.fortranOrder && !oneDimensional)) return null;
  return dataRegion(bytes, header, name);
}

/**
 * The array of an NPY file as a view of it.
 * @returns null for data that must be converted or that is not aligned
 */
export function viewNpy(bytes: Uint8Array, name: string): NdArray | null {
  const region = nativeRegion(bytes, name), { dtype, shape } = parseNpyHeader(bytes, name);
  if (region === null || dtype === "text") return null;
  const { itemSize, slots, make } = DTYPES[dtype];
  if (region.byteOffset % (itemSize / slots) !== 0) return null;
  return { dtype, shape, data: make(region.buffer, region.byteOffset, elementCount(shape) * slots) };
}

/** Writes a text as a 0-d Unicode array. */
export function writeNpyText(text: string): Uint8Array {
  const codePoints = [...text].length;
  // NumPy has no empty Unicode type: its '' is one NUL.
  const width = Math.max(codePoints, 1);
  const header = npyHeader(width, []);
  const file = new Uint8Array(header.length + 4 * width);
  file.set(header);
  const view = new DataView(file.buffer);
  let at = header.length;
  for (const character of text) {
    view.setUint32(at, character.codePointAt(0)!, true);
    at += 4;
  }
  return file;
}

/**
 * Reads a 0-d (or one-element) Unicode array.
 * @throws SvcError `artifact_npy_invalid`, `artifact_npy_truncated`, `artifact_npy_unsupported`
 */
export function readNpyText(bytes: Uint8Array, name = "the text"): string {
  const header = parseNpyHeader(bytes, name);
  if (header.dtype !== "text" || elementCount(header.shape) !== 1) {
    throw new SvcError("artifact_npy_unsupported", `Cannot read ${name} as a text: it is not a single Unicode element`);
  }
  const region = dataRegion(bytes, header, name);
  const view = new DataView(region.buffer, region.byteOffset, region.byteLength);
  let length = header.textLength;
  while (length > 0 && view.getUint32(4 * (length - 1), true) === 0) length--;
  const pieces: string[] = [];
  let piece: number[] = [];
  for (let i = 0; i < length; i++) {
    const codePoint = view.getUint32(4 * i, !header.bigEndian);
    if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
      throw new SvcError(
        "artifact_npy_invalid",
        `Cannot read ${name} as a text: element ${i} is not a Unicode character`,
      );
    }
    piece.push(codePoint);
    if (piece.length === 8192) {
      pieces.push(String.fromCodePoint(...piece));
      piece = [];
    }
  }
  return pieces.join("") + String.fromCodePoint(...piece);
}

function dataRegion(bytes: Uint8Array, header: NpyHeader, name: string): Uint8Array {
  checkSize(bytes.length, header, name);
  return bytes.subarray(header.dataOffset);
}

function checkSize(size: number, header: NpyHeader, name: string): void {
  const available = size - header.dataOffset;
  const shape = `[${header.shape.join(", ")}]`;
  if (available < header.dataBytes) {
    throw new SvcError(
      "artifact_npy_truncated",
      `Cannot read ${name}: its shape ${shape} needs ${header.dataBytes} bytes but has ${available}`,
    );
  }
  if (available > header.dataBytes) {
    throw new SvcError(
      "artifact_npy_invalid",
      `Cannot read ${name}: ${available - header.dataBytes} bytes follow the data of its shape ${shape}`,
    );
  }
}

function swapBytes(bytes: Uint8Array, width: number): void {
  const buffer = nodeBuffer().from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  if (width === 2) buffer.swap16();
  else if (width === 4) buffer.swap32();
  else if (width === 8) buffer.swap64();
}

/** Reorders elements from columns first to rows first; words are copied unchanged, so NaN payloads are kept. */
export function fortranToC(
  bytes: Uint8Array<ArrayBuffer>,
  shape: readonly number[],
  itemSize: number,
): Uint8Array<ArrayBuffer> {
  if (shape.length < 2 || bytes.length === 0) return bytes;
  const Words = itemSize === 1 ? Uint8Array : itemSize === 2 ? Uint16Array : Uint32Array;
  const words = Math.max(1, itemSize / 4);
  const source = new Words(bytes.buffer as ArrayBuffer);
  const target = new Words(source.length);
  const rank = shape.length, inner = shape[rank - 1];
  let step = words;
  const strides = shape.map((size) => {
    const stride = step;
    step *= size;
    return stride;
  });
  const index = new Array<number>(rank).fill(0);
  let from = 0;
  for (let to = 0; to < target.length;) {
    for (let i = 0, read = from; i < inner; i++, read += strides[rank - 1]) {
      for (let word = 0; word < words; word++) target[to++] = source[read + word];
    }
    // Increments the outer axes with carry.
    for (let axis = rank - 2; axis >= 0; axis--) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return new Uint8Array(target.buffer);
}
