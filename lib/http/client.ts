/**
 * The typed client for scripts: paths, queries, bodies and replies have the types of the routes. Numbers keep theirs: requests
 * are written and replies are read as typed JSON, so that `float(1)` is 1.0 on both sides.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createClient, startServer } from "../../server.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const server = await startServer({ stateDir, port: 0, log() {} });
 * const client = createClient(server.url);
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
 * const run = await client.api.recipe["run-payload"].$post({ json: { recipe } });
 * assert.equal(run.status, 200);
 * const listed = await client.api.runs.$get({ query: { limit: 10 } });
 * if (listed.status !== 200) throw new Error(listed.statusText);
 * assert.equal((await listed.json()).runs[0].status, "completed");
 * await server.stop();
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
import { parseJson } from "../contract/json.ts";
import type { z } from "../contract/zod.ts";
import { type BlankEnv, hc, type Hono } from "./hono.ts";
import type { Method, PathParams, Replies, TypedRoute } from "./route.ts";
import type { TYPED_ROUTES } from "./routes/index.ts";

type Params<Path extends string> = [PathParams<Path>] extends [never] ? unknown
  : { param: { [Name in PathParams<Path>]: string } };

type QueryOf<Query extends z.ZodObject> = Record<never, never> extends z.input<Query> ? { query?: z.input<Query> }
  : { query: z.input<Query> };

type InputOf<M extends Method, Path extends string, Query extends z.ZodObject, Body extends z.ZodObject> =
  & Params<Path>
  & (M extends "get" ? QueryOf<Query> : { json: z.input<Body> });

type EndpointsOf<R extends Replies, Input> = {
  [Status in keyof R & number]: {
    input: Input;
    output: R[Status] extends { schema: infer Schema extends z.ZodType } ? z.output<Schema> : string;
    outputFormat: R[Status] extends { schema: z.ZodType } ? "json" : "text";
    status: Status;
  };
}[keyof R & number];

type SchemaOf<T> = T extends TypedRoute<infer M, infer Path, infer Query, infer Body, infer R>
  ? { [P in Path]: { [K in `$${M}`]: EndpointsOf<R, InputOf<M, Path, Query, Body>> } }
  : never;

type Together<Union> = (Union extends unknown ? (item: Union) => void : never) extends (item: infer All) => void ? All
  : never;

type RouteOf<M extends Method, Path extends string> = Extract<typeof TYPED_ROUTES[number], { method: M; path: Path }>;

/** The paths of a method, with the names of their parameters. */
export type PathOf<M extends Method> = Extract<typeof TYPED_ROUTES[number], { method: M }>["path"];

/** The document with which a route replies where it succeeds. */
export type ReplyOf<M extends Method, Path extends string> = {
  [Status in 200 | 201 | 202]: RouteOf<M, Path>["replies"] extends
    { [K in Status]: { schema: infer Schema extends z.ZodType } } ? z.output<Schema> : never;
}[200 | 201 | 202];

/** The interface as hono's client reads it. */
export type Api = Hono<BlankEnv, Together<SchemaOf<typeof TYPED_ROUTES[number]>>, "/">;
export type ApiClient = ReturnType<typeof hc<Api>>;

export interface ClientOptions {
  /** Of a server that asks for one. */
  token?: string;
  fetch?: typeof fetch;
}

/**
 * Makes a client.
 * @param url of the server
 * @returns a call per path and method, `client.api["run-jobs"][":job_id"].$get({ param: { job_id } })`
 */
export function createClient(url: string, options: ClientOptions = {}): ApiClient {
  const send = options.fetch ?? fetch;
  const client = hc<Api>(url, {
    headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => typed(await send(input, init)),
  });
  return keepIntegers(client);
}

/** A response whose `json()` reads typed numbers. */
function typed(response: Response): Response {
  Object.defineProperty(response, "json", { value: async () => parseJson(await response.text()) });
  return response;
}

/** `JSON.stringify`, which hono's client uses, writes a `Float` as it is, but knows no bigint. */
function keepIntegers<T extends object>(node: T): T {
  return new Proxy(node, {
    get(target, key, receiver) {
      const member = Reflect.get(target, key, receiver);
      return typeof member === "function" ? keepIntegers(member) : member;
    },
    apply(target, self, [args, ...rest]) {
      const given = args?.json === undefined ? args : { ...args, json: writable(args.json) };
      return Reflect.apply(target as (...all: unknown[]) => unknown, self, [given, ...rest]);
    },
  });
}

function writable(value: unknown): unknown {
  if (typeof value === "bigint") {
    return (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(String(value));
  }
  if (Array.isArray(value)) return value.map(writable);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writable(item)]));
}
