/**
 * Jobs: a few run at a time, each in a thread of its own, and the others wait. A job passes its states in one direction, and
 * each change is an event.
 */
import { parseJson } from "../../contract/json.ts";
import { float, isObject, type JsonObject } from "../../contract/value.ts";
import { SvcError } from "../../contract/error.ts";
import { errorOf, type ErrorRecord, problemOf } from "../problem.ts";
import type { SealedText } from "../../contract/sealed.ts";
import type { SessionData } from "../../api/core.ts";
import type { EventHub } from "./events.ts";
import { RESERVE_INTERVAL_S, type ResourceGuard } from "./resource_guard.ts";
import type { Storage } from "../storage.ts";
import type { JobStore, StoredJob } from "./store.ts";
import { JobThread } from "./thread.ts";
import {
  isActive,
  type JobDocument,
  type JobEvent,
  type JobKind,
  type JobOutcome,
  type JobState,
  type Report,
} from "./types.ts";

/** Jobs of a kind that are remembered. */
const MAX_RETAINED = 128;
/** Events of a job that are kept. */
const MAX_EVENTS = 512;
/** Seconds after which a refused client should ask again. */
const RETRY_AFTER_S = 2;
/** Starts after which a matrix that ended with its server each time is not started again. */
const MAX_STARTS = 4;
/** Characters of prepared runs that queued jobs hold; a job beyond this prepares its run again. */
const MAX_PREPARED = 32 * 1024 * 1024;

export interface JobQueueOptions {
  session: SessionData;
  /** Called when a job thread has ended after an idle time. */
  onThreadEnd: () => void;
  maxRunning: number;
  /** Of a kind, queued and running together. */
  maxActive: number;
  timeoutS: number | null;
  storage: Storage;
  store: JobStore;
  hub: EventHub;
  guard: ResourceGuard;
}

export interface JobRequest {
  kind: JobKind;
  /** Canonical JSON for the job thread. */
  request: string;
  /** What admission prepared, where it prepares anything. */
  prepared?: SealedText | null;
  recipeName: string | null;
  parallelWorkers: number;
  parallelPoints: number;
  usePlanCache: boolean;
}

/** A job in memory. */
export interface Job {
  readonly document: JobDocument;
  readonly events: JobEvent[];
  readonly request: string | null;
}

interface LiveJob extends StoredJob {
  request: string | null;
  prepared: SealedText | null;
  readonly events: JobEvent[];
  /** Whether the next server continues it after this one has shut down. */
  paused: boolean;
  thread: JobThread | null;
  shared: Int32Array<SharedArrayBuffer>;
  /** The state that a canceled outcome becomes, by the reason of the stop. */
  stopAs: Extract<JobState, "canceled" | "resource_exhausted" | "timed_out"> | null;
  timer: ReturnType<typeof setTimeout> | undefined;
  ended: PromiseWithResolvers<void>;
}

export class JobQueue {
  readonly #options: JobQueueOptions;
  readonly #jobs = new Map<string, LiveJob>();
  readonly #waiting: LiveJob[] = [];
  readonly #running = new Set<LiveJob>();
  readonly #idle: JobThread[] = [];
  #resumed = false;
  #draining = false;
  #closed = false;

  constructor(options: JobQueueOptions) {
    this.#options = options;
    options.store.all = () => this.#jobs.values();
    for (const { document, request, events } of options.store.load()) {
      const live = this.#remember(document, request);
      live.events.push(...events.slice(-MAX_EVENTS));
      if (!isActive(document.state)) live.ended.resolve();
    }
    for (const event of [...this.#jobs.values()].flatMap(({ events }) => events).sort((a, b) => a.id - b.id)) {
      options.hub.keep(event);
    }
    for (const job of this.#jobs.values()) {
      const starts = job.events.filter(({ kind }) => kind === "job_started").length;
      if (job.document.state === "running" && continues(job) && starts < MAX_STARTS) requeue(job);
    }
    const queued = [...this.#jobs.values()].filter(({ document: { state }, request }) =>
      state === "queued" && request !== null
    );
    this.#waiting.push(...queued.sort((a, b) => (a.events[0]?.id ?? 0) - (b.events[0]?.id ?? 0)));
    for (const job of this.#jobs.values()) {
      if (isActive(job.document.state) && !queued.includes(job)) this.#interrupted(job, "server_restart");
    }
    options.guard.onExhausted = () => this.#exhausted();
    options.storage.onRecovered = () => this.#pump();
  }

  /** Starts what an earlier server left queued. */
  resume(): void {
    this.#resumed = true;
    for (const job of this.#waiting) {
      this.#report(job, { kind: "queued", level: "info", message: `Job for ${what(job.document)} queued again` });
    }
    this.#pump();
  }

  /** Whether new jobs are refused, as at the end of the server. */
  get draining(): boolean {
    return this.#draining;
  }

  /**
   * Takes a job. It is on the disk when this returns.
   * @throws SvcError `job_capacity`, `shutting_down`, `storage_unavailable`
   */
  submit(request: JobRequest): Job {
    if (this.#draining) throw new SvcError("shutting_down", "Cannot take a job: the server is shutting down");
    const active = [...this.#jobs.values()].filter(({ document }) =>
      document.kind === request.kind && isActive(document.state)
    );
    const { maxActive } = this.#options;
    if (active.length >= maxActive) {
      throw new SvcError("job_capacity", `Cannot queue more than ${maxActive} ${request.kind} jobs`, {
        hint: "Wait for one to end, or cancel one",
        extra: { retry_after_seconds: RETRY_AFTER_S },
      });
    }
    const job = this.#remember({
      job_id: crypto.getRandomValues(new Uint8Array(16)).toHex(),
      kind: request.kind,
      state: "queued",
      recipe_name: request.recipeName,
      run_id: null,
      summary_path: null,
      error: null,
      execution: {
        mode: request.parallelWorkers > 1 ? "parallel" : "sequential",
        parallel_workers: request.parallelWorkers,
        ...(request.parallelPoints === 1 ? {} : { parallel_points: request.parallelPoints }),
        use_plan_cache: request.usePlanCache,
      },
      resource_guard: {
        reserve_bytes: this.#options.guard.reserveBytes,
        sampler_interval_s: float(RESERVE_INTERVAL_S),
        tripped: false,
      },
      created_at_utc: new Date().toISOString(),
      started_at_utc: null,
      completed_at_utc: null,
      next_event_seq: 1,
      progress: { steps: {} },
    }, request.request);
    const held = this.#waiting.reduce((sum, { prepared }) => sum + (prepared?.text.length ?? 0), 0);
    const { prepared = null } = request;
    if (prepared !== null && held + prepared.text.length <= MAX_PREPARED) job.prepared = prepared;
    const { store, hub } = this.#options;
    const event = this.#record(job, { kind: "queued", level: "info", message: `Job for ${what(job.document)} queued` });
    try {
      store.commit(true);
    } catch (error) {
      this.#jobs.delete(job.document.job_id);
      store.remove([job.document.job_id]);
      throw error;
    }
    hub.publish(event);
    this.#forgetOldest(request.kind);
    this.#waiting.push(job);
    this.#pump();
    return job;
  }

  /** @throws SvcError `job_not_found` */
  get(id: string, kinds?: readonly JobKind[]): LiveJob {
    const job = this.#jobs.get(id);
    if (job === undefined || (kinds !== undefined && !kinds.includes(job.document.kind))) {
      throw new SvcError("job_not_found", `Cannot find the job ${id}`, {
        hint: `The last ${MAX_RETAINED} jobs of a kind are remembered`,
      });
    }
    return job;
  }

  /** Newest first. */
  list(kinds?: readonly JobKind[]): Job[] {
    return [...this.#jobs.values()].filter(({ document }) => kinds === undefined || kinds.includes(document.kind))
      .reverse();
  }

  /** Requests the stop of a job; a second request changes nothing. */
  cancel(id: string): Job {
    const job = this.get(id);
    this.#stop(job, "canceled", "Stop requested");
    return job;
  }

  /** Resolves when the job has ended. */
  ended(id: string): Promise<void> {
    return this.get(id).ended.promise;
  }

  /** Refuses new jobs, cancels all, and waits for their end. */
  async drain(): Promise<void> {
    this.#draining = true;
    const active = [...this.#jobs.values()].filter((job) =>
      isActive(job.document.state) && (this.#resumed || !this.#waiting.includes(job))
    );
    for (const job of active) {
      // A matrix that someone canceled stays canceled.
      job.paused = job.stopAs === null && job.document.state === "running" && continues(job);
      this.#stop(job, "canceled", "The server is shutting down");
    }
    await Promise.all(active.map(({ ended }) => ended.promise));
    this.close();
  }

  /** Ends all threads at once. */
  close(): void {
    if (this.#closed) return;
    this.#draining = true;
    this.#options.guard.stop();
    for (const thread of [...this.#idle.splice(0), ...[...this.#running].map(({ thread }) => thread)]) thread?.close();
    for (const job of this.#running) clearTimeout(job.timer);
    this.#options.store.save(true);
    // Later messages of the ended threads are ignored: the next server finds their jobs unfinished.
    this.#closed = true;
  }

  #remember(document: JobDocument, request: string | null): LiveJob {
    const job: LiveJob = {
      document,
      events: [],
      request,
      prepared: null,
      paused: false,
      thread: null,
      shared: new Int32Array(new SharedArrayBuffer(4)),
      stopAs: null,
      timer: undefined,
      ended: Promise.withResolvers(),
    };
    this.#jobs.set(document.job_id, job);
    return job;
  }

  /** Starts waiting jobs; while storage is degraded they wait. */
  #pump(): void {
    const { maxRunning, storage } = this.#options;
    while (this.#waiting.length > 0 && this.#running.size < maxRunning && storage.fault === null && !this.#closed) {
      this.#start(this.#waiting[0]);
    }
  }

  #start(job: LiveJob): void {
    const { session, onThreadEnd, timeoutS, guard, store } = this.#options;
    const { document, request, prepared } = job;
    Object.assign(document, { state: "running", started_at_utc: new Date().toISOString() });
    store.putJob(job);
    if (!store.save(true)) {
      requeue(job);
      return;
    }
    this.#waiting.shift();
    job.prepared = null;
    this.#report(job, { kind: "job_started", level: "info", message: `Job for ${what(job.document)} started` });
    for (const other of this.#running) {
      Atomics.store(other.shared, 0, 1);
      Atomics.store(job.shared, 0, 1);
    }
    this.#running.add(job);
    guard.start();
    if (timeoutS !== null) {
      job.timer = setTimeout(() => this.#stop(job, "timed_out", `No end within ${timeoutS} s`), timeoutS * 1000);
    }
    const { parallel_workers, parallel_points = 1, use_plan_cache } = document.execution;
    const task = {
      jobId: document.job_id,
      kind: document.kind,
      request: request!,
      prepared,
      parallelWorkers: Number(parallel_workers),
      parallelPoints: Number(parallel_points),
      usePlanCache: use_plan_cache === true,
      shared: job.shared,
    };
    const thread = this.#idle.pop() ?? new JobThread(session, { onEnd: onThreadEnd });
    job.thread = thread;
    thread.run(task, { onReport: (report) => this.#report(job, report) }).then(
      (outcome) => this.#ended(job, outcome, true),
      (error) =>
        this.#ended(job, {
          status: "failed",
          run_id: job.document.run_id,
          summary_path: job.document.summary_path,
          error: { code: "internal_error", message: String(error?.message ?? error), hint: null } as JsonObject,
          result: null,
        }, false),
    );
  }

  #ended(job: LiveJob, outcome: JobOutcome, reusable: boolean): void {
    if (this.#closed) return;
    const { document, thread } = job;
    clearTimeout(job.timer);
    this.#running.delete(job);
    job.thread = null;
    if (this.#running.size === 0) this.#options.guard.stop();
    // A benchmark and a matrix have many runs; those of a benchmark's rows are gone by now.
    const several = document.kind === "benchmark" || document.kind === "matrix";
    document.run_id = outcome.run_id ?? (several ? null : document.run_id);
    document.summary_path = outcome.summary_path;
    if (outcome.result !== null) document.result = outcome.result;
    const state = outcome.status === "canceled" ? job.stopAs ?? "canceled" : outcome.status;
    if (state === "canceled" && job.paused) {
      requeue(job);
      const message = `Job for ${what(document)} continues with the next server`;
      this.#report(job, { kind: "queued", level: "info", message });
      this.#options.store.save(true);
      thread?.close();
      return job.ended.resolve();
    }
    if (outcome.error !== null) {
      const record = outcome.error as ErrorRecord;
      const error = errorOf({ ...record, diagnostics: record.diagnostics ?? [], extra: record.extra ?? {} });
      document.error = problemOf(this.#options.storage.judge(error), document.job_id).document;
    }
    this.#finish(job, state);
    if (thread !== null) {
      if (reusable && !this.#draining && this.#idle.length < this.#options.maxRunning) this.#idle.push(thread);
      else thread.close();
    }
    this.#pump();
  }

  /** Sets the last state of a job and reports it. */
  #finish(job: LiveJob, state: Exclude<JobState, "queued" | "running">): void {
    const { document } = job;
    document.state = state;
    document.completed_at_utc = new Date().toISOString();
    const { result } = document;
    if (document.kind === "benchmark" && state !== "completed" && isObject(result) && "result_id" in result) {
      document.resume = { result_id: result.result_id };
    }
    const detail = document.error?.detail;
    this.#report(job, {
      kind: `job_${state}`,
      level: state === "completed" ? "info" : state === "canceled" ? "warning" : "error",
      message: `Job for ${what(document)} ${state.replace("_", " ")}${typeof detail === "string" ? `: ${detail}` : ""}`,
      fields: document.error === null ? {} : { error: document.error },
    });
    this.#options.store.save(true);
    job.ended.resolve();
  }

  #stop(job: LiveJob, as: NonNullable<LiveJob["stopAs"]>, message: string): void {
    const { document } = job;
    if (!isActive(document.state) || job.stopAs !== null) return;
    job.stopAs = as;
    this.#report(job, { kind: "stop_requested", level: "warning", message });
    if (document.state === "running") return job.thread!.cancel(document.job_id);
    job.prepared = null;
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    this.#finish(job, as);
  }

  #exhausted(): void {
    for (const job of this.#running) {
      job.document.resource_guard = { ...job.document.resource_guard, tripped: true };
      this.#stop(job, "resource_exhausted", "Free memory fell below the reserve");
    }
  }

  #interrupted(job: LiveJob, interruption: string): void {
    job.document.interruption = interruption;
    this.#finish(job, "incomplete");
  }

  #report(job: LiveJob, report: Report): void {
    this.#options.hub.publish(this.#record(job, report));
  }

  /** Adds an event to a job; both are written soon. */
  #record(job: LiveJob, { kind, level, message, fields = {} }: Report): JobEvent {
    const { document, events } = job;
    const event: JobEvent = {
      ...fields,
      id: this.#options.store.nextEventId(),
      seq: document.next_event_seq++,
      job_id: document.job_id,
      time: new Date().toISOString(),
      kind,
      level,
      message,
    };
    if (kind === "run_created" && typeof fields.run_id === "string") document.run_id = fields.run_id;
    if (kind === "step_progress" && typeof fields.step_id === "string") {
      const { steps, ...progress } = document.progress;
      document.progress = { ...progress, steps: { ...steps as JsonObject, [fields.step_id]: fields } };
    }
    if (/^matrix_variant_(started|completed)$/.test(kind)) {
      // The progress of a matrix names the run of each variant, and the steps of the present one.
      const { variant_id, index, run_id, status = "running", reused = false } = fields;
      const variants = { ...document.progress.variants as JsonObject };
      variants[String(variant_id)] = { index, run_id, status, reused };
      document.progress = { count: fields.count, variants };
    }
    events.push(event);
    if (events.length > MAX_EVENTS) {
      events.shift();
      // Not with every event.
      if (event.seq % MAX_EVENTS === 0) this.#options.store.trim(document.job_id, event.seq - MAX_EVENTS + 1);
    }
    this.#options.store.addEvent(event);
    this.#options.store.putJob(job);
    if (kind === "benchmark_started" && typeof fields.result_id === "string") {
      document.result = { result_id: fields.result_id };
      this.#options.store.save();
    }
    return event;
  }

  #forgetOldest(kind: JobKind): void {
    const all = [...this.#jobs.values()].filter(({ document }) => document.kind === kind);
    const leaving = all.filter(({ document }) => !isActive(document.state)).slice(
      0,
      Math.max(0, all.length - MAX_RETAINED),
    );
    if (leaving.length === 0) return;
    for (const { document } of leaving) this.#jobs.delete(document.job_id);
    this.#options.store.remove(leaving.map(({ document }) => document.job_id));
  }
}

/** Puts a job that has started back into the queue. */
function requeue({ document }: LiveJob): void {
  Object.assign(document, { state: "queued", started_at_utc: null });
}

/**
 * Whether a job that has started is queued again by the next server: a matrix, whose completed variants are used again. One
 * that runs all variants again is not: a second start could not determine which are done.
 */
function continues({ document: { kind }, request }: StoredJob): boolean {
  if (kind !== "matrix" || request === null) return false;
  const read = parseJson(request);
  return isObject(read) && read.rerun !== true;
}

/** The recipe that a job runs, as its author wrote it; null for a job without one, and of an earlier version. */
export function recipeOf({ request }: Pick<StoredJob, "request">): JsonObject | null {
  const read = request === null ? null : parseJson(request);
  return isObject(read) && isObject(read.recipe) ? read.recipe : null;
}

/** Names a job in messages. */
function what({ kind, recipe_name, run_id }: JobDocument): string {
  return recipe_name ?? run_id ?? `a ${kind}`;
}

/** Options of {@link snapshotOf}. */
export interface SnapshotOptions {
  /** Events with a larger sequence number; 0 for all. */
  afterSeq?: number;
  /** 1 … 512. */
  limit?: number;
}

/** The snapshot of a job. */
export function snapshotOf(
  { document, events }: Job,
  { afterSeq = 0, limit = MAX_EVENTS }: SnapshotOptions = {},
): JsonObject {
  const { next_event_seq: _next, ...rest } = document;
  const wanted = events.filter(({ seq }) => seq > afterSeq);
  const shown = wanted.slice(0, limit);
  const last = shown.at(-1)?.seq ?? Math.max(afterSeq, document.next_event_seq - 1);
  return {
    ...rest,
    events: shown,
    next_event_seq: last,
    events_truncated: (events[0]?.seq ?? document.next_event_seq) > afterSeq + 1,
  };
}
