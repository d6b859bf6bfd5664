/**
 * The server, as the page talks to it: documents with the types of the routes, typed JSON both ways (1.0 stays 1.0), problems
 * as errors, and a token where the server needs one. The token lives in session storage alone.
 *
 * A question changes nothing on the server: it is asked again while its answer is lost on the way, or while the server is too
 * busy for it, until its signal aborts it. A command (`post`) is sent once.
 */
import type { Code, Diagnostic } from "../lib/contract/error.ts";
import { canonicalJson, parseJson } from "../lib/contract/json.ts";
import type { JsonObject, Value } from "../lib/contract/value.ts";
import type { PathOf, ReplyOf } from "../lib/http/client.ts";
import { ahead, TOKEN } from "./ahead.ts";
import { signal } from "./preact.ts";

export type { Diagnostic, ReplyOf };
/** Paths of GET routes. */
export type Readable = PathOf<"get">;
/** The document of a GET route. */
export type Reply<Path extends Readable> = ReplyOf<"get", Path>;

/** A problem of RFC 9457. */
export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly body: JsonObject = {}) {
    super(message);
  }
  get diagnostics(): Diagnostic[] {
    return (this.body.diagnostics ?? []) as Diagnostic[];
  }
  get hint(): string | null {
    return (this.body.hint ?? null) as string | null;
  }
}

/** The findings of a refusal: its diagnostics, or one made of the error itself. */
export function findingsOf(error: unknown): Diagnostic[] {
  if (error instanceof Problem && error.diagnostics.length > 0) return error.diagnostics;
  const { code, hint } = error instanceof Problem ? error : { code: "internal_error", hint: null };
  return [{ severity: "error", code: code as Code, message: messageOf(error), path: "$", hint }];
}

export const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error);

/** Whether the server answered the last request, and whether it needs a token. */
export const connection = signal<"ok" | "lost">("ok");
export const tokenWanted = signal(false);

export const token = () => sessionStorage.getItem(TOKEN);
export function giveToken(text: string): void {
  sessionStorage.setItem(TOKEN, text);
  tokenWanted.value = false;
}

/** What a request has besides its path and its body. */
export interface Request {
  /** Values of the names after a colon in the path. */
  params?: Record<string, string>;
  /** Members that are undefined or null are left out. */
  query?: Record<string, string | number | null | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The address of a path with its parameters and its query. */
export function addressOf(path: string, { params = {}, query = {} }: Pick<Request, "params" | "query"> = {}): string {
  const kept = Object.entries(query).flatMap(([name, value]) => value == null ? [] : [[name, String(value)]]);
  const search = kept.length === 0 ? "" : `?${new URLSearchParams(kept)}`;
  return path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(params[name])) + search;
}

/** Replies to requests that were sent before this script came. */
const sentAhead = ahead.svcAhead ??= new Map();

/** Sends a request once, or takes the reply to one that was sent ahead. @throws Problem where the server cannot be reached or refuses */
async function sendOnce(path: string, request: Request = {}, init: RequestInit = {}): Promise<Response> {
  const known = token(),
    headers = { ...request.headers, ...(known === null ? {} : { authorization: `Bearer ${known}` }) };
  let response: Response;
  try {
    const address = addressOf(path, request), key = `${address}${init.body ?? ""}`, early = sentAhead.get(key);
    sentAhead.delete(key);
    response = await (early ?? fetch(address, { ...init, headers, signal: request.signal }));
    request.signal?.throwIfAborted();
  } catch (error) {
    throw lost(error);
  }
  connection.value = "ok";
  if (response.status === 401) tokenWanted.value = true;
  if (response.ok) return response;
  const text = await textOf(response), body = text === "" ? {} : parseJson(text) as JsonObject;
  const message = String(body.detail ?? body.title ?? response.statusText);
  throw new Problem(response.status, String(body.code ?? response.status), message, body);
}

/** The error of a connection that broke: an abort by the page itself, else a problem. */
function lost(error: unknown): Error {
  if (error instanceof Error && error.name === "AbortError") return error;
  connection.value = "lost";
  return new Problem(0, "server_unreachable", "Cannot reach the server");
}

const textOf = (response: Response): Promise<string> => response.text().catch((error) => Promise.reject(lost(error)));
const read = async (response: Response): Promise<Value> => parseJson(await textOf(response)) as Value;

/** Refusals that pass: the same question is answered later. */
const PASSING = /^(server_unreachable|request_timeout|body_timeout|body_incomplete|server_busy|shutting_down)$/;
const FIRST_WAIT_MS = 250, LONGEST_WAIT_MS = 4000;

/** Asks until there is an answer or a refusal that lasts. @throws Problem */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (let wait = FIRST_WAIT_MS;; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Problem) || !PASSING.test(error.code)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** GET a reply, whose body is read by the caller. @throws Problem */
export const send = (path: string, request?: Request): Promise<Response> => answered(() => sendOnce(path, request));

/** GET a document. @throws Problem */
export const get = <Path extends Readable>(path: Path, request?: Request): Promise<Reply<Path>> =>
  answered(async () => await read(await sendOnce(path, request)) as Reply<Path>);

/** GET a document with its ETag. @throws Problem */
export const getTagged = <Path extends Readable>(
  path: Path,
  request?: Request,
): Promise<{ document: Reply<Path>; etag: string | null }> =>
  answered(async () => {
    const response = await sendOnce(path, request);
    return { document: await read(response) as Reply<Path>, etag: response.headers.get("etag") };
  });

/** POST a question, to a route that changes nothing. @throws Problem */
export const ask: typeof post = (path, body, request) => answered(() => post(path, body, request));

/** POST a question whose answer are bytes. @throws Problem */
export const askBytes = <Path extends PathOf<"post">>(path: Path, body: JsonObject): Promise<Blob> =>
  answered(async () => {
    const request = { headers: { "content-type": "application/json" } };
    return await (await sendOnce(path, request, { method: "POST", body: canonicalJson(body) })).blob();
  });

/** POST a command. @throws Problem */
export const post = async <Path extends PathOf<"post">>(
  path: Path,
  body: JsonObject = {},
  request: Request = {},
): Promise<ReplyOf<"post", Path>> => {
  const headers = { "content-type": "application/json", ...request.headers };
  const init = { method: "POST", body: canonicalJson(body) };
  return await read(await sendOnce(path, { ...request, headers }, init)) as ReplyOf<"post", Path>;
};

/** POST bytes. @throws Problem */
export const upload = async <Path extends PathOf<"post">>(
  path: Path,
  body: Blob,
  request: Request = {},
): Promise<ReplyOf<"post", Path>> => {
  const headers = { "content-type": "application/octet-stream" };
  return await read(await sendOnce(path, { ...request, headers }, { method: "POST", body })) as ReplyOf<"post", Path>;
};

/** A failed request in one line, with the errors that the server found, or all its findings where none is an error. */
export const problemText = (error: unknown): string =>
  error instanceof Problem
    ? [error.message, ...tellingOf(error.diagnostics).map(placed), error.hint].filter(Boolean).join(". ")
    : messageOf(error);

/** The errors among findings; all of them where there is none. */
function tellingOf(found: readonly Diagnostic[]): readonly Diagnostic[] {
  const errors = found.filter(({ severity }) => severity === "error");
  return errors.length > 0 ? errors : found;
}

/** A finding with its block and its parameter. */
function placed({ message, step_id, pointer }: Diagnostic): string {
  const param = /^\/steps\/\d+\/params\/([^/]+)/.exec(pointer ?? "")?.[1];
  const where = [step_id, param].filter(Boolean).join(".") || pointer;
  return where ? `${where}: ${message}` : message;
}
