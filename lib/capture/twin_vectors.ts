/**
 * Vectors that hold the twin of an operation to it: inputs, random numbers in the order of their draws, calls of a
 * trained network, outputs and metrics. Arrays are base64 of little-endian values in C order.
 */
import { decodeArtifact, encodeArtifact } from "../artifact/codec.ts";
import { SvcError } from "../contract/error.ts";
import { type InputArtifact, type Metrics, type Operation, UNWATCHED } from "../contract/operation.ts";
import { outputKinds } from "../contract/output_kinds.ts";
import { plainParams } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { bytesOf, type Dtype, DTYPES, elementCount, type NdArray, ndarray } from "../numeric/array/ndarray.ts";
import { Generator, type IntegerArrays } from "../numeric/random/random.ts";
import { isRefusal, materialize } from "../plan/materialize.ts";

type VectorArray = JsonObject & { dtype: Dtype; shape: number[]; base64: string };
type VectorSignal = JsonObject & {
  kind: string;
  data: VectorArray;
  metadata: JsonObject;
  companions: { [name: string]: VectorArray };
};

export interface TwinVector extends JsonObject {
  operation: string;
  name: string;
  params: JsonObject;
  inputs: { [port: string]: VectorSignal };
  draws: [kind: string, VectorArray][];
  /** Calls of the trained network, in order. */
  calls: { feeds: { [name: string]: VectorArray }; outputs: { [name: string]: VectorArray } }[];
  outputs: { [port: string]: VectorSignal };
  metrics: { [name: string]: number };
}

/** An array as text. */
function vectorArray(array: NdArray): VectorArray {
  return { dtype: array.dtype, shape: [...array.shape], base64: bytesOf(array).toBase64() };
}

/** An artifact with arrays; null for documents. */
function vectorSignal(artifact: InputArtifact): VectorSignal | null {
  const [main, ...others] = artifact.arrayNames;
  if (main === undefined) return null;
  return {
    kind: artifact.kind,
    data: vectorArray(artifact.array()),
    metadata: artifact.metadata,
    companions: Object.fromEntries(others.map((name) => [name, vectorArray(artifact.array(name))])),
  };
}

/** Metrics that are real numbers. */
function vectorMetrics(metrics: Metrics): { [name: string]: number } {
  const real = Object.entries(metrics).filter(([, value]) => typeof value === "number" && Number.isFinite(value));
  return Object.fromEntries(real) as { [name: string]: number };
}

type Draws = TwinVector["draws"];

/**
 * A generator that keeps what an operation draws from it; its values are those of the given one.
 * @throws Error for a draw that has no counterpart in a twin
 */
function recordingGenerator(source: Generator): { generator: Generator; draws: Draws } {
  const draws: Draws = [];
  const keep = (kind: string, array: NdArray) => draws.push([kind, vectorArray(array)]);
  const kept: { [name: string]: (...given: never[]) => unknown } = {
    complexNormal64(count: number, variance: number) {
      const drawn = source.complexNormal64(count, variance);
      keep("complex_normal", ndarray("complex128", drawn.slice(), [count]));
      return drawn;
    },
    complexNormalBlocks(count: number, variance: number, take: Parameters<Generator["complexNormalBlocks"]>[2]) {
      const drawn = kept.complexNormal64(count as never, variance as never) as Float64Array;
      for (const part of [0, 1] as const) {
        take(
          part,
          0,
          Float64Array.from({ length: count }, (_, i) => drawn[2 * i + part]),
        );
      }
    },
    // The sum of symbols and draws, rounded once.
    addComplexNormal(symbols: Float32Array, variance: number) {
      const noise = source.complexNormal64(symbols.length / 2, variance);
      keep("complex_normal", ndarray("complex128", noise, [symbols.length / 2]));
      return Float32Array.from(symbols, (value, i) => value + noise[i]);
    },
    // A copy repeats values that the operation draws, and is not recorded.
    copy: () => source.copy(),
    standardNormal: (count: number) => real("normal", source.standardNormal(count)),
    normal: (mean: number, std: number, count: number) => real("normal", source.normal(mean, std, count)),
    uniform: (low: number, high: number, count: number) => real("uniform", source.uniform(low, high, count)),
    random(count?: number) {
      if (count !== undefined) return real("uniform", source.random(count));
      const [value] = real("uniform", Float64Array.of(source.random()));
      return value;
    },
    integers(low: number, high: number, count: number, dtype: "int64" | "uint8" = "int64") {
      const drawn = source.integers(low, high, count, dtype);
      keep("integers", ndarray(dtype, drawn.slice(), [count]));
      return drawn;
    },
    fillIntegers(low: number, high: number, out: IntegerArrays["int64" | "uint8"], dtype: "int64" | "uint8") {
      source.fillIntegers(low, high, out, dtype);
      keep("integers", ndarray(dtype, out.slice(), [out.length]));
    },
    permutation(count: number) {
      const drawn = source.permutation(count);
      keep("permutation", ndarray("int32", drawn.slice(), [count]));
      return drawn;
    },
  };
  const real = (kind: string, drawn: Float64Array<ArrayBuffer>) => {
    keep(kind, ndarray("float64", drawn.slice(), [drawn.length]));
    return drawn;
  };
  const generator = new Proxy(source, {
    get(_, name) {
      const own = kept[String(name)];
      if (own !== undefined) return own;
      throw new Error(`Cannot record the draw ${String(name)}`);
    },
  });
  return { generator, draws };
}

/** A trained network as a function of its inputs. */
type Network = (feeds: Record<string, NdArray>) => Record<string, NdArray> | Promise<Record<string, NdArray>>;

const SEED = 23;

/**
 * Runs an operation and records it. It sees no file and no model besides a given network. Exported for tests.
 * @param params effective parameters
 * @throws SvcError as the operation, and `operation_failed` where it needs a file or a model
 */
export async function recordTwin(
  operation: Operation,
  { name, params, inputs, network }: {
    name: string;
    params: JsonObject;
    inputs: { [port: string]: InputArtifact };
    network?: Network;
  },
): Promise<TwinVector> {
  const { definition, id } = operation;
  const absent = (): never => {
    throw new SvcError("operation_failed", `Cannot record ${id}: it reads files or models`);
  };
  const signals = (artifacts: { [port: string]: InputArtifact }) =>
    Object.fromEntries(
      Object.entries(artifacts).flatMap(([port, artifact]) => {
        const signal = vectorSignal(artifact);
        return signal === null ? [] : [[port, signal]];
      }),
    );
  const arrays = (named: Record<string, NdArray>) =>
    Object.fromEntries(Object.entries(named).map(([key, array]) => [key, vectorArray(array)]));
  const given = signals(inputs);
  const { generator, draws } = recordingGenerator(Generator.seeded(SEED));
  const choice = materialize(operation.contract, params, { runner: "benchmark_run", authored: params });
  const entry = isRefusal(choice) ? undefined : choice.entry;
  const calls: TwinVector["calls"] = [];
  const { outputs, metrics = {} } = await definition.run({
    inputs,
    params: plainParams(params),
    generator,
    ...UNWATCHED,
    files: { read: absent, blocks: absent, list: absent, bundled: absent },
    learned: {
      record: {},
      takes: () => true,
      async run(feeds) {
        const found = await (network ?? absent)(feeds);
        calls.push({ feeds: arrays(feeds), outputs: arrays(found) });
        return found;
      },
    },
    model: absent,
    openGraph: absent,
    backend: entry?.backend ?? definition.backends?.benchmark_run?.[0] ?? "python",
    implementation: entry?.implementation ?? "default",
    threads: 1,
  });
  const kinds = outputKinds(definition.outputs, definition.outputSameKindAs, (port) => inputs[port]?.kind)!;
  const made = Object.entries(kinds).map(([port, kind]) =>
    [port, decodeArtifact(kind, encodeArtifact(port, kind, outputs[port]).bytes)] as const
  );
  return {
    operation: id,
    name,
    params,
    inputs: given,
    draws,
    calls,
    outputs: signals(Object.fromEntries(made)),
    metrics: vectorMetrics(metrics),
  };
}

/** The inputs of a vector as artifacts again. */
function inputsOf(vector: TwinVector): { [port: string]: InputArtifact } {
  const arrayOf = ({ dtype, shape, base64 }: VectorArray) => {
    const { make, slots } = DTYPES[dtype];
    const bytes = Uint8Array.fromBase64(base64);
    return ndarray(dtype, make(bytes.buffer, 0, elementCount(shape) * slots), shape);
  };
  return Object.fromEntries(
    Object.entries(vector.inputs).map(([port, { kind, data, metadata, companions }]) => {
      const named = Object.entries(companions).map(([name, array]) => [name, arrayOf(array)]);
      const output = { array: arrayOf(data), metadata, companions: Object.fromEntries(named) };
      return [port, decodeArtifact(kind, encodeArtifact(port, kind, output).bytes)];
    }),
  );
}

/**
 * A vector of a step with its own parameters, on the inputs of the first stored vector that these parameters accept.
 * @returns null where they accept none
 */
export async function recordStep(
  operation: Operation,
  step: { id: string; params: JsonObject },
  stored: readonly TwinVector[],
): Promise<TwinVector | null> {
  const params = plainParams(step.params);
  for (const vector of stored) {
    if (vector.calls.length > 0) continue;
    if (operation.definition.check?.(params, new Set(Object.keys(vector.inputs))).length) continue;
    try {
      return await recordTwin(operation, { name: `step ${step.id}`, params: step.params, inputs: inputsOf(vector) });
    } catch (error) {
      // These inputs do not fit the parameters of the step: another vector may.
      if (!(error instanceof SvcError)) throw error;
    }
  }
  return null;
}
