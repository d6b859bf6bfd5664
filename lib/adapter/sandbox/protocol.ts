/**
 * Messages between the program and the sandbox of an adapter. What comes out of a sandbox is `unknown` to the program:
 * these types say what an honest sandbox sends.
 */

import type { NdArray } from "../../numeric/ndarray.ts";

/** An array as the adapter's code has it. */
export interface WireArray {
  dtype: string;
  shape: readonly number[];
  data: ArrayBufferView<ArrayBuffer>;
}

/** What the thread is started with. */
export interface SandboxInit {
  /** Absolute path of the adapter's folder. */
  root: string;
  /** The modules of the adapter by URL, as JavaScript or JSON, in the form in which they were hashed. */
  sources: Map<string, string>;
  models: Map<string, Uint8Array<ArrayBuffer>>;
  granted: { net: string[]; read: string[]; env: string[] };
  /** Paths of the sandbox's own code, which the thread gives up to read. */
  ownCode: string[];
  /** See {@link Vital}. */
  vitals: Int32Array<SharedArrayBuffer>;
  /** How long a call may take. */
  timeoutMs: number;
  /** Bytes of `memory_mb`: what a result may have, and what requests for models may hold together. */
  maxBytes: number;
}

/** Slots of the shared memory through which a thread tells how it is, also while it answers no messages. */
export const Vital = {
  /** Rises while timers run. */
  beat: 0,
  /** 1 once the heap's limit was reached. */
  heapFull: 1,
  /** Mebibytes of arrays and heap. */
  heldMb: 2,
  length: 3,
} as const;

export type BootRequest =
  | { type: "start"; port: MessagePort; init: SandboxInit; heapMb: number }
  | { type: "end" };

export type BootReply = { type: "lost"; message: string; outOfMemory: boolean } | { type: "ended" };

/** Asks for a call. */
export interface CallRequest {
  type: "call";
  call: number;
  /** URL of the module. */
  module: string;
  callable: string;
  /** What the callable gets before its context. */
  args: unknown[];
  seed: number | bigint | null;
}

export type HostMessage =
  | { type: "load"; modules: { url: string; callables: string[] }[] }
  | CallRequest
  | { type: "cancel"; call: number }
  | { type: "inferred"; id: number; arrays?: Record<string, NdArray>; error?: string };

/** An access that was refused. */
export interface Refusal {
  kind: "net" | "read" | "env" | "import" | "other";
  value: string;
}

export interface WireError {
  /** `throw` for what the adapter threw, `result` for a result that cannot be sent. */
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
