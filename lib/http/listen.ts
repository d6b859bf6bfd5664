/**
 * HTTP/1.1 over TCP for a function from `Request` to `Response`. `node:http` carries it because `Deno.serve` bounds neither
 * the number of connections nor the time that one may stay half-open or idle.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SvcError } from "../contract/error.ts";

export interface ConnectionLimits {
  /** Connections at a time; a further one is closed at once. */
  maxConnections: number;
  /** Milliseconds until the headers of a request are complete, from the beginning of the connection or the request. */
  headersTimeoutMs: number;
  /** Milliseconds until a request is complete with its body. */
  requestTimeoutMs: number;
  /** Milliseconds that a connection stays open between two requests. */
  keepAliveMs: number;
  /** Milliseconds of an open request without a byte in either direction; longer than any wait for a reply. */
  idleMs: number;
}

/** How often the first two time limits are checked. */
const CHECK_INTERVAL_MS = 1000;

export interface Handlers {
  fetch(request: Request): Response | Promise<Response>;
  /** The reply to a request that cannot be read, and to one whose handling failed. */
  refuse(error: unknown): { status: number; headers: Record<string, string>; body: string };
  /** A reply that broke off. */
  failed(error: unknown): void;
}

/** A server that listens. */
export interface Listener {
  readonly port: number;
  /** Accepts nothing more; resolves when the last connection is closed. */
  close(): Promise<void>;
  /** Closes every connection. */
  abort(): void;
}

/** The bytes of replies that are in memory as a whole. */
const whole = new WeakMap<Response, Uint8Array>();

/** A reply of bytes: the listener writes them at once, without a stream. */
export function wholeReply(bytes: Uint8Array<ArrayBuffer>, options: ResponseInit): Response {
  // The listener does not read the stream, and the constructor would copy the bytes.
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  }, { highWaterMark: 0 });
  const response = new Response(body, options);
  whole.set(response, bytes);
  return response;
}

/** Listens at an address. @throws what the system reports, such as an address in use */
export async function listen(
  { host, port, limits, handlers }: { host: string; port: number; limits: ConnectionLimits; handlers: Handlers },
): Promise<Listener> {
  const server: Server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // A request without a host is refused like one with a wrong host.
    requireHostHeader: false,
  }, (incoming, outgoing) => void answer(incoming, outgoing, { handlers, limits }));
  server.maxConnections = limits.maxConnections;
  server.timeout = limits.idleMs;
  server.on("clientError", (error: Error & { code?: string }, socket) => {
    if (!socket.writable) return void socket.destroy();
    const { status, headers, body } = handlers.refuse(unreadable(error.code));
    const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
    abort: () => server.closeAllConnections(),
  };
}

/** What the parser of HTTP refused. */
function unreadable(code: string | undefined): SvcError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new SvcError("request_timeout", "Cannot wait longer for the request");
  if (code === "HPE_HEADER_OVERFLOW") return new SvcError("request_headers_too_large", "Cannot read headers this long");
  return new SvcError("request_malformed", "Cannot read the request as HTTP/1.1");
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { handlers, limits }: { handlers: Handlers; limits: ConnectionLimits },
): Promise<void> {
  try {
    const response = await handlers.fetch(requestOf(incoming));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    const bytes = whole.get(response);
    if (bytes !== undefined || response.body === null) {
      outgoing.cork();
      outgoing.end(bytes);
      outgoing.uncork();
    } else await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), outgoing);
  } catch (error) {
    if (outgoing.headersSent) {
      // A client that left is no failure.
      if ((error as { code?: string }).code !== "ERR_STREAM_PREMATURE_CLOSE") handlers.failed(error);
      return void outgoing.destroy();
    }
    const { status, headers, body } = handlers.refuse(error);
    outgoing.writeHead(status, headers).end(body);
  } finally {
    discard(incoming, limits.requestTimeoutMs);
  }
}

/** Reads the rest of a body that was refused, so that the client reads its reply; the server's time limit ended with that. */
function discard(incoming: IncomingMessage, timeoutMs: number): void {
  if (incoming.complete) return;
  const timer = setTimeout(() => incoming.destroy(), timeoutMs);
  const ended = () => clearTimeout(timer);
  incoming.once("end", ended).once("close", ended).resume();
}

function requestOf(incoming: IncomingMessage): Request {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  if (method === "TRACE") throw new SvcError("method_not_allowed", "Cannot use the method TRACE");
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at], rawHeaders[at + 1]);
  // The authority of the URL is a constant: a target may name another one, and the guard checks the Host header.
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "");
  const body = method === "GET" || method === "HEAD" ? null : bodyOf(incoming);
  return new Request(`http://localhost${target.startsWith("/") ? "" : "/"}${target}`, { method, headers, body });
}

/** The body as it arrives. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let state: "unread" | "open" | "closed" = "unread";
  return new ReadableStream({
    pull(controller) {
      if (state === "unread") {
        state = "open";
        incoming.on("data", (chunk: Uint8Array<ArrayBuffer>) => {
          if (state === "closed") return;
          controller.enqueue(chunk);
          incoming.pause();
        });
        incoming.once("end", () => {
          if (state === "open") controller.close();
          state = "closed";
        });
        const left = () =>
          controller.error(new SvcError("body_incomplete", "Cannot read the body: the client closed the connection"));
        incoming.once("error", left).once("close", left);
      }
      incoming.resume();
    },
    cancel() {
      state = "closed";
    },
  }, { highWaterMark: 0 });
}
