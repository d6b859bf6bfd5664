/**
 * The program's side of a sandbox: starts it with exactly the files that were hashed, calls into it, bounds its time and
 * memory, and ends it.
 *
 * Everything that comes out is a structured clone, checked before it is believed. A sandbox lives from its first call
 * until it breaks a bound or its thread ends; one that broke a bound is never used again.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf, SvcError } from "../contract/error.ts";
import type { Cancellation } from "../contract/operation.ts";
import { canRestrictWorkers, ISOLATION_HINT } from "../onnx/isolation.ts";
import { UNHASHED } from "./folder.ts";
import {
  type BootReply,
  type BootRequest,
  type HostMessage,
  type SandboxInit,
  type ThreadMessage,
  Vital,
  type WireError,
} from "./sandbox/protocol.ts";
import type { NdArray } from "../numeric/ndarray.ts";
import { buffersOf } from "../onnx/tensors.ts";
import type { AdapterLimits, PermissionSet } from "./types.ts";

/** How often time, memory and cancellation are looked at while a call runs. */
const WATCH_MS = 10;
/** The process may grow by this much more than an adapter's limit: the program itself also works meanwhile. */
const MEMORY_SLACK_MB = 96;
/** A sandbox that sends more messages in one call floods. */
const MAX_MESSAGES = 50_000;
/** Ending a thread takes a moment; waiting longer than this helps nobody. */
const END_MS = 5000;
const MIB = 2 ** 20;
/** Failures of a model that end the adapter's call, with the limit of the manifest that decides. */
export const MODEL_LIMITS = new Map([
  ["onnx_time_exceeded", "limits.timeout_s"],
  ["onnx_memory_exceeded", "limits.memory_mb"],
]);
const START = "start";
/** The sandbox itself starts in less, also on a busy machine. */
const START_S = 60;

/** What a sandbox is made of. */
export interface SandboxSpec {
  /** Name of the adapter. */
  name: string;
  root: string;
  /** Modules by path from the folder. */
  sources: ReadonlyMap<string, string>;
  models: ReadonlyMap<string, Uint8Array>;
  granted: PermissionSet;
  limits: AdapterLimits;
}

export interface SandboxCall {
  /** Path of the module from the folder. */
  module: string;
  callable: string;
  args: unknown[];
  /** Memory that is handed over. */
  transfer: Transferable[];
  seed: number | bigint | null;
}

export interface CallOptions {
  cancellation?: Cancellation;
  progress?(completed: number, total: number, message: string | null): void;
  /** Computes a model that the manifest lists; the cancellation also ends with the call. */
  infer?(model: string, feeds: unknown, cancellation: Cancellation): Promise<Record<string, NdArray>>;
}

/** What a call brought: not yet checked. */
export interface CallOutcome {
  value: unknown;
  log: string[];
  dropped: number;
}

/** A failure inside of a sandbox, with what was refused to the code meanwhile. */
export class SandboxFailure extends SvcError {
  constructor(readonly error: WireError, readonly log: string[], code: string, message: string) {
    super(code, message);
  }
}

/** @throws SvcError `adapter_isolation_unavailable` where workers cannot be restricted: nothing is loaded then */
export async function requireIsolation(): Promise<void> {
  const refuse = (why: string, hint: string): never => {
    throw new SvcError("adapter_isolation_unavailable", `Cannot load an adapter: ${why}`, { hint });
  };
  if (!import.meta.url.startsWith("file:")) {
    refuse("the program was not started from files", "Install svc into a folder and run it from there");
  }
  if (!await canRestrictWorkers()) refuse("workers cannot be started with fewer permissions here", ISOLATION_HINT);
}

export class AdapterSandbox {
  readonly #spec: SandboxSpec;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #vitals = new Int32Array(new SharedArrayBuffer(4 * Vital.length));
  readonly #loaded = new Set<string>();
  #waiting: Waiting | undefined;
  #inferring = false;
  #nextCall = 1;
  #ended: SvcError | undefined;

  /** Starts a sandbox; no code of the adapter runs yet. @throws SvcError `adapter_isolation_unavailable` */
  static async start(spec: SandboxSpec): Promise<AdapterSandbox> {
    await requireIsolation();
    const sandbox = new AdapterSandbox(spec);
    const reply = await sandbox.#guard(START, () => {});
    if (reply.type === "ready") return sandbox;
    const why = reply.type === "unsupported" ? String(reply.message) : "the sandbox did not start";
    await sandbox.#end(
      new SvcError("adapter_isolation_unavailable", `Cannot load an adapter: ${why}`, {
        hint: "Use the version of Deno that svc names",
      }),
    );
    throw sandbox.#ended!;
  }

  private constructor(spec: SandboxSpec) {
    this.#spec = spec;
    const ownCode = [join(import.meta.dirname!, "sandbox"), join(import.meta.dirname!, "..", "onnx", "guard.ts")];
    this.#worker = new Worker(new URL("./sandbox/boot.ts", import.meta.url), {
      type: "module",
      name: "svc adapter",
      deno: {
        permissions: {
          read: [...readable(spec.root), ...spec.granted.read, ...ownCode],
          net: spec.granted.net.length > 0 ? [...spec.granted.net] : false,
          env: spec.granted.env.length > 0 ? [...spec.granted.env] : false,
          write: false,
          run: false,
          ffi: false,
          sys: false,
          import: false,
        },
      },
    });
    this.#worker.onmessage = ({ data }: MessageEvent<BootReply>) => {
      if (data.type === "lost") this.#lose(String(data.message), data.outOfMemory);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#lose(event.message);
    };
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#receive(data);
    const init: SandboxInit = {
      root: spec.root,
      sources: new Map([...spec.sources].map(([path, text]) => [urlOf(spec.root, path), text])),
      models: new Map([...spec.models].map(([id, bytes]) => [id, bytes.slice()])),
      granted: spec.granted,
      ownCode,
      vitals: this.#vitals,
      timeoutMs: spec.limits.timeout_s * 1000,
      maxBytes: spec.limits.memory_mb * MIB,
    };
    const request: BootRequest = { type: "start", port: port2, init, heapMb: spec.limits.memory_mb };
    this.#worker.postMessage(request, [port2, ...[...init.models.values()].map(({ buffer }) => buffer)]);
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /**
   * Loads a module and looks for its functions.
   * @throws SvcError `adapter_load_failed`, `adapter_callable_missing`, `adapter_module_remote`, `adapter_timeout`,
   *   `adapter_memory_exceeded`
   */
  async load(module: string, callables: string[]): Promise<void> {
    const key = JSON.stringify([module, callables]);
    if (this.#loaded.has(key)) return;
    const url = urlOf(this.#spec.root, module);
    const reply = await this.#guard(
      `load ${module} of`,
      () => this.#send({ type: "load", modules: [{ url, callables }] }),
    );
    if (reply.type === "loaded") return void this.#loaded.add(key);
    const error = reply.type === "load_failed" ? trustedError(reply.error) : null;
    if (error === null) throw await this.#broken("it answered something else");
    const code = error.refused?.kind === "import" ? "adapter_module_remote" : codeOf(error);
    const message = `Cannot load ${module} of the adapter ${this.#spec.name}: ${error.message}`;
    throw new SandboxFailure(error, [], code, message);
  }

  /**
   * Calls a function of a module that was loaded.
   * @returns what it returned, unchecked
   * @throws SvcError `adapter_call_failed`, `adapter_permission_refused`, `adapter_result_invalid`, `adapter_timeout`,
   *   `adapter_memory_exceeded`, `operation_canceled`
   */
  async call(call: SandboxCall, options: CallOptions = {}): Promise<CallOutcome> {
    const id = this.#nextCall++;
    const { module, callable, args, seed, transfer } = call;
    const reply = await this.#guard(
      `call ${callable} of`,
      () =>
        this.#send({ type: "call", call: id, module: urlOf(this.#spec.root, module), callable, args, seed }, transfer),
      id,
      options,
    );
    options.cancellation?.throwIfCancelled();
    const { log, dropped } = trustedLog(reply);
    if (reply.type === "result") return { value: reply.value, log, dropped };
    const error = reply.type === "failed" ? trustedError(reply.error) : null;
    if (error === null) throw await this.#broken("it answered something else");
    const what = error.origin === "result" ? "returned what cannot be handed over" : "failed";
    const said = error.name === "" || error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
    const message = `${callable} of the adapter ${this.#spec.name} ${what}: ${said}`;
    throw new SandboxFailure(error, log, codeOf(error), message);
  }

  /** Ends the sandbox; whatever runs is cut off. */
  async close(): Promise<void> {
    await this.#end(new SvcError("adapter_call_failed", `The sandbox of ${this.#spec.name} was closed`));
  }

  #send(message: HostMessage, transfer: Transferable[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  /** Starts something and waits for its answer within the bounds. One thing at a time. */
  async #guard(what: string, start: () => void, call = 0, options: CallOptions = {}): Promise<Answer> {
    if (this.#ended !== undefined) throw this.#ended;
    if (this.#waiting !== undefined) throw new TypeError("A sandbox does one thing at a time");
    const { limits, name } = this.#spec;
    const answer = Promise.withResolvers<Answer>();
    // Nobody may be listening any more when a bound is broken.
    answer.promise.catch(() => {});
    this.#waiting = { call, answer, options, messages: 0 };
    const begun = performance.now();
    const baseline = residentMb();
    const seconds = what === START ? START_S : limits.timeout_s;
    let cancelled = false;
    const watch = setInterval(() => {
      const attempt = `Cannot ${what} the adapter ${name}`;
      if (performance.now() - begun > seconds * 1000) {
        this.#break(
          new SvcError("adapter_timeout", `${attempt}: it took longer than ${seconds} s`, {
            hint: "Raise limits.timeout_s in its manifest, or give it less to do at once",
          }),
        );
        return;
      }
      // Starting the thread takes memory of its own, and no code of the adapter runs yet.
      const grown = what === START ? 0 : residentMb() - baseline - MEMORY_SLACK_MB;
      const held = Math.max(Atomics.load(this.#vitals, Vital.heldMb), grown);
      if (Atomics.load(this.#vitals, Vital.heapFull) === 1 || held > limits.memory_mb) {
        return this.#break(this.#memoryExceeded(what));
      }
      if (!cancelled && options.cancellation?.isCancelled) {
        cancelled = true;
        this.#send({ type: "cancel", call });
      }
    }, WATCH_MS);
    try {
      start();
      return await answer.promise;
    } catch (error) {
      // The answer of a call that was given up must not come while the next one waits.
      if (this.#ended !== undefined) await this.#ending;
      throw error;
    } finally {
      clearInterval(watch);
      this.#waiting = undefined;
    }
  }

  #break(reason: SvcError): void {
    this.#ending = this.#end(reason);
  }
  #ending: Promise<void> | undefined;

  async #broken(why: string): Promise<SvcError> {
    const error = new SvcError("adapter_call_failed", `The sandbox of ${this.#spec.name} broke: ${why}`);
    await this.#end(error);
    return error;
  }

  #lose(message: string, outOfMemory = false): void {
    const full = outOfMemory || Atomics.load(this.#vitals, Vital.heapFull) === 1;
    this.#break(
      full
        ? this.#memoryExceeded("run")
        : new SvcError("adapter_call_failed", `The sandbox of the adapter ${this.#spec.name} ended: ${message}`),
    );
  }

  async #end(reason: SvcError): Promise<void> {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#waiting?.answer.reject(reason);
    this.#port.close();
    const ended = Promise.withResolvers<void>();
    const timer = setTimeout(ended.resolve, END_MS);
    this.#worker.onmessage = ({ data }: MessageEvent<BootReply>) => {
      if (data.type === "ended") ended.resolve();
    };
    this.#worker.postMessage({ type: "end" } satisfies BootRequest);
    await ended.promise;
    clearTimeout(timer);
    this.#worker.terminate();
  }

  /** A message from the thread, which may be anything. */
  #receive(data: unknown): void {
    const waiting = this.#waiting;
    if (waiting === undefined || typeof data !== "object" || data === null) return;
    const message = data as ThreadMessage;
    if (++waiting.messages > MAX_MESSAGES) {
      this.#break(
        new SvcError("adapter_call_failed", `The adapter ${this.#spec.name} floods the program with messages`),
      );
      return;
    }
    switch (message.type) {
      case "progress": {
        const { completed, total, message: text } = message;
        if (message.call !== waiting.call || !isCount(completed) || !isCount(total)) return;
        try {
          waiting.options.progress?.(completed, total, typeof text === "string" ? text.slice(0, 500) : null);
        } catch {
          // A cancellation is delivered by its flag.
        }
        return;
      }
      case "infer":
        return void this.#infer(message.id, message.model, message.feeds, waiting);
      case "result":
      case "failed":
        if (message.call !== waiting.call) return;
        return waiting.answer.resolve(message);
      case "ready":
      case "unsupported":
      case "loaded":
      case "load_failed":
        if (waiting.call === 0) waiting.answer.resolve(message);
    }
  }

  /** Computes a model. An honest thread has one request under way. */
  async #infer(id: number, model: unknown, feeds: unknown, waiting: Waiting): Promise<void> {
    if (this.#inferring) {
      return this.#break(
        new SvcError("adapter_call_failed", `The adapter ${this.#spec.name} floods the program with requests`),
      );
    }
    this.#inferring = true;
    try {
      const { infer, cancellation } = waiting.options;
      if (infer === undefined) throw new TypeError("no models can be computed here");
      const over = () => this.#waiting !== waiting || cancellation?.isCancelled === true;
      const arrays = await infer(String(model), feeds, {
        get isCancelled() {
          return over();
        },
        throwIfCancelled() {
          if (over()) throw new SvcError("operation_canceled", "Cannot compute a model for a call that has ended");
        },
      });
      const buffers = buffersOf(arrays);
      if (buffers.reduce((sum, { byteLength }) => sum + byteLength, 0) > this.#spec.limits.memory_mb * MIB) {
        return this.#break(this.#memoryExceeded("hand the outputs of a model to"));
      }
      this.#reply({ type: "inferred", id, arrays }, buffers);
    } catch (error) {
      // A limit of the model ends the call, whatever the adapter's code does about it.
      if (error instanceof SvcError && MODEL_LIMITS.has(error.code)) return this.#break(error);
      this.#reply({ type: "inferred", id, error: messageOf(error) });
    } finally {
      this.#inferring = false;
    }
  }

  #reply(message: HostMessage, transfer: Transferable[] = []): void {
    if (this.#ended === undefined) this.#send(message, transfer);
  }

  #memoryExceeded(what: string): SvcError {
    const { name, limits } = this.#spec;
    const message = `Cannot ${what} the adapter ${name}: it needs more than ${limits.memory_mb} MiB of memory`;
    return new SvcError("adapter_memory_exceeded", message, {
      hint: "Raise limits.memory_mb in its manifest, or give it less to do at once",
    });
  }
}

type Answer = Exclude<ThreadMessage, { type: "progress" | "infer" }>;

interface Waiting {
  call: number;
  answer: PromiseWithResolvers<Answer>;
  options: CallOptions;
  messages: number;
}

/** URL of a file of the folder, as the adapter's code knows it. */
function urlOf(root: string, path: string): string {
  return pathToFileURL(join(root, path)).href;
}

/** What stands for reading the folder: the folder, or everything in it but what its digest leaves out. */
function readable(root: string): string[] {
  const names = [...Deno.readDirSync(root)].map(({ name }) => name);
  return names.includes(UNHASHED) ? names.filter((name) => name !== UNHASHED).map((name) => join(root, name)) : [root];
}

function residentMb(): number {
  return Deno.memoryUsage().rss / MIB;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function trustedError(error: unknown): WireError | null {
  if (typeof error !== "object" || error === null) return null;
  const { origin, name, message, refused } = error as Record<string, unknown>;
  if (typeof message !== "string") return null;
  const { kind, value } = (typeof refused === "object" && refused !== null ? refused : {}) as Record<string, unknown>;
  return {
    origin: isOneOf(ORIGINS, origin) ? origin : "throw",
    name: typeof name === "string" ? printable(name) : "",
    message: printable(message),
    refused: isOneOf(REFUSALS, kind) && typeof value === "string" ? { kind, value: printable(value) } : null,
  };
}

const REFUSALS = ["net", "read", "env", "import", "other"] as const;
const ORIGINS = ["throw", "result", "missing", "import"] as const;
const ORIGIN_CODES: Readonly<Record<WireError["origin"], string>> = {
  throw: "adapter_call_failed",
  result: "adapter_result_invalid",
  missing: "adapter_callable_missing",
  import: "adapter_load_failed",
};

/** The code of a failure: that of a refused access, or of where the error arose. */
function codeOf({ origin, refused }: WireError): string {
  return refused === null ? ORIGIN_CODES[origin] : "adapter_permission_refused";
}

function isOneOf<T extends string>(known: readonly T[], value: unknown): value is T {
  return (known as readonly unknown[]).includes(value);
}

const MAX_LOG_LINES = 100;

function trustedLog(reply: Answer): { log: string[]; dropped: number } {
  const { log, dropped } = reply as { log?: unknown; dropped?: unknown };
  return {
    log: Array.isArray(log)
      ? log.filter((line) => typeof line === "string").slice(0, MAX_LOG_LINES).map((line) =>
        printable(line).slice(0, 500)
      )
      : [],
    dropped: isCount(dropped) ? Math.floor(dropped) : 0,
  };
}

/** A text that cannot steer a terminal, and that a document can hold. */
function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- exactly the characters that a terminal would obey
  return text.slice(0, 2000).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "·").toWellFormed();
}
