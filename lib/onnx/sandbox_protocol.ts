/** Messages between a thread and the sandbox that runs its graphs. Arrays are transferred, not copied. */
import type { NdArray } from "../numeric/ndarray.ts";
import type { TensorInfo } from "./tensors.ts";

export type SandboxRequest =
  | { type: "start"; call: number; wasm: Uint8Array }
  | { type: "open"; call: number; session: number; model: Uint8Array }
  | { type: "run"; call: number; session: number; feeds: Record<string, NdArray> }
  | { type: "release"; call: number; session: number };

export type SandboxReply =
  | { call: number; error: string }
  | { call: number; error?: undefined; value: SandboxValue };

/** What a request is answered with: nothing, what a graph takes and gives, or its outputs. */
export type SandboxValue = null | SessionShape | Record<string, NdArray>;

export interface SessionShape {
  inputs: readonly TensorInfo[];
  outputs: readonly TensorInfo[];
}
