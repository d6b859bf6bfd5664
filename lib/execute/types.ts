/** Options, events and results of an execution. */
import type { Code, SourceLocation } from "../contract/error.ts";
import type { BundlePath, Digest } from "../contract/names.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import type { ArtifactLookup } from "../training/resolve.ts";
import type { SourceHashes } from "../plan/implementation_source.ts";
import type { ModelLookup } from "../plan/types.ts";
import type { ExecutionPlan, PlanStep } from "../plan/types.ts";
import type { RecipeDocument } from "../recipe/types.ts";

/** The row of an output: `path` is relative to the bundle. */
export interface OutputRow extends JsonObject {
  kind: string;
  path: BundlePath;
  metadata: JsonObject;
  sha256: Digest;
}

/** An output that was hashed and not written. */
export interface UnwrittenFile extends JsonObject {
  path: BundlePath;
  sha256: Digest;
  size_bytes: number;
}

/** A step of `summary.json`, in plan order. */
export interface StepRow extends JsonObject {
  id: string;
  op: string;
  status: "completed" | "failed" | "canceled";
  execution_binding: PlanStep;
  outputs: { [port: string]: OutputRow };
  /** Typed numbers; includes `timing.step.wall_time_s`. */
  metrics: JsonObject;
  /** Includes `timing {step_wall_time_s, start_offset_s, worker, clock: "monotonic"}`. */
  metadata: JsonObject;
}

/** An event of an execution; the receiver adds id, sequence and time. */
export interface ExecutionEvent {
  kind: "step_started" | "step_progress" | "step_completed" | "step_failed";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
}

/** Shared with the workers, so that a running operation sees a request at its next checkpoint. */
export interface CancellationToken {
  /** One Int32: 0 before the request, 1 after it. */
  readonly flag: Int32Array<SharedArrayBuffer>;
  readonly isCancelled: boolean;
  cancel(): void;
  /** Calls back once, at the request, or immediately after an earlier one. */
  onCancel(listener: () => void): () => void;
}

export interface ExecuteOptions {
  plan: ExecutionPlan;
  /** The effective recipe. */
  recipe: RecipeDocument;
  registry: Registry;
  /** Absolute path of the run bundle; holds `artifacts/`. */
  bundle: string;
  projectRoot: string;
  stateDir: string;
  /** Folder that stores equal artifacts once; without it every file is stored. */
  contents?: string;
  /** 1 … 32. */
  parallelWorkers: number;
  cancellation: CancellationToken;
  /** Finds the artifacts of learned steps at dispatch. */
  trainedArtifact?: ArtifactLookup;
  /** Finds the named models of steps at dispatch. */
  findModel?: ModelLookup;
  onEvent?(event: ExecutionEvent): void;
  /** Whether the run keeps the artifacts of a step, by their kind; default all. Arrays of chains that it does not keep are not written. */
  isKept?(stepId: string, kind: string): boolean;
  /** Takes the file of each output in place of the disk; a plan with chains has none. Consumers may use the same memory. */
  hold?(path: BundlePath, bytes: Uint8Array): void;
  /** Digests of the sources of operations; default those of the files now. */
  sources?: SourceHashes;
  /** Called with the outputs of a step that were not written, before {@link onStep}. */
  onUnwritten?(files: UnwrittenFile[]): void;
  /** Called once per finished step, in order of completion. */
  onStep(row: StepRow): void;
}

export interface ExecuteOutcome {
  status: "completed" | "failed" | "canceled";
  /** The first failure; later errors of steps that were stopped do not replace it. */
  failure?: {
    kind: "operation" | "contract" | "canceled" | "internal";
    step_id?: string;
    code: Code;
    system_code?: string;
    /** In the code of a user: an operation of one's own, or an adapter. */
    location?: SourceLocation;
  };
  error?: string;
}
