/**
 * The program's side of a sandbox: starts a process with exactly the hashed modules, calls into it, limits its time and
 * memory, and ends it.
 *
 * Every result is decoded from a frame and checked before use. A sandbox serves the calls of one step; one that exceeded a
 * limit is never used again.
 */
import { basename, dirname, join, relative } from "node:path";
import { ownExecutable, RUN_FLAG } from "../artifact/program.ts";
import { type Code, messageOf, type SourceLocation, SvcError } from "../contract/error.ts";
import { visible, visibleLine } from "../contract/escape.ts";
import type { Cancellation } from "../contract/operation.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { canRestrictWorkers, ISOLATION_HINT } from "../contract/isolation.ts";
import { type Child, type ChildEnd, launcherReport, MemoryWatch, startChild, startFailure } from "./process/child.ts";
import { guestUrl, WORKER_COMMAND, type WorkerPermissions } from "./process/entry.ts";
import type { GuestMessage, HostMessage, ModelFile, WireError } from "./process/protocol.ts";
import { FrameError, type FrameLimits } from "./process/wire.ts";
import type { PythonRuntime } from "./python/interpreter.ts";
import { pythonChild } from "./python/launch.ts";
import { codeLocation, urlOf } from "./sources.ts";
import type { AdapterLimits, PermissionSet } from "./manifest_schema.ts";

/** Interval of the checks of time, memory and cancellation during a call. */
const WATCH_MS = 20;
/** Resident memory of a process without an adapter, with what its engine takes for itself. */
const RUNTIME_MB = 112;
/** Maximum number of messages of a sandbox during one call. */
const MAX_MESSAGES = 50_000;
const MIB = 2 ** 20;
/** Maximum number of processes of a Python adapter, for systems that do not filter its calls. */
const MAX_PROCESSES = 32;
/** Time for code to end by itself after a cancellation. */
const CANCEL_MS = 5000;
/** Bounds of the documents in a frame. */
const MAX_DOCUMENT = { header: 128 * MIB, values: 10_000_000 };
/** Failures of a model that end the adapter's call, with the field of the manifest that sets the limit. */
export const MODEL_LIMITS = new Map([
  ["onnx_time_exceeded", "limits.timeout_s"],
  ["onnx_memory_exceeded", "limits.memory_mb"],
]);
/** A process starts faster than this, also on a busy machine. */
const START_S = 60;

/** The specification of a sandbox. */
export interface SandboxSpec {
  /** Name of the adapter. */
  name: string;
  root: string;
  /** Modules by path relative to the folder. */
  sources: ReadonlyMap<string, string>;
  models: readonly ModelFile[];
  granted: PermissionSet;
  limits: AdapterLimits;
  /** Paths in the folder that the code cannot read. */
  hidden?: readonly string[];
  /** Of an adapter in Python. */
  python?: PythonRuntime;
  /** Whether the operations have arrays; for Python. */
  arrays?: boolean;
}

export interface SandboxCall {
  /** Path of the module relative to the folder. */
  module: string;
  callable: string;
  args: unknown[];
  /** Names of parameters that are real numbers; for Python. */
  floats?: readonly string[];
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
  constructor(
    readonly error: WireError,
    readonly log: string[],
    code: Code,
    message: string,
    readonly location: SourceLocation | undefined,
  ) {
    super(code, message);
  }
}

// --- isolation -------------------------------------------------------------------------------------------------------

const unavailable = (why: string, hint: string | null) =>
  new SvcError("adapter_isolation_unavailable", `Cannot load an adapter: ${why}`, { hint });

/** @throws SvcError `adapter_isolation_unavailable` if no process can be started; no code is loaded then */
export async function requireIsolation(): Promise<void> {
  if (ownExecutable() === null) {
    throw unavailable("this program may not start its own executable", `Start it with ${RUN_FLAG}`);
  }
  if (Deno.build.standalone && !await canRestrictWorkers()) {
    throw unavailable("workers cannot be started with fewer permissions", ISOLATION_HINT);
  }
}

/** Flags of a process that may do nothing but what is granted. `--deny-import` and the like refuse code from elsewhere. */
async function denoArguments({ root, hidden = [], granted, limits }: SandboxSpec): Promise<string[]> {
  const readable = [root, ...granted.read];
  const split = readable.find((path) => path.includes(","));
  if (split !== undefined) {
    throw new SvcError("adapter_load_failed", `Cannot give an adapter access to ${split}: the path has a comma`, {
      hint: "Move the folder to a path without commas",
    });
  }
  const flag = (name: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`--${name}=${values.join(",")}`];
  return [
    ...["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--cached-only"],
    ...["--deny-import", "--no-code-cache", `--v8-flags=--max-old-space-size=${limits.memory_mb}`],
    ...flag("allow-read", readable),
    ...flag("deny-read", hidden.map((path) => join(root, path))),
    ...flag("allow-net", granted.net),
    ...flag("allow-env", granted.env),
    await guestUrl(),
  ];
}

/** A compiled program has its own rights, so its code for adapters opens a worker with those of the adapter. */
function workerArguments({ root, hidden = [], granted }: SandboxSpec): string[] {
  const names = [...Deno.readDirSync(root)].map(({ name }) => name).filter((name) => !hidden.includes(name));
  const permissions: WorkerPermissions = {
    read: [...names.map((name) => join(root, name)), ...granted.read],
    ...{ net: granted.net, env: granted.env },
  };
  return [WORKER_COMMAND, JSON.stringify(permissions)];
}

async function denoChild(spec: SandboxSpec, words: string[] | null) {
  await requireIsolation();
  const { granted: { read, net } } = spec, program = Deno.execPath();
  return {
    program,
    permitted: ownExecutable()!,
    args: words === null ? await denoArguments(spec) : [...words, ...workerArguments(spec)],
    // A path that cannot be a folder: nothing that the runtime keeps reaches another process.
    env: { DENO_DIR: join(program, "none"), NO_COLOR: "1" },
    system: [program],
    read,
    network: net.length > 0,
    confined: false,
  };
}

// --- sandbox ---------------------------------------------------------------------------------------------------------

export class AdapterSandbox {
  readonly #spec: SandboxSpec;
  readonly #child: Child;
  readonly #memory: MemoryWatch;
  readonly #limits: FrameLimits;
  readonly #loaded = new Set<string>();
  #waiting: Waiting | undefined;
  #inferring = false;
  #nextCall = 1;
  #ended: SvcError | undefined;
  #ending: Promise<void> | undefined;

  /**
   * Starts a process; no code of the adapter runs yet.
   * @param words start this program, which opens a worker; null starts the guest as the main module
   * @throws SvcError `adapter_isolation_unavailable`, `adapter_load_failed`
   */
  static async start(
    spec: SandboxSpec,
    words: string[] | null = Deno.build.standalone ? [] : null,
  ): Promise<AdapterSandbox> {
    const { root, hidden = [], granted, limits, python } = spec;
    const environment = granted.env.map((name): [string, string | undefined] => [name, Deno.env.get(name)]);
    const given = Object.fromEntries(environment.filter(([, value]) => value !== undefined) as [string, string][]);
    const child = python === undefined ? await denoChild(spec, words) : await pythonChild(python, granted);
    const processors = navigator.hardwareConcurrency || 1;
    let sandbox: AdapterSandbox | undefined;
    try {
      await startChild({
        ...child,
        env: { ...child.env, ...given },
        folder: root,
        hidden: hidden.map((path) => join(root, path)),
        memoryMb: limits.memory_mb,
        cpuSeconds: (limits.timeout_s + START_S) * processors,
      }, async (child) => {
        sandbox = new AdapterSandbox(spec, child);
        await sandbox.#begin();
      });
    } catch (error) {
      throw error instanceof SvcError ? error : unavailable(messageOf(error), "Run svc doctor");
    }
    return sandbox!;
  }

  private constructor(spec: SandboxSpec, child: Child) {
    this.#spec = spec;
    this.#child = child;
    this.#memory = new MemoryWatch(child.pid);
    this.#limits = { ...MAX_DOCUMENT, arrays: spec.limits.memory_mb * MIB };
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  async #begin(): Promise<void> {
    const { root, sources, models, python, arrays = false } = this.#spec, encoder = new TextEncoder();
    void this.#listen();
    const reply = await this.#guard("start", () =>
      this.#send({
        type: "start",
        root,
        sources: [...sources].map(([path, text]) => [this.#nameOf(path), encoder.encode(text)]),
        models: models.map((model) => ({ ...model })),
        arrays,
      }), { seconds: START_S });
    if (reply.type === "ready" && reply.version === (python?.version ?? Deno.version.deno)) return;
    const [what, hint] = python === undefined
      ? ["Deno", "Start svc by the path of its Deno"]
      : [`Python than ${python.version}`, "Load the adapter again"];
    throw await this.#end(unavailable(`its process runs another version of ${what}`, hint));
  }

  /** The name of a module in the process. */
  #nameOf(path: string): string {
    return this.#spec.python === undefined ? urlOf(this.#spec.root, path) : join(this.#spec.root, path);
  }

  /**
   * Loads a module and looks for its functions.
   * @throws SvcError `adapter_load_failed`, `adapter_callable_missing`, `adapter_module_remote`, `adapter_timeout`,
   *   `adapter_memory_exceeded`
   */
  async load(module: string, callables: string[]): Promise<void> {
    const key = JSON.stringify([module, callables]);
    if (this.#loaded.has(key)) return;
    const url = this.#nameOf(module);
    const reply = await this.#guard(`load ${module} of`, () => this.#send({ type: "load", url, callables }));
    if (reply.type === "loaded") return void this.#loaded.add(key);
    const error = reply.type === "load_failed" ? trustedError(reply.error) : null;
    if (error === null) throw await this.#broken("it sent an unexpected reply");
    const code = error.refused?.kind === "import" ? "adapter_module_remote" : codeOf(error);
    const message = `Cannot load ${module} of the adapter ${this.#spec.name}: ${error.message}`;
    throw new SandboxFailure(error, [], code, message, this.#locate(error));
  }

  /**
   * Calls a function of a loaded module.
   * @returns its result, unchecked
   * @throws SvcError `adapter_call_failed`, `adapter_permission_refused`, `adapter_result_invalid`, `adapter_timeout`,
   *   `adapter_memory_exceeded`, `operation_canceled`
   */
  async call(
    { module, callable, args, floats = [], seed }: SandboxCall,
    options: CallOptions = {},
  ): Promise<CallOutcome> {
    const call = this.#nextCall++;
    const request: HostMessage = { type: "call", call, module: this.#nameOf(module), callable, args, floats, seed };
    const reply = await this.#guard(`call ${callable} of`, () => this.#send(request), { call, options });
    options.cancellation?.throwIfCancelled();
    const { log, dropped } = trustedLog(reply);
    if (reply.type === "result") return { value: reply.value, log, dropped };
    const error = reply.type === "failed" ? trustedError(reply.error) : null;
    if (error === null) throw await this.#broken("it sent an unexpected reply");
    if (error.name === "MemoryError") throw await this.#end(this.#memoryExceeded(`call ${callable} of`));
    const what = error.origin === "result" ? "returned a value that cannot be transferred" : "failed";
    const said = error.name === "" || error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
    const message = `${callable} of the adapter ${this.#spec.name} ${what}: ${said}`;
    throw new SandboxFailure(error, log, codeOf(error), message, this.#locate(error));
  }

  #locate(error: WireError): SourceLocation | undefined {
    const { root, sources, python } = this.#spec, { place } = error;
    if (python === undefined || place === null) return codeLocation(root, sources, error);
    const path = relative(root, place.file);
    return sources.has(path) ? { ...place, file: `${basename(root)}/${path}` } : undefined;
  }

  /** Ends the process and any running call. */
  async close(): Promise<void> {
    await this.#end(new SvcError("adapter_call_failed", `The sandbox of ${this.#spec.name} was closed`));
  }

  #send(message: HostMessage): void {
    if (this.#ended === undefined) this.#child.send(message);
  }

  /** Starts a request and waits for its reply within the limits; one request at a time. */
  async #guard(
    what: string,
    start: () => void,
    { call = 0, options = {}, seconds = this.#spec.limits.timeout_s }: {
      call?: number;
      options?: CallOptions;
      seconds?: number;
    } = {},
  ): Promise<Answer> {
    if (this.#ended !== undefined) throw this.#ended;
    if (this.#waiting !== undefined) throw new TypeError("A sandbox handles one request at a time");
    const { limits, name, python } = this.#spec;
    const answer = Promise.withResolvers<Answer>();
    // No caller may be waiting when a limit is exceeded.
    answer.promise.catch(() => {});
    this.#waiting = { call, answer, options, messages: 0 };
    const begun = performance.now();
    let cancelled = Infinity;
    const watch = setInterval(() => {
      if (performance.now() - begun > seconds * 1000) {
        const message = `Cannot ${what} the adapter ${name}: it took longer than ${seconds} s`;
        const hint = "Raise limits.timeout_s in its manifest, or pass it less data per call";
        return void this.#end(new SvcError("adapter_timeout", message, { hint }));
      }
      const used = this.#memory.sample();
      if (python !== undefined && this.#memory.processes > MAX_PROCESSES) {
        const message = `Cannot ${what} the adapter ${name}: it started more than ${MAX_PROCESSES} processes`;
        return void this.#end(new SvcError("adapter_call_failed", message, { hint: "Use threads, or one process" }));
      }
      // After the number of processes, whose memory is counted with what they share.
      if (used > limits.memory_mb + RUNTIME_MB) return void this.#end(this.#memoryExceeded(what));
      if (cancelled === Infinity && options.cancellation?.isCancelled) {
        cancelled = performance.now();
        this.#send({ type: "cancel", call });
      }
      if (performance.now() - cancelled > CANCEL_MS) {
        void this.#end(new SvcError("operation_canceled", `The call of the adapter ${name} was cancelled`));
      }
    }, WATCH_MS);
    try {
      start();
      return await answer.promise;
    } catch (error) {
      // The process has ended when its caller sees the failure.
      await this.#ending;
      throw error;
    } finally {
      clearInterval(watch);
      this.#waiting = undefined;
    }
  }

  async #broken(why: string): Promise<SvcError> {
    return await this.#end(new SvcError("adapter_call_failed", `The sandbox of ${this.#spec.name} failed: ${why}`));
  }

  /** Ends the process, for the first reason that is given. */
  async #end(reason: SvcError): Promise<SvcError> {
    if (this.#ended === undefined) {
      this.#ended = reason;
      this.#ending = this.#child.kill().then(() => {});
      this.#waiting?.answer.reject(reason);
    }
    await this.#ending;
    return this.#ended;
  }

  /** Receives frames until the process ends. */
  async #listen(): Promise<void> {
    try {
      for (;;) {
        const message = await this.#child.receive(this.#limits);
        if (message === undefined) break;
        if (this.#ended === undefined) this.#receive(message);
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      const limit = error.reason === "limit";
      return void this.#end(
        limit
          ? new SvcError("adapter_result_invalid", `Cannot use the adapter's result: ${error.message}`, {
            hint: "Raise limits.memory_mb in its manifest, or return less data per call",
          })
          : new SvcError("adapter_call_failed", `The sandbox of ${this.#spec.name} failed: ${error.message}`),
      );
    }
    if (this.#ended !== undefined) return;
    this.#lost(await this.#child.kill());
  }

  /** The process ended by itself: its code ended it, or the engine did. */
  #lost(end: ChildEnd): void {
    if (/out of memory|memory allocation|OOM/i.test(end.stderr)) return void this.#end(this.#memoryExceeded("run"));
    const fatal = /^# (?!Fatal error (?:in|with))(.+)$/m.exec(end.stderr)?.[1] ?? startFailure(end);
    void this.#end(
      new SvcError("adapter_call_failed", `The process of the adapter ${this.#spec.name} ended: ${printable(fatal)}`, {
        hint: this.#spec.python === undefined || end.stderr.trim() === ""
          ? "Run its code by itself; an engine ends at sizes beyond its limits"
          : `It printed: ${printable(end.stderr.trim())}`,
      }),
    );
  }

  /** A message from the process, with any content. */
  #receive(data: unknown): void {
    const waiting = this.#waiting;
    if (waiting === undefined || typeof data !== "object" || data === null) return;
    const message = data as GuestMessage;
    if (++waiting.messages > MAX_MESSAGES) return void this.#broken("it sent too many messages");
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
        if (message.call === waiting.call) waiting.answer.resolve(message);
        return;
      case "ready":
      case "loaded":
      case "load_failed":
        if (waiting.call === 0) waiting.answer.resolve(message);
    }
  }

  /** Runs a model. A regular guest has one request at a time. */
  async #infer(id: number, model: unknown, feeds: unknown, waiting: Waiting): Promise<void> {
    if (this.#inferring) return void this.#broken("it sent too many requests");
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
      const bytes = Object.values(arrays).reduce((sum, { data }) => sum + data.byteLength, 0);
      if (bytes > this.#limits.arrays) {
        return void this.#end(this.#memoryExceeded("pass the outputs of a model to"));
      }
      this.#send({ type: "inferred", id, arrays });
    } catch (error) {
      // A limit of the model ends the call, even if the adapter's code catches the error.
      if (error instanceof SvcError && MODEL_LIMITS.has(error.code)) return void this.#end(error);
      this.#send({ type: "inferred", id, error: messageOf(error) });
    } finally {
      this.#inferring = false;
    }
  }

  #memoryExceeded(what: string): SvcError {
    const { name, limits } = this.#spec;
    const message = `Cannot ${what} the adapter ${name}: it needs more than ${limits.memory_mb} MiB of memory`;
    return new SvcError("adapter_memory_exceeded", message, {
      hint: "Raise limits.memory_mb in its manifest, or pass it less data per call",
    });
  }
}

/**
 * Starts a process without code of an adapter, to see which launcher works here.
 * @throws SvcError `adapter_isolation_unavailable`
 */
export async function probeLauncher(): Promise<{ launcher: string; failures: string[] }> {
  const sandbox = await AdapterSandbox.start({
    name: "probe",
    root: dirname(Deno.execPath()),
    sources: new Map(),
    models: [],
    granted: { net: [], read: [], env: [] },
    limits: { timeout_s: START_S, memory_mb: 256 },
  });
  await sandbox.close();
  const { launcher, failures } = launcherReport();
  return { launcher: launcher!, failures: [...failures].map(([name, reason]) => `${name}: ${visibleLine(reason)}`) };
}

type Answer = Exclude<GuestMessage, { type: "progress" | "infer" }>;

interface Waiting {
  call: number;
  answer: PromiseWithResolvers<Answer>;
  options: CallOptions;
  messages: number;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function trustedError(error: unknown): WireError | null {
  if (typeof error !== "object" || error === null) return null;
  const { origin, name, message, refused, place } = error as Record<string, unknown>;
  if (typeof message !== "string") return null;
  const { kind, value } = (typeof refused === "object" && refused !== null ? refused : {}) as Record<string, unknown>;
  return {
    origin: isOneOf(ORIGINS, origin) ? origin : "throw",
    name: typeof name === "string" ? printable(name) : "",
    message: printable(message),
    refused: isOneOf(REFUSALS, kind) && typeof value === "string" ? { kind, value: printable(value) } : null,
    place: trustedPlace(place),
  };
}

/** A place of the process; whether its file is one of the adapter's is checked by its reader. */
function trustedPlace(place: unknown): WireError["place"] {
  const { file, line, column } = (typeof place === "object" && place !== null ? place : {}) as Record<string, unknown>;
  const isPosition = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
  return typeof file === "string" && isPosition(line) && isPosition(column) ? { file, line, column } : null;
}

const REFUSALS = ["net", "read", "env", "import", "other"] as const;
const ORIGINS = ["throw", "result", "missing", "import"] as const;
const ORIGIN_CODES: Readonly<Record<WireError["origin"], Code>> = {
  throw: "adapter_call_failed",
  result: "adapter_result_invalid",
  missing: "adapter_callable_missing",
  import: "adapter_load_failed",
};

/** The code of a failure: that of a refused access, or of the origin of the error. */
function codeOf({ origin, refused }: WireError): Code {
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
        visible(line.slice(0, 500))
      )
      : [],
    dropped: isCount(dropped) ? Math.floor(dropped) : 0,
  };
}

/** A text of the process for terminals and documents, of limited length. */
const printable = (text: string): string => visible(text.slice(0, 2000));
