/** Jobs and their events, as the wire and the database have them. */
import type { JsonObject, Value } from "../../contract/value.ts";
import type { SealedText } from "../../contract/sealed.ts";
import type { SessionData } from "../../api/core.ts";

export const JOB_KINDS = ["run", "matrix", "benchmark", "dataset_capture", "reproduce", "restore"] as const;
export type JobKind = typeof JOB_KINDS[number];

export const JOB_STATES = [
  "queued",
  "running",
  "completed",
  "failed",
  "canceled",
  "resource_exhausted",
  "timed_out",
  "incomplete",
] as const;
export type JobState = typeof JOB_STATES[number];

export const isActive = (state: JobState): boolean => state === "queued" || state === "running";

export interface JobEvent extends JsonObject {
  /** Rises over the whole state directory. */
  id: number;
  /** Counts from 1 in each job. */
  seq: number;
  job_id: string;
  time: string;
  kind: string;
  level: "info" | "warning" | "error";
  message: string;
}

/** An event before its job adds id, sequence number and time. */
export type Report = {
  kind: string;
  level: "info" | "warning" | "error";
  message: string;
  fields?: JsonObject;
};

/**
 * A job without its events. An interrupted job has `interruption`, one whose outcome is more than its run has `result`, and
 * a benchmark that did not complete has `resume`.
 */
export interface JobDocument extends JsonObject {
  job_id: string;
  kind: JobKind;
  state: JobState;
  recipe_name: string | null;
  run_id: string | null;
  /** Relative to the state directory. */
  summary_path: string | null;
  /** A problem, or null. */
  error: JsonObject | null;
  execution: JsonObject;
  resource_guard: JsonObject;
  created_at_utc: string;
  started_at_utc: string | null;
  completed_at_utc: string | null;
  next_event_seq: number;
  progress: JsonObject;
}

/** The input of a job thread, as plain data. */
export interface JobTask {
  jobId: string;
  kind: JobKind;
  /** Canonical JSON of the request. */
  request: string;
  /** What admission prepared, a `PreparedRun` or a `LoadedPack`; null where nothing is left of it. */
  prepared: SealedText | null;
  parallelWorkers: number;
  parallelPoints: number;
  usePlanCache: boolean;
  /** Turns 1 when another job ran meanwhile. */
  shared: Int32Array<SharedArrayBuffer>;
}

/** From the main thread to a job thread. */
export type JobCommand =
  | { type: "open"; session: SessionData }
  | { type: "start"; task: JobTask }
  | { type: "cancel"; jobId: string };

/** From a job thread to the main thread. */
export type JobMessage =
  | { type: "report"; jobId: string; report: string }
  | { type: "done"; jobId: string; outcome: string };

/** The end of a job, as its thread reports it. */
export interface JobOutcome extends JsonObject {
  status: "completed" | "failed" | "canceled";
  run_id: string | null;
  summary_path: string | null;
  /** `ErrorRecord`, or null. */
  error: Value;
  result: JsonObject | null;
}
