/** A pool of worker threads, each running one step at a time. Threads start on first need and live until `close`. */
import { SvcError } from "../contract/error.ts";
import type { FailedReply, ProgressReply, StepTask, WorkerReply, WrittenReply } from "./protocol.ts";

interface Thread {
  worker: Worker;
  index: number;
  task: PendingTask | null;
}

interface PendingTask {
  taskId: number;
  onProgress: (progress: ProgressReply) => void;
  written: PromiseWithResolvers<WrittenReply>;
  hashed: PromiseWithResolvers<Record<string, string>>;
}

/** A step under way on a thread. */
export interface Running {
  /** Index of the thread, 0-based. */
  thread: number;
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

export class WorkerPool {
  readonly #threads: Thread[] = [];
  #nextTaskId = 1;

  /** Starts the first thread early, so that it loads while the recipe is still being planned. */
  warmUp(): void {
    if (this.#threads.length === 0) this.#spawn();
  }

  /** Starts a step on a free thread, or on a new one: the caller bounds how many steps overlap. */
  start(task: Omit<StepTask, "type" | "taskId">, onProgress: (progress: ProgressReply) => void): Running {
    const thread = this.#threads.find((candidate) => candidate.task === null) ?? this.#spawn();
    const taskId = this.#nextTaskId++;
    const pending: PendingTask = {
      taskId,
      onProgress,
      written: Promise.withResolvers(),
      hashed: Promise.withResolvers(),
    };
    // The digests of a failed step are never asked for.
    pending.hashed.promise.catch(() => {});
    thread.task = pending;
    thread.worker.postMessage({ type: "run", taskId, ...task } satisfies StepTask);
    return { thread: thread.index, written: pending.written.promise, hashed: pending.hashed.promise };
  }

  /** Ends all threads; steps still under way are abandoned. */
  close(): void {
    for (const thread of this.#threads.splice(0)) thread.worker.terminate();
  }

  #spawn(): Thread {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "svc step" });
    const used = new Set(this.#threads.map((thread) => thread.index));
    let index = 0;
    while (used.has(index)) index++;
    const thread: Thread = { worker, index, task: null };
    worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => this.#receive(thread, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#lose(thread, event.message);
    };
    this.#threads.push(thread);
    return thread;
  }

  #receive(thread: Thread, reply: WorkerReply): void {
    const task = thread.task;
    if (task === null || task.taskId !== reply.taskId) return;
    switch (reply.type) {
      case "progress":
        return task.onProgress(reply);
      case "written":
        task.written.resolve(reply);
        if (reply.sha256 === undefined) return;
        thread.task = null;
        return task.hashed.resolve(reply.sha256);
      case "hashed":
        thread.task = null;
        return task.hashed.resolve(reply.sha256);
      case "failed":
        thread.task = null;
        return this.#reject(task, reply);
    }
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
  }

  #reject(task: PendingTask, failure: Omit<FailedReply, "type" | "taskId">): void {
    const error = new StepFailure(failure);
    task.written.reject(error);
    task.hashed.reject(error);
  }
}
