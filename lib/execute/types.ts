/** What an execution is given, what it reports while it runs, and what it leaves. */
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import type { ArtifactLookup } from "../plan/learned.ts";
import type { ModelLookup } from "../plan/types.ts";
import type { ExecutionPlan, PlanStep } from "../plan/types.ts";
import type { RecipeDocument } from "../recipe/types.ts";

/** An output of a step in its row: `path` is relative to the bundle. */
export interface OutputRow extends JsonObject {
  kind: string;
  path: string;
  metadata: JsonObject;
  sha256: string;
}

/** A step of `summary.json`, in the order of the plan. */
export interface StepRow extends JsonObject {
  id: string;
  op: string;
  status: "completed" | "failed" | "canceled";
  execution_binding: PlanStep;
  outputs: { [port: string]: OutputRow };
  /** Typed numbers; always holds `timing.step.wall_time_s`. */
  metrics: JsonObject;
  /** Holds `timing {step_wall_time_s, start_offset_s, worker, clock: "monotonic"}`. */
  metadata: JsonObject;
}

/** An event of an execution, without the id, sequence and time that its receiver adds. */
export interface ExecutionEvent {
  kind: "step_started" | "step_progress" | "step_completed" | "step_failed";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
}

/** Shared with the workers, so that a running operation sees a request at its next checkpoint. */
export interface CancellationToken {
  /** One Int32: 0 while nobody asked, 1 after. */
  readonly flag: Int32Array<SharedArrayBuffer>;
  readonly isCancelled: boolean;
  cancel(): void;
  /** Calls back once, at the request or at once when it has been made. */
  onCancel(listener: () => void): () => void;
}

export interface ExecuteOptions {
  plan: ExecutionPlan;
  /** The effective recipe. */
  recipe: RecipeDocument;
  registry: Registry;
  /** Absolute path of the run bundle; `artifacts/` is made inside it. */
  bundle: string;
  projectRoot: string;
  stateDir: string;
  /** 1 … 32. */
  parallelWorkers: number;
  cancellation: CancellationToken;
  /** Finds the artifacts of learned steps again when they are dispatched. */
  trainedArtifact?: ArtifactLookup;
  /** Finds the models that steps name again when they are dispatched. */
  findModel?: ModelLookup;
  onEvent?(event: ExecutionEvent): void;
  /** Called once per step that ended, in order of completion. */
  onStep(row: StepRow): void;
}

export interface ExecuteOutcome {
  status: "completed" | "failed" | "canceled";
  /** The first failure; errors of peers that were asked to stop do not replace it. */
  failure?: { kind: "operation" | "contract" | "canceled" | "internal"; step_id?: string; code: string };
  error?: string;
}
