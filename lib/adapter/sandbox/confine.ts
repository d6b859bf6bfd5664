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
import type { Refusal, SandboxInit } from "./protocol.ts";

/** Globals that stay: the language, and what computes and holds data. */
const KEPT = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error
  globalThis JSON Math Intl ArrayBuffer SharedArrayBuffer Atomics DataView Map BigInt Set Iterator AsyncIterator WeakMap
  WeakSet Proxy Reflect FinalizationRegistry WeakRef decodeURI decodeURIComponent encodeURI encodeURIComponent escape
  unescape eval isFinite isNaN WebAssembly Temporal DisposableStack AsyncDisposableStack Float16Array queueMicrotask
  AbortController AbortSignal Blob File FormData Headers Request Response ByteLengthQueuingStrategy
  CountQueuingStrategy CompressionStream DecompressionStream DOMException Event EventTarget CustomEvent ReadableStream
  ReadableStreamDefaultReader ReadableStreamBYOBReader WritableStream WritableStreamDefaultWriter TransformStream
  TextDecoder TextEncoder TextDecoderStream TextEncoderStream URL URLPattern URLSearchParams atob btoa setTimeout
  clearTimeout setInterval clearInterval structuredClone crypto Crypto CryptoKey SubtleCrypto performance Buffer`
    .split(/\s+/),
);

/** Parts of Node that compute and touch nothing. */
export const NODE_MODULES = ["assert", "buffer", "crypto", "events", "path", "string_decoder", "url", "util", "zlib"];

/** Thrown for every access that is refused; the refusal is remembered for the program's report. */
class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

export interface Confinement {
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
export function confine(init: SandboxInit): Confinement {
  const native = Deno;
  const nativeFetch = fetch;
  const NativeRequest = Request;
  const NativeWebSocket = WebSocket;
  const { granted, root, sources } = init;
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

  registerHooks({
    resolve(
      specifier: string,
      context: { parentURL?: string },
      next: (specifier: string, context: unknown) => unknown,
    ) {
      if (specifier.startsWith("node:") && NODE_MODULES.includes(specifier.slice(5))) return next(specifier, context);
      const base = context.parentURL;
      const url = URL.canParse(specifier, base) ? new URL(specifier, base).href : specifier;
      if (sources.has(url)) return { url, format: formatOf(url), shortCircuit: true };
      return refuse(
        "other",
        `import of ${specifier}`,
        `Cannot import ${specifier}: code comes from the adapter's folder alone`,
      );
    },
    load(url: string, context: unknown, next: (url: string, context: unknown) => unknown) {
      const source = sources.get(url);
      if (source !== undefined) return { format: formatOf(url), source, shortCircuit: true };
      if (url.startsWith("node:")) return next(url, context);
      return refuse("other", `import of ${url}`, `Cannot import ${url}: code comes from the adapter's folder alone`);
    },
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
  const portOf = (url: URL) => url.port || (url.protocol === "https:" || url.protocol === "wss:" ? "443" : "80");

  const facade: Record<string, unknown> = {
    version: native.version,
    build: native.build,
    errors: native.errors,
    inspect: native.inspect,
    readFile: (path: unknown) => asPromise(() => native.readFile(readable(path))),
    readFileSync: (path: unknown) => native.readFileSync(readable(path)),
    readTextFile: (path: unknown) => asPromise(() => native.readTextFile(readable(path))),
    readTextFileSync: (path: unknown) => native.readTextFileSync(readable(path)),
    readDirSync: (path: unknown) => native.readDirSync(readable(path)),
    readDir: (path: unknown) => native.readDir(readable(path)),
    stat: (path: unknown) => asPromise(() => native.stat(readable(path))),
    statSync: (path: unknown) => native.statSync(readable(path)),
    env: Object.freeze({
      get: (name: unknown) => native.env.get(variable(name)),
      has: (name: unknown) => native.env.has(variable(name)),
      toObject: () => Object.fromEntries(granted.env.map((name) => [name, native.env.get(name)])),
    }),
    connect: (options: Deno.ConnectOptions) =>
      asPromise(() => {
        const { hostname = "127.0.0.1", port } = { ...options };
        reachable(String(hostname), String(port));
        return native.connect({ hostname: String(hostname), port: Number(port) });
      }),
    connectTls: (options: Deno.ConnectTlsOptions) =>
      asPromise(() => {
        const { hostname = "127.0.0.1", port } = { ...options };
        reachable(String(hostname), String(port));
        return native.connectTls({ hostname: String(hostname), port: Number(port) });
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
      await response.body?.cancel();
      if (hops >= MAX_REDIRECTS || options?.redirect === "error") throw new TypeError("Too many redirects");
      if (response.status === 307 || response.status === 308) {
        if (request.body !== null) throw new TypeError("Cannot repeat a body after a redirect");
        request = new NativeRequest(new URL(target, url), request);
      } else request = new NativeRequest(new URL(target, url), { headers: request.headers, redirect: "manual" });
    }
  };
  const ConfinedWebSocket = function (address: string | URL, protocols?: string | string[]) {
    const url = new URL(String(address));
    reachable(url.hostname, portOf(url));
    return new NativeWebSocket(url, protocols);
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

  // --- the globals -------------------------------------------------------------------------------------------------
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (KEPT.has(name) || /^[A-Z]\w*(?:Error|Array)$/.test(name)) continue;
    if (!Reflect.deleteProperty(globalThis, name)) throw new Error(`the global ${name} cannot be taken away`);
  }
  const replaced: Record<string, unknown> = {
    Deno: Object.freeze(facade),
    console: Object.freeze(quietConsole),
    fetch: confinedFetch,
    WebSocket: ConfinedWebSocket,
    ...Object.fromEntries(
      ["Worker", "BroadcastChannel", "EventSource", "prompt", "confirm", "alert", "require", "postMessage"].map((
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

function formatOf(url: string): "json" | "module" {
  return url.endsWith(".json") ? "json" : "module";
}

/** Like an async function, without making its errors late. */
async function asPromise<T>(body: () => T | Promise<T>): Promise<T> {
  return await body();
}
