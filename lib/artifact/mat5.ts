/**
 * MATLAB files of Level 5 (save -v6 and -v7, scipy.io.savemat): numeric arrays, real and complex, in either byte order.
 *
 * Data are stored by columns, in any numeric type that holds the values; arrays have the type of their class. Complex
 * integers become complex64, of more than 16 bits complex128. Cells, structs, texts and sparse arrays have a form, but no
 * values here. Version 7.3 is HDF5.
 *
 * Format: MathWorks, "MAT-File Format", R2024a.
 */
import { SvcError } from "../contract/error.ts";
import { type Dtype, DTYPES, elementCount, type NdArray, type TypedData } from "../numeric/array/ndarray.ts";
import { type ArrayFile, type ArrayLimits, missingArray } from "./array_access.ts";
import { type ByteSource, viewOf } from "./byte_source.ts";
import { inflated, inflatedHead, MAX_DEFLATE_RATIO, type Packed } from "./inflate.ts";
import { fortranToC } from "./npy.ts";

const HEADER_BYTES = 128, MATRIX = 14, COMPRESSED = 15;
/** Flags, dimensions and name of an array; more is no numeric array of MATLAB. */
const MAX_HEAD_BYTES = 1024, MAX_RANK = 32;

interface Stored {
  bytes: number;
  get(view: DataView, at: number, little: boolean): number | bigint;
}
/** Types of stored numbers. */
const STORED: Readonly<Record<number, Stored>> = {
  1: { bytes: 1, get: (view, at) => view.getInt8(at) },
  2: { bytes: 1, get: (view, at) => view.getUint8(at) },
  3: { bytes: 2, get: (view, at, little) => view.getInt16(at, little) },
  4: { bytes: 2, get: (view, at, little) => view.getUint16(at, little) },
  5: { bytes: 4, get: (view, at, little) => view.getInt32(at, little) },
  6: { bytes: 4, get: (view, at, little) => view.getUint32(at, little) },
  7: { bytes: 4, get: (view, at, little) => view.getFloat32(at, little) },
  9: { bytes: 8, get: (view, at, little) => view.getFloat64(at, little) },
  12: { bytes: 8, get: (view, at, little) => view.getBigInt64(at, little) },
  13: { bytes: 8, get: (view, at, little) => view.getBigUint64(at, little) },
};
/** Numeric classes from 6. */
const CLASSES: readonly Dtype[] = [
  "float64",
  "float32",
  "int8",
  "uint8",
  "int16",
  "uint16",
  "int32",
  "uint32",
  "int64",
  "uint64",
];
const OTHER_CLASSES = ["unknown", "cell", "struct", "object", "char", "sparse"];
const COMPLEX_FLAG = 0x800, LOGICAL_FLAG = 0x200;

/** Contents of a matrix element, without its tag. */
interface Element {
  readonly size: number;
  begin(count: number): Uint8Array;
  read(): Uint8Array;
}

interface Matrix {
  readonly name: string;
  readonly dtype: Dtype | null;
  /** The class of an array without a dtype here. */
  readonly className: string;
  readonly isComplex: boolean;
  readonly shape: readonly number[];
  /** Offset of the first number's tag. */
  readonly dataAt: number;
}

/**
 * Opens a file; arrays are read on request.
 * @throws SvcError `artifact_archive_invalid`, `artifact_archive_unsupported`, `artifact_limit_exceeded`
 */
export function openMat5(source: ByteSource, name: string, limits: ArrayLimits): ArrayFile {
  const invalid = (why: string) => new SvcError("artifact_archive_invalid", `Cannot open ${name}: ${why}`);
  const exceeded = (why: string) => new SvcError("artifact_limit_exceeded", `Cannot open ${name}: ${why}`);
  const header = source.at(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES) throw invalid("it is too short for a MATLAB file");
  const order = String.fromCharCode(header[126], header[127]), little = order === "IM";
  if (!little && order !== "MI") throw invalid("it is no MATLAB file of Level 5");
  const version = viewOf(header).getUint16(124, little);
  if (version !== 0x100) {
    throw new SvcError("artifact_archive_unsupported", `Cannot open ${name}: its version is ${version.toString(16)}`, {
      hint: "Save it with -v7 or scipy.io.savemat",
    });
  }
  const found = new Map<string, { matrix: Matrix; element: Element }>();
  let expanded = 0;
  for (let at = HEADER_BYTES; at < source.size;) {
    const { type, from, length, next } = tagAt(source.at(at, 8), at);
    if (from + length > source.size) throw invalid(`its element at byte ${at} extends beyond the file`);
    const element = type === MATRIX
      ? plain(from, length)
      : type === COMPRESSED
      ? packed({ source, from, length, raw: false, refuse: (why) => invalid(`its element at byte ${at} ${why}`) })
      : null;
    if (element === null) throw invalid(`its element at byte ${at} is of type ${type}`);
    expanded += element.size;
    if (expanded > limits.maxBytes) throw exceeded(`its contents exceed ${limits.maxBytes} bytes`);
    const matrix = matrixOf(element.begin(Math.min(element.size, MAX_HEAD_BYTES)), at);
    // Arrays without a name are notes of MATLAB for itself.
    if (matrix.name !== "") {
      if (found.has(matrix.name)) throw invalid(`it holds two arrays named ${matrix.name}`);
      if (found.size === limits.maxArrays) throw exceeded(`it has more than ${limits.maxArrays} arrays`);
      found.set(matrix.name, { matrix, element });
    }
    // Compressed elements are not padded.
    at = type === COMPRESSED ? from + length : next;
  }
  const names = [...found.keys()];
  const entryOf = (array: string) => {
    const entry = found.get(array);
    if (entry !== undefined) return entry;
    throw missingArray(array, name, names);
  };
  return {
    names,
    has: (array) => found.has(array),
    form(array) {
      const { dtype, className, shape } = entryOf(array).matrix;
      return { dtype: dtype ?? className, shape };
    },
    array(array) {
      const { matrix, element } = entryOf(array);
      if (matrix.dtype !== null) return numbersOf(matrix.dtype, matrix, element.read());
      throw new SvcError(
        "artifact_archive_unsupported",
        `Cannot read ${array} of ${name}: it is a ${matrix.className}`,
      );
    },
    [Symbol.dispose]() {},
  };

  /** A tag; `start` names its place. */
  function tagAt(bytes: Uint8Array, start: number): { type: number; from: number; length: number; next: number } {
    if (bytes.length < 8) throw invalid(`it ends within the element at byte ${start}`);
    const view = viewOf(bytes), first = view.getUint32(0, little), length = first >>> 16;
    // A small element has its size in the upper half, and its data in the second half of the tag.
    if (length !== 0) {
      if (length > 4) throw invalid(`its small element at byte ${start} claims ${length} bytes`);
      return { type: first & 0xffff, from: start + 4, length, next: start + 8 };
    }
    const size = view.getUint32(4, little);
    return { type: first, from: start + 8, length: size, next: start + 8 + Math.ceil(size / 8) * 8 };
  }

  function plain(from: number, size: number): Element {
    const read = () => source.at(from, size);
    return { size, begin: (count) => source.at(from, count), read };
  }

  function packed(data: Packed): Element {
    const { type, length: size } = tagAt(inflatedHead(data, 8), 0);
    if (type !== MATRIX) throw data.refuse(`holds an element of type ${type}`);
    if (size > data.length * MAX_DEFLATE_RATIO + 64) throw data.refuse(`claims ${size} bytes in ${data.length}`);
    return {
      size,
      begin: (count) => inflatedHead(data, 8 + count).subarray(8),
      read: () => inflated(data, 8 + size).subarray(8),
    };
  }

  function matrixOf(head: Uint8Array, place: number): Matrix {
    const damaged = () => invalid(`its array at byte ${place} is damaged`);
    const view = viewOf(head), at = (offset: number) => tagAt(head.subarray(offset, offset + 8), offset);
    const flags = at(0), dimensions = at(flags.next), label = at(dimensions.next);
    const rank = dimensions.length / 4;
    if (flags.type !== 6 || flags.length !== 8 || dimensions.type !== 5 || label.type !== 1) throw damaged();
    if (!Number.isInteger(rank) || rank < 2 || rank > MAX_RANK || label.next > head.length) throw damaged();
    const word = view.getUint32(flags.from, little), kind = word & 0xff, isComplex = (word & COMPLEX_FLAG) !== 0;
    const shape = Array.from({ length: rank }, (_, axis) => view.getInt32(dimensions.from + 4 * axis, little));
    if (shape.some((size) => size < 0)) throw damaged();
    const name = new TextDecoder().decode(head.slice(label.from, label.from + label.length));
    const base = (word & LOGICAL_FLAG) !== 0 && kind === 9 ? "bool" : CLASSES[kind - 6] ?? null;
    const dtype = base !== null && isComplex ? complexOf(base) : base;
    const count = elementCount(shape);
    if (dtype !== null && !(count * DTYPES[dtype].itemSize <= limits.maxBytes)) {
      throw exceeded(`its array ${name} of [${shape.join(", ")}] exceeds ${limits.maxBytes} bytes`);
    }
    return { name, dtype, className: OTHER_CLASSES[kind] ?? OTHER_CLASSES[0], isComplex, shape, dataAt: label.next };
  }

  function numbersOf(dtype: Dtype, { name: array, shape, isComplex, dataAt }: Matrix, bytes: Uint8Array): NdArray {
    const { itemSize, slots, make } = DTYPES[dtype], count = elementCount(shape), view = viewOf(bytes);
    const columns = new Uint8Array(count * itemSize), values = make(columns.buffer, 0, count * slots);
    const convert =
      (values instanceof BigInt64Array || values instanceof BigUint64Array ? BigInt : Number) as NumberConstructor;
    let at = dataAt;
    for (let part = 0; part < (isComplex ? 2 : 1); part++) {
      const { type, from, length, next } = tagAt(bytes.subarray(at, at + 8), at), stored = STORED[type];
      if (stored === undefined || length !== count * stored.bytes || from + length > bytes.length) {
        throw invalid(`the array ${array} does not have the numbers of its shape [${shape.join(", ")}]`);
      }
      for (let i = 0; i < count; i++) {
        values[i * slots + part] = convert(stored.get(view, from + i * stored.bytes, little));
      }
      at = next;
    }
    const ordered = fortranToC(columns, shape, itemSize);
    return { dtype, shape, data: make(ordered.buffer, 0, count * slots) as TypedData };
  }
}

const complexOf = (dtype: Dtype): Dtype => dtype === "float32" || /8|16/.test(dtype) ? "complex64" : "complex128";
