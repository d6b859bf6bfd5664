/**
 * Reads the structure of an ONNX file without running it: versions, operators, inputs, outputs, and references to
 * external data. Weights are skipped, so the time hardly depends on the size of the model.
 *
 * Format: onnx.proto3 of ONNX 1.17 (IR version 10).
 */
import { SvcError } from "../contract/error.ts";
import { type Field, fieldsOf, integerOf, messageIn, ProtobufError, textOf } from "./protobuf.ts";

/** A dimension: its size, the name of a symbolic size, or null if unspecified. */
export type Dimension = number | string | null;

/** An input or output of a graph. */
export interface OnnxValue {
  readonly name: string;
  /** `float32`, `int64`, … for tensors; `sequence`, `map`, `optional`, `sparse_tensor`, `opaque` or `unknown` otherwise. */
  readonly dtype: string;
  /** Null for an unspecified rank. */
  readonly shape: readonly Dimension[] | null;
}

/** Properties of an ONNX file. */
export type OnnxGraph = {
  readonly irVersion: number;
  readonly producer: string;
  /** Version of each operator set by domain; the standard domain is the empty text. */
  readonly opsets: Readonly<Record<string, number>>;
  /** Operators in training mode, each once, with subgraphs and functions. */
  readonly trainingOperators: readonly string[];
  /** Count of each operator, with subgraphs and functions; `domain:Operator` outside the standard domain. */
  readonly operators: Readonly<Record<string, number>>;
  /** Every domain that is imported, or used by an operator or function; `ai.onnx` counts as the empty text. */
  readonly domains: readonly string[];
  readonly nodeCount: number;
  /** Functions defined in the model. */
  readonly functionCount: number;
  readonly initializerCount: number;
  /** Total number of elements of all initialisers. */
  readonly parameterCount: number;
  /** Names of tensors with data in another file. */
  readonly externalTensors: readonly string[];
  /** Required inputs, without those that have an initialiser. */
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  /** Metadata of the exporter: texts by key (`metadata_props`). */
  readonly metadata: Readonly<Record<string, string>>;
};

export interface OnnxLimits {
  /** Nodes of all graphs and functions; default 100 000. */
  maxNodes?: number;
}

const MAX_ONNX_NODES = 100_000;
/** Limit of initialisers, imports, inputs and similar, above that of real models. */
const MAX_LISTED = 100_000;
/** Nesting of graphs; control flow of real models has a few levels. */
const MAX_DEPTH = 32;

const DTYPES = [
  "unknown",
  "float32",
  "uint8",
  "int8",
  "uint16",
  "int16",
  "int32",
  "int64",
  "string",
  "bool",
  "float16",
  "float64",
  "uint32",
  "uint64",
  "complex64",
  "complex128",
  "bfloat16",
];

/** Kinds of value other than tensors, by their field in TypeProto. */
const OTHER_TYPES: Readonly<Record<number, string>> = {
  4: "sequence",
  5: "map",
  7: "opaque",
  8: "sparse_tensor",
  9: "optional",
};

/**
 * Reads an ONNX file.
 * @param bytes the file
 * @param name name of the model, for messages
 * @throws SvcError `artifact_onnx_unsafe` for a file that is not an ONNX model, `artifact_limit_exceeded` for too many
 *   nodes
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readOnnxGraph } from "./graph.ts";
 *
 * // IR version 8, an empty graph named "g", operator set 17.
 * const model = new Uint8Array([8, 8, 58, 3, 18, 1, 103, 66, 2, 16, 17]);
 * assert.deepEqual(readOnnxGraph(model).opsets, { "": 17 });
 * assert.throws(() => readOnnxGraph(model.subarray(0, 5)), { code: "artifact_onnx_unsafe" });
 * ```
 */
export function readOnnxGraph(bytes: Uint8Array, name = "the model", limits: OnnxLimits = {}): OnnxGraph {
  // The runtime reads a file with this mark as its own format, regardless of its content.
  if (bytes.length >= 8 && String.fromCharCode(...bytes.subarray(4, 8)) === "ORTM") {
    throw notOnnx(name, "it is in the format of one runtime", "Export it as ONNX");
  }
  try {
    const reader = new Reader(limits.maxNodes ?? MAX_ONNX_NODES, name);
    reader.model(bytes);
    return reader.facts();
  } catch (error) {
    if (error instanceof ProtobufError) throw notOnnx(name, error.message);
    throw error;
  }
}

function notOnnx(name: string, why: string, hint: string | null = null): SvcError {
  return new SvcError("artifact_onnx_unsafe", `Cannot read ${name} as an ONNX model: ${why}`, { hint });
}

class Reader {
  #irVersion = 0;
  #producer = "";
  #graphs = 0;
  #functions = 0;
  #nodes = 0;
  #initializers = 0;
  #parameters = 0;
  readonly #opsets = new Map<string, number>();
  readonly #domains = new Set<string>();
  readonly #operators = new Map<string, number>();
  /** Whether the only element of a small constant is not zero, by name. */
  readonly #scalars = new Map<string, boolean>();
  /** Inputs of Dropout that choose its mode. */
  readonly #dropoutModes: string[] = [];
  #trainsBatchNormalization = false;
  readonly #external: string[] = [];
  readonly #initialized = new Set<string>();
  #inputs: OnnxValue[] = [];
  #outputs: OnnxValue[] = [];
  readonly #metadata = new Map<string, string>();

  constructor(readonly maxNodes: number, readonly name: string) {}

  facts(): OnnxGraph {
    if (this.#graphs === 0) throw new ProtobufError("it holds no graph");
    if (this.#irVersion < 1) throw new ProtobufError("it states no IR version");
    const sorted = <V>(map: Map<string, V>) => Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
    return {
      irVersion: this.#irVersion,
      producer: this.#producer,
      opsets: sorted(this.#opsets),
      trainingOperators: [
        ...(this.#trainsBatchNormalization ? ["BatchNormalization"] : []),
        ...(this.#dropoutModes.some((mode) => this.#scalars.get(mode) === true) ? ["Dropout"] : []),
      ],
      operators: sorted(this.#operators),
      domains: [...this.#domains].sort(),
      nodeCount: this.#nodes,
      functionCount: this.#functions,
      initializerCount: this.#initializers,
      parameterCount: this.#parameters,
      externalTensors: this.#external,
      inputs: this.#inputs.filter(({ name }) => !this.#initialized.has(name)),
      outputs: this.#outputs,
      metadata: sorted(this.#metadata),
    };
  }

  model(bytes: Uint8Array): void {
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) this.#irVersion = counted(integerOf(field), "the IR version");
      else if (field.number === 2) this.#producer = textOf(field);
      else if (field.number === 7) {
        if (++this.#graphs > 1) throw new ProtobufError("it holds two graphs");
        this.#graph(messageIn(field), 0, true);
      } else if (field.number === 8) this.#opset(messageIn(field));
      else if (field.number === 14) this.#metadataEntry(messageIn(field));
      else if (field.number === 20) this.#trainingInfo(messageIn(field));
      else if (field.number === 25) this.#function(messageIn(field));
    }
  }

  #opset(bytes: Uint8Array): void {
    let domain = "", version = 0;
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) domain = textOf(field);
      else if (field.number === 2) version = counted(integerOf(field), "the version of an operator set");
    }
    this.#opsets.set(this.#domain(domain), version);
    limit(this.#opsets.size, "operator sets");
  }

  #metadataEntry(bytes: Uint8Array): void {
    let key = "", value = "";
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) key = textOf(field);
      else if (field.number === 2) value = textOf(field);
    }
    this.#metadata.set(key, value);
    limit(this.#metadata.size, "metadata entries");
  }

  #trainingInfo(bytes: Uint8Array): void {
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1 || field.number === 2) this.#graph(messageIn(field), 1, false);
    }
  }

  #function(bytes: Uint8Array): void {
    limit(++this.#functions, "functions");
    for (const field of fieldsOf(bytes)) {
      if (field.number === 7) this.#node(messageIn(field), 1);
      else if (field.number === 9) this.#opset(messageIn(field));
      else if (field.number === 10) this.#domain(textOf(field));
      else if (field.number === 11) this.#attribute(messageIn(field), 1);
    }
  }

  #graph(bytes: Uint8Array, depth: number, main: boolean): void {
    if (depth > MAX_DEPTH) throw new ProtobufError(`its graphs nest deeper than ${MAX_DEPTH}`);
    for (const field of fieldsOf(bytes)) {
      switch (field.number) {
        case 1:
          this.#node(messageIn(field), depth);
          break;
        case 5:
          this.#initializer(this.#tensor(messageIn(field)), main);
          break;
        case 15:
          this.#initializer(this.#sparseTensor(messageIn(field)), main);
          break;
        case 11:
          if (main) limit(this.#inputs.push(valueInfo(messageIn(field))), "inputs");
          break;
        case 12:
          if (main) limit(this.#outputs.push(valueInfo(messageIn(field))), "outputs");
          break;
      }
    }
  }

  #initializer(
    { name, elements, nonzero }: { name: string; elements: number; nonzero?: boolean },
    main: boolean,
  ): void {
    limit(++this.#initializers, "initialisers");
    if (nonzero !== undefined) this.#scalars.set(name, nonzero);
    // Sizes beyond any file are false; the sum stays finite.
    if (elements > 0) this.#parameters = Math.min(this.#parameters + elements, Number.MAX_SAFE_INTEGER);
    if (main) this.#initialized.add(name);
  }

  #node(bytes: Uint8Array, depth: number): void {
    if (++this.#nodes > this.maxNodes) {
      throw new SvcError("artifact_limit_exceeded", `Cannot use ${this.name}: it has more than ${this.maxNodes} nodes`);
    }
    let operator = "", domain = "", trains = false;
    const inputs: string[] = [], outputs: string[] = [], constants: boolean[] = [];
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) inputs.push(textOf(field));
      else if (field.number === 2) outputs.push(textOf(field));
      else if (field.number === 4) operator = textOf(field);
      else if (field.number === 7) domain = textOf(field);
      else if (field.number === 5) {
        const { name, integer, nonzero } = this.#attribute(messageIn(field), depth);
        trains ||= name === "training_mode" && integer !== 0n;
        if (name === "value" && nonzero !== undefined) constants.push(nonzero);
      }
    }
    const own = this.#domain(domain);
    if (own === "" && operator === "Dropout" && inputs.length > 2) this.#dropoutModes.push(inputs[2]);
    if (own === "" && operator === "BatchNormalization") this.#trainsBatchNormalization ||= trains;
    if (own === "" && operator === "Constant" && constants.length === 1) this.#scalars.set(outputs[0], constants[0]);
    const key = own === "" ? operator : `${own}:${operator}`;
    this.#operators.set(key, (this.#operators.get(key) ?? 0) + 1);
  }

  /** Name of an attribute, its integer, and whether its tensor is one element other than zero. */
  #attribute(bytes: Uint8Array, depth: number): { name: string; integer: bigint; nonzero?: boolean } {
    let name = "", integer = 0n, nonzero: boolean | undefined;
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) name = textOf(field);
      else if (field.number === 3) integer = integerOf(field);
      else if (field.number === 5) nonzero = this.#tensor(messageIn(field)).nonzero;
      else if (field.number === 10) this.#tensor(messageIn(field));
      else if (field.number === 6 || field.number === 11) this.#graph(messageIn(field), depth + 1, false);
      else if (field.number === 22 || field.number === 23) this.#sparseTensor(messageIn(field));
    }
    return { name, integer, nonzero };
  }

  /** Name and number of elements of a tensor, and whether a single one is not zero; records external data. */
  #tensor(bytes: Uint8Array): { name: string; elements: number; nonzero?: boolean } {
    let name = "", elements = 1, external = false, nonzero = false;
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) elements *= elementsOf(field);
      // Typed data, packed or not, and raw data.
      else if (field.number === 5 || field.number === 9) {
        const small = field.type === "varint" ? [Number(field.value)] : [...messageIn(field).subarray(0, 16)];
        nonzero ||= small.some((byte) => byte !== 0);
      } else if (field.number === 8) name = textOf(field);
      else if (field.number === 13) external = true;
      else if (field.number === 14) external ||= integerOf(field) !== 0n;
    }
    if (external) limit(this.#external.push(name), "external tensors");
    return { name, elements, ...(elements === 1 && !external ? { nonzero } : {}) };
  }

  #sparseTensor(bytes: Uint8Array): { name: string; elements: number } {
    let values = { name: "", elements: 0 };
    for (const field of fieldsOf(bytes)) {
      if (field.number === 1) values = this.#tensor(messageIn(field));
      else if (field.number === 2) this.#tensor(messageIn(field));
    }
    return values;
  }

  /** Records a domain; the standard one has two spellings. */
  #domain(domain: string): string {
    const own = domain === "ai.onnx" ? "" : domain;
    this.#domains.add(own);
    return own;
  }
}

/** The product of dimensions, packed or not. */
function elementsOf(field: Field): number {
  if (field.type === "varint") return Number(field.value);
  let product = 1, value = 0, scale = 1;
  for (const byte of messageIn(field)) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte >= 0x80) continue;
    product *= value;
    [value, scale] = [0, 1];
  }
  return product;
}

function valueInfo(bytes: Uint8Array): OnnxValue {
  let name = "", type = { dtype: "unknown", shape: null as Dimension[] | null };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) name = textOf(field);
    else if (field.number === 2) type = typeInfo(messageIn(field));
  }
  return { name, ...type };
}

function typeInfo(bytes: Uint8Array): { dtype: string; shape: Dimension[] | null } {
  let dtype = "unknown", shape: Dimension[] | null = null;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) {
      for (const inner of fieldsOf(messageIn(field))) {
        if (inner.number === 1) dtype = DTYPES[Number(integerOf(inner))] ?? "unknown";
        else if (inner.number === 2) shape = dimensions(messageIn(inner));
      }
    } else if (Object.hasOwn(OTHER_TYPES, field.number)) dtype = OTHER_TYPES[field.number];
  }
  return { dtype, shape };
}

function dimensions(bytes: Uint8Array): Dimension[] {
  const shape: Dimension[] = [];
  for (const field of fieldsOf(bytes)) {
    if (field.number !== 1) continue;
    let dimension: Dimension = null;
    for (const inner of fieldsOf(messageIn(field))) {
      // Some exporters write an unspecified size as a negative number.
      if (inner.number === 1) dimension = integerOf(inner) < 0n ? null : Number(integerOf(inner));
      else if (inner.number === 2) dimension = textOf(inner) || null;
    }
    limit(shape.push(dimension), "dimensions");
  }
  return shape;
}

function counted(value: bigint, what: string): number {
  if (value < 0n || value > 1_000_000n) throw new ProtobufError(`${what} is ${value}`);
  return Number(value);
}

function limit(count: number, what: string): void {
  if (count > MAX_LISTED) throw new ProtobufError(`it lists more than ${MAX_LISTED} ${what}`);
}
