/**
 * The only import of onnxruntime-web. An engine runs inside a sandbox: with its WebAssembly passed in, it needs no
 * permission. It computes on one thread, with identical bytes in every run and process.
 */
import { messageOf } from "../contract/error.ts";
import type { Dtype, NdArray, TypedData } from "../numeric/array/ndarray.ts";
import { isTensorType, type TensorInfo, type TensorType } from "./tensors.ts";

/** A loaded graph. */
export interface EngineSession {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Computes every output. @throws Error of the runtime */
  run(feeds: Readonly<Record<string, NdArray>>): Promise<Record<string, NdArray>>;
  /** Frees the graph and its weights, which the garbage collector does not. */
  release(): Promise<void>;
}

export interface Engine {
  /** @throws Error for an unreadable graph, or one with unsupported features */
  open(model: Uint8Array): Promise<EngineSession>;
}

/** The used part of the common interface of both runtimes. */
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

type Package = typeof import("npm:onnxruntime-web@1.30.0/wasm");

/** An engine whose sessions have a memory limit. */
export interface BoundedEngine extends Engine {
  /** Bytes of its memory, which never shrinks. */
  heldBytes(): number;
  /** Whether the last call failed by the memory limit of its session. */
  wantedMemory(error: unknown): boolean;
}

/**
 * The WebAssembly of the engine, for starting a sandbox.
 * @returns 14 MB, read from the package among the program's dependencies
 * @throws Error for a missing package, or without permission to read it
 */
export async function engineBinary(): Promise<Uint8Array<ArrayBuffer>> {
  const url = new URL(import.meta.resolve("npm:onnxruntime-web@1.30.0/ort-wasm-simd-threaded.wasm"));
  return await Deno.readFile(url);
}

/** Runtime errors for a lack of memory; larger requests fail before they reach the allocator. */
const NO_MEMORY = /bad_alloc|Tensor shape is too large|Integer overflow|[Aa]llocation failed/;
const PAGE = 2 ** 16, MIB = 2 ** 20;

/** Loads the package, once per sandbox: it changes globals of its thread. */
export async function loadPackage(): Promise<Package> {
  // With a location the package assumes a web page, and would fetch files next to it.
  if (globalThis.location !== undefined) {
    Object.defineProperty(globalThis, "location", { value: undefined, configurable: true, writable: true });
  }
  return await import("npm:onnxruntime-web@1.30.0/wasm");
}

/**
 * Starts the engine, once per sandbox: it changes globals of its thread.
 * @param module compiled `engineBinary`
 * @param memoryMb mebibytes that each session may add to its memory
 */
export async function createEngine(
  ort: Package,
  module: WebAssembly.Module,
  memoryMb: number,
): Promise<BoundedEngine> {
  const meter = meteredMemory();
  let started = false;
  // The package compiles its binary itself; the compiled module takes a tenth of the time.
  const instantiate = (_binary: unknown, imports: WebAssembly.Imports) => {
    const instance = new WebAssembly.Instance(module, imports);
    started = true;
    return Promise.resolve({ instance, module });
  };
  Object.defineProperty(WebAssembly, "instantiate", { value: instantiate });
  ort.env.logLevel = "error";
  ort.env.wasm.wasmBinary = new Uint8Array(1);
  ort.env.wasm.numThreads = 1;
  // The first model starts the runtime. An empty one is refused, and later loads do not wait.
  await ort.InferenceSession.create(new Uint8Array(1), { executionProviders: ["wasm"] }).catch((error: unknown) => {
    if (!started) throw error;
  });
  const runtime = engineOf(ort as OrtModule, { executionProviders: ["wasm"] });
  return {
    async open(model) {
      const account = { pages: memoryMb * MIB / PAGE, refused: false };
      const charged = <T>(call: () => Promise<T>): Promise<T> => {
        account.refused = false;
        meter.account = account;
        return call();
      };
      const session = await charged(() => runtime.open(model));
      return { ...session, run: (feeds) => charged(() => session.run(feeds)) };
    },
    heldBytes: () => meter.memory?.buffer.byteLength ?? 0,
    wantedMemory: (error) => meter.account.refused || NO_MEMORY.test(messageOf(error)),
  };
}

/** The account charged for memory growth: remaining pages, and whether the last growth was refused. */
interface Account {
  pages: number;
  refused: boolean;
}

/** Charges memory growth to the current account. */
function meteredMemory(): { memory?: WebAssembly.Memory; account: Account } {
  const meter: ReturnType<typeof meteredMemory> = { account: { pages: Infinity, refused: false } };
  const Native = WebAssembly.Memory;
  function Memory(descriptor: WebAssembly.MemoryDescriptor): WebAssembly.Memory {
    const memory = meter.memory = new Native(descriptor);
    const grow = memory.grow.bind(memory);
    memory.grow = (pages) => {
      const { account } = meter;
      account.refused = true;
      if (pages > account.pages) throw new RangeError("The session may not have more memory");
      const before = grow(pages);
      account.pages -= pages;
      account.refused = false;
      return before;
    };
    return memory;
  }
  Object.defineProperty(WebAssembly, "Memory", { value: Memory });
  return meter;
}

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
  if (!isTensor || type === undefined) throw new TypeError(`${name} is not a tensor`);
  // A dimension without name and size is an empty text.
  return { name, dtype: dtypeOf(type, name), shape: (shape ?? []).map((size) => size === "" ? null : size) };
}

function dtypeOf(type: string, name: string): Dtype & TensorType {
  if (!isTensorType(type)) throw new TypeError(`${name} holds ${type}, which arrays do not support`);
  return type;
}
