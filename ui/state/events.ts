/**
 * What happens on the server, as it happens: one connection for all tabs of the browser, held by a shared worker; each tab by
 * itself where a token is needed or there are no shared workers. A lost connection comes back and resumes by event id.
 */
import type { JsonObject } from "../../lib/contract/value.ts";
import { connection, get, type Reply, token } from "../api.ts";
import { signal } from "../preact.ts";
import { openStream } from "./stream.ts";

type Snapshot = Reply<"/api/run-jobs/:job_id">;
export type JobEvent = Snapshot["events"][number];
/** A job, as known from its replies and events. */
export type Job =
  & Pick<Snapshot, "job_id" | "kind" | "state" | "recipe_name" | "run_id" | "error" | "created_at_utc">
  & Partial<Snapshot>;

/** Jobs by id, newest last. */
export const jobs = signal<ReadonlyMap<string, Job>>(new Map());
const listeners = new Set<(event: JobEvent) => void>();

/** Calls back with every event from now on. @returns stops it */
export function onEvent(listener: (event: JobEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const ENDED = ["completed", "failed", "canceled", "resource_exhausted", "timed_out", "incomplete"];
export const isEnded = (state: string) => ENDED.includes(state);
export const activeJobs = () => [...jobs.value.values()].filter(({ state }) => !isEnded(state));

const stageOf = (state: string) => isEnded(state) ? 2 : state === "running" ? 1 : 0;

/** The run of a variant of a matrix. */
export type VariantRun = {
  index: number;
  run_id: string | null;
  status: string;
  reused: boolean;
};

/** The runs of a matrix job by variant id, as far as they have started. */
export const variantRuns = ({ progress }: Job): { [variantId: string]: VariantRun } =>
  (progress?.variants ?? {}) as { [variantId: string]: VariantRun };

/** Adds the known state of a job. */
export function rememberJob(job: Job): void {
  jobs.value = new Map(jobs.value).set(job.job_id, later(jobs.value.get(job.job_id), job));
}

/** The known state of a job with that of a reply. The reply may come after later events: their state stays. */
function later(known: Job | undefined, job: Job): Job {
  if (known === undefined) return job;
  const merged = {
    ...known,
    ...job,
    state: stageOf(known.state) > stageOf(job.state) ? known.state : job.state,
    run_id: job.run_id ?? known.run_id,
    error: job.error ?? known.error,
  };
  if (job.kind !== "matrix") return merged;
  const variants = { ...variantRuns(job) };
  for (const [id, run] of Object.entries(variantRuns(known))) {
    if (variants[id] === undefined || run.status !== "running") variants[id] = run;
  }
  return {
    ...merged,
    progress: { ...known.progress, ...job.progress, variants },
  };
}

export async function refreshJobs(): Promise<void> {
  const before = jobs.value;
  const { jobs: listed } = await get("/api/run-jobs");
  // A job that became known meanwhile may be missing in the reply.
  const others = [...jobs.value].filter(([id, { kind }]) =>
    !before.has(id) || kind === "benchmark" || kind === "dataset_capture"
  );
  const ours = listed.map((job) => [job.job_id, later(jobs.value.get(job.job_id), job)] as const);
  jobs.value = new Map([...others, ...ours]);
}

/** Adds the run of a variant to the progress of its job, as the server does. */
function noteVariant({ job_id, count, variant_id, index, run_id, status = "running", reused = false }: JobEvent): void {
  const job = jobs.value.get(job_id);
  // The events of a job that another client started do not name its recipe.
  if (job?.kind !== "matrix") return void refreshJobs().catch(() => {});
  const variants = { [String(variant_id)]: { index, run_id, status, reused } } as JsonObject;
  rememberJob({ ...job, progress: { ...job.progress, count, variants } as JsonObject });
}

function passOn(event: JobEvent): void {
  const state = event.kind === "queued"
    ? "queued"
    : event.kind === "job_started"
    ? "running"
    : /^job_(.+)$/.exec(event.kind)?.[1];
  const known = state !== undefined && (isEnded(state) || state === "queued" || state === "running");
  const job = jobs.value.get(event.job_id);
  // Another client started it, or the reply to this one is still on its way: an event does not name the job's kind.
  if (job === undefined && known) refreshJobs().catch(() => {});
  if (job !== undefined && (known || typeof event.run_id === "string")) {
    rememberJob({
      ...job,
      ...(known ? { state: state as Job["state"] } : {}),
      ...(typeof event.run_id === "string" ? { run_id: event.run_id } : {}),
    });
  }
  if (event.kind.startsWith("matrix_variant_")) noteVariant(event);
  for (const listener of listeners) listener(event);
}

/** Starts listening; called once. */
export function listen(): void {
  const onState = (state: "ok" | "lost") => {
    connection.value = state;
    // What happened before the connection is in no event of it.
    if (state === "ok") refreshJobs().catch(() => {});
  };
  if (token() === null && typeof SharedWorker === "function") {
    const worker = new SharedWorker(new URL("./events_worker.js", import.meta.url), {
      type: "module",
      name: "svc events",
    });
    worker.port.onmessage = ({ data }: MessageEvent<{ event?: JobEvent; state?: "ok" | "lost" }>) => {
      if (data.event) passOn(data.event);
      if (data.state) onState(data.state);
    };
    worker.port.start();
  } else {
    openStream({ url: "/api/events", token: token(), onEvent: (event) => passOn(event as JobEvent), onState });
  }
}
