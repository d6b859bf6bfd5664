/** Small graphs whose results are known by hand. */
import type { Dtype } from "../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { ELEMENT_TYPES, onnxModel, type TestNode, type TestTensor } from "./onnx_writer.ts";

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

/** Dense layers of the given widths with a tanh between, their weights drawn with one seed. */
export function perceptron(widths: readonly number[], seed = 5n): Uint8Array<ArrayBuffer> {
  const generator = Generator.seeded(seed);
  const last = widths.length - 2;
  const nodes: TestNode[] = [], initializers: TestTensor[] = [];
  for (let layer = 0; layer <= last; layer++) {
    const [inputs, outputs] = [widths[layer], widths[layer + 1]];
    const data = Float32Array.from(generator.standardNormal(inputs * outputs), (w) => w / Math.sqrt(inputs));
    initializers.push({ name: `w${layer}`, data, shape: [inputs, outputs] });
    const product = layer === last ? "y" : `a${layer}`;
    nodes.push({ op: "MatMul", inputs: [layer === 0 ? "x" : `h${layer}`, `w${layer}`], outputs: [product] });
    if (layer < last) nodes.push({ op: "Tanh", inputs: [product], outputs: [`h${layer + 1}`] });
  }
  return onnxModel({
    nodes,
    inputs: [{ name: "x", shape: ["n", widths[0]] }],
    outputs: [{ name: "y", shape: ["n", widths.at(-1)!] }],
    initializers,
  });
}

/** A stack of 3 × 3 convolutions with ReLU over pictures [n, 3, size, size]. */
export function convolutions(channels: readonly number[], size: number, seed = 6n): Uint8Array<ArrayBuffer> {
  const generator = Generator.seeded(seed);
  const widths = [3, ...channels], last = widths.length - 2;
  const nodes: TestNode[] = [], initializers: TestTensor[] = [];
  for (let layer = 0; layer <= last; layer++) {
    const [inputs, outputs] = [widths[layer], widths[layer + 1]];
    const data = Float32Array.from(generator.standardNormal(9 * inputs * outputs), (w) => w / Math.sqrt(9 * inputs));
    initializers.push({ name: `w${layer}`, data, shape: [outputs, inputs, 3, 3] });
    nodes.push({
      op: "Conv",
      inputs: [layer === 0 ? "x" : `h${layer}`, `w${layer}`],
      outputs: [`a${layer}`],
      attributes: { pads: [1, 1, 1, 1] },
    }, { op: "Relu", inputs: [`a${layer}`], outputs: [layer === last ? "y" : `h${layer + 1}`] });
  }
  return onnxModel({
    nodes,
    inputs: [{ name: "x", shape: ["n", 3, size, size] }],
    outputs: [{ name: "y", shape: ["n", widths.at(-1)!, size, size] }],
    initializers,
  });
}
