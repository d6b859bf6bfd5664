/**
 * What a route is: method, path, query, body, replies and handler in one object. The router, the checks of what comes in,
 * the OpenAPI description and the types of the client are all read from it.
 *
 * A handler gets values that were checked and returns what is to be answered. It throws an `SvcError` for everything that
 * goes wrong; `problem.ts` makes the reply of it. A route that computes for long says so (`threadRoute`): its handler then
 * runs in a thread of its own, and the server answers others meanwhile.
 */
import type { Value } from "../contract/value.ts";
import type { z } from "../contract/zod.ts";
import type { Library, Service } from "./service.ts";

export type Method = "get" | "post";

/** The names after a colon in a path. */
export type PathParams<Path extends string> = Path extends `${infer Head}/${infer Rest}`
  ? PathParams<Head> | PathParams<Rest>
  : Path extends `:${infer Name}` ? Name
  : never;

/** A reply as the description shows it. */
export interface ReplyDescription {
  description: string;
  /** Of the JSON body; a reply without one is described by its media type. */
  schema?: z.ZodType;
  /** application/json when there is a schema and nothing else is said. */
  media?: string;
}

export type Replies = Readonly<Record<number, ReplyDescription>>;

/** What a handler is called with. */
export interface Call<Params extends string, Query, Body, Context> {
  readonly params: Readonly<Record<Params, string>>;
  readonly query: Query;
  readonly body: Body;
  /** What was uploaded; empty where the route takes JSON. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly service: Context;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a handler answers: a JSON value with status 200, or an {@link Answer}. */
export type Result = Value | Answer;

/** An answer with a status, headers or a body that is no JSON. */
export class Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    /** A typed value is written as JSON; bytes and streams go out as they are. */
    readonly body: Value | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
    options: { status?: number; headers?: Record<string, string> } = {},
  ) {
    this.status = options.status ?? 200;
    this.headers = options.headers ?? {};
  }
}

/** Marks a document of the library as the JSON value that it is: an interface has no index signature of its own. */
export const json = (document: unknown): Value => document as Value;

export interface RouteDefinition<
  M extends Method,
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  R extends Replies,
  Context,
> {
  method: M;
  /** Hono's notation: `/api/runs/:run_id`. */
  path: Path;
  summary: string;
  description?: string;
  query?: Query;
  /** Of a JSON body; a POST without one takes `{}`. */
  body?: Body;
  /** Bytes that are taken in place of JSON, at most this many. */
  upload?: number;
  replies: R;
  /** Whether `--read-only` refuses it; every POST when left out. */
  writes?: boolean;
  /** Whether the reply carries an ETag and is answered with 304 when the client has it. */
  stable?: boolean;
  /** Whether the reply is the same as long as the server lives; it is made once. */
  constant?: boolean;
  handle(
    call: Call<PathParams<Path>, z.output<Query>, z.output<Body>, Context>,
  ): Result | Promise<Result>;
}

/** A route with its types. */
export interface TypedRoute<
  M extends Method = Method,
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  R extends Replies = Replies,
> {
  readonly method: M;
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly upload?: number;
  readonly replies: R;
  readonly writes: boolean;
  readonly stable: boolean;
  readonly constant: boolean;
  /** Whether it runs in a thread of its own. */
  readonly thread: boolean;
  readonly handle: (call: Call<string, unknown, unknown, Service>) => Result | Promise<Result>;
}

export type Route = TypedRoute;

type NoMembers = z.ZodObject<Record<never, never>>;

/** A route that the main thread answers: it looks something up, queues something or streams. */
export function route<
  M extends Method,
  Path extends string,
  R extends Replies,
  Query extends z.ZodObject = NoMembers,
  Body extends z.ZodObject = NoMembers,
>(definition: RouteDefinition<M, Path, Query, Body, R, Service>): TypedRoute<M, Path, Query, Body, R> {
  return finished(definition, false);
}

/** A route that reads files or computes, and therefore runs beside the main thread; it has the library alone. */
export function threadRoute<
  M extends Method,
  Path extends string,
  R extends Replies,
  Query extends z.ZodObject = NoMembers,
  Body extends z.ZodObject = NoMembers,
>(definition: RouteDefinition<M, Path, Query, Body, R, Library>): TypedRoute<M, Path, Query, Body, R> {
  return finished(definition, true);
}

function finished<
  M extends Method,
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  R extends Replies,
> // deno-lint-ignore no-explicit-any -- the context was typed where the route was written
(definition: RouteDefinition<M, Path, Query, Body, R, any>, thread: boolean): TypedRoute<M, Path, Query, Body, R> {
  return {
    ...definition,
    writes: definition.writes ?? definition.method === "post",
    stable: definition.stable ?? definition.constant ?? false,
    constant: definition.constant ?? false,
    thread,
    handle: definition.handle as unknown as Route["handle"],
  };
}

/** How a route is named among all: `get /api/runs/:run_id`. */
export const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
