/**
 * The server, as the page talks to it: typed JSON both ways (1.0 stays 1.0), problems as errors, and a token where the server
 * asks for one. The token lives in session storage alone.
 */
import { canonicalJson, parseJson } from "../lib/contract/json.ts";
import type { JsonObject, Value } from "../lib/contract/value.ts";
import { signal } from "./preact.ts";

/** A problem of RFC 9457, as the server tells it. */
export interface Diagnostic {
  code: string;
  severity?: "error" | "warning" | "info";
  level?: string;
  path?: string;
  pointer?: string;
  message: string;
  hint?: string | null;
  step_id?: string | null;
}

export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly body: JsonObject = {}) {
    super(message);
  }
  get diagnostics(): Diagnostic[] {
    return (this.body.diagnostics ?? []) as unknown as Diagnostic[];
  }
  get hint(): string | null {
    return (this.body.hint ?? null) as string | null;
  }
}

/** Whether the server answered last time, and whether it wants a token. */
export const connection = signal<"ok" | "lost">("ok");
export const tokenWanted = signal(false);

const TOKEN = "svc.token";
export const token = () => sessionStorage.getItem(TOKEN);
export function giveToken(text: string): void {
  sessionStorage.setItem(TOKEN, text);
  tokenWanted.value = false;
}

export function headers(more: Record<string, string> = {}): Record<string, string> {
  const known = token();
  return known === null ? more : { ...more, authorization: `Bearer ${known}` };
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    connection.value = "lost";
    throw new Problem(0, "server_unreachable", "Cannot reach the server");
  }
  connection.value = "ok";
  if (response.status === 401) tokenWanted.value = true;
  return response;
}

async function typed(response: Response): Promise<Value> {
  const text = await response.text();
  const value = text === "" ? null : parseJson(text) as Value;
  if (response.ok) return value;
  const body = (value ?? {}) as JsonObject;
  throw new Problem(
    response.status,
    String(body.code ?? response.status),
    String(body.detail ?? body.title ?? response.statusText),
    body,
  );
}

/** GET a document. @throws Problem */
export async function get<T = JsonObject>(path: string, signal?: AbortSignal): Promise<T> {
  return await typed(await send(path, { headers: headers({ accept: "application/json" }), signal })) as T;
}

/** GET a document with its ETag. @throws Problem */
export async function getTagged<T = JsonObject>(path: string): Promise<{ document: T; etag: string | null }> {
  const response = await send(path, { headers: headers() });
  return { document: await typed(response) as T, etag: response.headers.get("etag") };
}

/** POST a document. @throws Problem */
export async function post<T = JsonObject>(
  path: string,
  body: JsonObject = {},
  more: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<T> {
  return await typed(
    await send(path, {
      method: "POST",
      headers: headers({ "content-type": "application/json", ...more.headers }),
      body: canonicalJson(body),
      signal: more.signal,
    }),
  ) as T;
}

/** Bytes of the server as an address for `<img>` and downloads; revoke it when it is no longer shown. @throws Problem */
export async function blobUrl(path: string, signal?: AbortSignal): Promise<string> {
  const response = await send(path, { headers: headers(), signal });
  if (!response.ok) await typed(response);
  return URL.createObjectURL(await response.blob());
}
