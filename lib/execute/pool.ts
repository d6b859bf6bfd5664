/**
 * A pool of worker threads, each running one step at a time. Threads start on need and live until `close`. Starting one
 * takes longer than most steps, so a waiting step gets a new thread only when the steps under way prove to be long.
 */
import { SvcError } from "../contract/error.ts";
import type { FailedReply, ProgressReply, StepTask, WorkerReply, WrittenReply } from "./protocol.ts";

interface Thread {
  worker: Worker;
  index: number;
  task: PendingTask | null;
  /** When it had loaded its modules, or got its present step if that was later; Infinity before. */
  since: number;
}

interface PendingTask {
  task: StepTask;
  /** Index of the thread, once it has one. */
  thread: number;
  startedAt: number | null;
  onProgress: (progress: ProgressReply) => void;
  written: PromiseWithResolvers<WrittenReply>;
  hashed: PromiseWithResolvers<Record<string, string>>;
}

/** A step under way on a thread. */
export interface Running {
  /** Index of the thread, 0-based; 0 while the step waits for one. */
  readonly thread: number;
  /** When a thread took it, on the clock of `performance.now`; null while it waits for one. */
  readonly startedAt: number | null;
  /** Resolves when the outputs lie in the staging directory. @throws StepFailure */
  written: Promise<WrittenReply>;
  /** Resolves with the digests of the outputs as they stand in memory. */
  hashed: Promise<Record<string, string>>;
}

/** What went wrong in an operation: an `SvcError` with the class of what was thrown. */
export class StepFailure extends SvcError {
  constructor(readonly reply: Omit<FailedReply, "type" | "taskId">) {
    super(reply.code, reply.message, { hint: reply.hint });
  }
}

/** A step that has been running for this long is a long one. */
const LONG_STEP_MS = 25;

export class WorkerPool {
  readonly #threads: Thread[] = [];
  readonly #queue: PendingTask[] = [];
  readonly #processors = navigator.hardwareConcurrency || 1;
  #growth: ReturnType<typeof setTimeout> | undefined;
  #nextTaskId = 1;

  /** Starts the first thread early, so that it loads while the recipe is still being planned. */
  warmUp(): void {
    if (this.#threads.length === 0) this.#spawn();
  }

  /** Starts a step: the caller bounds how many overlap. */
  start(task: Omit<StepTask, "type" | "taskId">, onProgress: (progress: ProgressReply) => void): Running {
    const pending: PendingTask = {
      task: { type: "run", taskId: this.#nextTaskId++, ...task },
      thread: 0,
      startedAt: null,
      onProgress,
      written: Promise.withResolvers(),
      hashed: Promise.withResolvers(),
    };
    // The digests of a failed step are never asked for.
    pending.hashed.promise.catch(() => {});
    this.#queue.push(pending);
    this.#dispatch();
    return {
      get thread() {
        return pending.thread;
      },
      get startedAt() {
        return pending.startedAt;
      },
      written: pending.written.promise,
      hashed: pending.hashed.promise,
    };
  }

  /** Hands waiting steps to free threads, and sees to more threads when none is free. */
  #dispatch(): void {
    if (this.#threads.length === 0 && this.#queue.length > 0) this.#spawn();
    for (const thread of this.#threads) {
      if (thread.task === null && this.#queue.length > 0) this.#assign(thread, this.#queue.shift()!);
    }
    if (this.#queue.length > 0) this.#growth ??= setTimeout(() => this.#grow(), LONG_STEP_MS);
  }

  /** Starts threads for the waiting steps once every thread is busy with a long one. */
  #grow(): void {
    this.#growth = undefined;
    const now = performance.now();
    if (this.#threads.every(({ task, since }) => task !== null && now - since >= LONG_STEP_MS)) {
      // As many as there are processors to run them, and one at a time beyond that.
      const wanted = Math.min(this.#queue.length, Math.max(1, this.#processors - this.#threads.length));
      for (let i = 0; i < wanted; i++) this.#spawn();
    }
    this.#dispatch();
  }

  #assign(thread: Thread, pending: PendingTask): void {
    thread.task = pending;
    pending.thread = thread.index;
    pending.startedAt = performance.now();
    if (thread.since < Infinity) thread.since = pending.startedAt;
    thread.worker.postMessage(pending.task);
  }

  /** Ends all threads; steps still under way are abandoned. */
  close(): void {
    clearTimeout(this.#growth);
    this.#growth = undefined;
    this.#queue.length = 0;
    for (const thread of this.#threads.splice(0)) thread.worker.terminate();
  }

  #spawn(): Thread {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "svc step" });
    const used = new Set(this.#threads.map((thread) => thread.index));
    let index = 0;
    while (used.has(index)) index++;
    const thread: Thread = { worker, index, task: null, since: Infinity };
    worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => this.#receive(thread, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#lose(thread, event.message);
    };
    this.#threads.push(thread);
    return thread;
  }

  #receive(thread: Thread, reply: WorkerReply): void {
    if (reply.type === "ready") {
      thread.since = performance.now();
      return;
    }
    const task = thread.task;
    if (task === null || task.task.taskId !== reply.taskId) return;
    switch (reply.type) {
      case "progress":
        return task.onProgress(reply);
      case "written":
        task.written.resolve(reply);
        if (reply.sha256 === undefined) return;
        task.hashed.resolve(reply.sha256);
        return this.#release(thread);
      case "hashed":
        task.hashed.resolve(reply.sha256);
        return this.#release(thread);
      case "failed":
        this.#reject(task, reply);
        return this.#release(thread);
    }
  }

  #release(thread: Thread): void {
    thread.task = null;
    this.#dispatch();
  }

  /** A thread that died (an error outside any step's own handling) takes its step with it and is replaced on need. */
  #lose(thread: Thread, message: string): void {
    this.#threads.splice(this.#threads.indexOf(thread), 1);
    thread.worker.terminate();
    if (thread.task !== null) {
      this.#reject(thread.task, {
        code: "operation_failed",
        message: `The worker thread ended: ${message}`,
        hint: null,
        errorType: "Error",
      });
    }
    this.#dispatch();
  }

  #reject(task: PendingTask, failure: Omit<FailedReply, "type" | "taskId">): void {
    const error = new StepFailure(failure);
    task.written.reject(error);
    task.hashed.reject(error);
  }
}
