/** Runs of working copies: starting them, and the state of every step as its events come. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get, post, Problem } from "../api.ts";
import { hasMatrix } from "../form/matrix.ts";
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

/** Step states by job. */
export const stepStates = signal<ReadonlyMap<string, ReadonlyMap<string, StepState>>>(new Map());

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

/** A job once it has ended; a server that is away for a while is asked again. @throws Problem of a reachable server */
export async function endOf(jobId: string): Promise<Job> {
  for (;;) {
    try {
      const query = { timeout_seconds: 30 };
      const job = await get("/api/run-jobs/:job_id/wait", { params: { job_id: jobId }, query });
      rememberJob(job);
      if (isEnded(job.state)) return job;
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

export const cancelRun = (jobId: string) => post("/api/run-jobs/:job_id/cancel", {}, { params: { job_id: jobId } });

/** Jobs that were asked to stop. */
export const stopping = signal<ReadonlySet<string>>(new Set());

function note(jobId: string, stepId: string, change: Partial<StepState>): void {
  const job = new Map(stepStates.value.get(jobId));
  job.set(stepId, { state: "running", fraction: null, message: null, seconds: null, ...job.get(stepId), ...change });
  stepStates.value = new Map(stepStates.value).set(jobId, job);
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
  const step = event.step_id as string | undefined;
  if (event.kind === "stop_requested") stopping.value = new Set(stopping.value).add(event.job_id);
  switch (event.kind) {
    case "run_created":
      // The next variant of a matrix.
      stepStates.value = new Map(stepStates.value).set(event.job_id, new Map());
      return;
    case "step_started":
      return note(event.job_id, step!, { state: "running" });
    case "step_progress":
      return note(event.job_id, step!, {
        fraction: typeof event.percent === "number" ? event.percent / 100 : null,
        message: event.message,
      });
    case "step_completed": {
      const seconds = (event.metrics as Record<string, number> | undefined)?.["timing.step.wall_time_s"];
      return note(event.job_id, step!, {
        state: "completed",
        fraction: 1,
        seconds: seconds === undefined ? null : Number(seconds),
      });
    }
    case "step_failed":
      return note(event.job_id, step!, {
        state: event.level === "warning" ? "canceled" : "failed",
        message: String(event.message),
      });
  }
}
