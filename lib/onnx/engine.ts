/**
 * The one place that names onnxruntime-web. An engine runs inside a sandbox: handed its WebAssembly it needs no
 * permission at all. It computes on one thread, and gives the same bits in every run and process.
 */
import type { Dtype, NdArray, TypedData } from "../numeric/ndarray.ts";
import { isTensorType, type TensorInfo, type TensorType } from "./tensors.ts";

/** Version of the runtime, as plans and manifests record it. */
export const ENGINE_VERSION = "1.30.0";

/** A loaded graph. */
export interface EngineSession {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Computes every output. @throws Error in the words of the runtime */
  run(feeds: Readonly<Record<string, NdArray>>): Promise<Record<string, NdArray>>;
  /** Frees the graph and its weights, which no garbage collection does. */
  release(): Promise<void>;
}

export interface Engine {
  /** @throws Error for a graph that cannot be read, or that uses what the runtime does not have */
  open(model: Uint8Array): Promise<EngineSession>;
}

/** What both runtimes offer, as far as it is used here. */
export interface OrtModule {
  InferenceSession: { create(model: Uint8Array, options: Record<string, unknown>): Promise<OrtSession> };
  Tensor: new (type: string, data: unknown, dims: readonly number[]) => OrtTensor;
}

interface OrtTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
  dispose(): void;
}

interface OrtValueMetadata {
  name: string;
  isTensor: boolean;
  type?: string;
  shape?: readonly (number | string)[];
}

interface OrtSession {
  readonly inputMetadata: readonly OrtValueMetadata[];
  readonly outputMetadata: readonly OrtValueMetadata[];
  run(feeds: Record<string, OrtTensor>): Promise<Record<string, OrtTensor>>;
  release(): Promise<void>;
}

/**
 * The WebAssembly of the engine, for whoever starts a sandbox.
 *
 * @returns 14 MB, read from the package beside the program's other dependencies
 * @throws Error where the package is not there, or may not be read
 */
export async function engineBinary(): Promise<Uint8Array<ArrayBuffer>> {
  const url = new URL(import.meta.resolve("npm:onnxruntime-web@1.30.0/ort-wasm-simd-threaded.wasm"));
  return await Deno.readFile(url);
}

/**
 * Starts the engine, once per sandbox.
 *
 * @param wasm of `engineBinary`
 */
export async function createEngine(wasm: Uint8Array): Promise<Engine> {
  // The package takes a thread with a location for a page, and would look for files beside it.
  if (globalThis.location !== undefined) {
    Object.defineProperty(globalThis, "location", { value: undefined, configurable: true, writable: true });
  }
  const ort = await import("npm:onnxruntime-web@1.30.0/wasm");
  ort.env.logLevel = "error";
  ort.env.wasm.wasmBinary = wasm;
  ort.env.wasm.numThreads = 1;
  return engineOf(ort as unknown as OrtModule, { executionProviders: ["wasm"] });
}

/** Either runtime as an engine. */
export function engineOf(ort: OrtModule, options: Record<string, unknown>): Engine {
  return {
    async open(model) {
      const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3, ...options });
      try {
        return engineSession(ort, session);
      } catch (error) {
        await session.release();
        throw error;
      }
    },
  };
}

function engineSession(ort: OrtModule, session: OrtSession): EngineSession {
  return {
    inputs: session.inputMetadata.map(tensorInfo),
    outputs: session.outputMetadata.map(tensorInfo),
    async run(feeds) {
      const tensors: Record<string, OrtTensor> = {};
      for (const name in feeds) tensors[name] = new ort.Tensor(feeds[name].dtype, feeds[name].data, feeds[name].shape);
      const results = await session.run(tensors);
      const outputs: Record<string, NdArray> = {};
      for (const name in results) {
        const { type, dims, data } = results[name];
        outputs[name] = { dtype: dtypeOf(type, name), shape: [...dims], data: data as TypedData };
        results[name].dispose();
      }
      for (const name in tensors) tensors[name].dispose();
      return outputs;
    },
    release: () => session.release(),
  };
}

function tensorInfo({ name, isTensor, type, shape }: OrtValueMetadata): TensorInfo {
  if (!isTensor || type === undefined) throw new TypeError(`${name} is no tensor`);
  // A dimension without a name and a size comes as an empty text.
  return { name, dtype: dtypeOf(type, name), shape: (shape ?? []).map((size) => size === "" ? null : size) };
}

function dtypeOf(type: string, name: string): Dtype & TensorType {
  if (!isTensorType(type)) throw new TypeError(`${name} holds ${type}, which no array can`);
  return type;
}
