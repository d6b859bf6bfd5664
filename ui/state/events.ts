/**
 * What happens on the server, as it happens: one connection for all tabs of the browser, held by a shared worker; each tab by
 * itself where a token is needed or there are no shared workers. A lost connection comes back and resumes by event id.
 */
import { connection, get, type Reply, token } from "../api.ts";
import { signal } from "../preact.ts";
import { openStream } from "./stream.ts";

type Snapshot = Reply<"/api/run-jobs/:job_id">;
export type JobEvent = Snapshot["events"][number];
/** A job, as far as its replies and events tell. */
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

/** Adds what is known of a job. A reply may come after later events: what they told stays. */
export function rememberJob(job: Job): void {
  const next = new Map(jobs.value), known = next.get(job.job_id);
  const state = known !== undefined && stageOf(known.state) > stageOf(job.state) ? known.state : job.state;
  const run_id = job.run_id ?? known?.run_id ?? null, error = job.error ?? known?.error ?? null;
  next.set(job.job_id, { ...known, ...job, state, run_id, error });
  jobs.value = next;
}

export async function refreshJobs(): Promise<void> {
  const { jobs: listed } = await get("/api/run-jobs");
  jobs.value = new Map(listed.map((job) => [job.job_id, job]));
}

function passOn(event: JobEvent): void {
  const state = event.kind === "queued"
    ? "queued"
    : event.kind === "job_started"
    ? "running"
    : /^job_(.+)$/.exec(event.kind)?.[1];
  const known = state !== undefined && (isEnded(state) || state === "queued" || state === "running");
  if (known || typeof event.run_id === "string") {
    rememberJob({
      job_id: event.job_id,
      kind: "run",
      state: "queued",
      recipe_name: null,
      run_id: null,
      error: null,
      created_at_utc: event.time,
      ...jobs.value.get(event.job_id),
      ...(known ? { state: state as Job["state"] } : {}),
      ...(typeof event.run_id === "string" ? { run_id: event.run_id } : {}),
    });
  }
  for (const listener of listeners) listener(event);
}

/** Starts listening; called once. */
export function listen(): void {
  const onState = (state: "ok" | "lost") => {
    const back = connection.value === "lost" && state === "ok";
    connection.value = state;
    if (back) refreshJobs().catch(() => {});
  };
  refreshJobs().catch(() => {});
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
