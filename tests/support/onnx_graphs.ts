/** Small graphs whose results are known by hand. */
import type { Dtype } from "../../lib/numeric/ndarray.ts";
import { ELEMENT_TYPES, onnxModel } from "./onnx_writer.ts";

/** y = x·W row by row, W float32 [columns, results] in C order. */
export function linearModel(weights: readonly number[], columns: number): Uint8Array<ArrayBuffer> {
  const results = weights.length / columns;
  return onnxModel({
    nodes: [{ op: "MatMul", inputs: ["x", "w"], outputs: ["y"] }],
    inputs: [{ name: "x", shape: ["n", columns] }],
    outputs: [{ name: "y", shape: ["n", results] }],
    initializers: [{ name: "w", data: Float32Array.from(weights), shape: [columns, results] }],
  });
}

/** y = x, of any type. */
export function identityModel(dtype: Dtype, shape: readonly (number | string)[] = ["n"]): Uint8Array<ArrayBuffer> {
  const type = ELEMENT_TYPES[dtype];
  return onnxModel({
    nodes: [{ op: "Identity", inputs: ["x"], outputs: ["y"] }],
    inputs: [{ name: "x", type, shape }],
    outputs: [{ name: "y", type, shape }],
  });
}
