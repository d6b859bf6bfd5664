/**
 * The header of an NPY file: magic, version, and a Python dictionary with dtype, order and shape.
 *
 * Format: NumPy Enhancement Proposal 1 and `numpy.lib.format` (versions 1.0, 2.0, 3.0). Written headers are
 * byte-identical to those of `np.save` for native arrays in C order.
 */
import { SvcError } from "../contract/error.ts";
import { type Dtype, DTYPES } from "../numeric/array/ndarray.ts";

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
/** Longer headers of plain arrays are damaged or hostile. */
const MAX_HEADER_BYTES = 1 << 16;
/** Of magic, version, length and dictionary. */
export const MAX_NPY_HEADER_BYTES = 12 + MAX_HEADER_BYTES;
/** NumPy 2 has at most 64 dimensions. */
const MAX_RANK = 64;
/** `np.save` reserves this width for the growing axis. */
const GROWTH_AXIS_DIGITS = 21;
const ALIGNMENT = 64;

const CODE_OF: Readonly<Record<Dtype, string>> = {
  bool: "|b1",
  int8: "|i1",
  int16: "<i2",
  int32: "<i4",
  int64: "<i8",
  uint8: "|u1",
  uint16: "<u2",
  uint32: "<u4",
  uint64: "<u8",
  float16: "<f2",
  float32: "<f4",
  float64: "<f8",
  complex64: "<c8",
  complex128: "<c16",
};
const DTYPE_OF = new Map((Object.entries(CODE_OF) as [Dtype, string][]).map(([dtype, code]) => [code.slice(1), dtype]));

/** The header's description of the data. */
export interface NpyHeader {
  /** Type of the elements; `text` is fixed-width Unicode of `textLength` code points. */
  readonly dtype: Dtype | "text";
  readonly textLength: number;
  readonly bigEndian: boolean;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
  /** Offset of the data. */
  readonly dataOffset: number;
  /** Bytes of data required by the shape. */
  readonly dataBytes: number;
}

/**
 * Writes an NPY 1.0 header for little-endian data in C order.
 * @param dtype element type, or the number of code points of a Unicode element
 */
export function npyHeader(dtype: Dtype | number, shape: readonly number[]): Uint8Array {
  const code = typeof dtype === "number" ? `<U${dtype}` : CODE_OF[dtype];
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  let text = `{'descr': '${code}', 'fortran_order': False, 'shape': ${tuple}, }`;
  if (shape.length > 0) text += " ".repeat(Math.max(0, GROWTH_AXIS_DIGITS - String(shape[0]).length));
  const unpadded = MAGIC.length + 4 + text.length + 1;
  text += " ".repeat(ALIGNMENT - (unpadded % ALIGNMENT)) + "\n";
  if (text.length > 0xffff) throw new RangeError("An NPY 1.0 header cannot hold this shape");
  const header = new Uint8Array(MAGIC.length + 4 + text.length);
  header.set(MAGIC);
  header.set([1, 0, text.length & 0xff, text.length >> 8], MAGIC.length);
  for (let i = 0; i < text.length; i++) header[MAGIC.length + 4 + i] = text.charCodeAt(i);
  return header;
}

/**
 * Reads the header at the start of an NPY file.
 * @param name name of the array, for messages
 * @throws SvcError `artifact_npy_invalid`, `artifact_npy_truncated`, or `artifact_npy_unsupported` for objects, records
 *   and other non-numeric types
 */
export function parseNpyHeader(bytes: Uint8Array, name: string): NpyHeader {
  const invalid = (why: string) => new SvcError("artifact_npy_invalid", `Cannot read ${name} as NPY: ${why}`);
  const truncated = () =>
    new SvcError("artifact_npy_truncated", `Cannot read ${name} as NPY: it ends inside its header`);
  const present = Math.min(bytes.length, MAGIC.length);
  for (let i = 0; i < present; i++) if (bytes[i] !== MAGIC[i]) throw invalid("it does not begin with the NPY magic");
  if (bytes.length < 10) throw truncated();
  const version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] !== 0) throw invalid(`its version is ${version}.${bytes[7]}`);
  let length = bytes[8] | (bytes[9] << 8), start = 10;
  if (version > 1) {
    if (bytes.length < 12) throw truncated();
    length += bytes[10] * 0x10000 + bytes[11] * 0x1000000;
    start = 12;
  }
  if (length > MAX_HEADER_BYTES) throw invalid(`its header claims ${length} bytes`);
  if (bytes.length < start + length) throw truncated();
  // A copy, since decoders refuse shared memory. Versions 1 and 2 are Latin-1, which only field names could show.
  const text = String.fromCharCode(...chunk(bytes, start, length));
  const fields = parseHeaderText(text, invalid, name);
  const { dtype, textLength, bigEndian, itemSize } = elementType(fields.descr, invalid, name);
  return {
    dtype,
    textLength,
    bigEndian,
    fortranOrder: fields.fortranOrder,
    shape: fields.shape,
    dataOffset: start + length,
    dataBytes: itemSize * countElements(fields.shape, itemSize, invalid),
  };
}

/** Header texts are at most 64 KiB, below the argument limit of a call. */
function chunk(bytes: Uint8Array, start: number, length: number): Uint8Array {
  return bytes.subarray(start, start + length);
}

function countElements(shape: readonly number[], itemSize: number, invalid: (why: string) => SvcError): number {
  const extent = shape.reduce((product, size) => product * (size || 1), 1);
  if (extent * Math.max(itemSize, 1) > Number.MAX_SAFE_INTEGER) throw invalid("its shape is too large for any memory");
  return shape.includes(0) ? 0 : extent;
}

function elementType(descr: string, invalid: (why: string) => SvcError, name: string) {
  const parts = /^([<>|]?)([A-Za-z?])(.*)$/.exec(descr);
  if (parts === null) throw invalid(`its dtype is ${JSON.stringify(descr.slice(0, 40))}`);
  const [, order, letter, size] = parts;
  const bigEndian = order === ">";
  if (letter === "U" && /^\d{1,9}$/.test(size)) {
    const textLength = Number(size);
    return { dtype: "text" as const, textLength, bigEndian, itemSize: 4 * textLength };
  }
  const dtype = DTYPE_OF.get(letter + size);
  if (dtype === undefined) {
    throw new SvcError("artifact_npy_unsupported", `Cannot read ${name}: arrays of dtype ${descr} are not supported`, {
      hint: letter === "O"
        ? "Object arrays hold pickled Python code; save the array with a numeric dtype"
        : "Convert it to bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 or complex128",
    });
  }
  const { itemSize } = DTYPES[dtype];
  if (order !== "<" && order !== ">" && itemSize > 1) throw invalid(`its dtype ${descr} has no byte order`);
  return { dtype, textLength: 0, bigEndian, itemSize };
}

/** Reads the dictionary of a header: exactly `descr`, `fortran_order` and `shape`, in any order. */
function parseHeaderText(text: string, invalid: (why: string) => SvcError, name: string) {
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return null;
    at = pattern.lastIndex;
    return found[1] ?? found[0];
  };
  const need = (pattern: RegExp, what: string): string => {
    const found = take(pattern);
    if (found === null) throw invalid(`its header has no ${what} at character ${at}`);
    return found;
  };
  let descr: string | undefined, fortranOrder: boolean | undefined, shape: number[] | undefined;
  need(/\s*\{/y, "dictionary");
  while (take(/\s*\}\s*$/y) === null) {
    const key = need(/\s*['"]([a-z_]{1,20})['"]\s*:\s*/y, "key");
    if (key === "descr" && descr === undefined) {
      if (/[[(]/.test(text[at] ?? "")) {
        throw new SvcError("artifact_npy_unsupported", `Cannot read ${name}: record arrays are not supported`, {
          hint: "Save each field as a separate array",
        });
      }
      descr = need(/['"]([^'"]{0,80})['"]/y, "dtype");
    } else if (key === "fortran_order" && fortranOrder === undefined) {
      fortranOrder = need(/True|False/y, "truth value") === "True";
    } else if (key === "shape" && shape === undefined) {
      // Python 2 wrote long integers with a trailing L.
      const tuple = need(/\(\s*((?:\d{1,19}L?\s*,\s*)*(?:\d{1,19}L?\s*)?)\)/y, "shape");
      const sizes = tuple.split(",").map((size) => size.trim().replace("L", "")).filter((size) => size !== "");
      shape = sizes.map(Number);
      if (sizes.length === 1 && !tuple.includes(",")) throw invalid("its shape is a number, not a tuple");
      if (shape.length > MAX_RANK || !shape.every(Number.isSafeInteger)) throw invalid("its shape is out of range");
    } else {
      throw invalid(`its header has the repeated or unknown key ${key}`);
    }
    if (take(/\s*,/y) === null && !/^\s*\}/.test(text.slice(at))) throw invalid("its header has no comma");
  }
  if (descr === undefined || fortranOrder === undefined || shape === undefined) {
    throw invalid("its header lacks descr, fortran_order or shape");
  }
  return { descr, fortranOrder, shape };
}
