/** Runs of working copies: starting them, and the state of every step as its events come. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { post } from "../api.ts";
import { signal } from "../preact.ts";
import { announce } from "./announce.ts";
import { type Copy, nameOf, update } from "./copies.ts";
import { isEnded, type Job, type JobEvent, onEvent, rememberJob } from "./events.ts";
import { planCache, workers } from "./settings.ts";

export interface StepState {
  state: "running" | "completed" | "failed" | "canceled";
  /** 0 … 1 where the operation tells. */
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

/** Starts a background run of a copy as it stands. @throws Problem */
export async function startRun(copy: Copy): Promise<Job> {
  const job = await post<JsonObject>("/api/run-jobs", {
    recipe: copy.recipe,
    execution: execution(),
  }) as unknown as Job;
  rememberJob(job);
  update(copy.id, { jobId: job.job_id });
  announce(`Run of ${nameOf(copy)} started`);
  return job;
}

export const cancelRun = (jobId: string) => post(`/api/run-jobs/${jobId}/cancel`);

function note(jobId: string, stepId: string, change: Partial<StepState>): void {
  const job = new Map(stepStates.value.get(jobId));
  job.set(stepId, { state: "running", fraction: null, message: null, seconds: null, ...job.get(stepId), ...change });
  stepStates.value = new Map(stepStates.value).set(jobId, job);
}

onEvent((event: JobEvent) => {
  const step = event.step_id as string | undefined;
  switch (event.kind) {
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
  const ended = /^job_(.+)$/.exec(event.kind)?.[1];
  if (ended !== undefined && isEnded(ended)) announce(`Run ${ended}`);
});
