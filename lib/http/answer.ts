/**
 * Answers a plain request with a plain reply: checks query and body, calls the handler, writes its document. It knows no
 * sockets, so that it runs on the main thread and in library threads.
 */
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, type Value } from "../contract/json.ts";
import { nodeZlib } from "../contract/node_builtins.ts";
import { jsonSchemaOf } from "../contract/publish_schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { checkBody, checkQuery, parseBody } from "./body.ts";
import { Answer, type Context, type Route } from "./route.ts";
import type { PlainReply, PlainRequest } from "./threads/protocol.ts";

/** Replies of fewer bytes are not compressed. */
const GZIP_FROM = 1024;
/** Larger replies are not compressed either: compression would delay other requests. */
const GZIP_UP_TO = 8 * 1024 * 1024;

const schemas = new WeakMap<object, JsonObject>();

/** The JSON Schema of a zod type, made once. */
export function schemaOf(type: Parameters<typeof jsonSchemaOf>[0]): JsonObject {
  let schema = schemas.get(type);
  if (schema === undefined) schemas.set(type, schema = jsonSchemaOf(type));
  return schema;
}

const NOTHING: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/**
 * Answers a request.
 * @param context the session or the service that the handler works with
 * @throws what the checks and the handler throw
 */
export async function answer(route: Route, request: PlainRequest, context: Context): Promise<PlainReply> {
  const query = checkQuery(route.query ? schemaOf(route.query) : NOTHING, new URLSearchParams(request.search));
  const bytes = request.body ?? new Uint8Array();
  const body = route.method === "post" && route.upload === undefined
    ? checkBody(route.body ? schemaOf(route.body) : NOTHING, parseBody(bytes))
    : {};
  const { params, headers } = request;
  for (const [name, value] of Object.entries(params)) {
    if (value === "") throw new SvcError("not_found", `Cannot find a resource: the path lacks its ${name}`);
  }
  const result = await route.handle({ params, query, body, bytes, headers, ...context });
  return await written(result instanceof Answer ? result : new Answer(result), route, headers);
}

async function written(answer: Answer, route: Route, asked: Record<string, string>): Promise<PlainReply> {
  const { status, body } = answer;
  const headers: Record<string, string> = { ...answer.headers };
  if (body instanceof ReadableStream) return { status, headers, body };
  if (body instanceof Uint8Array) return notModified({ status, headers, body }, asked);
  if (status === 204 || status === 304) return { status, headers, body: null };
  // A text with a type of its own, such as a page, is not a JSON text.
  const text = headers["content-type"] !== undefined && typeof body === "string" ? body : canonicalJson(body as Value);
  headers["content-type"] ??= "application/json";
  if (route.stable && headers.etag === undefined) headers.etag = `W/"${sha256Hex(text).slice(0, 32)}"`;
  return await compressed(notModified({ status, headers, body: text }, asked), asked);
}

/** A reply whose tag the client has becomes a 304. */
export function notModified(reply: PlainReply, asked: Record<string, string>): PlainReply {
  const { etag, "cache-control": caching } = reply.headers;
  if (reply.status !== 200 || etag === undefined || !matches(asked["if-none-match"], etag)) return reply;
  const headers = { etag, vary: "accept-encoding", ...(caching === undefined ? {} : { "cache-control": caching }) };
  return { status: 304, headers, body: null };
}

/** Whether an `If-None-Match` names this tag; comparing weakly, as caches do. */
export function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const bare = (text: string) => text.trim().replace(/^W\//, "");
  return header.trim() === "*" || header.split(",").some((item) => bare(item) === bare(tag));
}

/**
 * Compresses a reply for clients that accept gzip. No reply holds a secret beside text of the client, so its length reveals
 * nothing. A strong tag is about bytes: a reply with one is not compressed.
 */
async function compressed(reply: PlainReply, asked: Record<string, string>): Promise<PlainReply> {
  const text = reply.body;
  if (typeof text !== "string") return reply;
  reply.headers.vary = "accept-encoding";
  const strong = reply.headers.etag?.startsWith('"') ?? false;
  if (strong || text.length < GZIP_FROM || text.length > GZIP_UP_TO || !takesGzip(asked["accept-encoding"])) {
    return reply;
  }
  const body = await new Promise<Uint8Array<ArrayBuffer>>((resolve, reject) =>
    nodeZlib().gzip(text, { level: 4 }, (error, bytes) => error ? reject(error) : resolve(new Uint8Array(bytes)))
  );
  return { ...reply, headers: { ...reply.headers, "content-encoding": "gzip" }, body };
}

export const takesGzip = (header: string | undefined): boolean => takes(header, "gzip");

/** Whether an `Accept-Encoding` admits a content coding. A weight of the coding itself overrides that of `*`. */
export function takes(header: string | undefined, coding: string): boolean {
  const weights = new Map(
    (header ?? "").split(",").map((item) => {
      const [name, ...params] = item.split(";").map((part) => part.trim().toLowerCase());
      return [name, !params.some((param) => /^q=0(\.0*)?$/.test(param))];
    }),
  );
  return weights.get(coding) ?? weights.get("*") ?? false;
}
