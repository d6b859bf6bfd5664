/**
 * A pool of worker threads, each running one step at a time. Threads start on demand and live until `close`. Starting a
 * thread takes longer than most steps, so a waiting step gets a new one only when the running steps prove to be long.
 */
import { SvcError } from "../contract/error.ts";
import { Thread } from "../numeric/parallel/thread.ts";
import type { Digest } from "../contract/names.ts";
import type { BundleJob } from "./bundle_files.ts";
import { storeFile, type StoreJob } from "./contents.ts";
import {
  type FailedReply,
  type LoadedOperation,
  type LoadTask,
  type ProgressReply,
  type SaveTask,
  type StepTask,
  type StoredReply,
  type StoreTask,
  type Task,
  type WorkerReply,
  type WrittenReply,
  writtenSize,
  type WrittenStep,
} from "./protocol.ts";

interface StepThread {
  worker: Thread;
  index: number;
  task: PendingTask | null;
  /** Bundles that wait for the disk. */
  saving: PendingTask[];
  /** Time when modules were loaded, or the later start of the current step; Infinity before. */
  since: number;
}

interface PendingTask {
  taskId: number;
  /** Whether it is a bundle: a wait for the disk is no reason for another thread. */
  saves: boolean;
  /** Null once it was sent, so that the images of its inputs are freed after their last use. */
  task: AnyTask | null;
  /** Index of the thread, once assigned. */
  thread: number;
  startedAt: number | null;
  listeners: TaskListeners;
  ended: PromiseWithResolvers<WrittenReply | StoredReply>;
}

type AnyTask = Task | SaveTask | StoreTask;

/** Receives what a task reports before its end. */
export interface TaskListeners {
  onProgress(progress: ProgressReply): void;
  /** Of steps one after another: takes those that are complete when the next one has started. */
  onWritten?(steps: readonly WrittenStep[]): void;
}

/** A task that runs or waits for a thread. */
export interface Running {
  /** 0-based index of the thread; 0 while the step waits. */
  readonly thread: number;
  /** Start on the clock of `performance.now`; null while the step waits. */
  readonly startedAt: number | null;
  /** Resolves when the outputs are in the staging directory. @throws StepFailure */
  written: Promise<WrittenStep[] | null>;
}

/** The error of an operation: an `SvcError` with the class name of the thrown value. */
export class StepFailure extends SvcError {
  constructor(readonly reply: Omit<FailedReply, "type" | "taskId">) {
    const { code, message, hint, system_code } = reply;
    super(code, message, { hint, extra: system_code === undefined ? {} : { system_code } });
  }
}

/** The first thread of a process, until a pool takes it, and when its modules were loaded. */
let early: { worker: Thread; since: number } | undefined;

/** Starts a thread before there is a pool, so that it loads while the program does. */
export function startEarly(): void {
  const started = early = { worker: newWorker(), since: Infinity };
  started.worker.port.onmessage = () => started.since = performance.now();
  // A pool then starts another one, and reports the failure.
  started.worker.onerror = () => early = undefined;
}

const newWorker = () => new Thread(new URL("./worker.ts", import.meta.url), { name: "svc step" });

/** A step that runs for this time counts as long. */
const LONG_STEP_MS = 25;

/** A file of this size is hashed in about the time that it takes to ask a thread. */
const SMALL_FILE_BYTES = 2 ** 17;

export class WorkerPool {
  readonly #threads: StepThread[] = [];
  readonly #queue: PendingTask[] = [];
  readonly #processors = navigator.hardwareConcurrency || 1;
  #growth: ReturnType<typeof setTimeout> | undefined;
  #nextTaskId = 1;
  /** Steps under way: their number, or -1 for one that runs alone. */
  #steps = 0;
  readonly #turns: { alone: boolean; start: () => void }[] = [];

  /** Whether fewer steps are under way than there are processors. */
  get hasSpareProcessor(): boolean {
    return Math.abs(this.#steps) < this.#processors;
  }

  /** Starts the first thread early, so that it loads during planning. */
  warmUp(): void {
    if (this.#threads.length === 0) this.#spawn();
  }

  /** Loads operations that are about to run on the first thread. */
  load(operations: LoadedOperation[]): void {
    this.warmUp();
    this.#threads[0].worker.port.postMessage({ type: "load", operations } satisfies LoadTask);
  }

  /**
   * Waits for the turn of a step, in order of the calls. Executions that share the pool run side by side, and a step that
   * is not thread safe overlaps with no step of any of them.
   * @param alone whether the step overlaps with no other
   * @returns ends the turn
   */
  async turn(alone: boolean): Promise<() => void> {
    await new Promise<void>((start) => {
      this.#turns.push({ alone, start });
      this.#startTurns();
    });
    return () => {
      this.#steps = alone ? 0 : this.#steps - 1;
      this.#startTurns();
    };
  }

  #startTurns(): void {
    while (this.#turns.length > 0 && this.#steps >= 0 && !(this.#turns[0].alone && this.#steps > 0)) {
      const { alone, start } = this.#turns.shift()!;
      this.#steps = alone ? -1 : this.#steps + 1;
      start();
    }
  }

  /** Starts a step, or several on one thread, block by block in a chain; the caller limits the overlap. */
  start(steps: StepTask[], listeners: TaskListeners, chain = false): Running {
    const taskId = this.#nextTaskId++, pending = this.#add({ type: "run", taskId, chain, steps }, listeners);
    return {
      get thread() {
        return pending.thread;
      },
      get startedAt() {
        return pending.startedAt;
      },
      written: pending.ended.promise.then((reply) => (reply as WrittenReply).steps),
    };
  }

  /** Writes a bundle on a thread, and resolves when its documents are durable. @throws StepFailure as `writeBundle` */
  async save(job: BundleJob): Promise<void> {
    await this.#add({ type: "save", taskId: this.#nextTaskId++, job }).ended.promise;
  }

  /**
   * Hashes and shares a committed file, as `storeFile`: a large one on a thread. Code that an operation left behind may end the
   * thread meanwhile, which is no fault of the file.
   */
  async store(job: StoreJob): Promise<Digest | null> {
    if (writtenSize(job) <= SMALL_FILE_BYTES) return await storeFile(job);
    try {
      const reply = await this.#add({ type: "store", taskId: this.#nextTaskId++, job }).ended.promise;
      return (reply as StoredReply).sha256;
    } catch (error) {
      if (error instanceof StepFailure && error.reply.again) return await storeFile(job);
      throw error;
    }
  }

  #add(task: AnyTask, listeners: TaskListeners = { onProgress() {} }): PendingTask {
    const { taskId } = task;
    const pending = {
      taskId,
      task,
      saves: task.type === "save",
      thread: 0,
      startedAt: null,
      listeners,
      ended: Promise.withResolvers<WrittenReply | StoredReply>(),
    };
    // The end of a step goes before the start of another.
    if (task.type === "store") this.#queue.unshift(pending);
    else this.#queue.push(pending);
    this.#dispatch();
    return pending;
  }

  /** Assigns waiting steps to free threads, and starts threads when none is free. */
  #dispatch(): void {
    if (this.#threads.length === 0 && this.#queue.length > 0) this.#spawn();
    for (const thread of this.#threads) {
      if (thread.task === null && this.#queue.length > 0) this.#assign(thread, this.#queue.shift()!);
    }
    if (this.#queue.length > 0) this.#growth ??= setTimeout(() => this.#grow(), LONG_STEP_MS);
  }

  /** Starts threads for waiting steps when every thread runs a long step. */
  #grow(): void {
    this.#growth = undefined;
    const now = performance.now();
    if (this.#threads.every(({ task, since }) => task?.saves === false && now - since >= LONG_STEP_MS)) {
      // Up to the number of processors at once, then one at a time.
      const wanted = Math.min(this.#queue.length, Math.max(1, this.#processors - this.#threads.length));
      for (let i = 0; i < wanted; i++) this.#spawn();
    }
    this.#dispatch();
  }

  #assign(thread: StepThread, pending: PendingTask): void {
    thread.task = pending;
    pending.thread = thread.index;
    pending.startedAt = performance.now();
    if (thread.since < Infinity) thread.since = pending.startedAt;
    thread.worker.port.postMessage(pending.task);
    pending.task = null;
  }

  /** Ends all threads and abandons running steps. */
  close(): void {
    clearTimeout(this.#growth);
    this.#growth = undefined;
    this.#queue.length = 0;
    for (const { worker } of this.#threads.splice(0)) worker.end();
  }

  #spawn(): StepThread {
    const { worker, since } = early ?? { worker: newWorker(), since: Infinity };
    early = undefined;
    const used = new Set(this.#threads.map((thread) => thread.index));
    let index = 0;
    while (used.has(index)) index++;
    const thread: StepThread = { worker, index, task: null, saving: [], since };
    worker.port.onmessage = ({ data }: MessageEvent<WorkerReply>) => this.#receive(thread, data);
    worker.onerror = (message) => this.#lose(thread, message);
    this.#threads.push(thread);
    return thread;
  }

  #receive(thread: StepThread, reply: WorkerReply): void {
    if (reply.type === "ready") {
      thread.since = performance.now();
      return;
    }
    const { taskId } = reply, saved = thread.saving.findIndex((one) => one.taskId === taskId);
    const task = saved < 0 ? thread.task : thread.saving.splice(saved, 1)[0];
    if (task?.taskId !== taskId) return;
    switch (reply.type) {
      case "progress":
        return task.listeners.onProgress(reply);
      case "free":
        thread.saving.push(task);
        return this.#release(thread);
      case "written":
        if (reply.more) return task.listeners.onWritten?.(reply.steps!);
        task.ended.resolve(reply);
        break;
      case "stored":
        task.ended.resolve(reply);
        break;
      case "failed":
        task.ended.reject(new StepFailure(reply));
    }
    if (task === thread.task) this.#release(thread);
  }

  #release(thread: StepThread): void {
    thread.task = null;
    this.#dispatch();
  }

  /** A thread that ended by an error outside a step's handling fails its step; a new one starts on demand. */
  #lose(thread: StepThread, message: string): void {
    this.#threads.splice(this.#threads.indexOf(thread), 1);
    thread.worker.end();
    for (const task of [...thread.saving, ...thread.task === null ? [] : [thread.task]]) {
      task.ended.reject(
        new StepFailure({
          code: "operation_failed",
          message: `The worker thread ended: ${message}`,
          hint: null,
          location: null,
          errorType: "Error",
          again: true,
        }),
      );
    }
    this.#dispatch();
  }
}
