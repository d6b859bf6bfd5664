/** Estimates of outputs with the form of an input. */
import type { OutputEstimate, OutputSize } from "./api.ts";
import { DTYPES, elementCount } from "../lib/numeric/array/ndarray.ts";

/** The size of an output with the main array of an input; its shape is known where the input has no companion arrays. */
export function sizeOfInput({ bytes, shape }: OutputSize, dtype: "uint8" | "complex64"): OutputEstimate {
  const plain = shape !== undefined && bytes === DTYPES[dtype].itemSize * elementCount(shape);
  return plain ? [[dtype, ...shape]] : bytes;
}
