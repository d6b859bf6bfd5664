/**
 * A route is one object: method, path, query, body, replies and handler. The router, the checks of a request, the OpenAPI
 * description and the types of the client are read from it.
 *
 * A handler gets checked values and returns the document of the reply. It throws an `SvcError` for every failure; `problem.ts`
 * makes the reply of it. A route with `thread` in place of `handle` computes for long: a library thread calls its handler.
 */
import type { Value } from "../contract/value.ts";
import type { z } from "../contract/zod.ts";
import type { Session } from "../api/session.ts";
import type { Service } from "./service.ts";

export type Method = "get" | "post";

/** Whether a configured token is needed. */
export type Access = "public" | "token";

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
  /** application/json where only a schema is given. */
  media?: string;
}

export type Replies = Readonly<Record<number, ReplyDescription>>;

/** What a handler is called with, besides its session or service. */
export interface Call<Params extends string, Query, Body> {
  readonly params: Readonly<Record<Params, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The uploaded bytes; empty where the route takes JSON. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A reply with a status, headers or a body that is not JSON. */
export class Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    /** A document is written as JSON; bytes and streams are sent as they are. */
    readonly body: object | Value | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
    options: { status?: number; headers?: Record<string, string> } = {},
  ) {
    this.status = options.status ?? 200;
    this.headers = options.headers ?? {};
  }
}

/** The result of a handler: a document of the library, which is a JSON value, with status 200, or an {@link Answer}. */
type Result = object | Promise<object>;

/** Changes that other processes make are seen after this time by routes with `brief`. */
export const BRIEF_MS = 25;

/** A route as a tool for assistants. */
export interface RouteTool {
  /** Noun and verb: `runs_verify`. */
  name: string;
  /** Whether it may remove or overwrite. */
  destructive?: boolean;
}

interface RouteDefinition<
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  R extends Replies,
> {
  description?: string;
  /** `token` when left out. */
  access?: Access;
  query?: Query;
  /** Of a JSON body; a POST without one takes `{}`. */
  body?: Body;
  /** Takes bytes in place of JSON, at most this many. */
  upload?: number;
  replies: R;
  /** Whether `--read-only` refuses it; every POST when left out. */
  writes?: boolean;
  /** Whether the reply carries an ETag and is answered with 304 when the client has it. */
  stable?: boolean;
  /** Whether the reply is the same as long as the server lives; it is made once. */
  constant?: boolean;
  /** Whether equal requests within {@link BRIEF_MS}, with no change by this server between them, get one reply. */
  brief?: boolean;
  tool?: RouteTool;
  /** The handler of the main thread: it looks something up, queues something or streams. */
  handle?(call: Call<PathParams<Path>, z.output<Query>, z.output<Body>> & { readonly service: Service }): Result;
  /** The handler of a library thread: it reads files or computes. */
  thread?(call: Call<PathParams<Path>, z.output<Query>, z.output<Body>> & { readonly session: Session }): Result;
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
  /** Hono's notation: `/api/runs/:run_id`. */
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly query?: Query;
  readonly body?: Body;
  readonly upload?: number;
  readonly replies: R;
  readonly writes: boolean;
  readonly stable: boolean;
  readonly constant: boolean;
  readonly brief: boolean;
  readonly tool?: RouteTool;
  /** Whether a library thread answers it. */
  readonly thread: boolean;
  readonly handle: (call: Call<string, unknown, unknown> & Context) => Result;
}

export type Route = TypedRoute;

/** What handlers work with: the service on the main thread, the session in library threads. */
export type Context = { readonly service: Service } | { readonly session: Session };

type NoMembers = z.ZodObject<Record<never, never>>;

/** Makes the function that declares routes of a method. */
const declare = <M extends Method>(method: M) =>
<
  Path extends string,
  R extends Replies,
  Query extends z.ZodObject = NoMembers,
  Body extends z.ZodObject = NoMembers,
>(
  path: Path,
  summary: string,
  { handle, thread, ...definition }: RouteDefinition<Path, Query, Body, R>,
): TypedRoute<M, Path, Query, Body, R> => ({
  writes: method === "post",
  stable: definition.constant ?? false,
  constant: false,
  brief: false,
  access: "token",
  ...definition,
  method,
  path,
  summary,
  thread: thread !== undefined,
  handle: (thread ?? handle) as Route["handle"],
});

export const get = declare("get");
export const post = declare("post");

/** The name of a route among all: `get /api/runs/:run_id`. */
export const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
