/**
 * Messages between the program and the process of an adapter. To the program, a message from it is `unknown`: these types
 * describe the messages of a regular guest. {@link ./wire.ts} gives their form on the pipes.
 */

/** A file of a model, which the guest reads at its first use. */
export interface ModelFile {
  id: string;
  /** Absolute. */
  path: string;
  sha256: string;
}

export interface CallRequest {
  type: "call";
  call: number;
  /** URL of the module; its path for Python. */
  module: string;
  callable: string;
  /** Arguments of the callable before its context. */
  args: unknown[];
  /** Names of parameters that are real numbers, for languages that tell them from integers. */
  floats: readonly string[];
  seed: number | bigint | null;
}

export type HostMessage =
  /**
   * Modules of the adapter by URL, as JavaScript or JSON, in UTF-8; for Python by path. `arrays` tells whether operations
   * have arrays.
   */
  | { type: "start"; root: string; sources: [url: string, text: Uint8Array][]; models: ModelFile[]; arrays: boolean }
  | { type: "load"; url: string; callables: string[] }
  | CallRequest
  | { type: "cancel"; call: number }
  | { type: "inferred"; id: number; arrays?: unknown; error?: string };

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
  /** The innermost place in a module of the adapter: its URL, and line and column from 1. */
  place: { file: string; line: number; column: number } | null;
}

export type GuestMessage =
  /** `filtered`: system calls of a Python guest are filtered. */
  | { type: "ready"; version: string; filtered?: boolean }
  | { type: "loaded" }
  | { type: "load_failed"; error: WireError }
  | { type: "result"; call: number; value: unknown; log: string[]; dropped: number }
  | { type: "failed"; call: number; error: WireError; log: string[]; dropped: number }
  | { type: "progress"; call: number; completed: number; total: number; message: string | null }
  | { type: "infer"; call: number; id: number; model: string; feeds: unknown };
