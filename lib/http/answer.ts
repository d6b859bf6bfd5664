/**
 * From a plain request to a plain reply: query and body are checked, the handler is called, its value is written. Nothing
 * here knows sockets, so that the same lines run on the main thread and in the threads beside it.
 */
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, type Value } from "../contract/json.ts";
import { nodeZlib } from "../contract/node_builtins.ts";
import { jsonSchemaOf } from "../contract/publish_schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { checkBody, checkQuery, parseBody } from "./body.ts";
import { Answer, type Route } from "./route.ts";

/** A request without its socket; crosses to other threads. */
export interface PlainRequest {
  params: Record<string, string>;
  /** With its question mark, or empty. */
  search: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | null;
}

export interface PlainReply {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;
}

/** Replies of fewer bytes are not compressed. */
const GZIP_FROM = 1024;
/** And those of more than this are sent as they are: compressing them would keep others waiting. */
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
 *
 * @param context what the route's handler works with
 * @throws what the checks and the handler throw
 */
export async function answer<Context>(
  route: Route,
  request: PlainRequest,
  context: Context,
): Promise<PlainReply> {
  const query = checkQuery(route.query ? schemaOf(route.query) : NOTHING, new URLSearchParams(request.search));
  const bytes = request.body ?? new Uint8Array();
  const body = route.method === "post" && route.upload === undefined
    ? checkBody(route.body ? schemaOf(route.body) : NOTHING, parseBody(bytes))
    : {};
  const { params, headers } = request;
  for (const [name, value] of Object.entries(params)) {
    if (value === "") throw new SvcError("not_found", `Cannot find anything without its ${name}`);
  }
  const handle = route.handle as unknown as (call: unknown) => Value | Answer | Promise<Value | Answer>;
  const result = await handle({ params, query, body, bytes, service: context, headers });
  return await written(result instanceof Answer ? result : new Answer(result), route, headers);
}

async function written(answer: Answer, route: Route, asked: Record<string, string>): Promise<PlainReply> {
  const { status, body } = answer;
  const headers: Record<string, string> = { ...answer.headers };
  if (body instanceof ReadableStream || body instanceof Uint8Array) return { status, headers, body };
  if (status === 204) return { status, headers, body: null };
  // A text with a type of its own is a page or the like, not a JSON text.
  const text = headers["content-type"] !== undefined && typeof body === "string" ? body : canonicalJson(body);
  headers["content-type"] ??= "application/json";
  if (route.stable && headers.etag === undefined) headers.etag = `W/"${sha256Hex(text).slice(0, 32)}"`;
  return await compressed(notModified({ status, headers, body: text }, asked), asked);
}

/** A reply that the client has already, as its tag tells, becomes a 304. */
export function notModified(reply: PlainReply, asked: Record<string, string>): PlainReply {
  const { etag } = reply.headers;
  if (reply.status !== 200 || etag === undefined || !matches(asked["if-none-match"], etag)) return reply;
  return { status: 304, headers: { etag, vary: "accept-encoding" }, body: null };
}

/** Whether an `If-None-Match` names this tag; comparing weakly, as caches do. */
function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const bare = (text: string) => text.trim().replace(/^W\//, "");
  return header.trim() === "*" || header.split(",").some((item) => bare(item) === bare(tag));
}

/**
 * Compresses a reply for those who take gzip. Nothing secret stands beside what a client chose in any reply, so that its
 * length tells nothing; a strong tag is about bytes, so what carries one stays as it is.
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

export function takesGzip(header: string | undefined): boolean {
  return (header ?? "").split(",").some((item) => {
    const [name, ...params] = item.split(";").map((part) => part.trim().toLowerCase());
    return (name === "gzip" || name === "*") && !params.some((param) => /^q=0(\.0*)?$/.test(param));
  });
}
