/**
 * Jobs: a few at a time, each in a thread of its own, the rest waiting. A job's life is a line of states that is only walked
 * forwards, and every step of it is an event.
 */
import { float, type JsonObject } from "../../contract/value.ts";
import { SvcError } from "../../contract/error.ts";
import { errorOf, type ErrorRecord, problemOf } from "../problem.ts";
import type { LibraryOptions } from "../service.ts";
import type { EventHub } from "./events.ts";
import { RESERVE_INTERVAL_S, type ResourceGuard } from "./resource_guard.ts";
import type { JobStore } from "./store.ts";
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

/** Jobs of a kind that may wait or run at once. */
export const MAX_ACTIVE = 4;
/** Jobs of a kind that are remembered. */
export const MAX_RETAINED = 128;
/** Events of a job that are kept. */
export const MAX_EVENTS = 512;
/** What a client that was refused should wait. */
const RETRY_AFTER_S = 2;

export interface JobQueueOptions {
  library: LibraryOptions;
  maxRunning: number;
  timeoutS: number | null;
  store: JobStore;
  hub: EventHub;
  guard: ResourceGuard;
}

export interface JobRequest {
  kind: JobKind;
  /** What the thread works on, canonical JSON. */
  request: string;
  recipeName: string | null;
  parallelWorkers: number;
  usePlanCache: boolean;
}

/** A job in memory. */
export interface Job {
  readonly document: JobDocument;
  readonly events: JobEvent[];
}

interface LiveJob extends Job {
  request: JobRequest | null;
  thread: JobThread | null;
  shared: Int32Array<SharedArrayBuffer>;
  /** What a stop was asked for: the state that a canceled outcome becomes. */
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
  #draining = false;
  #closed = false;

  constructor(options: JobQueueOptions) {
    this.#options = options;
    for (const { job, events } of options.store.load()) {
      const live = this.#remember(job, null);
      live.events.push(...events.slice(-MAX_EVENTS));
      if (!isActive(job.state)) live.ended.resolve();
    }
    for (const event of [...this.#jobs.values()].flatMap(({ events }) => events).sort((a, b) => a.id - b.id)) {
      options.hub.keep(event);
    }
    for (const job of this.#jobs.values()) {
      if (isActive(job.document.state)) this.#interrupted(job, "server_restart");
    }
    options.guard.onExhausted = () => this.#exhausted();
  }

  /** Refuses new jobs from now on, as at the end of the server. */
  get draining(): boolean {
    return this.#draining;
  }

  /**
   * Takes a job. It is on the disk when this returns.
   *
   * @throws SvcError `job_capacity`, `shutting_down`
   */
  submit(request: JobRequest): Job {
    if (this.#draining) throw new SvcError("shutting_down", "Cannot take a job: the server is shutting down");
    const active = [...this.#jobs.values()].filter(({ document }) =>
      document.kind === request.kind && isActive(document.state)
    );
    if (active.length >= MAX_ACTIVE) {
      throw new SvcError("job_capacity", `Cannot take more than ${MAX_ACTIVE} ${request.kind} jobs at a time`, {
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
    }, request);
    this.#report(job, { kind: "queued", level: "info", message: `Job for ${what(job.document)} queued` });
    this.#options.store.putJob(job.document, true);
    this.#forgetOldest(request.kind);
    this.#waiting.push(job);
    this.#pump();
    return job;
  }

  /** @throws SvcError `job_not_found` */
  get(id: string, kinds?: readonly JobKind[]): Job {
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

  /** Asks a job to stop; asking again changes nothing. */
  cancel(id: string): Job {
    this.get(id);
    const job = this.#jobs.get(id)!;
    this.#stop(job, "canceled", "Stop requested");
    return job;
  }

  /** Resolves when the job has ended. */
  ended(id: string): Promise<void> {
    this.get(id);
    return this.#jobs.get(id)!.ended.promise;
  }

  /** Ends: takes nothing new, cancels everything, and waits until it has ended. */
  async drain(): Promise<void> {
    this.#draining = true;
    const active = [...this.#jobs.values()].filter(({ document }) => isActive(document.state));
    for (const job of active) this.#stop(job, "canceled", "The server is shutting down");
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
    this.#options.store.flush();
    // What the ended threads still tell of is too late: the next server finds their jobs unfinished.
    this.#closed = true;
  }

  #remember(document: JobDocument, request: JobRequest | null): LiveJob {
    const job: LiveJob = {
      document,
      events: [],
      request,
      thread: null,
      shared: new Int32Array(new SharedArrayBuffer(4)),
      stopAs: null,
      timer: undefined,
      ended: Promise.withResolvers(),
    };
    this.#jobs.set(document.job_id, job);
    return job;
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#running.size < this.#options.maxRunning) {
      const job = this.#waiting.shift()!;
      if (job.document.state === "queued") this.#start(job);
    }
  }

  #start(job: LiveJob): void {
    const { library, timeoutS, guard } = this.#options;
    job.document.state = "running";
    job.document.started_at_utc = new Date().toISOString();
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
    const { kind, request, parallelWorkers, usePlanCache } = job.request!;
    // What was asked for is in the thread now; the memory of a long queue holds no recipes.
    job.request = null;
    const thread = this.#idle.pop() ?? new JobThread(library);
    job.thread = thread;
    thread.run({ jobId: job.document.job_id, kind, request, parallelWorkers, usePlanCache, shared: job.shared }, {
      onReport: (report) => this.#report(job, report),
    }).then((outcome) => this.#ended(job, outcome, true), (error) =>
      this.#ended(job, {
        status: "failed",
        run_id: job.document.run_id,
        summary_path: job.document.summary_path,
        error: { code: "internal_error", message: String(error?.message ?? error), hint: null } as JsonObject,
        result: null,
      }, false));
  }

  #ended(job: LiveJob, outcome: JobOutcome, reusable: boolean): void {
    if (this.#closed) return;
    const { document, thread } = job;
    clearTimeout(job.timer);
    this.#running.delete(job);
    job.thread = null;
    if (this.#running.size === 0) this.#options.guard.stop();
    document.run_id = outcome.run_id;
    document.summary_path = outcome.summary_path;
    if (outcome.result !== null) document.result = outcome.result;
    const state = outcome.status === "canceled" ? job.stopAs ?? "canceled" : outcome.status;
    if (outcome.error !== null) {
      const record = outcome.error as unknown as ErrorRecord;
      document.error = problemOf(
        errorOf({ ...record, diagnostics: record.diagnostics ?? [], extra: record.extra ?? {} }),
        document.job_id,
      ).document;
    }
    this.#finish(job, state);
    if (thread !== null) {
      if (reusable && !this.#draining && this.#idle.length < this.#options.maxRunning) this.#idle.push(thread);
      else thread.close();
    }
    this.#pump();
  }

  /** Gives a job its last state, with the event that tells of it. */
  #finish(job: LiveJob, state: Exclude<JobState, "queued" | "running">): void {
    const { document } = job;
    document.state = state;
    document.completed_at_utc = new Date().toISOString();
    const detail = document.error?.detail;
    this.#report(job, {
      kind: `job_${state}`,
      level: state === "completed" ? "info" : state === "canceled" ? "warning" : "error",
      message: `Job for ${what(document)} ${state.replace("_", " ")}${typeof detail === "string" ? `: ${detail}` : ""}`,
      fields: document.error === null ? {} : { error: document.error },
    });
    this.#options.store.putJob(document, true);
    job.ended.resolve();
  }

  #stop(job: LiveJob, as: NonNullable<LiveJob["stopAs"]>, message: string): void {
    const { document } = job;
    if (!isActive(document.state) || job.stopAs !== null) return;
    job.stopAs = as;
    this.#report(job, { kind: "stop_requested", level: "warning", message });
    if (document.state === "running") return job.thread!.cancel(document.job_id);
    job.request = null;
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

  #report(job: LiveJob, { kind, level, message, fields = {} }: Report): void {
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
      document.progress = { steps: { ...document.progress.steps as JsonObject, [fields.step_id]: fields } };
    }
    events.push(event);
    if (events.length > MAX_EVENTS) {
      events.shift();
      // Now and then, not with every event.
      if (event.seq % MAX_EVENTS === 0) this.#options.store.trim(document.job_id, event.seq - MAX_EVENTS + 1);
    }
    this.#options.store.addEvent(event);
    this.#options.store.putJob(document);
    this.#options.hub.publish(event);
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

/** What a job is for, in words. */
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
