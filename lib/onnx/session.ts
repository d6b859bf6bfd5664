/**
 * Sessions of ONNX graphs, as everyone above uses them. Graphs run in a sandbox, a worker without any permission: one a
 * thread, started with the first session. Sessions are kept by the digest of their model, so that opening one again costs
 * nothing; a few that nobody holds any more are kept, the others are freed.
 *
 * The same model and the same inputs give the same bits in every run, process and thread.
 */
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { Cancellation } from "../contract/operation.ts";
import type { NdArray } from "../numeric/ndarray.ts";
import { engineBinary, type EngineSession } from "./engine.ts";
import { canRestrictWorkers, ISOLATION_HINT } from "./isolation.ts";
import type { SandboxReply, SandboxRequest, SandboxValue, SessionShape } from "./sandbox_protocol.ts";
import { buffersOf, misfit, ownArray, type TensorInfo } from "./tensors.ts";

/** Sessions that nobody holds and that stay loaded, the most recently used ones. */
const MAX_IDLE = 4;
/** A run under way looks this often whether it is still wanted. */
const CANCEL_POLL_MS = 20;

export interface OnnxSession {
  /** Digest of the model. */
  readonly sha256: string;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /**
   * Computes every output.
   *
   * @param feeds one array per input; they are copied
   * @throws SvcError `artifact_abi_mismatch` for feeds that the graph does not take, `operation_canceled`, and
   * `operation_failed` in the words of the runtime
   */
  run(
    feeds: Readonly<Record<string, NdArray>>,
    options?: { cancellation?: Cancellation },
  ): Promise<Record<string, NdArray>>;
  /** Lets go of the session; another holder keeps it. */
  release(): Promise<void>;
}

/** Runtimes besides the portable one. */
export type OnnxAccelerator = "onnxruntime-node";

export interface SessionOptions {
  /** Digest that the model must have. */
  sha256?: string;
  /** The native runtime in the calling thread instead of the sandbox; never chosen by itself. */
  accelerator?: OnnxAccelerator;
}

/**
 * Opens a model.
 *
 * @param model the bytes of an ONNX file
 * @returns a session that its holder releases
 * @throws SvcError `artifact_hash_mismatch`, or `runtime_unavailable` where workers cannot be restricted, where the
 * runtime is not installed, and for a graph that it cannot load
 *
 * @example
 * ```ts ignore
 * const session = await openOnnxSession(await Deno.readFile("receiver.onnx"));
 * const { bit_llr } = await session.run({ rx_symbols_ri: ndarray("float32", symbols, [symbols.length / 2, 2]) });
 * await session.release();
 * ```
 */
export async function openOnnxSession(model: Uint8Array, options: SessionOptions = {}): Promise<OnnxSession> {
  const sha256 = sha256Hex(model);
  if (options.sha256 !== undefined && options.sha256 !== sha256) {
    throw new SvcError("artifact_hash_mismatch", `Cannot open a model whose digest is ${sha256}`, {
      hint: `Expected ${options.sha256}`,
    });
  }
  if (options.accelerator !== undefined) return await openAccelerated(model, sha256);
  const sandbox = await currentSandbox();
  return await sandbox.open(model, sha256);
}

/** A session of the native runtime, which cannot be stopped in the middle of a run. */
async function openAccelerated(model: Uint8Array, sha256: string): Promise<OnnxSession> {
  const { acceleratedEngine } = await import("./accelerator.ts");
  const engine = await acceleratedEngine();
  let session: EngineSession | null;
  try {
    session = await engine.open(model.slice());
  } catch (error) {
    throw new SvcError("runtime_unavailable", `Cannot load the model: ${messageOf(error)}`);
  }
  const { inputs, outputs } = session;
  return {
    sha256,
    inputs,
    outputs,
    async run(feeds, { cancellation } = {}) {
      if (session === null) throw new TypeError("Cannot run a session that was released");
      checkFeeds(feeds, inputs);
      cancellation?.throwIfCancelled();
      try {
        return await session.run(Object.fromEntries(inputs.map(({ name }) => [name, ownArray(feeds[name])])));
      } catch (error) {
        throw new SvcError("operation_failed", `Cannot run the model: ${messageOf(error)}`);
      }
    },
    async release() {
      const ending = session;
      session = null;
      await ending?.release();
    },
  };
}

/** Ends the sandbox of this thread and every session in it; the next one that is opened starts another. */
export async function closeOnnxSessions(): Promise<void> {
  const ending = current;
  current = undefined;
  await ending?.then((sandbox) => sandbox.end("the sessions were closed"), () => {});
}

let current: Promise<Sandbox> | undefined;

async function currentSandbox(): Promise<Sandbox> {
  // A cancelled run ends the sandbox; whoever comes next starts another.
  if (current !== undefined && (await current.catch(() => undefined))?.ended !== false) current = undefined;
  return await (current ??= Sandbox.start());
}

interface Loaded {
  /** Name of the session in the sandbox. */
  session: number;
  sha256: string;
  shape: Promise<SessionShape>;
  holders: number;
}

class Sandbox {
  readonly #worker: Worker;
  readonly #calls = new Map<number, PromiseWithResolvers<SandboxValue>>();
  /** By digest, most recently used last. */
  readonly #loaded = new Map<string, Loaded>();
  #next = 1;
  #reason: SvcError | undefined;

  /** @throws SvcError `runtime_unavailable` */
  static async start(): Promise<Sandbox> {
    if (!await canRestrictWorkers()) {
      throw new SvcError(
        "runtime_unavailable",
        "Cannot run a model: workers cannot be started without permissions here",
        {
          hint: ISOLATION_HINT,
        },
      );
    }
    let wasm: Uint8Array<ArrayBuffer>;
    try {
      wasm = await engineBinary();
    } catch (error) {
      throw new SvcError("runtime_unavailable", `Cannot read the ONNX runtime: ${messageOf(error)}`, {
        hint: "Run deno cache on the program, and allow it to read its dependencies",
      });
    }
    const sandbox = new Sandbox();
    try {
      await sandbox.#call({ type: "start", wasm }, [wasm.buffer]);
    } catch (error) {
      sandbox.end("it did not start");
      throw new SvcError("runtime_unavailable", `Cannot start the ONNX runtime: ${messageOf(error)}`);
    }
    return sandbox;
  }

  private constructor() {
    this.#worker = new Worker(new URL("./sandbox.ts", import.meta.url), {
      type: "module",
      name: "svc onnx",
      deno: { permissions: "none" },
    });
    this.#worker.onmessage = ({ data: reply }: MessageEvent<SandboxReply>) => {
      const call = this.#calls.get(reply.call);
      this.#calls.delete(reply.call);
      if (reply.error === undefined) call?.resolve(reply.value);
      else call?.reject(new Error(reply.error));
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(event.message);
    };
  }

  get ended(): boolean {
    return this.#reason !== undefined;
  }

  /** Stops at once whatever runs; everyone who waits is told why. */
  end(reason: string, code = "operation_failed"): void {
    if (this.#reason !== undefined) return;
    this.#reason = new SvcError(code, `The model sandbox has ended: ${reason}`);
    this.#worker.terminate();
    for (const call of this.#calls.values()) call.reject(this.#reason);
    this.#calls.clear();
    this.#loaded.clear();
  }

  async open(model: Uint8Array, sha256: string): Promise<OnnxSession> {
    let loaded = this.#loaded.get(sha256);
    if (loaded === undefined) {
      const session = this.#next++;
      // A copy: the bytes may lie in shared memory, or be wanted again.
      const bytes = model.slice();
      const shape = this.#call({ type: "open", session, model: bytes }, [bytes.buffer]) as Promise<SessionShape>;
      loaded = { session, sha256, shape, holders: 0 };
    }
    loaded.holders++;
    this.#touch(loaded);
    try {
      return this.#handle(loaded, await loaded.shape);
    } catch (error) {
      this.#loaded.delete(sha256);
      if (error instanceof SvcError) throw error;
      throw new SvcError("runtime_unavailable", `Cannot load the model: ${messageOf(error)}`);
    }
  }

  #handle(loaded: Loaded, { inputs, outputs }: SessionShape): OnnxSession {
    let held = true;
    return {
      sha256: loaded.sha256,
      inputs,
      outputs,
      run: async (feeds, { cancellation } = {}) => {
        if (!held) throw new TypeError("Cannot run a session that was released");
        checkFeeds(feeds, inputs);
        cancellation?.throwIfCancelled();
        const own = Object.fromEntries(inputs.map(({ name }) => [name, ownArray(feeds[name])]));
        const request = { type: "run", session: loaded.session, feeds: own } as const;
        const watch = cancellation && setInterval(() => {
          if (cancellation.isCancelled) this.end("the operation was asked to stop", "operation_canceled");
        }, CANCEL_POLL_MS);
        try {
          return await this.#call(request, buffersOf(own)) as Record<string, NdArray>;
        } catch (error) {
          if (error instanceof SvcError) throw error;
          throw new SvcError("operation_failed", `Cannot run the model: ${messageOf(error)}`);
        } finally {
          clearInterval(watch);
        }
      },
      release: async () => {
        if (!held) return;
        held = false;
        loaded.holders--;
        await this.#freeIdle();
      },
    };
  }

  #touch(loaded: Loaded): void {
    this.#loaded.delete(loaded.sha256);
    this.#loaded.set(loaded.sha256, loaded);
  }

  /** Frees the sessions that have been idle longest. */
  async #freeIdle(): Promise<void> {
    const idle = [...this.#loaded.values()].filter(({ holders }) => holders === 0);
    await Promise.all(
      idle.slice(0, -MAX_IDLE).map(({ session, sha256 }) => {
        this.#loaded.delete(sha256);
        return this.#call({ type: "release", session }).catch(() => {});
      }),
    );
  }

  #call(request: Request, transfer: Transferable[] = []): Promise<SandboxValue> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason);
    const call = this.#next++;
    const answer = Promise.withResolvers<SandboxValue>();
    this.#calls.set(call, answer);
    this.#worker.postMessage({ ...request, call } as SandboxRequest, transfer);
    return answer.promise;
  }
}

/** A request before it is numbered. */
type Request = SandboxRequest extends infer Each ? Each extends SandboxRequest ? Omit<Each, "call"> : never : never;

/** @throws SvcError `artifact_abi_mismatch` with everything that does not fit */
export function checkFeeds(feeds: Readonly<Record<string, NdArray>>, inputs: readonly TensorInfo[]): void {
  const sizes = new Map<string, number>();
  const problems = inputs.flatMap((info) => {
    if (feeds[info.name] === undefined) return `${info.name} is missing`;
    return misfit(feeds[info.name], info, sizes) ?? [];
  });
  const known = new Set(inputs.map(({ name }) => name));
  for (const name of Object.keys(feeds)) if (!known.has(name)) problems.push(`it has no input ${name}`);
  if (problems.length > 0) {
    throw new SvcError("artifact_abi_mismatch", `Cannot feed the model: ${problems.join("; ")}`);
  }
}
