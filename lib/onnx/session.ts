/**
 * Sessions of ONNX graphs. Graphs run in a sandbox, a worker without permissions. Every session has a memory limit, every
 * call a time limit; exceeding one ends the sandbox and all of its sessions. So the open sessions of a sandbox have one
 * owner, and it passes to another one when they are released. Loaded models are cached by their digest; a few idle
 * sandboxes and models are kept.
 *
 * Equal models and inputs give identical bytes in every run, process and thread.
 */
import { type Code, messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { Cancellation } from "../contract/operation.ts";
import { Thread } from "../numeric/parallel/thread.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { engineBinary, type EngineSession } from "./engine.ts";
import { canRestrictWorkers, ISOLATION_HINT } from "../contract/isolation.ts";
import { type SessionLimits, sessionLimits } from "./limits.ts";
import type { SandboxReply, SandboxRequest, SandboxValue, SessionShape } from "./sandbox_protocol.ts";
import { misfit, ownArray, type TensorInfo, transferOf } from "./tensors.ts";

/** Number of idle sessions that stay loaded, the most recently used ones. */
const MAX_IDLE = 4;
/** Number of sandboxes without a holder that are kept in a thread, the most recently used ones. */
const MAX_FREE = 4;
/** Memory of those; a sandbox beyond it is ended, because its memory never shrinks. */
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
  /** Sessions of one owner, such as a package, may share a sandbox, and end together; default an owner of its own. */
  owner?: object;
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
  const sha256 = digestOf(model, options.sha256);
  if (options.accelerator !== undefined) return await openAccelerated(model, sha256, options.threads ?? 1);
  const sandbox = sandboxFor(sessionLimits(options.limits), options.owner ?? {}, sha256);
  return await sandbox.open(model, sha256);
}

function digestOf(model: Uint8Array, expected?: string): string {
  const sha256 = sha256Hex(model);
  if (expected === undefined || expected === sha256) return sha256;
  throw new SvcError("artifact_hash_mismatch", `Cannot open a model whose digest is ${sha256}`, {
    hint: `Expected ${expected}`,
  });
}

export interface OwnSandbox {
  /** @param sha256 required digest of the model @throws SvcError as {@link openOnnxSession} */
  open(model: Uint8Array, sha256: string): Promise<OnnxSession>;
  end(): void;
}

/** A sandbox that nothing but its holder has used, or will use. */
export function ownSandbox(): OwnSandbox {
  const sandbox = new Sandbox(sessionLimits());
  return {
    open: async (model, sha256) => await sandbox.open(model, digestOf(model, sha256)),
    end: () => sandbox.end("its holder ended it"),
  };
}

/** Starts a sandbox for a session with these limits in advance. @throws SvcError `runtime_unavailable` */
export async function startOnnxSandbox(limits: Partial<SessionLimits> = {}): Promise<void> {
  await sandboxFor(sessionLimits(limits)).ready;
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
export function closeOnnxSessions(): Promise<void> {
  for (const sandbox of sandboxes) sandbox.end("the sessions were closed");
  return Promise.resolve();
}

/** The sandboxes of this thread, the most recently used last. */
const sandboxes = new Set<Sandbox>();

/** A sandbox of the owner, or one without a holder, best with the model loaded. */
function sandboxFor(limits: SessionLimits, owner?: object, sha256 = ""): Sandbox {
  const fitting = [...sandboxes].reverse().filter((sandbox) => sandbox.fits(limits));
  const free = fitting.filter((sandbox) => sandbox.owner === undefined);
  const own = owner && fitting.find((sandbox) => sandbox.owner === owner);
  const sandbox = own ?? free.find((sandbox) => sandbox.holds(sha256)) ?? free[0] ?? new Sandbox(limits);
  sandbox.owner = owner;
  sandboxes.delete(sandbox);
  sandboxes.add(sandbox);
  return sandbox;
}

/** Ends the sandboxes without a holder beyond the limits, the longest unused first. */
function trimSandboxes(): void {
  const free = [...sandboxes].filter(({ owner }) => owner === undefined);
  let bytes = free.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  for (const [at, sandbox] of free.entries()) {
    if (free.length - at <= MAX_FREE && bytes <= MAX_IDLE_BYTES) return;
    bytes -= sandbox.heldBytes;
    sandbox.end("it was idle");
  }
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
  /** Settles with the start. @throws SvcError `runtime_unavailable` */
  readonly ready: Promise<void>;
  /** Bytes of the runtime's memory, which never shrinks. */
  heldBytes = 0;
  /** Owner of the open sessions; undefined without one. */
  owner: object | undefined;
  #holders = 0;
  #worker: Thread | undefined;
  readonly #limits: SessionLimits;
  /** The pending reply. */
  #reply: PromiseWithResolvers<SandboxValue> | undefined;
  /** The end of the last requested call. */
  #last: Promise<void> = Promise.resolve();
  readonly #watched = new Set<Watched>();
  /** Runs while calls follow one another: a timer a call would take a tenth of a short call. */
  #watch: ReturnType<typeof setInterval> | undefined;
  /** By digest, most recently used last. */
  readonly #loaded = new Map<string, Loaded>();
  #next = 1;
  #reason: SvcError | undefined;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
    this.ready = this.#start();
    // Reported to each waiting holder.
    this.ready.catch(() => {});
  }

  async #start(): Promise<void> {
    try {
      if (!await canRestrictWorkers()) {
        throw new SvcError(
          "runtime_unavailable",
          "Cannot run a model: workers cannot be started without permissions here",
          { hint: ISOLATION_HINT },
        );
      }
      if (this.#reason !== undefined) throw this.#reason;
      // The worker starts while the engine compiles.
      this.#startWorker();
      await this.#call({ type: "start", engine: await compiledEngine(), limits: this.#limits });
    } catch (error) {
      this.end("it did not start");
      if (error instanceof SvcError) throw error;
      throw new SvcError("runtime_unavailable", `Cannot start the ONNX runtime: ${messageOf(error)}`);
    }
  }

  #startWorker(): void {
    this.#worker = new Thread(new URL("./sandbox.ts", import.meta.url), { name: "svc onnx", permissions: "none" });
    this.#worker.port.onmessage = ({ data: reply }: MessageEvent<SandboxReply>) => {
      this.heldBytes = reply.heldBytes;
      if ("value" in reply) return this.#reply?.resolve(reply.value);
      const exceeded = reply.exceeded === undefined ? null : this.#exceeded(reply.exceeded);
      this.#reply?.reject(exceeded ?? new Error(reply.error));
      if (exceeded !== null || reply.broken) this.end(exceeded ?? reply.error);
    };
    this.#worker.onerror = (message) => this.end(message);
  }

  fits({ call_timeout_s, memory_mb }: SessionLimits): boolean {
    return this.#limits.call_timeout_s === call_timeout_s && this.#limits.memory_mb === memory_mb;
  }

  /** Whether a model is loaded. */
  holds(sha256: string): boolean {
    return this.#loaded.has(sha256);
  }

  /** Terminates the sandbox; pending and later calls fail with the reason. */
  end(reason: string | SvcError): void {
    if (this.#reason !== undefined) return;
    this.#reason = typeof reason === "string"
      ? new SvcError("operation_failed", `The model sandbox has ended: ${reason}`)
      : reason;
    sandboxes.delete(this);
    clearInterval(this.#watch);
    this.#worker?.end();
    this.#reply?.reject(this.#reason);
    this.#loaded.clear();
  }

  #exceeded(limit: keyof SessionLimits): SvcError {
    const { call_timeout_s, memory_mb } = this.#limits;
    const [code, why]: [Code, string] = limit === "memory_mb"
      ? ["onnx_memory_exceeded", `it needs more than ${memory_mb} MiB of memory`]
      : ["onnx_time_exceeded", `it took longer than ${call_timeout_s} s`];
    return new SvcError(code, `Cannot run the model: ${why}`, {
      hint: `Raise runtime.limits.${limit} in its trained_artifact.yaml, or use smaller inputs per call`,
    });
  }

  async open(model: Uint8Array, sha256: string): Promise<OnnxSession> {
    this.#holders++;
    try {
      await this.ready;
      return await this.#open(model, sha256);
    } catch (error) {
      await this.#letGo();
      if (error instanceof SvcError) throw error;
      throw new SvcError("runtime_unavailable", `Cannot load the model: ${messageOf(error)}`);
    }
  }

  async #open(model: Uint8Array, sha256: string): Promise<OnnxSession> {
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
      throw error;
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
        await this.#letGo();
      },
    };
  }

  #touch(loaded: Loaded): void {
    this.#loaded.delete(loaded.sha256);
    this.#loaded.set(loaded.sha256, loaded);
  }

  /** Ends a hold: frees the models with the longest idle time, and with the last hold the sandbox for other owners. */
  async #letGo(): Promise<void> {
    if (--this.#holders === 0) {
      this.owner = undefined;
      trimSandboxes();
    }
    if (this.#reason !== undefined) return;
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
      this.#worker!.port.postMessage(request, transfer);
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
