/** Messages between the main thread and the library threads. */
import type { SessionData } from "../../api/core.ts";
import type { ErrorRecord } from "../problem.ts";

/** A request without its socket. */
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

export type ThreadCommand =
  /** Answer a request by the route of that name. */
  | { type: "route"; id: number; name: string; request: PlainRequest }
  /** Perform a task; its input and output are canonical JSON, which keeps 1 and 1.0 apart. */
  | { type: "task"; id: number; name: string; input: string };

/** What a thread receives: first the options of its session. */
export type ThreadInput = { type: "open"; session: SessionData } | ThreadCommand;

export type ThreadResult =
  | { id: number; type: "reply"; reply: PlainReply }
  | { id: number; type: "output"; output: string };

export type ThreadMessage = ThreadResult | { id: number; type: "error"; error: ErrorRecord };
