/** Cooperative cancellation: one shared flag, set by a request and read by operations at their checkpoints. */
import { SvcError } from "../contract/error.ts";
import type { Cancellation } from "../contract/operation.ts";
import type { CancellationToken } from "./types.ts";

/**
 * Creates a cancellation token for runs.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createCancellation, run } from "../../mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const cancellation = createCancellation();
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
 * const { status } = await run(recipe, { stateDir, cancellation, onEvent: () => cancellation.cancel() });
 * assert.equal(status, "canceled");
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export function createCancellation(): CancellationToken {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const listeners = new Set<() => void>();
  return {
    flag,
    get isCancelled() {
      return Atomics.load(flag, 0) !== 0;
    },
    cancel() {
      if (Atomics.exchange(flag, 0, 1) !== 0) return;
      for (const listener of [...listeners]) listener();
      listeners.clear();
    },
    onCancel(listener) {
      if (Atomics.load(flag, 0) !== 0) {
        listener();
        return () => {};
      }
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A read-only view of a shared flag for an operation. */
export function cancellationOf(flag: Int32Array<SharedArrayBuffer>): Cancellation {
  return {
    get isCancelled() {
      return Atomics.load(flag, 0) !== 0;
    },
    throwIfCancelled() {
      if (Atomics.load(flag, 0) !== 0) throw new SvcError("operation_canceled", "The operation was canceled");
    },
  };
}
