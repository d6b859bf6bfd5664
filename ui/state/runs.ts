/** Runs of working copies: starting them, and the state of every step as its events come. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get, post } from "../api.ts";
import { hasMatrix } from "../../lib/contract/matrix_edits.ts";
import { signal } from "../preact.ts";
import { announce } from "./announce.ts";
import { centreView } from "./centre_view.ts";
import { type Copy, nameOf, setJob, stepsOf } from "./copies.ts";
import { isEnded, type Job, type JobEvent, jobs, onEvent, rememberJob } from "./events.ts";
import { planCache, stopAfterFailure, workers } from "./settings.ts";

/** The part of a step in a training, drawn in the place of a run's state. */
export type TrainingPart = "trained" | "passes" | "blocks" | "loss";

export interface StepState {
  state: "running" | "completed" | "failed" | "canceled" | "interrupted" | "not started" | TrainingPart;
  /** 0 … 1 where the operation reports it. */
  fraction: number | null;
  message: string | null;
  seconds: number | null;
}

/** A state with the sequence number of its event. */
type NotedState = StepState & { seq: number };

/** Step states by job. */
export const stepStates = signal<ReadonlyMap<string, ReadonlyMap<string, NotedState>>>(new Map());

export const execution = (): JsonObject => ({
  parallel_workers: Number(workers.value),
  use_plan_cache: planCache.value === "on",
});

/** The states of a copy's steps in its last run; what a run that ended left undone was not started. */
export function statesOf(copy: Copy): ReadonlyMap<string, StepState> | undefined {
  if (copy.jobId === null) return undefined;
  const known = stepStates.value.get(copy.jobId), job = jobs.value.get(copy.jobId);
  if (known === undefined || job === undefined || !isEnded(job.state) || job.state === "completed") return known;
  const idle: StepState = { state: "not started", fraction: 0, message: null, seconds: null };
  return new Map(
    stepsOf(copy.recipe).map(({ id }) => {
      const state = known.get(id) ?? idle;
      // The end of the run also ended its running steps: a cancellation, an error beside it, or the end of the server.
      const cut = job.state === "incomplete" ? "interrupted" : "canceled";
      return [id, state.state === "running" ? { ...state, state: cut } : state];
    }),
  );
}

/**
 * Runs a recipe in the background; the variants of a matrix are one job.
 *
 * @param points variants to run; all by default
 * @throws Problem
 */
export async function submit(recipe: JsonObject, points?: string[]): Promise<Job> {
  const body = { recipe, execution: execution() };
  const job = hasMatrix(recipe)
    ? await post("/api/matrix-jobs", {
      ...body,
      ...(points && { points }),
      continue_on_error: stopAfterFailure.value === "off",
    })
    : await post("/api/run-jobs", body);
  rememberJob(job);
  return job;
}

/** Starts a background run of a copy as it stands; arguments as of {@link submit}. @throws Problem */
export async function startRun(copy: Copy, points?: string[]): Promise<Job> {
  const job = await submit(copy.recipe, points);
  setJob(copy.id, job.job_id);
  if (job.kind === "matrix") centreView.value = "Matrix";
  announce(`Run of ${nameOf(copy)} started`);
  return job;
}

/** A job once it has ended. @throws Problem */
export async function endOf(jobId: string): Promise<Job> {
  for (;;) {
    const query = { timeout_seconds: 30 };
    const job = await get("/api/run-jobs/:job_id/wait", { params: { job_id: jobId }, query });
    rememberJob(job);
    if (isEnded(job.state)) return job;
  }
}

export const cancelRun = (jobId: string) => post("/api/run-jobs/:job_id/cancel", {}, { params: { job_id: jobId } });

/** Jobs that were asked to stop. */
export const stopping = signal<ReadonlySet<string>>(new Set());

/** The start of the run that the steps of a job belong to, by job: a matrix has a run for each variant. */
const runStarts = new Map<string, number>();

/** Events may come late, with a reply that was asked for before others came: the latest one of a step counts. */
function note({ job_id, seq, step_id }: JobEvent, change: Partial<StepState>): void {
  const job = new Map(stepStates.value.get(job_id)), id = String(step_id), known = job.get(id);
  if (seq < Math.max(known?.seq ?? 0, runStarts.get(job_id) ?? 0)) return;
  job.set(id, { state: "running", fraction: null, message: null, seconds: null, ...known, ...change, seq });
  stepStates.value = new Map(stepStates.value).set(job_id, job);
}

/** Brings the states of a job's steps up to date, after a reload or a lost connection. @throws Problem */
export async function catchUp(jobId: string): Promise<void> {
  const job = await get("/api/run-jobs/:job_id", { params: { job_id: jobId }, query: { event_limit: 512 } });
  rememberJob(job);
  for (const event of job.events) follow(event);
}

onEvent((event) => {
  follow(event);
  const ended = /^job_(.+)$/.exec(event.kind)?.[1];
  if (ended === undefined || !isEnded(ended)) return;
  announce(`Run ${ended}`);
  // Why it ended is in the job, not in its events.
  if (/^(run|matrix)$/.test(jobs.value.get(event.job_id)?.kind ?? "")) catchUp(event.job_id).catch(() => {});
});

function follow(event: JobEvent): void {
  if (event.kind === "stop_requested") stopping.value = new Set(stopping.value).add(event.job_id);
  switch (event.kind) {
    case "run_created": {
      const { job_id, seq } = event;
      if (seq <= (runStarts.get(job_id) ?? 0)) return;
      runStarts.set(job_id, seq);
      const steps = [...stepStates.value.get(job_id) ?? []].filter(([, state]) => state.seq > seq);
      stepStates.value = new Map(stepStates.value).set(job_id, new Map(steps));
      return;
    }
    case "step_started":
      return note(event, { state: "running" });
    case "step_progress":
      return note(event, {
        fraction: typeof event.percent === "number" ? event.percent / 100 : null,
        message: event.message,
      });
    case "step_completed": {
      const seconds = (event.metrics as Record<string, number> | undefined)?.["timing.step.wall_time_s"];
      return note(event, {
        state: "completed",
        fraction: 1,
        seconds: seconds === undefined ? null : Number(seconds),
      });
    }
    case "step_failed":
      return note(event, {
        state: event.level === "warning" ? "canceled" : "failed",
        message: String(event.message),
      });
  }
}
