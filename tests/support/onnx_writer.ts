/** Writes small ONNX files for tests, field by field, so that hostile ones can be made as well. */

import { joinBytes } from "../../lib/artifact/join_bytes.ts";
import type { Dtype, TypedData } from "../../lib/numeric/array/ndarray.ts";

/** Numbers of the element types (`TensorProto.DataType`). */
export const ELEMENT_TYPES: Readonly<Partial<Record<Dtype, number>>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
};

/** Joins byte arrays. */
export const bytesOf = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => joinBytes(parts);

export function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return new Uint8Array(bytes);
}

/** A length-delimited field: a message, or a text. */
export function field(number: number, contents: Uint8Array | string): Uint8Array {
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  return bytesOf(varint(number * 8 + 2), varint(bytes.length), bytes);
}

export function integerField(number: number, value: number | bigint): Uint8Array {
  return bytesOf(varint(number * 8), varint(value));
}

export interface TestValue {
  name: string;
  /** Number of the element type; 1 is float32. */
  type?: number;
  /** Left out: no shape at all; null: an open dimension. */
  shape?: readonly (number | string | null)[];
}

export interface TestTensor {
  name: string;
  shape: readonly number[];
  data: TypedData;
  /** Puts the data into a file of that name, as far as the model says. */
  external?: string;
}

export type TestAttribute = number | readonly number[] | { float: number } | TestTensor | Uint8Array;

export interface TestNode {
  op: string;
  inputs?: readonly string[];
  outputs?: readonly string[];
  domain?: string;
  /** Attributes by name: an integer, integers, a float, a tensor, or the bytes of a graph. */
  attributes?: Readonly<Record<string, TestAttribute>>;
}

export interface TestGraph {
  nodes?: readonly TestNode[];
  initializers?: readonly TestTensor[];
  inputs?: readonly TestValue[];
  outputs?: readonly TestValue[];
}

export interface TestModel extends TestGraph {
  opset?: number;
  irVersion?: number;
  /** Further operator sets, by domain. */
  imports?: Readonly<Record<string, number>>;
  /** Fields to append to the model as they are. */
  extra?: Uint8Array;
}

function valueInfo({ name, type = 1, shape }: TestValue): Uint8Array {
  const dims = (shape ?? []).map((dim) =>
    field(
      1,
      dim === null ? new Uint8Array(0) : typeof dim === "number" ? integerField(1, dim) : field(2, dim),
    )
  );
  const tensor = bytesOf(integerField(1, type), shape === undefined ? new Uint8Array(0) : field(2, bytesOf(...dims)));
  return bytesOf(field(1, name), field(2, field(1, tensor)));
}

export function tensor({ name, shape, data, external }: TestTensor): Uint8Array {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const dtype = data.constructor.name.replace("Array", "").replace("Big", "").toLowerCase() as Dtype;
  return bytesOf(
    ...shape.map((dim) => integerField(1, dim)),
    integerField(2, ELEMENT_TYPES[dtype]!),
    field(8, name),
    external === undefined
      ? field(9, raw)
      : bytesOf(field(13, bytesOf(field(1, "location"), field(2, external))), integerField(14, 1)),
  );
}

function node({ op, inputs = [], outputs = [], domain, attributes = {} }: TestNode): Uint8Array {
  return bytesOf(
    ...inputs.map((name) => field(1, name)),
    ...outputs.map((name) => field(2, name)),
    field(4, op),
    domain === undefined ? new Uint8Array(0) : field(7, domain),
    ...Object.entries(attributes).map(([name, value]) => field(5, bytesOf(field(1, name), attribute(value)))),
  );
}

function attribute(value: TestAttribute): Uint8Array {
  if (typeof value === "number") return bytesOf(integerField(3, value), integerField(20, 2));
  if (value instanceof Uint8Array) return bytesOf(field(6, value), integerField(20, 5));
  if (Array.isArray(value)) {
    return bytesOf(...value.map((item: number) => integerField(8, item)), integerField(20, 7));
  }
  if ("float" in value) {
    return bytesOf(varint(2 * 8 + 5), new Uint8Array(Float32Array.of(value.float).buffer), integerField(20, 1));
  }
  return bytesOf(field(5, tensor(value as TestTensor)), integerField(20, 4));
}

export function graph({ nodes = [], initializers = [], inputs = [], outputs = [] }: TestGraph): Uint8Array {
  return bytesOf(
    ...nodes.map((item) => field(1, node(item))),
    field(2, "graph"),
    ...initializers.map((item) => field(5, tensor(item))),
    ...inputs.map((item) => field(11, valueInfo(item))),
    ...outputs.map((item) => field(12, valueInfo(item))),
  );
}

/** The bytes of an ONNX file. */
export function onnxModel(model: TestModel): Uint8Array<ArrayBuffer> {
  const opset = (domain: string, version: number) => field(8, bytesOf(field(1, domain), integerField(2, version)));
  return bytesOf(
    integerField(1, model.irVersion ?? 8),
    field(2, "svc-tests"),
    field(7, graph(model)),
    opset("", model.opset ?? 17),
    ...Object.entries(model.imports ?? {}).map(([domain, version]) => opset(domain, version)),
    model.extra ?? new Uint8Array(0),
  );
}

/** The model y = scale * x for float32 arrays of one shape; it runs. */
export function scalingModel(
  shape: readonly (number | string | null)[],
  scale = 2,
  names: { input?: string; output?: string } = {},
): Uint8Array<ArrayBuffer> {
  const { input = "x", output = "y" } = names;
  return onnxModel({
    nodes: [{ op: "Mul", inputs: [input, "scale"], outputs: [output] }],
    initializers: [{ name: "scale", shape: [], data: new Float32Array([scale]) }],
    inputs: [{ name: input, shape }],
    outputs: [{ name: output, shape }],
  });
}
