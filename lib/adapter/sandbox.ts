/**
 * The program's side of a sandbox: starts it with exactly the hashed files, calls into it, limits its time and memory,
 * and ends it.
 *
 * Every result is a structured clone, checked before use. A sandbox lives from its first call until it exceeds a limit
 * or its thread ends; one that exceeded a limit is never used again.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programFolder } from "../artifact/program.ts";
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

/** Interval of the checks of time, memory and cancellation during a call. */
const WATCH_MS = 10;
/** Growth of the process that is not counted: the program itself also works during a call. */
const MEMORY_SLACK_MB = 96;
/** Maximum number of messages of a sandbox during one call. */
const MAX_MESSAGES = 50_000;
/** Maximum time that a caller waits for the end of a thread. */
const END_MS = 1000;
const MIB = 2 ** 20;
/** Failures of a model that end the adapter's call, with the field of the manifest that sets the limit. */
export const MODEL_LIMITS = new Map([
  ["onnx_time_exceeded", "limits.timeout_s"],
  ["onnx_memory_exceeded", "limits.memory_mb"],
]);
const START = "start";
/** A sandbox starts faster than this, also on a busy machine. */
const START_S = 60;

/** The specification of a sandbox. */
export interface SandboxSpec {
  /** Name of the adapter. */
  name: string;
  root: string;
  /** Modules by path relative to the folder. */
  sources: ReadonlyMap<string, string>;
  models: ReadonlyMap<string, Uint8Array>;
  granted: PermissionSet;
  limits: AdapterLimits;
}

export interface SandboxCall {
  /** Path of the module relative to the folder. */
  module: string;
  callable: string;
  args: unknown[];
  /** Memory to transfer. */
  transfer: Transferable[];
  seed: number | bigint | null;
}

export interface CallOptions {
  cancellation?: Cancellation;
  progress?(completed: number, total: number, message: string | null): void;
  /** Runs a model of the manifest; the cancellation also ends with the call. */
  infer?(model: string, feeds: unknown, cancellation: Cancellation): Promise<Record<string, NdArray>>;
}

/** The result of a call, not yet checked. */
export interface CallOutcome {
  value: unknown;
  log: string[];
  dropped: number;
}

/** A failure inside a sandbox, with a refused access if there was one. */
export class SandboxFailure extends SvcError {
  constructor(readonly error: WireError, readonly log: string[], code: string, message: string) {
    super(code, message);
  }
}

/**
 * The folder of this module, or its fetched copy: the thread of a sandbox starts from files only. Null without one.
 */
function sandboxModules(): string | null {
  const folder = programFolder();
  return import.meta.dirname ?? (folder === null ? null : join(folder, "lib/adapter"));
}

/** @throws SvcError `adapter_isolation_unavailable` if workers cannot be restricted; no code is loaded then */
export async function requireIsolation(): Promise<void> {
  const refuse = (why: string, hint: string): never => {
    throw new SvcError("adapter_isolation_unavailable", `Cannot load an adapter: ${why}`, { hint });
  };
  if (sandboxModules() === null) {
    refuse(
      "the files of this program were not fetched",
      "Make its origin reachable once, or install svc into a folder",
    );
  }
  if (!await canRestrictWorkers()) refuse("workers cannot be started with fewer permissions", ISOLATION_HINT);
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
    const modules = sandboxModules()!, ownCode = [join(modules, "sandbox"), join(modules, "..", "onnx", "guard.ts")];
    // A checkout names the module as it is, so that tests and `deno compile` find it.
    const boot = import.meta.dirname === undefined
      ? pathToFileURL(join(modules, "sandbox/boot.ts"))
      : new URL("./sandbox/boot.ts", import.meta.url);
    this.#worker = new Worker(boot, {
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
      this.#worker.terminate();
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
    if (error === null) throw await this.#broken("it sent an unexpected reply");
    const code = error.refused?.kind === "import" ? "adapter_module_remote" : codeOf(error);
    const message = `Cannot load ${module} of the adapter ${this.#spec.name}: ${error.message}`;
    throw new SandboxFailure(error, [], code, message);
  }

  /**
   * Calls a function of a loaded module.
   * @returns its result, unchecked
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
    if (error === null) throw await this.#broken("it sent an unexpected reply");
    const what = error.origin === "result" ? "returned a value that cannot be transferred" : "failed";
    const said = error.name === "" || error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
    const message = `${callable} of the adapter ${this.#spec.name} ${what}: ${said}`;
    throw new SandboxFailure(error, log, codeOf(error), message);
  }

  /** Ends the sandbox and any running call. */
  async close(): Promise<void> {
    await this.#end(new SvcError("adapter_call_failed", `The sandbox of ${this.#spec.name} was closed`));
  }

  #send(message: HostMessage, transfer: Transferable[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  /** Starts a request and waits for its reply within the limits; one request at a time. */
  async #guard(what: string, start: () => void, call = 0, options: CallOptions = {}): Promise<Answer> {
    if (this.#ended !== undefined) throw this.#ended;
    if (this.#waiting !== undefined) throw new TypeError("A sandbox handles one request at a time");
    const { limits, name } = this.#spec;
    const answer = Promise.withResolvers<Answer>();
    // No caller may be waiting when a limit is exceeded.
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
            hint: "Raise limits.timeout_s in its manifest, or pass it less data per call",
          }),
        );
        return;
      }
      // The start of the thread takes memory, and no code of the adapter runs yet.
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
      // A late reply of an ended call must not arrive while the next call waits.
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
    const error = new SvcError("adapter_call_failed", `The sandbox of ${this.#spec.name} failed: ${why}`);
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
    Atomics.store(this.#vitals, Vital.givenUp, 1);
    this.#waiting?.answer.reject(reason);
    this.#port.close();
    const waited = Promise.withResolvers<void>();
    const timer = setTimeout(waited.resolve, END_MS);
    this.#worker.onmessage = ({ data }: MessageEvent<BootReply>) => {
      if (data.type !== "ended") return;
      this.#worker.terminate();
      waited.resolve();
    };
    const afterMs = this.#spec.limits.timeout_s * 1000 + END_MS;
    this.#worker.postMessage({ type: "end", afterMs } satisfies BootRequest);
    await waited.promise;
    clearTimeout(timer);
  }

  /** A message from the thread, with any content. */
  #receive(data: unknown): void {
    const waiting = this.#waiting;
    if (waiting === undefined || typeof data !== "object" || data === null) return;
    const message = data as ThreadMessage;
    if (++waiting.messages > MAX_MESSAGES) {
      this.#break(
        new SvcError("adapter_call_failed", `The adapter ${this.#spec.name} sent too many messages`),
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
          // The flag delivers a cancellation.
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

  /** Runs a model. A regular thread has one request at a time. */
  async #infer(id: number, model: unknown, feeds: unknown, waiting: Waiting): Promise<void> {
    if (this.#inferring) {
      return this.#break(
        new SvcError("adapter_call_failed", `The adapter ${this.#spec.name} sent too many requests`),
      );
    }
    this.#inferring = true;
    try {
      const { infer, cancellation } = waiting.options;
      if (infer === undefined) throw new TypeError("models are not available here");
      const over = () => this.#waiting !== waiting || cancellation?.isCancelled === true;
      const arrays = await infer(String(model), feeds, {
        get isCancelled() {
          return over();
        },
        throwIfCancelled() {
          if (over()) throw new SvcError("operation_canceled", "Cannot run a model for a call that has ended");
        },
      });
      const buffers = buffersOf(arrays);
      if (buffers.reduce((sum, { byteLength }) => sum + byteLength, 0) > this.#spec.limits.memory_mb * MIB) {
        return this.#break(this.#memoryExceeded("pass the outputs of a model to"));
      }
      this.#reply({ type: "inferred", id, arrays }, buffers);
    } catch (error) {
      // A limit of the model ends the call, even if the adapter's code catches the error.
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
      hint: "Raise limits.memory_mb in its manifest, or pass it less data per call",
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

/** URL of a file of the folder, for the adapter's code. */
function urlOf(root: string, path: string): string {
  return pathToFileURL(join(root, path)).href;
}

/** Read permissions for the folder: the folder, or its entries without those excluded from the digest. */
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

/** The code of a failure: that of a refused access, or of the origin of the error. */
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

/** A text without terminal control characters, of limited length. */
function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- exactly the characters that a terminal would obey
  return text.slice(0, 2000).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "·").toWellFormed();
}
