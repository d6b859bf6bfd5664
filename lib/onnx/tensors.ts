/** How ONNX names the element types of arrays, and what a graph says of its inputs and outputs. */
import type { Dtype, NdArray } from "../numeric/ndarray.ts";
import type { Dimension } from "./graph.ts";

/** An input or output of a graph; a dimension is a size, the name of one that is free, or null where nothing is said. */
export interface TensorInfo {
  name: string;
  dtype: Dtype;
  shape: readonly Dimension[];
}

/** Tensor types as the runtime names them. ONNX has no complex type, and texts are no arrays. */
export type TensorType =
  | "float32"
  | "float16"
  | "float64"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "bool";

const TYPES: readonly string[] = [
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
] satisfies TensorType[];

/** Whether arrays of a dtype can be tensors; their names agree. */
export function isTensorType(dtype: string): dtype is TensorType & Dtype {
  return TYPES.includes(dtype);
}

/** An array on memory of its own, which may be handed to another thread. */
export function ownArray({ dtype, shape, data }: NdArray): NdArray {
  return { dtype, shape: [...shape], data: data.slice() };
}

/** The buffers of arrays, for a transfer. */
export function buffersOf(arrays: Readonly<Record<string, NdArray>>): ArrayBuffer[] {
  return Object.values(arrays).map(({ data }) => data.buffer as ArrayBuffer);
}

/**
 * Why an array does not fit what a graph declares, or null.
 *
 * @param sizes free dimensions that were seen, by name; completed with those of this array
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
