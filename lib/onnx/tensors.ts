/** ONNX element types of arrays, and tensor descriptions of a graph. */
import type { Dtype, NdArray } from "../numeric/array/ndarray.ts";
import type { Dimension } from "./graph.ts";

/** An input or output of a graph; a dimension is a size, the name of a free one, or null if unspecified. */
export interface TensorInfo {
  name: string;
  dtype: Dtype;
  shape: readonly Dimension[];
}

const TYPES = [
  "float32",
  "float16",
  "float64",
  "int8",
  "int16",
  "int32",
  "int64",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "bool",
] as const;
/** Tensor types by their runtime names. ONNX has no complex type, and texts are not arrays. */
export type TensorType = typeof TYPES[number];

/** Whether arrays of a dtype can be tensors; the names are equal. */
export function isTensorType(dtype: string): dtype is TensorType & Dtype {
  return (TYPES as readonly string[]).includes(dtype);
}

/** A copy of an array, for transfer to another thread. */
export function ownArray({ dtype, shape, data }: NdArray): NdArray {
  return { dtype, shape: [...shape], data: data.slice() };
}

/** The buffers of arrays. */
function buffersOf(arrays: Readonly<Record<string, NdArray>>): ArrayBuffer[] {
  return Object.values(arrays).map(({ data }) => data.buffer as ArrayBuffer);
}

/** Smaller buffers are copied to another thread: a transfer takes longer. */
const TRANSFER_FROM = 1 << 15;

/** The buffers of arrays to transfer with a message. */
export function transferOf(arrays: Readonly<Record<string, NdArray>>): ArrayBuffer[] {
  return buffersOf(arrays).filter(({ byteLength }) => byteLength >= TRANSFER_FROM);
}

/**
 * Why an array does not match a tensor description, or null.
 * @param sizes known free dimensions, by name; completed with those of this array
 */
export function misfit(array: NdArray, info: TensorInfo, sizes: Map<string, number>): string | null {
  if (array.dtype !== info.dtype) return `${info.name} is ${array.dtype} and should be ${info.dtype}`;
  const shown = `${info.name} has the shape [${array.shape}] and should have [${
    info.shape.map((size) => size ?? "?")
  }]`;
  if (array.shape.length !== info.shape.length) return shown;
  for (const [axis, size] of info.shape.entries()) {
    const actual = array.shape[axis];
    if (typeof size === "number" && size !== actual) return shown;
    if (typeof size !== "string") continue;
    const known = sizes.get(size);
    if (known !== undefined && known !== actual) return `${shown}, where ${size} is ${known}`;
    sizes.set(size, actual);
  }
  return null;
}
