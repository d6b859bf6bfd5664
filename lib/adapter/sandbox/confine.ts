/**
 * Removes from a thread all functions that an adapter does not need, before any of its code is loaded.
 *
 * The permissions of the worker limit files, network, environment, programs and libraries. They do not limit
 * everything: npm packages are fetched without any permission, a signal handler or a change of the working directory
 * affects the whole process, and a refused access prompts at the terminal. So the code gets the language, the pure
 * parts of the web platform, and a `Deno` with a few functions, each of which checks its permission before use. Modules
 * come from a table of hashed sources.
 */
import { registerHooks } from "node:module";
import type { Guard } from "../../onnx/guard.ts";
import { endOnAllocation } from "./allocation.ts";
import type { Refusal, SandboxInit } from "./protocol.ts";

/** Globals that stay: the language, and pure computation and data. */
const KEPT = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error
  globalThis JSON Math Intl ArrayBuffer SharedArrayBuffer Atomics DataView Map BigInt Set Iterator AsyncIterator WeakMap
  WeakSet Proxy Reflect WeakRef decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite
  isNaN WebAssembly Temporal DisposableStack AsyncDisposableStack queueMicrotask AbortController AbortSignal Blob File
  FormData Headers Request Response DOMException Event EventTarget CustomEvent TextDecoder TextEncoder URL URLPattern
  URLSearchParams atob btoa clearTimeout clearInterval structuredClone crypto Crypto CryptoKey SubtleCrypto performance
  Buffer`
    .split(/\s+/),
);
/** Globals that throw on use. */
const UNUSABLE = "Worker BroadcastChannel WebSocket EventSource prompt confirm alert require postMessage".split(" ");

export interface Confinement extends Pick<Output, "takeLog"> {
  /** Throws for an import that is not in the adapter's folder. */
  refuseImport: Refusals["refuseImport"];
  takeRefusal: Refusals["take"];
  /** MiB of arrays and heap in this thread. */
  heldMb(): number;
}

/** Confines this thread, for good. @throws Error where the runtime has no module hooks: then nothing may be loaded */
export function confine(init: SandboxInit, guard: Guard): Confinement {
  // The original functions, which the code cannot reach.
  const native = Deno, start = { fetch, setTimeout, setInterval, clearTimeout };
  for (const path of init.ownCode) native.permissions.revokeSync({ name: "read", path });

  const refusals = createRefusals();
  hookImports(refusals.refuseImport);
  const access = createAccess(native, init, refusals.refuse);
  const output = createOutput(native.inspect);
  const confinedFetch = createFetch(native, start.fetch, access, refusals.refuse);
  const replaced: Record<string, unknown> = {
    Deno: denoFacade(native, init, { access, guard, refusals }),
    console: confinedConsole(output.print),
    fetch: (input: RequestInfo | URL, options?: RequestInit) =>
      guard.follow(Promise.try(() => confinedFetch(input, options))),
    ...guardedTimers(start, guard, output.print),
    ...Object.fromEntries(UNUSABLE.map((name) => [name, refusals.unusable(name)])),
  };
  guardPromises(guard);
  endOnAllocation(init, () => native.exit());
  removeCallbacks();
  removeGlobals(guard.global);
  for (const [name, value] of Object.entries(replaced)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
  return {
    refuseImport: refusals.refuseImport,
    takeRefusal: refusals.take,
    takeLog: output.takeLog,
    heldMb() {
      const { heapUsed, external } = native.memoryUsage();
      return Math.round((heapUsed + external) / 2 ** 20);
    },
  };
}

// --- refusals --------------------------------------------------------------------------------------------------------

/** Thrown for every refused access. */
class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

type Refuse = (kind: Refusal["kind"], value: string, message: string) => never;

type Refusals = ReturnType<typeof createRefusals>;

/** Refusals; the first one is kept for the error report. */
function createRefusals() {
  let first: Refusal | null = null;
  const refuse: Refuse = (kind, value, message) => {
    first ??= { kind, value: value.slice(0, 500) };
    throw new NotAllowed(message);
  };
  return {
    refuse,
    refuseImport: (specifier: string) =>
      refuse("import", specifier, `Cannot import ${specifier}: code must be in the adapter's folder`),
    // A function declaration, because it may also be called with new.
    unusable: (name: string) =>
      function () {
        return refuse("other", name, `Cannot use ${name} in an adapter`);
      },
    /** Returns and forgets the first refusal since the last call. */
    take(): Refusal | null {
      const taken = first;
      first = null;
      return taken;
    },
  };
}

// --- imports ---------------------------------------------------------------------------------------------------------

/** Refuses imports by the runtime: the adapter's modules are made from its sources and do not use this path. */
function hookImports(refuseImport: (specifier: string) => never): void {
  if (typeof registerHooks !== "function") throw new Error("this version of Deno has no module hooks");
  registerHooks({
    resolve: (specifier: string) => refuseImport(specifier),
    load: (url: string) => refuseImport(url),
    // deno-lint-ignore no-explicit-any -- the types of node:module have no hooks yet
  } as any);
}

// --- access ----------------------------------------------------------------------------------------------------------

type Access = ReturnType<typeof createAccess>;

/** Checks permissions before use, because a refused access would prompt at the terminal. */
function createAccess(native: typeof Deno, { root, granted }: SandboxInit, refuse: Refuse) {
  const may = (permission: Deno.PermissionDescriptor) => native.permissions.querySync(permission).state === "granted";
  const pathOf = (path: unknown): string => {
    if (!(path instanceof URL)) return String(path);
    return path.protocol === "file:"
      ? decodeURIComponent(path.pathname)
      : refuse("other", path.href, `Cannot read ${path.href}`);
  };
  return {
    /** The path of a readable file. */
    readable(path: unknown): string {
      const text = pathOf(path), full = text.startsWith("/") ? text : `${root}/${text}`;
      if (may({ name: "read", path: full })) return full;
      return refuse("read", full, `Cannot read ${full}: it is neither in the adapter's folder nor granted`);
    },
    /** The name of a readable environment variable. */
    variable(name: unknown): string {
      const text = String(name);
      if (may({ name: "env", variable: text })) return text;
      return refuse("env", text, `Cannot read the environment variable ${text}: it is not granted`);
    },
    reachable({ hostname, port, protocol }: URL): void {
      const host = `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
      if (granted.net.length > 0 && may({ name: "net", host })) return;
      refuse("net", host, `Cannot connect to ${host}: it is not granted`);
    },
  };
}

// --- Deno ------------------------------------------------------------------------------------------------------------

interface Facilities {
  access: Access;
  guard: Guard;
  refusals: Refusals;
}

/** The `Deno` of the adapter's code: reading within its permissions. All other functions throw on use. */
function denoFacade(native: typeof Deno, { granted }: SandboxInit, { access, guard, refusals }: Facilities): object {
  const { readable, variable } = access;
  const later = <T>(start: () => Promise<T>): Promise<T> => guard.follow(Promise.try(start));
  const facade: Record<string, unknown> = {
    version: native.version,
    build: native.build,
    errors: native.errors,
    inspect: native.inspect,
    readFile: (path: unknown) => later(() => native.readFile(readable(path))),
    readFileSync: (path: unknown) => native.readFileSync(readable(path)),
    readTextFile: (path: unknown) => later(() => native.readTextFile(readable(path))),
    readTextFileSync: (path: unknown) => native.readTextFileSync(readable(path)),
    readDirSync: (path: unknown) => native.readDirSync(readable(path)),
    stat: (path: unknown) => later(() => native.stat(readable(path))),
    statSync: (path: unknown) => native.statSync(readable(path)),
    env: Object.freeze({
      get: (name: unknown) => native.env.get(variable(name)),
      has: (name: unknown) => native.env.has(variable(name)),
      toObject: () => Object.fromEntries(granted.env.map((name) => [name, native.env.get(name)])),
    }),
    permissions: refusedPermissions(refusals.refuse),
  };
  for (const [name, value] of Object.entries(native)) {
    if (!(name in facade) && typeof value === "function") facade[name] = refusals.unusable(`Deno.${name}`);
  }
  return Object.freeze(facade);
}

/** `Deno.permissions`, whose functions throw with the way to get permissions. */
function refusedPermissions(refuse: Refuse): object {
  const names = ["query", "querySync", "request", "requestSync", "revoke", "revokeSync"];
  return Object.freeze(Object.fromEntries(names.map((method) => {
    const name = `Deno.permissions.${method}`;
    return [
      name.split(".")[2],
      () => refuse("other", name, `Cannot use ${name}: permissions are granted by the operator`),
    ];
  })));
}

// --- network ---------------------------------------------------------------------------------------------------------

const MAX_REDIRECTS = 10;
const REDIRECTS = [301, 302, 303, 307, 308];

/** A `fetch` that checks the permission for the address and for every redirect. */
function createFetch(native: typeof Deno, nativeFetch: typeof fetch, access: Access, refuse: Refuse): typeof fetch {
  const NativeRequest = Request;
  return async (input, options) => {
    let request = new NativeRequest(input, { ...options, redirect: "manual" });
    for (let hops = 0;; hops++) {
      const url = new URL(request.url);
      if (url.protocol === "file:") return new Response(native.readFileSync(access.readable(url)));
      if (url.protocol === "data:" || url.protocol === "blob:") return await nativeFetch(request);
      if (url.protocol !== "http:" && url.protocol !== "https:") refuse("other", url.href, `Cannot fetch ${url.href}`);
      access.reachable(url);
      const response = await nativeFetch(request);
      const target = response.headers.get("location");
      if (!REDIRECTS.includes(response.status) || target === null || options?.redirect === "manual") return response;
      if (hops >= MAX_REDIRECTS || options?.redirect === "error") throw new TypeError("Too many redirects");
      request = redirected(request, response.status, new URL(target, url));
    }
  };

  function redirected(request: Request, status: number, target: URL): Request {
    if (status !== 307 && status !== 308) {
      return new NativeRequest(target, { headers: request.headers, redirect: "manual" });
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw new TypeError("Cannot repeat a body after a redirect");
    }
    return new NativeRequest(target, request);
  }
}

// --- output ----------------------------------------------------------------------------------------------------------

const MAX_LOG_LINES = 100;
const MAX_LOG_LINE = 500;

type Output = ReturnType<typeof createOutput>;

/** Printed lines, limited in number and length. */
function createOutput(inspect: typeof Deno.inspect) {
  let log: string[] = [], dropped = 0;
  const textOf = (part: unknown): string => {
    try {
      return typeof part === "string" ? part : inspect(part, { depth: 2, iterableLimit: 20, strAbbreviateSize: 200 });
    } catch {
      return "?";
    }
  };
  return {
    print(...parts: unknown[]): void {
      if (log.length >= MAX_LOG_LINES) return void dropped++;
      let line = "";
      for (const part of parts) {
        if (line.length > MAX_LOG_LINE) break;
        line += (line === "" ? "" : " ") + textOf(part).slice(0, MAX_LOG_LINE);
      }
      log.push(line.slice(0, MAX_LOG_LINE));
    },
    /** Lines printed since the last call of this function, and the number of dropped ones. */
    takeLog() {
      const taken = { log, dropped };
      log = [];
      dropped = 0;
      return taken;
    },
  };
}

/** A `console` whose printing functions call `print`; its other functions do nothing. */
function confinedConsole(print: Output["print"]): object {
  const printing = ["log", "info", "debug", "warn", "error", "trace", "dir", "table"];
  const names = Object.getOwnPropertyNames(console).filter((name) => /^[a-z]/.test(name));
  return Object.freeze(Object.fromEntries([...names, ...printing].map((name) => [
    name,
    printing.includes(name) ? print : () => {},
  ])));
}

// --- code that runs later --------------------------------------------------------------------------------------------

interface Timers {
  setTimeout: typeof setTimeout;
  setInterval: typeof setInterval;
  clearTimeout: typeof clearTimeout;
}

/** Timers that call through the guard. Only they can be cleared: others watch over the thread. */
function guardedTimers(native: Timers, guard: Guard, print: Output["print"]) {
  const own = new Set<unknown>(), { apply } = Reflect, { add, delete: remove } = Set.prototype;
  const timer = (start: (callback: () => void, ms?: number) => unknown, repeats: boolean) =>
    function (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
      if (typeof callback !== "function") throw new TypeError("A timer needs a function");
      const id = start(() => {
        if (!repeats) apply(remove, own, [id]);
        try {
          guard.run(() => callback(...args));
        } catch (error) {
          print(error);
        }
      }, ms);
      apply(add, own, [id]);
      return id;
    };
  const clear = (id?: number) => void (apply(remove, own, [id]) && native.clearTimeout(id));
  return {
    setTimeout: timer(native.setTimeout, false),
    setInterval: timer(native.setInterval, true),
    clearTimeout: clear,
    clearInterval: clear,
  };
}

/** Settles promises of the platform through the guard, which can interrupt the code that awaits them. */
function guardPromises(guard: Guard): void {
  const bodyMethods = ["text", "json", "arrayBuffer", "bytes", "blob", "formData"];
  const subtle = Object.getOwnPropertyNames(SubtleCrypto.prototype).filter((name) => name !== "constructor");
  for (
    const [holder, names] of [
      [Response.prototype, bodyMethods],
      [Request.prototype, bodyMethods],
      [Blob.prototype, ["text", "arrayBuffer", "bytes"]],
      [WebAssembly, ["compile", "instantiate"]],
      [SubtleCrypto.prototype, subtle],
    ] as [object, string[]][]
  ) {
    for (const name of names) {
      const original = (holder as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
      const value = function (this: unknown, ...args: unknown[]) {
        return guard.follow(Promise.try(() => original.apply(this, args)));
      };
      Object.defineProperty(holder, name, { value, writable: true, configurable: true });
    }
  }
}

/** Removes streams and waits, which would call code outside the guard. */
function removeCallbacks(): void {
  for (
    const [holder, name] of [
      [Response.prototype, "body"],
      [Request.prototype, "body"],
      [Blob.prototype, "stream"],
      [WebAssembly, "compileStreaming"],
      [WebAssembly, "instantiateStreaming"],
      [AbortSignal, "timeout"],
      [Atomics, "waitAsync"],
    ] as [object, string][]
  ) Reflect.deleteProperty(holder, name);
}

// --- globals ---------------------------------------------------------------------------------------------------------

/** Removes every global except those of the language, the kept ones, and the guard's. */
function removeGlobals(guardGlobal: string): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (KEPT.has(name) || name === guardGlobal || /^[A-Z]\w*(?:Error|Array)$/.test(name)) continue;
    if (!Reflect.deleteProperty(globalThis, name)) throw new Error(`the global ${name} cannot be removed`);
  }
}
