/**
 * The code of this program in the process of an adapter: loads the adapter's modules and runs the requested calls.
 *
 * Permissions and limits are those of the process, which the program ends. The adapter's code shares this thread and can
 * change its behaviour, so the program trusts no frame; the checks here make messages clear. It starts from the text of
 * this module and {@link ./wire.ts}, so it imports no others.
 */
import { createHash } from "node:crypto";
import * as vm from "node:vm";
import { frameOf, readFrame } from "./wire.ts";
import type { CallRequest, GuestMessage, HostMessage, ModelFile, Refusal, WireError } from "./protocol.ts";

interface VmModule {
  status: string;
  namespace: Record<string, unknown>;
  identifier: string;
  link(linker: (specifier: string, referrer: VmModule) => VmModule): Promise<void>;
  evaluate(): Promise<void>;
}
type Callable = (...args: unknown[]) => unknown;

/** Pure modules of Node: they have no side effects and take no callbacks. */
const NODE_MODULES = ["assert", "buffer", "path", "string_decoder", "url"];
const PROGRESS_MS = 50;
const MAX_LOG_LINES = 100, MAX_LOG_LINE = 500;
// deno-lint-ignore no-explicit-any -- the types of node:vm have no modules yet
const { SourceTextModule, SyntheticModule } = vm as any;
const { NotCapable } = Deno.errors, { inspect, exit, stdin, stdout, readFileSync } = Deno;

// --- frames ----------------------------------------------------------------------------------------------------------

/** Takes bytes from the pipe; waits without blocking for the first ones only. */
async function take(bytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const into = new Uint8Array(bytes);
  for (let at = 0; at < bytes;) {
    const rest = into.subarray(at), read = at === 0 ? await stdin.read(rest) : stdin.readSync(rest);
    if (read === null) return undefined;
    at += read;
  }
  return into;
}

function write(pieces: readonly Uint8Array[]): void {
  for (const piece of pieces) for (let at = 0; at < piece.length;) at += stdout.writeSync(piece.subarray(at));
}

const send = (message: GuestMessage) => write(frameOf(message));

// --- output ----------------------------------------------------------------------------------------------------------

let log: string[] = [], dropped = 0;

function print(...parts: unknown[]): void {
  if (log.length >= MAX_LOG_LINES) return void dropped++;
  let line = "";
  for (const part of parts) {
    if (line.length > MAX_LOG_LINE) break;
    line += (line === "" ? "" : " ") + printed(part).slice(0, MAX_LOG_LINE);
  }
  log.push(line.slice(0, MAX_LOG_LINE));
}

function printed(part: unknown): string {
  try {
    return typeof part === "string" ? part : inspect(part, { depth: 2, iterableLimit: 20, strAbbreviateSize: 200 });
  } catch {
    return "?";
  }
}

function takeLog(): { log: string[]; dropped: number } {
  const taken = { log, dropped };
  log = [];
  dropped = 0;
  return taken;
}

/** Standard output carries the frames, so the console keeps its lines. */
function replaceConsole(): void {
  const printing = ["log", "info", "debug", "warn", "error", "trace", "dir", "table"];
  for (const name of Object.keys(console)) Reflect.set(console, name, printing.includes(name) ? print : () => {});
}

// --- modules ---------------------------------------------------------------------------------------------------------

let refused: Refusal | null = null;
/** Texts of the adapter's modules by URL. */
const sources = new Map<string, string>();

/** The adapter's modules, made from the table of hashed sources. All imports are looked up in this table only. */
async function moduleTable(): Promise<(url: string) => Promise<VmModule>> {
  const made = new Map<string, VmModule>();
  const synthetic = (identifier: string, values: Record<string, unknown>): VmModule =>
    new SyntheticModule(Object.keys(values), function (this: { setExport(name: string, value: unknown): void }) {
      for (const [name, value] of Object.entries(values)) this.setExport(name, value);
    }, { identifier });
  for (const name of NODE_MODULES) made.set(`node:${name}`, synthetic(`node:${name}`, await import(`node:${name}`)));
  const find = (specifier: string, parent: string): VmModule => {
    const url = specifier.startsWith("node:") ? specifier : URL.parse(specifier, parent)?.href ?? specifier;
    const known = made.get(url), source = sources.get(url);
    if (known !== undefined) return known;
    if (source === undefined) {
      refused ??= { kind: "import", value: specifier.slice(0, 500) };
      throw new Error(`Cannot import ${specifier}: code must be in the adapter's folder`);
    }
    const module = url.endsWith(".json")
      ? synthetic(url, { default: JSON.parse(source) })
      : new SourceTextModule(source, {
        identifier: url,
        initializeImportMeta: (meta: Record<string, unknown>) => void (meta.url = url),
        importModuleDynamically: (specifier: string) => ready(find(specifier, url)),
      });
    made.set(url, module);
    return module;
  };
  /** One at a time: a module that is being linked cannot be linked again. */
  const linking = new Map<VmModule, Promise<void>>();
  const ready = async (module: VmModule): Promise<VmModule> => {
    if (module.status === "unlinked") {
      linking.set(module, module.link((specifier, referrer) => find(specifier, referrer.identifier)));
    }
    await linking.get(module);
    if (module.status === "linked") await module.evaluate();
    return module;
  };
  return (url) => ready(find(url, url));
}

// --- calls -----------------------------------------------------------------------------------------------------------

let load: Awaited<ReturnType<typeof moduleTable>>;
const models: Record<string, Uint8Array> = {};
const namespaces = new Map<string, Record<string, unknown>>();
let running: { id: number; controller: AbortController; lastProgress: number } | null = null;
/** Requests for models of the running call. The first one was sent, the others wait as frames. */
const asked: { frame: Uint8Array[]; id: number; reply: PromiseWithResolvers<unknown> }[] = [];
let nextId = 1;

async function receive(message: HostMessage): Promise<void> {
  switch (message.type) {
    case "start":
      for (const [url, bytes] of message.sources) sources.set(url, new TextDecoder().decode(bytes));
      load = await moduleTable();
      for (const model of message.models) addModel(model);
      return send({ type: "ready", version: Deno.version.deno });
    case "load":
      return await loadModule(message.url, message.callables);
    case "call":
      // Not awaited: a cancellation and the replies of models arrive during the call.
      return void call(message);
    case "cancel":
      return running?.controller.abort();
    case "inferred": {
      if (asked[0]?.id !== message.id) return;
      const { reply } = asked.shift()!;
      if (asked.length > 0) write(asked[0].frame);
      return message.arrays === undefined ? reply.reject(new Error(message.error)) : reply.resolve(message.arrays);
    }
  }
}

/** A model is read at its first use: most adapters only ask for its results. */
function addModel({ id, path, sha256 }: ModelFile): void {
  let bytes: Uint8Array | undefined;
  const get = () => {
    if (bytes !== undefined) return bytes;
    const read = readFileSync(path);
    if (createHash("sha256").update(read).digest("hex") !== sha256) {
      throw new Error(`the file of the model ${id} changed`);
    }
    return bytes = read;
  };
  Object.defineProperty(models, id, { get, enumerable: true });
}

/** Loads a module and looks for its functions. */
async function loadModule(url: string, callables: readonly string[]): Promise<void> {
  try {
    const { namespace } = await load(url);
    namespaces.set(url, namespace);
    const lacking = callables.find((name) => typeof namespace[name] !== "function");
    if (lacking === undefined) return send({ type: "loaded" });
    const message = `${url.split("/").pop()} exports no function ${lacking}`;
    send({ type: "load_failed", error: { origin: "missing", name: "", message, refused: null, place: null } });
  } catch (error) {
    send({ type: "load_failed", error: wireError("import", error) });
  }
}

async function call({ call: id, module, callable, args, seed }: CallRequest): Promise<void> {
  // Lines that the modules printed while they were loaded are no part of a call.
  takeLog();
  const own = running = { id, controller: new AbortController(), lastProgress: -Infinity };
  const context = Object.freeze({
    signal: own.controller.signal,
    seed,
    models,
    report_progress(completed: number, total: number, message?: string) {
      const now = performance.now();
      if (running !== own || (now - own.lastProgress < PROGRESS_MS && completed < total)) return;
      own.lastProgress = now;
      const text = message === undefined ? null : String(message).slice(0, 500);
      send({ type: "progress", call: id, completed: Number(completed), total: Number(total), message: text });
    },
    is_cancelled: () => own.controller.signal.aborted,
    raise_if_cancelled: () => own.controller.signal.throwIfAborted(),
    // deno-lint-ignore require-await -- invalid arguments reject the promise
    async infer(model: unknown, feeds: unknown): Promise<unknown> {
      if (running !== own) throw new Error("the call has ended");
      return infer(id, model, feeds);
    },
  });
  let origin: WireError["origin"] = "throw";
  try {
    const value = await (namespaces.get(module)![callable] as Callable)(...args, context);
    origin = "result";
    send({ type: "result", call: id, value, ...takeLog() });
  } catch (error) {
    send({ type: "failed", call: id, error: wireError(origin, error), ...takeLog() });
  } finally {
    running = null;
    asked.length = 0;
  }
}

/** Asks for a run of a model. The arrays are copied at once, into the memory of this process. */
function infer(call: number, model: unknown, feeds: unknown): Promise<unknown> {
  if (typeof model !== "string") throw new TypeError("the model must be given by its id");
  const id = nextId++, reply = Promise.withResolvers<unknown>();
  const frame = frameOf({ type: "infer", call, id, model, feeds } satisfies GuestMessage).map((piece) => piece.slice());
  asked.push({ frame, id, reply });
  if (asked.length === 1) write(frame);
  return reply.promise;
}

/** A thrown value as text, also one whose conversion throws; with the access that was refused. */
function wireError(origin: WireError["origin"], error: unknown): WireError {
  const refusal = refused;
  refused = null;
  try {
    const name = error instanceof Error ? String(error.name).slice(0, 100) : "";
    const message = String(error instanceof Error ? error.message : error).slice(0, 2000);
    return { origin, name, message, refused: refusal ?? refusalOf(error), place: placeOf(error) };
  } catch {
    return { origin, name: "", message: "an error without a text form", refused: refusal, place: null };
  }
}

/** The innermost frame of an error in a module of the adapter. */
function placeOf(error: unknown): WireError["place"] {
  const stack = error instanceof Error ? String(error.stack).slice(0, 20_000) : "";
  for (const [, file, line, column] of stack.matchAll(/(file:\/\/\/\S*?):(\d+):(\d+)\)?$/gm)) {
    if (sources.has(file)) return { file, line: Number(line), column: Number(column) };
  }
  return null;
}

/** The access that the runtime refused, from its error or the cause of one. */
function refusalOf(error: unknown): Refusal | null {
  for (let depth = 0; error instanceof Error && depth < 10; depth++, error = error.cause) {
    if (!(error instanceof NotCapable)) continue;
    const [, kind, value] = /^Requires (\w+) access(?: to "?([^"]*)"?)?/.exec(error.message) ?? [];
    if (kind === "net" || kind === "read" || kind === "env") return { kind, value: (value ?? "").slice(0, 500) };
    return { kind: "other", value: "" };
  }
  return null;
}

// --- start -----------------------------------------------------------------------------------------------------------

replaceConsole();
// An error that no code awaits must not end the process during a later call.
for (const name of ["unhandledrejection", "error"]) {
  globalThis.addEventListener(name, (event) => event.preventDefault());
}
const bounds = { header: Infinity, values: Infinity, arrays: Infinity };
for (;;) {
  const message = await readFrame(take, bounds);
  if (message === undefined) exit();
  await receive(message as HostMessage);
}
