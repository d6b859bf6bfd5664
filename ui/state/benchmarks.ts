/** Benchmark jobs: starting them, and the state of every recipe and replicate as it comes. */
import { isNumber, isObject, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { get, post } from "../api.ts";
import { signal } from "../preact.ts";
import { announce } from "./announce.ts";
import { isEnded, type JobEvent, onEvent, rememberJob } from "./events.ts";
import { execution } from "./runs.ts";

/** One recipe of a pack in one replicate. */
export interface Cell {
  state: string;
  runId: string | null;
}

/** The progress of a recipe: the value of the metric that decides, or of the first one, over its replicates so far. */
export interface StopProgress {
  replicates: number;
  errors: number | null;
  trials: number | null;
  mean: number | null;
  ci_low: number | null;
  ci_high: number | null;
  upper_bound: number | null;
  /** Why it has enough, where the number of its replicates is adaptive. */
  stop_reason?: string;
}

export interface Matrix {
  /** Of each recipe, by replicate. */
  rows: ReadonlyMap<string, ReadonlyMap<number, Cell>>;
  replicates: number;
  /** By recipe. */
  progress: ReadonlyMap<string, StopProgress>;
  resultId: string | null;
  ended: string | null;
}

const EMPTY: Matrix = { rows: new Map(), replicates: 1, progress: new Map(), resultId: null, ended: null };
/** By job. */
export const matrices = signal<ReadonlyMap<string, Matrix>>(new Map());

function change(jobId: string, next: Partial<Matrix>): void {
  matrices.value = new Map(matrices.value).set(jobId, { ...(matrices.value.get(jobId) ?? EMPTY), ...next });
}

/** The progress of a recipe as a server sends it. @param reason why it has enough */
export function progressOf(given: JsonObject, reason?: unknown): StopProgress {
  const number = (name: string) => isNumber(given[name]) ? toNumber(given[name]) : null;
  return {
    replicates: number("replicates") ?? 0,
    errors: number("errors"),
    trials: number("trials"),
    mean: number("mean"),
    ci_low: number("ci_low"),
    ci_high: number("ci_high"),
    upper_bound: number("upper_bound"),
    ...(typeof reason === "string" ? { stop_reason: reason } : {}),
  };
}

function take(event: JobEvent): void {
  const phase = /^benchmark_row_(.+)$/.exec(event.kind)?.[1];
  if (phase !== undefined) {
    const { rows, progress } = matrices.value.get(event.job_id) ?? EMPTY;
    const id = String(event.recipe_id), replicate = Number(event.replicate ?? 0);
    // Events of a job that was opened late arrive twice; a row that has ended does not start again.
    const before = rows.get(id)?.get(replicate)?.state;
    if (phase === "started" && before !== undefined) return;
    const cell = {
      state: phase === "started" ? "running" : String(event.status ?? phase),
      runId: typeof event.run_id === "string" ? event.run_id : null,
    };
    change(event.job_id, {
      rows: new Map(rows).set(id, new Map(rows.get(id) ?? []).set(replicate, cell)),
      replicates: Number(event.replicates ?? 1),
      progress: isObject(event.progress)
        ? new Map(progress).set(id, progressOf(event.progress, event.stop_reason))
        : progress,
    });
    return;
  }
  const ended = /^job_(.+)$/.exec(event.kind)?.[1];
  if (ended !== undefined && isEnded(ended) && matrices.value.has(event.job_id)) settle(event.job_id, ended);
}
onEvent(take);

async function settle(jobId: string, ended: string): Promise<void> {
  announce(`Benchmark ${ended}`);
  change(jobId, { ended });
  const job = await get("/api/benchmark-jobs/:job_id", { params: { job_id: jobId } }).catch(() => null);
  if (job === null) return;
  rememberJob(job);
  change(jobId, { resultId: typeof job.result?.result_id === "string" ? job.result.result_id : null });
}

/** Runs a pack in the background. @throws Problem */
export async function startBenchmark(path: string, options: JsonObject): Promise<string> {
  const job = await post("/api/benchmark-jobs", { path, ...options, execution: execution() });
  rememberJob(job);
  change(job.job_id, {});
  announce("Benchmark queued");
  return job.job_id;
}

/** Events of a job in one reply. */
const EVENTS = 512;

/** Catches up with a job that began before this page looked. @throws Problem */
export async function followBenchmark(jobId: string): Promise<void> {
  for (let after = 0;;) {
    const { events, ...job } = await get("/api/benchmark-jobs/:job_id", {
      params: { job_id: jobId },
      query: { event_limit: EVENTS, after_seq: after },
    });
    rememberJob(job);
    change(jobId, {});
    for (const event of events) take(event);
    after = job.next_event_seq;
    if (events.length === EVENTS) continue;
    if (isEnded(job.state)) await settle(jobId, job.state);
    return;
  }
}

export const cancelBenchmark = (jobId: string) =>
  post("/api/benchmark-jobs/:job_id/cancel", {}, { params: { job_id: jobId } });
