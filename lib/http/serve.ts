/**
 * The server as a process: it locks the state directory, listens, and shuts down.
 *
 * One server of a host serves a state directory: it holds the lock of `server.json` there, which holds its address. The
 * first signal drains it (new work is refused, jobs are canceled, written results stay), the second one ends it at once.
 */
import { basename } from "node:path";
import { inside, type InsidePath, makeUserFolder, openFile, readText } from "../artifact/inside.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { parseJson, prettyJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { hostFile } from "../run/file_system.ts";
import { openWorkspace, type Workspace } from "../run/workspace.ts";
import { createApp, freshReference, refused } from "./app.ts";
import { type ConnectionLimits, listen, type Listener } from "./listen.ts";
import { type Log, logLine } from "./log.ts";
import { type OpenService, openService } from "./open_service.ts";
import { MINIMUM_TOKEN_LENGTH, securityHeaders } from "./security.ts";
import { DEFAULT_OPTIONS, type ServiceOptions } from "./service.ts";

export interface ServeOptions extends Partial<ServiceOptions> {
  /** 127.0.0.1 when left out; any other address needs a token. */
  host?: string;
  /** 8765 when left out; 0 takes a free one. */
  port?: number;
  /** Of connections. */
  limits?: Partial<Omit<ConnectionLimits, "requestTimeoutMs">>;
  log?: Log;
}

const LIMITS = { maxConnections: 256, headersTimeoutMs: 10_000, keepAliveMs: 30_000, idleMs: 120_000 };

export interface RunningServer {
  /** Its address without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly service: OpenService;
  /** Drains and ends. */
  stop(): Promise<void>;
  /** Resolves when the server has ended. */
  readonly finished: Promise<void>;
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 8765;
/** How long open requests may take at the end; jobs that do not poll for their cancellation are abandoned. */
const DRAIN_MS = 30_000;
/** Of `server.json`. */
const MAX_PLACE_BYTES = 64 * 1024;

/**
 * Starts a server.
 * @throws SvcError `token_required` for an address beyond this machine without a token, `token_too_short`,
 *   `server_running` when the state directory has one, `address_unavailable`
 */
export async function startServer(options: ServeOptions = {}): Promise<RunningServer> {
  const { projectRoot, stateDir, host = DEFAULT_HOST, port = DEFAULT_PORT, limits = {}, log = logLine, ...rest } =
    options;
  const token = rest.token ?? null;
  if (token !== null && token.length < MINIMUM_TOKEN_LENGTH) {
    throw new SvcError("token_too_short", `Cannot use a token of fewer than ${MINIMUM_TOKEN_LENGTH} characters`, {
      hint: "Make one with: openssl rand -hex 32",
    });
  }
  if (!isLoopback(host) && token === null) {
    throw new SvcError(
      "token_required",
      `Cannot listen at ${host} without a token: other machines could run code here`,
      {
        hint: "Give --token-file or SVC_TOKEN, or listen at 127.0.0.1",
      },
    );
  }
  const workspace = openWorkspace({ projectRoot, stateDir });
  const place = takePlace(workspace);
  let service: OpenService | undefined;
  try {
    const { operations = [], adapters = [], grants = [] } = rest;
    service = openService({ ...DEFAULT_OPTIONS, ...rest, projectRoot, stateDir, token }, log);
    // Code that cannot be loaded ends the start, not every request.
    if (operations.length + adapters.length + grants.length > 0) await service.session.registry();
    return await run(service, place, { host, port, limits: { ...LIMITS, ...limits }, log });
  } catch (error) {
    service?.close();
    place.release();
    throw error;
  }
}

async function run(
  service: OpenService,
  place: Place,
  { host, port, limits, log }: { host: string; port: number; limits: typeof LIMITS; log: Log },
): Promise<RunningServer> {
  // The guard needs the port, which the system may choose.
  let handle: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  let server: Listener;
  try {
    server = await listen({
      host,
      port,
      limits: { ...limits, requestTimeoutMs: limits.headersTimeoutMs + service.options.bodyTimeoutMs },
      handlers: {
        fetch: (request) => handle(request),
        refuse(error) {
          const { status, headers, body } = refused(error, freshReference(), log);
          const length = String(new TextEncoder().encode(body).length);
          return { status, headers: { ...securityHeaders(null), ...headers, "content-length": length }, body };
        },
        failed: (error) => log({ level: "error", message: `A reply broke off: ${messageOf(error)}` }),
      },
    });
  } catch (error) {
    throw new SvcError("address_unavailable", `Cannot listen at ${host}:${port}: ${messageOf(error)}`, {
      hint: "Choose another port with --port, or 0 for a free one",
      cause: error,
    });
  }
  const bound = server.port;
  const app = createApp(service, { port: bound, log });
  handle = (request) => app.fetch(request);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  place.announce({ url, pid: Deno.pid, started_at_utc: new Date().toISOString() });
  log({ level: "info", message: "Listening", url });
  // The first page of a long list does not wait for the first scan of all bundles.
  service.index.sync().catch((error) =>
    log({ level: "error", message: `The index: ${messageOf(service.storage.judge(error))}` })
  );
  if (!service.options.readOnly) service.jobs.resume();
  const finished = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const stop = () =>
    stopping ??= (async () => {
      log({ level: "info", message: "Shutting down" });
      try {
        await within(DRAIN_MS, service.drain());
        await within(1000, server.close());
        server.abort();
        service.close();
        place.release();
        log({ level: "info", message: "Ended" });
      } finally {
        finished.resolve();
      }
    })();
  return { url, port: bound, service, stop, finished: finished.promise };
}

/** Runs a server until a signal ends it; the second signal ends it at once. */
export async function serveUntilSignal(options: ServeOptions): Promise<void> {
  const server = await startServer(options);
  const log = options.log ?? logLine;
  let signals = 0;
  const onSignal = () => {
    if (++signals > 1) Deno.exit(130);
    server.stop().catch((error) => log({ level: "error", message: messageOf(error) }));
  };
  const names: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM"];
  for (const name of names) Deno.addSignalListener(name, onSignal);
  try {
    await server.finished;
  } finally {
    for (const name of names) Deno.removeSignalListener(name, onSignal);
  }
}

const isLoopback = (host: string) => /^127(\.\d{1,3}){3}$|^localhost$|^::1$/.test(host);

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  await Promise.race([work, over.promise]);
  clearTimeout(timer);
}

interface Place {
  announce(document: JsonObject): void;
  release(): void;
}

/** The lock of `server.json`; the system frees it however the process ends. */
function takePlace({ stateDir, host }: Workspace): Place {
  makeUserFolder(stateDir);
  const path = inside(stateDir, basename(hostFile(stateDir, "server.json", host)));
  const file = openFile(path, { read: true, write: true, create: true });
  if (!file.tryLockSync(true)) {
    file.close();
    throw new SvcError("server_running", `Cannot serve ${stateDir}: ${runningAt(path)}`, {
      hint: "Use that one, end it, or choose another state directory with --workspace",
    });
  }
  return {
    announce(document) {
      file.truncateSync(0);
      file.seekSync(0, Deno.SeekMode.Start);
      file.writeSync(new TextEncoder().encode(prettyJson(document)));
    },
    release() {
      // Not removed: another process may have opened this file and wait for its lock.
      file.truncateSync(0);
      file.close();
    },
  };
}

function runningAt(path: InsidePath): string {
  try {
    const document = parseJson(readText(path, MAX_PLACE_BYTES));
    if (isObject(document)) return `a server answers at ${document.url} (process ${document.pid})`;
  } catch {
    // It is being written, or was emptied.
  }
  return "another server has it";
}
