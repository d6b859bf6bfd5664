/**
 * Messages between the program and the sandbox of an adapter. To the program, a message from a sandbox is `unknown`:
 * these types describe the messages of a regular sandbox.
 */

import type { NdArray } from "../../numeric/ndarray.ts";

/** An array in the adapter's code. */
export interface WireArray {
  dtype: string;
  shape: readonly number[];
  data: ArrayBufferView<ArrayBuffer>;
}

/** The start data of the thread. */
export interface SandboxInit {
  /** Absolute path of the adapter's folder. */
  root: string;
  /** The modules of the adapter by URL, as JavaScript or JSON, with the hashed content. */
  sources: Map<string, string>;
  models: Map<string, Uint8Array<ArrayBuffer>>;
  granted: { net: string[]; read: string[]; env: string[] };
  /** Paths of the sandbox's own code; the thread revokes its permission to read them. */
  ownCode: string[];
  /** See {@link Vital}. */
  vitals: Int32Array<SharedArrayBuffer>;
  /** Maximum time of a call. */
  timeoutMs: number;
  /** Bytes of `memory_mb`: the limit of a result, and of all requests for models together. */
  maxBytes: number;
}

/** Slots of the shared memory in which a thread reports its state, also while it handles no messages. */
export const Vital = {
  /** Increases while timers run. */
  beat: 0,
  /** 1 after the heap reached its limit. */
  heapFull: 1,
  /** MiB of arrays and heap. */
  heldMb: 2,
  /** Set to 1 by the program: the thread ends itself, at the latest when its code asks for memory. */
  givenUp: 3,
  length: 4,
} as const;

export type BootRequest =
  | { type: "start"; port: MessagePort; init: SandboxInit; heapMb: number }
  | { type: "end"; afterMs: number };

export type BootReply = { type: "lost"; message: string; outOfMemory: boolean } | { type: "ended" };

/** Request of a call. */
export interface CallRequest {
  type: "call";
  call: number;
  /** URL of the module. */
  module: string;
  callable: string;
  /** Arguments of the callable before its context. */
  args: unknown[];
  seed: number | bigint | null;
}

export type HostMessage =
  | { type: "load"; modules: { url: string; callables: string[] }[] }
  | CallRequest
  | { type: "cancel"; call: number }
  | { type: "inferred"; id: number; arrays?: Record<string, NdArray>; error?: string };

/** A refused access. */
export interface Refusal {
  kind: "net" | "read" | "env" | "import" | "other";
  value: string;
}

export interface WireError {
  /** `throw` for an error of the adapter, `result` for a result that cannot be sent. */
  origin: "throw" | "result" | "missing" | "import";
  name: string;
  message: string;
  refused: Refusal | null;
}

export type ThreadMessage =
  | { type: "ready" }
  | { type: "unsupported"; message: string }
  | { type: "loaded" }
  | { type: "load_failed"; error: WireError }
  | { type: "result"; call: number; value: unknown; log: string[]; dropped: number }
  | { type: "failed"; call: number; error: WireError; log: string[]; dropped: number }
  | { type: "progress"; call: number; completed: number; total: number; message: string | null }
  | { type: "infer"; call: number; id: number; model: string; feeds: Record<string, WireArray> };
