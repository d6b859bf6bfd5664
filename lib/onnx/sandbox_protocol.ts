/** Messages between a thread and the sandbox of its graphs. Each request follows the reply to the previous one. */
import type { NdArray } from "../numeric/array/ndarray.ts";
import type { SessionLimits } from "./limits.ts";
import type { TensorInfo } from "./tensors.ts";

/** Large arrays and models are transferred, not copied. */
export type SandboxRequest =
  | { type: "start"; engine: WebAssembly.Module; limits: SessionLimits }
  | { type: "open"; session: number; model: Uint8Array }
  | { type: "run"; session: number; feeds: Record<string, NdArray> }
  | { type: "release"; session: number };

export type SandboxReply = {
  /** Bytes of the runtime's memory, which never shrinks. */
  heldBytes: number;
} & ({ value: SandboxValue } | SandboxFailure);

export interface SandboxFailure {
  error: string;
  /** The exceeded limit. */
  exceeded?: keyof SessionLimits;
  /** Whether the engine was interrupted or trapped, and is unusable. */
  broken: boolean;
}

/** Reply to a request: nothing, inputs and outputs of the graph, or its results. */
export type SandboxValue = null | SessionShape | Record<string, NdArray>;

export interface SessionShape {
  inputs: readonly TensorInfo[];
  outputs: readonly TensorInfo[];
}
