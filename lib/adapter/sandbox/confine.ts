/**
 * Takes away from a thread what an adapter has no use for, before any of its code is loaded.
 *
 * The permissions of the worker are the wall: they bound files, network, environment, programs and libraries whatever
 * the code does. They do not bound everything. npm packages are fetched without any permission, a signal handler or a
 * change of folder reaches the whole process, a refused access asks the person at the terminal. So the code gets the
 * language, the pure parts of the web platform, and a `Deno` that has a few functions, each of which looks whether it
 * may before it asks. Modules come from a table that the program filled with what it has hashed.
 */
import { registerHooks } from "node:module";
import type { Guard } from "./guard.ts";
import type { Refusal, SandboxInit } from "./protocol.ts";

/** Globals that stay: the language, and what computes and holds data. */
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

/** Thrown for every access that is refused; the refusal is remembered for the program's report. */
class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

export interface Confinement {
  /** Throws for an import of what is not in the adapter's folder. */
  refuseImport(specifier: string): never;
  /** The first refusal since the last call of this function, and forgets it. */
  takeRefusal(): Refusal | null;
  /** What was printed since the last call of this function, and how many lines were dropped. */
  takeLog(): { log: string[]; dropped: number };
  /** Mebibytes of arrays and heap that this thread holds. */
  heldMb(): number;
}

const MAX_LOG_LINES = 100;
const MAX_LOG_LINE = 500;

/**
 * Confines this thread, for good.
 *
 * @throws Error where the runtime has no module hooks: then nothing may be loaded
 */
export function confine(init: SandboxInit, guard: Guard): Confinement {
  const native = Deno;
  const nativeFetch = fetch;
  const nativeTimers = { setTimeout, setInterval };
  const NativeRequest = Request;
  const { granted, root } = init;
  let refusal: Refusal | null = null;
  let log: string[] = [], dropped = 0;

  native.permissions.revokeSync({ name: "read", path: init.sandboxFolder });
  if (typeof registerHooks !== "function") throw new Error("this version of Deno has no module hooks");

  const refuse = (kind: Refusal["kind"], value: string, message: string): never => {
    refusal ??= { kind, value: value.slice(0, 500) };
    throw new NotAllowed(message);
  };

  // A function of the old kind, which may also be called with new.
  const unusable = (name: string) =>
    function () {
      return refuse("other", name, `Cannot use ${name} in an adapter`);
    };

  const refuseImport = (specifier: string): never =>
    refuse("other", `import of ${specifier}`, `Cannot import ${specifier}: code comes from the adapter's folder alone`);
  // The adapter's modules are made from its sources and never come this way: what does is the import of evaluated text.
  registerHooks({
    resolve: (specifier: string) => refuseImport(specifier),
    load: (url: string) => refuseImport(url),
    // deno-lint-ignore no-explicit-any -- the types of node:module know no hooks yet
  } as any);

  // --- files -------------------------------------------------------------------------------------------------------
  const pathOf = (path: unknown): string => {
    const text = path instanceof URL
      ? path.protocol === "file:"
        ? decodeURIComponent(path.pathname)
        : refuse("other", path.href, `Cannot read ${path.href}`)
      : String(path);
    return text.startsWith("/") ? text : `${root}/${text}`;
  };
  const readable = (path: unknown): string => {
    const text = pathOf(path);
    if (native.permissions.querySync({ name: "read", path: text }).state !== "granted") {
      refuse("read", text, `Cannot read ${text}: it is neither in the adapter's folder nor granted`);
    }
    return text;
  };
  const variable = (name: unknown): string => {
    const text = String(name);
    if (native.permissions.querySync({ name: "env", variable: text }).state !== "granted") {
      refuse("env", text, `Cannot read the environment variable ${text}: it is not granted`);
    }
    return text;
  };
  const reachable = (hostname: string, port: string): void => {
    const host = port === "" ? hostname : `${hostname}:${port}`;
    if (granted.net.length === 0 || native.permissions.querySync({ name: "net", host }).state !== "granted") {
      refuse("net", host, `Cannot connect to ${host}: it is not granted`);
    }
  };
  const portOf = (url: URL) => url.port || (url.protocol === "https:" ? "443" : "80");

  const guarded = <T>(start: () => Promise<T>): Promise<T> => guard.follow(Promise.try(start));
  const facade: Record<string, unknown> = {
    version: native.version,
    build: native.build,
    errors: native.errors,
    inspect: native.inspect,
    readFile: (path: unknown) => guarded(() => native.readFile(readable(path))),
    readFileSync: (path: unknown) => native.readFileSync(readable(path)),
    readTextFile: (path: unknown) => guarded(() => native.readTextFile(readable(path))),
    readTextFileSync: (path: unknown) => native.readTextFileSync(readable(path)),
    readDirSync: (path: unknown) => native.readDirSync(readable(path)),
    stat: (path: unknown) => guarded(() => native.stat(readable(path))),
    statSync: (path: unknown) => native.statSync(readable(path)),
    env: Object.freeze({
      get: (name: unknown) => native.env.get(variable(name)),
      has: (name: unknown) => native.env.has(variable(name)),
      toObject: () => Object.fromEntries(granted.env.map((name) => [name, native.env.get(name)])),
    }),
  };
  // What an adapter can never do says so, in place of not being a function.
  for (const name of Object.keys(native)) {
    if (!(name in facade) && typeof (native as unknown as Record<string, unknown>)[name] === "function") {
      facade[name] = unusable(`Deno.${name}`);
    }
  }
  const permission = (method: string) => () =>
    refuse(
      "other",
      `Deno.permissions.${method}`,
      `Cannot use Deno.permissions.${method}: permissions are granted by the operator`,
    );
  facade.permissions = Object.freeze(
    Object.fromEntries(
      ["query", "querySync", "request", "requestSync", "revoke", "revokeSync"].map((name) => [name, permission(name)]),
    ),
  );

  // --- network -----------------------------------------------------------------------------------------------------
  const MAX_REDIRECTS = 10;
  const confinedFetch = async (input: RequestInfo | URL, options?: RequestInit): Promise<Response> => {
    let request = new NativeRequest(input, { ...options, redirect: "manual" });
    for (let hops = 0;; hops++) {
      const url = new URL(request.url);
      if (url.protocol === "file:") return new Response(native.readFileSync(readable(url)));
      if (url.protocol === "data:" || url.protocol === "blob:") return await nativeFetch(request);
      if (url.protocol !== "http:" && url.protocol !== "https:") refuse("other", url.href, `Cannot fetch ${url.href}`);
      reachable(url.hostname, portOf(url));
      const response = await nativeFetch(request);
      const target = response.headers.get("location");
      if (![301, 302, 303, 307, 308].includes(response.status) || target === null || options?.redirect === "manual") {
        return response;
      }
      if (hops >= MAX_REDIRECTS || options?.redirect === "error") throw new TypeError("Too many redirects");
      if (response.status === 307 || response.status === 308) {
        if (request.method !== "GET" && request.method !== "HEAD") {
          throw new TypeError("Cannot repeat a body after a redirect");
        }
        request = new NativeRequest(new URL(target, url), request);
      } else request = new NativeRequest(new URL(target, url), { headers: request.headers, redirect: "manual" });
    }
  };
  // --- output ------------------------------------------------------------------------------------------------------
  const print = (...parts: unknown[]) => {
    if (log.length >= MAX_LOG_LINES) {
      dropped++;
      return;
    }
    let line = "";
    for (const part of parts) {
      if (line.length > MAX_LOG_LINE) break;
      let text: string;
      try {
        text = typeof part === "string"
          ? part
          : native.inspect(part, { depth: 2, iterableLimit: 20, strAbbreviateSize: 200 });
      } catch {
        text = "?";
      }
      line += (line === "" ? "" : " ") + text.slice(0, MAX_LOG_LINE);
    }
    log.push(line.slice(0, MAX_LOG_LINE));
  };
  const silent = () => {};
  const quietConsole = Object.fromEntries(
    Object.getOwnPropertyNames(console).filter((name) => /^[a-z]/.test(name)).map((name) => [name, silent]),
  );
  for (const name of ["log", "info", "debug", "warn", "error", "trace", "dir", "table"]) quietConsole[name] = print;

  // --- what answers later ------------------------------------------------------------------------------------------
  const later = (holder: object, names: string[]) => {
    for (const name of names) {
      const original = (holder as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
      const value = function (this: unknown, ...args: unknown[]) {
        return guarded(() => original.apply(this, args));
      };
      Object.defineProperty(holder, name, { value, writable: true, configurable: true });
    }
  };
  const bodyMethods = ["text", "json", "arrayBuffer", "bytes", "blob", "formData"];
  later(Response.prototype, bodyMethods);
  later(Request.prototype, bodyMethods);
  later(Blob.prototype, ["text", "arrayBuffer", "bytes"]);
  later(WebAssembly, ["compile", "instantiate"]);
  const subtle = Object.getOwnPropertyNames(SubtleCrypto.prototype);
  later(SubtleCrypto.prototype, subtle.filter((name) => name !== "constructor"));
  // Streams and waits would call back on their own.
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
  const timer = (start: (callback: () => void, ms?: number) => unknown) =>
    function (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
      if (typeof callback !== "function") throw new TypeError("A timer calls a function");
      return start(() => {
        try {
          guard.run(() => callback(...args));
        } catch (error) {
          print(error);
        }
      }, ms);
    };

  // --- the globals -------------------------------------------------------------------------------------------------
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (KEPT.has(name) || name === guard.global || /^[A-Z]\w*(?:Error|Array)$/.test(name)) continue;
    if (!Reflect.deleteProperty(globalThis, name)) throw new Error(`the global ${name} cannot be taken away`);
  }
  const replaced: Record<string, unknown> = {
    Deno: Object.freeze(facade),
    console: Object.freeze(quietConsole),
    fetch: (input: RequestInfo | URL, options?: RequestInit) => guarded(() => confinedFetch(input, options)),
    setTimeout: timer(nativeTimers.setTimeout),
    setInterval: timer(nativeTimers.setInterval),
    ...Object.fromEntries(
      ["Worker", "BroadcastChannel", "WebSocket", "EventSource", "prompt", "confirm", "alert", "require", "postMessage"]
        .map((
          name,
        ) => [
          name,
          unusable(name),
        ]),
    ),
  };
  for (const [name, value] of Object.entries(replaced)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
  return {
    refuseImport,
    takeRefusal() {
      const taken = refusal;
      refusal = null;
      return taken;
    },
    takeLog() {
      const taken = { log, dropped };
      log = [];
      dropped = 0;
      return taken;
    },
    heldMb() {
      const { heapUsed, external } = native.memoryUsage();
      return Math.round((heapUsed + external) / 2 ** 20);
    },
  };
}
