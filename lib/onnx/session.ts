/**
 * Sessions of ONNX graphs. Graphs run in a sandbox, a worker without permissions: one per thread and set of limits,
 * started with the first session. Every session has a memory limit, every call a time limit; exceeding one ends the
 * sandbox and all of its sessions. Sessions are cached by the digest of their model; a few idle ones are kept.
 *
 * Equal models and inputs give identical bytes in every run, process and thread.
 */
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { Cancellation } from "../contract/operation.ts";
import type { NdArray } from "../numeric/ndarray.ts";
import { engineBinary, type EngineSession } from "./engine.ts";
import { canRestrictWorkers, ISOLATION_HINT } from "./isolation.ts";
import { type SessionLimits, sessionLimits } from "./limits.ts";
import type { SandboxReply, SandboxRequest, SandboxValue, SessionShape } from "./sandbox_protocol.ts";
import { misfit, ownArray, type TensorInfo, transferOf } from "./tensors.ts";

/** Number of idle sessions that stay loaded, the most recently used ones. */
const MAX_IDLE = 4;
/** A sandbox with more memory and no holders is ended, because its memory never shrinks. */
const MAX_IDLE_BYTES = 512 * 2 ** 20;
/** Interval of the checks for cancellation and time limit during calls. */
const WATCH_MS = 20;

export interface OnnxSession {
  /** Digest of the model. */
  readonly sha256: string;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /**
   * Computes every output.
   * @param feeds one array per input; they are copied
   * @throws SvcError `artifact_abi_mismatch` for feeds that do not match the graph, `operation_canceled`,
   *   `onnx_time_exceeded`, `onnx_memory_exceeded`, and `operation_failed` with the runtime's message
   */
  run(
    feeds: Readonly<Record<string, NdArray>>,
    options?: { cancellation?: Cancellation },
  ): Promise<Record<string, NdArray>>;
  /** Releases the session; other holders keep it. */
  release(): Promise<void>;
}

/** Runtimes besides the portable one. */
export type OnnxAccelerator = "onnxruntime-node";

export interface SessionOptions {
  /** Required digest of the model. */
  sha256?: string;
  /** Limits that differ from the defaults. */
  limits?: Partial<SessionLimits>;
  /** The native runtime in the calling thread, without sandbox and limits; only on request. */
  accelerator?: OnnxAccelerator;
  /** Threads of the native runtime; default 1. */
  threads?: number;
}

/**
 * Opens a model.
 * @param model the bytes of an ONNX file
 * @returns a session that its holder releases
 * @throws SvcError `artifact_hash_mismatch`; `onnx_time_exceeded` and `onnx_memory_exceeded` while loading;
 *   `runtime_unavailable` if workers cannot be restricted, without the runtime, and for a graph that it cannot load
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
  if (options.accelerator !== undefined) return await openAccelerated(model, sha256, options.threads ?? 1);
  const sandbox = await sandboxFor(sessionLimits(options.limits));
  return await sandbox.open(model, sha256);
}

/** Starts the sandbox of sessions with these limits in advance. @throws SvcError `runtime_unavailable` */
export async function startOnnxSandbox(limits: Partial<SessionLimits> = {}): Promise<void> {
  await sandboxFor(sessionLimits(limits));
}

/** A session of the native runtime; a run cannot be interrupted. */
async function openAccelerated(model: Uint8Array, sha256: string, threads: number): Promise<OnnxSession> {
  const { acceleratedEngine } = await import("./accelerator.ts");
  const engine = await acceleratedEngine(threads);
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

/** Ends the sandboxes of this thread and their sessions; the next session starts a new one. */
export async function closeOnnxSessions(): Promise<void> {
  const ending = [...sandboxes.values()];
  sandboxes.clear();
  await Promise.all(
    ending.map((starting) => starting.then((sandbox) => sandbox.end("the sessions were closed"), () => {})),
  );
}

/** The sandboxes of this thread by their limits. */
const sandboxes = new Map<string, Promise<Sandbox>>();

async function sandboxFor(limits: SessionLimits): Promise<Sandbox> {
  const key = `${limits.call_timeout_s} ${limits.memory_mb}`;
  const known = sandboxes.get(key);
  // A limit or a cancellation may have ended the sandbox.
  if (known !== undefined && (await known.catch(() => undefined))?.ended !== false && sandboxes.get(key) === known) {
    sandboxes.delete(key);
  }
  const sandbox = sandboxes.get(key) ?? Sandbox.start(limits);
  sandboxes.set(key, sandbox);
  return await sandbox;
}

/** The engine, compiled once per thread. */
let engine: Promise<WebAssembly.Module> | undefined;

function compiledEngine(): Promise<WebAssembly.Module> {
  return engine ??= engineBinary().then((binary) => WebAssembly.compile(binary)).catch((error) => {
    engine = undefined;
    throw new SvcError("runtime_unavailable", `Cannot read the ONNX runtime: ${messageOf(error)}`, {
      hint: "Run deno cache on the program, and allow it to read its dependencies",
    });
  });
}

/** A call that waits for its turn or its reply. */
interface Watched {
  /** On the clock of `performance.now`; Infinity before its turn. */
  deadline: number;
  cancellation?: Cancellation;
}

interface Loaded {
  /** Id of the session in the sandbox. */
  session: number;
  sha256: string;
  shape: Promise<SessionShape>;
  holders: number;
}

class Sandbox {
  readonly #worker: Worker;
  readonly #limits: SessionLimits;
  /** The pending reply. */
  #reply: PromiseWithResolvers<SandboxValue> | undefined;
  /** The end of the last requested call. */
  #last: Promise<void> = Promise.resolve();
  readonly #watched = new Set<Watched>();
  /** Runs while calls follow one another: a timer a call would take a tenth of a short call. */
  #watch: ReturnType<typeof setInterval> | undefined;
  #heldBytes = 0;
  /** By digest, most recently used last. */
  readonly #loaded = new Map<string, Loaded>();
  #next = 1;
  #reason: SvcError | undefined;

  /** @throws SvcError `runtime_unavailable` */
  static async start(limits: SessionLimits): Promise<Sandbox> {
    if (!await canRestrictWorkers()) {
      throw new SvcError(
        "runtime_unavailable",
        "Cannot run a model: workers cannot be started without permissions here",
        {
          hint: ISOLATION_HINT,
        },
      );
    }
    // The worker starts while the engine compiles.
    const sandbox = new Sandbox(limits);
    try {
      await sandbox.#call({ type: "start", engine: await compiledEngine(), limits });
    } catch (error) {
      sandbox.end("it did not start");
      if (error instanceof SvcError) throw error;
      throw new SvcError("runtime_unavailable", `Cannot start the ONNX runtime: ${messageOf(error)}`);
    }
    return sandbox;
  }

  private constructor(limits: SessionLimits) {
    this.#limits = limits;
    this.#worker = new Worker(new URL("./sandbox.ts", import.meta.url), {
      type: "module",
      name: "svc onnx",
      deno: { permissions: "none" },
    });
    this.#worker.onmessage = ({ data: reply }: MessageEvent<SandboxReply>) => {
      this.#heldBytes = reply.heldBytes;
      if ("value" in reply) return this.#reply?.resolve(reply.value);
      const exceeded = reply.exceeded === undefined ? null : this.#exceeded(reply.exceeded);
      this.#reply?.reject(exceeded ?? new Error(reply.error));
      if (exceeded !== null || reply.broken) this.end(exceeded ?? reply.error);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(event.message);
    };
  }

  get ended(): boolean {
    return this.#reason !== undefined;
  }

  /** Terminates the sandbox; pending and later calls fail with the reason. */
  end(reason: string | SvcError): void {
    if (this.#reason !== undefined) return;
    this.#reason = typeof reason === "string"
      ? new SvcError("operation_failed", `The model sandbox has ended: ${reason}`)
      : reason;
    clearInterval(this.#watch);
    this.#worker.terminate();
    this.#reply?.reject(this.#reason);
    this.#loaded.clear();
  }

  #exceeded(limit: keyof SessionLimits): SvcError {
    const { call_timeout_s, memory_mb } = this.#limits;
    const [code, why] = limit === "memory_mb"
      ? ["onnx_memory_exceeded", `it needs more than ${memory_mb} MiB of memory`]
      : ["onnx_time_exceeded", `it took longer than ${call_timeout_s} s`];
    return new SvcError(code, `Cannot run the model: ${why}`, {
      hint: `Raise runtime.limits.${limit} in its trained_artifact.yaml, or use smaller inputs per call`,
    });
  }

  async open(model: Uint8Array, sha256: string): Promise<OnnxSession> {
    let loaded = this.#loaded.get(sha256);
    if (loaded === undefined) {
      const session = this.#next++;
      // A copy: the bytes may be in shared memory, or be used again.
      const bytes = model.slice();
      const shape = this.#call({ type: "open", session, model: bytes }, { transfer: [bytes.buffer] }) as Promise<
        SessionShape
      >;
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
        try {
          return await this.#call(request, { transfer: transferOf(own), cancellation }) as Record<string, NdArray>;
        } catch (error) {
          if (error instanceof SvcError) throw error;
          throw new SvcError("operation_failed", `Cannot run the model: ${messageOf(error)}`);
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

  /** Frees the sessions with the longest idle time, or the whole sandbox if it has much memory. */
  async #freeIdle(): Promise<void> {
    const held = [...this.#loaded.values()].some(({ holders }) => holders > 0);
    if (!held && this.#heldBytes > MAX_IDLE_BYTES) return this.end("it was idle");
    const idle = [...this.#loaded.values()].filter(({ holders }) => holders === 0);
    await Promise.all(
      idle.slice(0, -MAX_IDLE).map(({ session, sha256 }) => {
        this.#loaded.delete(sha256);
        return this.#call({ type: "release", session }).catch(() => {});
      }),
    );
  }

  /** Sends a request after the previous ones, with a time limit. */
  async #call(
    request: SandboxRequest,
    { transfer = [], cancellation }: { transfer?: Transferable[]; cancellation?: Cancellation } = {},
  ): Promise<SandboxValue> {
    const before = this.#last, ended = Promise.withResolvers<void>();
    this.#last = ended.promise;
    const call: Watched = { deadline: Infinity, cancellation };
    this.#watched.add(call);
    if (this.#reason === undefined) this.#watch ??= setInterval(() => this.#check(), WATCH_MS);
    try {
      await before;
      if (this.#reason !== undefined) throw this.#reason;
      // No model has run when the sandbox starts.
      if (request.type !== "start") call.deadline = performance.now() + 1000 * this.#limits.call_timeout_s;
      this.#reply = Promise.withResolvers();
      this.#worker.postMessage(request, transfer);
      return await this.#reply.promise;
    } finally {
      this.#watched.delete(call);
      ended.resolve();
    }
  }

  /** Ends the sandbox when a call was canceled or exceeds its time. */
  #check(): void {
    if (this.#watched.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    const now = performance.now();
    for (const { deadline, cancellation } of this.#watched) {
      if (cancellation?.isCancelled) {
        return this.end(new SvcError("operation_canceled", "Cannot finish the model: the operation was canceled"));
      }
      if (now > deadline) return this.end(this.#exceeded("call_timeout_s"));
    }
  }
}

/** @throws SvcError `artifact_abi_mismatch` with all mismatches */
function checkFeeds(feeds: Readonly<Record<string, NdArray>>, inputs: readonly TensorInfo[]): void {
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
