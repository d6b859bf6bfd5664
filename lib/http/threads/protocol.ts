/** What the main thread and the threads beside it say to each other. */
import type { PlainReply, PlainRequest } from "../answer.ts";
import type { ErrorRecord } from "../problem.ts";
import type { LibraryOptions } from "../service.ts";

export type ThreadCommand =
  | { type: "open"; options: LibraryOptions }
  /** Answer a request by the route of that name. */
  | { type: "route"; id: number; name: string; request: PlainRequest }
  /** Do one of the tasks; its input and output are canonical JSON. */
  | { type: "task"; id: number; name: string; input: string };

export type ThreadMessage =
  | { id: number; type: "reply"; reply: PlainReply }
  | { id: number; type: "output"; output: string }
  | { id: number; type: "error"; error: ErrorRecord };
