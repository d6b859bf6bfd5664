/** Graphs of a few hundred bytes that ask for unbounded time or memory, and make a number from a number. */
import { ELEMENT_TYPES, graph, onnxModel, type TestNode, type TestTensor } from "./onnx_writer.ts";

const BOOL = ELEMENT_TYPES.bool!, INT64 = ELEMENT_TYPES.int64!;
const sizes = (name: string, ...values: number[]): TestTensor => ({
  name,
  shape: [values.length],
  data: BigInt64Array.from(values, BigInt),
});

/** From the number `number` to the number `result`. */
interface Hostile {
  nodes: readonly TestNode[];
  initializers: readonly TestTensor[];
}

/** A model that adds the result to every element of an array, with the names of an operation's ports. */
export function hostileModel(
  { nodes, initializers }: Hostile,
  ports: { input: string; output: string; shape: readonly (number | string)[] } = {
    input: "x",
    output: "y",
    shape: [],
  },
): Uint8Array<ArrayBuffer> {
  const { input, output, shape } = ports;
  return onnxModel({
    nodes: [
      { op: "ReduceMax", inputs: [input], outputs: ["number"], attributes: { keepdims: 0 } },
      ...nodes,
      { op: "Add", inputs: [input, "result"], outputs: [output] },
    ],
    initializers,
    inputs: [{ name: input, shape }],
    outputs: [{ name: output, shape }],
  });
}

/** The value true, which is not known before the graph runs. */
const TRUE: TestNode = { op: "Cast", inputs: ["number"], outputs: ["true"], attributes: { to: BOOL } };
const largest = (input: string): TestNode => ({
  op: "ReduceMax",
  inputs: [input],
  outputs: ["result"],
  attributes: { keepdims: 0 },
});

/** The body of a loop without end: its condition stays true, and `nodes` make `next` from `value`. */
function endlessBody(nodes: readonly TestNode[], shape: readonly (number | string)[], level = 0): Uint8Array {
  return graph({
    nodes: [{ op: "Identity", inputs: [`go${level}`], outputs: [`on${level}`] }, ...nodes],
    inputs: [
      { name: `turn${level}`, type: INT64, shape: [] },
      { name: `go${level}`, type: BOOL, shape: [] },
      { name: `value${level}`, shape },
    ],
    outputs: [{ name: `on${level}`, type: BOOL, shape: [] }, { name: `next${level}`, shape: shape.map(() => "grown") }],
  });
}

const loop = (body: Uint8Array, input: string, output: string): TestNode => ({
  op: "Loop",
  inputs: ["", "true", input],
  outputs: [output],
  attributes: { body },
});

/** A `Loop` without a trip count. */
export function endlessLoop(): Hostile {
  const body = endlessBody([{ op: "Add", inputs: ["value0", "number"], outputs: ["next0"] }], []);
  return { nodes: [TRUE, loop(body, "number", "result")], initializers: [] };
}

/** Loops of 2^62 turns within each other. */
export function nestedLoops(depth: number): Hostile {
  let inner: TestNode = { op: "Add", inputs: ["value0", "number"], outputs: ["next0"] };
  for (let level = 0; level < depth; level++) {
    const outermost = level + 1 === depth, body = endlessBody([inner], [], level);
    inner = {
      op: "Loop",
      inputs: ["turns", "true", outermost ? "number" : `value${level + 1}`],
      outputs: [outermost ? "result" : `next${level + 1}`],
      attributes: { body },
    };
  }
  return { nodes: [TRUE, inner], initializers: [{ name: "turns", shape: [], data: BigInt64Array.of(2n ** 62n) }] };
}

/** A loop that doubles an array in each turn. */
export function doublingLoop(): Hostile {
  const double = { op: "Concat", inputs: ["value0", "value0"], outputs: ["next0"], attributes: { axis: 0 } };
  const start = { op: "Reshape", inputs: ["number", "one"], outputs: ["start"] };
  const grow = loop(endlessBody([double], ["n"]), "start", "all");
  return { nodes: [TRUE, start, grow, largest("all")], initializers: [sizes("one", 1)] };
}

/** The product of two matrices [size, size]; `folded` makes it a constant, computed while the graph is loaded. */
export function largeProduct(size: number, folded = false): Hostile {
  const one = { value: { name: "one", shape: [1], data: Float32Array.of(1) } };
  return {
    nodes: [
      { op: "ConstantOfShape", inputs: ["shape"], outputs: ["ones"], attributes: one },
      { op: "Mul", inputs: ["ones", folded ? "ones" : "number"], outputs: ["matrix"] },
      { op: "MatMul", inputs: ["matrix", "matrix"], outputs: ["product"] },
      largest("product"),
    ],
    initializers: [sizes("shape", size, size)],
  };
}

/** Repeats a number `count` times: 4 bytes each. */
export function largeExpand(count: number): Hostile {
  return {
    nodes: [{ op: "Expand", inputs: ["number", "shape"], outputs: ["all"] }, largest("all")],
    initializers: [sizes("shape", count)],
  };
}
