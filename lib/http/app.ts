/**
 * The application: every request passes the guard, is matched with its route, checked, answered and logged. It is a function
 * from `Request` to `Response` and knows no socket.
 */
import { SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import { answer, notModified, takesGzip } from "./answer.ts";
import { readBody } from "./body.ts";
import { type Context, Hono } from "./hono.ts";
import { wholeReply } from "./listen.ts";
import type { Log } from "./log.ts";
import { PROBLEM_MEDIA, problemOf } from "./problem.ts";
import { BRIEF_MS, nameOf, type Route } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import { createGuard, securityHeaders, type Target } from "./security.ts";
import type { Service } from "./service.ts";
import type { PlainReply, PlainRequest } from "./threads/protocol.ts";

export interface AppOptions {
  /** The port that hosts on the list are expected with. */
  port: number;
  log?: Log;
}

/** A request that is being answered. */
interface Passage {
  reference: string;
  startedAt: number;
  /** As the route declares it, for counters: the number of paths that clients can send is unbounded. */
  route: string;
}

/** The access of a path without a route: protected, so that its reply reveals nothing without the token. */
const UNMATCHED: Target = { path: "(none)", access: "token" };

/** Makes the application of a service. */
export function createApp(service: Service, { port, log = () => {} }: AppOptions): Hono {
  const { allowHosts, allowOrigins, token } = service.options;
  const guard = createGuard({ port, allowHosts, allowOrigins, token });
  const app = new Hono();
  const kept: KeptReplies = { constant: new Map(), brief: new Map(), writes: 0 };
  const handler = (target: Target, act: (c: Context) => Promise<PlainReply>) => async (c: Context) => {
    const passage: Passage = {
      reference: freshReference(),
      startedAt: performance.now(),
      route: target.path,
    };
    let reply: PlainReply;
    try {
      guard(target, c.req.method, c.req.raw.headers);
      reply = await act(c);
    } catch (error) {
      reply = refused(service.storage.judge(error), passage.reference, log);
    }
    return finished(c, reply, passage, service, log);
  };
  for (const route of ROUTES) {
    app.on(
      route.method.toUpperCase(),
      route.path,
      handler(route, (c) => serve(service, route, c, kept)),
    );
  }
  for (const path of new Set(ROUTES.map(({ path }) => path))) {
    const access = ROUTES.every((route) => route.path !== path || route.access === "public") ? "public" : "token";
    app.all(path, handler({ path, access }, () => Promise.reject(methodRefused(path))));
  }
  // The caller makes a reply of it; Hono would print the stack.
  app.onError((error) => {
    throw error;
  });
  app.notFound(
    handler(UNMATCHED, (c) =>
      Promise.reject(
        new SvcError("not_found", `Cannot find anything at ${c.req.path}`, {
          hint: "GET /api/openapi.json lists what there is",
        }),
      )) as Parameters<typeof app.notFound>[0],
  );
  return app;
}

interface KeptReplies {
  /** Of constant routes, by request and compression. */
  constant: Map<string, PlainReply>;
  /** The latest of each brief route. */
  brief: Map<Route, { reply: Promise<PlainReply>; key: string; at: number }>;
  /** Requests that may change something: their starts and their ends. */
  writes: number;
}

async function serve(service: Service, route: Route, c: Context, kept: KeptReplies): Promise<PlainReply> {
  const { options } = service;
  if (route.writes && options.readOnly) {
    throw new SvcError("read_only", "Cannot change anything: the server is read-only", {
      hint: "Start it without --read-only",
    });
  }
  const headers = Object.fromEntries(c.req.raw.headers);
  const request: PlainRequest = {
    params: pathParameters(c),
    search: new URL(c.req.url).search,
    headers,
    body: route.method === "post" ? await bodyOf(c, route, service) : null,
  };
  const gzip = takesGzip(headers["accept-encoding"]);
  /** The whole reply, as bytes: it is sent again. */
  const make = async () => {
    const { "if-none-match": _asked, ...whole } = headers;
    const reply = await passOn(service, route, { ...request, headers: whole });
    return typeof reply.body === "string" ? { ...reply, body: new TextEncoder().encode(reply.body) } : reply;
  };
  if (route.brief) {
    const key = canonicalJson([request.params, request.search, gzip, kept.writes, service.events.latestId]);
    let found = kept.brief.get(route);
    if (found?.key !== key || performance.now() - found.at > BRIEF_MS) {
      // Requests that arrive meanwhile wait for the same reply; a refusal is not for later ones.
      kept.brief.set(route, found = { reply: make(), key, at: performance.now() });
      found.reply.catch(() => kept.brief.delete(route));
    }
    return notModified(await found.reply, headers);
  }
  // A query that a constant route does not take is refused there, and would make keys without number here.
  if (route.constant && request.search.length <= 1) {
    const key = `${nameOf(route)} ${canonicalJson([request.params, gzip])}`;
    let reply = kept.constant.get(key);
    if (reply === undefined) {
      reply = await make();
      if (reply.status === 200) kept.constant.set(key, reply);
    }
    return notModified(reply, headers);
  }
  if (!route.writes) return await passOn(service, route, request);
  kept.writes++;
  try {
    return await passOn(service, route, request);
  } finally {
    kept.writes++;
  }
}

async function passOn(service: Service, route: Route, request: PlainRequest): Promise<PlainReply> {
  if (route.thread) return await service.threads.answer(nameOf(route), request);
  return await answer(route, request, { service });
}

function pathParameters(c: Context): Record<string, string> {
  try {
    return c.req.param() as Record<string, string>;
  } catch {
    throw new SvcError("not_found", "Cannot read the path: it is not encoded as UTF-8");
  }
}

async function bodyOf(c: Context, { upload }: Route, { options }: Service): Promise<Uint8Array<ArrayBuffer>> {
  const wanted = upload === undefined ? "application/json" : "application/octet-stream";
  const type = (c.req.header("content-type") ?? "").split(";")[0].trim().toLowerCase();
  if (type !== wanted) {
    throw new SvcError("media_type_unsupported", `Cannot take a body of the type ${JSON.stringify(type)}`, {
      hint: `Send Content-Type: ${wanted}`,
    });
  }
  const coding = (c.req.header("content-encoding") ?? "identity").trim().toLowerCase();
  if (coding !== "identity") {
    throw new SvcError("media_type_unsupported", `Cannot take a body in the coding ${JSON.stringify(coding)}`, {
      hint: "Send the bytes themselves, without Content-Encoding",
    });
  }
  return await readBody(c.req.raw.body, {
    limit: upload ?? options.jsonBodyLimit,
    timeoutMs: options.bodyTimeoutMs,
    length: c.req.header("content-length"),
    hint: upload === undefined ? undefined : "Copy the file into the folder of the project",
  });
}

function methodRefused(path: string): SvcError {
  const allowed = ROUTES.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
  return new SvcError("method_not_allowed", `Cannot use this method here: the path takes ${allowed.join(" and ")}`, {
    extra: { allow: [...allowed, ...(allowed.includes("GET") ? ["HEAD"] : [])] },
  });
}

/** A name for a request, in its reply and in the log. */
export const freshReference = (): string => crypto.getRandomValues(new Uint8Array(8)).toHex();

/** The reply to a request that failed; an unforeseen error is logged under the reference. */
export function refused(error: unknown, reference: string, log: Log): PlainReply & { body: string } {
  const { status, document } = problemOf(error, reference);
  if (status === 500) {
    log({
      level: "error",
      request: reference,
      message: error instanceof Error ? error.message : String(error),
      stack: error instanceof Error ? error.stack ?? null : null,
    });
  }
  const headers: Record<string, string> = { "content-type": PROBLEM_MEDIA, "cache-control": "no-store" };
  const { retry_after_seconds: retry, allow, content_range: range, ...rest } = document;
  if (typeof retry === "number") headers["retry-after"] = String(retry);
  if (Array.isArray(allow)) headers.allow = allow.join(", ");
  if (typeof range === "string") headers["content-range"] = range;
  if (status === 415) headers["accept-encoding"] = "identity";
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (status === 503 || status === 507) headers["retry-after"] ??= "10";
  // The rest of the body may still arrive.
  if (status === 408) headers.connection = "close";
  return { status, headers, body: canonicalJson(rest) };
}

function finished(c: Context, reply: PlainReply, passage: Passage, service: Service, log: Log): Response {
  const { status, body } = reply;
  const milliseconds = performance.now() - passage.startedAt;
  const { method } = c.req;
  service.counters.request(method, passage.route, status, milliseconds / 1000);
  log({
    level: status >= 500 ? "error" : "info",
    request: passage.reference,
    method,
    path: c.req.path,
    status,
    duration_ms: Math.round(milliseconds * 10) / 10,
  });
  const headers = new Headers({ ...securityHeaders(null), "x-request-id": passage.reference, ...reply.headers });
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  if (!headers.has("cache-control")) headers.set("cache-control", reply.headers.etag ? "no-cache" : "no-store");
  if (!(bytes instanceof Uint8Array)) return new Response(bytes, { status, headers });
  headers.set("content-length", String(bytes.length));
  return wholeReply(bytes, { status, headers });
}
