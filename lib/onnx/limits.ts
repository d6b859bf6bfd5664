/** Limits of ONNX sessions: defaults, and requests of packages. */
import type { JsonObject } from "../contract/value.ts";

/** The limits of one session. */
export type SessionLimits = {
  /** Seconds for loading the graph, and for each call. */
  call_timeout_s: number;
  /** Mebibytes of the runtime for the session: weights, inputs, intermediate results and outputs. */
  memory_mb: number;
};

export const DEFAULT_SESSION_LIMITS: Readonly<SessionLimits> = Object.freeze({ call_timeout_s: 120, memory_mb: 2048 });

/** Memory that the runtime itself needs. */
export const MIN_SESSION_MEMORY_MB = 64;

/** The field `runtime.limits` of `trained_artifact.yaml`. */
export const SESSION_LIMITS_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: {
    call_timeout_s: { type: "integer", minimum: 1, maximum: 3600 },
    memory_mb: { type: "integer", minimum: MIN_SESSION_MEMORY_MB, maximum: 4096 },
  },
};

/** The limits for a request. */
export function sessionLimits(asked: Partial<SessionLimits> = {}): SessionLimits {
  return { ...DEFAULT_SESSION_LIMITS, ...asked };
}
