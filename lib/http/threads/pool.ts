/**
 * Threads that compile, plan, hash and decode, so that the main thread only routes and streams. They start at the first
 * request that needs one and end after an idle time; each takes any number of requests at once and works on them in turn.
 */
import { SvcError } from "../../contract/error.ts";
import { canonicalJson, parseJson } from "../../contract/json.ts";
import { Thread } from "../../numeric/parallel/thread.ts";
import type { SessionData } from "../../api/core.ts";
import { errorOf } from "../problem.ts";
import type { PlainReply, PlainRequest, ThreadCommand, ThreadInput, ThreadMessage, ThreadResult } from "./protocol.ts";
import type { TaskInput, TaskName, TaskOutput } from "./tasks.ts";

/** Requests that may wait for the threads, all together. */
const MAX_PENDING = 64;
/** A thread without a request ends after this long, and its memory with it. */
const IDLE_MS = 8000;

/** Commands that plan one recipe. The first thread performs them: each thread has a plan cache of its own. */
const PLANNERS: ReadonlySet<string> = new Set(["admit", "post /api/recipe/check", "post /api/recipe/plan"]);

const closed = () => new SvcError("shutting_down", "Cannot answer: the server is shutting down");

interface LibraryThread {
  worker: Thread;
  pending: Map<number, PromiseWithResolvers<ThreadMessage>>;
  idle: ReturnType<typeof setTimeout> | undefined;
}

export interface ThreadPoolOptions {
  /** Threads at most; with 0 the calling thread performs the commands. */
  size: number;
  session: SessionData;
  /** Performs a command on the calling thread. */
  perform(command: ThreadCommand): Promise<ThreadResult>;
}

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #idle: { onEnd(): void; ms: number };
  readonly #threads: LibraryThread[] = [];
  #nextId = 1;
  #closed = false;

  /** @param idle `onEnd` is called when a thread has ended after `ms` without a request */
  constructor(options: ThreadPoolOptions, idle: { onEnd(): void; ms?: number }) {
    this.#options = options;
    this.#idle = { ms: IDLE_MS, ...idle };
  }

  /** Answers a request by a route. @throws what the route throws */
  async answer(name: string, request: PlainRequest): Promise<PlainReply> {
    const result = await this.#ask({ type: "route", id: this.#nextId++, name, request });
    if (result.type !== "reply") throw new Error("The library thread sent a wrong message");
    return result.reply;
  }

  /** Performs a task. @throws what the task throws */
  async perform<Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<TaskOutput<Name>> {
    const text = canonicalJson(input);
    const result = await this.#ask({ type: "task", id: this.#nextId++, name, input: text });
    if (result.type !== "output") throw new Error("The library thread sent a wrong message");
    return parseJson(result.output) as TaskOutput<Name>;
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#threads.splice(0)) this.#lose(thread, closed());
  }

  async #ask(command: ThreadCommand): Promise<ThreadResult> {
    if (this.#closed) throw closed();
    const { size, perform } = this.#options;
    if (size === 0) return await perform(command);
    if (this.#threads.reduce((sum, { pending }) => sum + pending.size, 0) >= MAX_PENDING) {
      // Requests of clients that left are still answered: without this limit the queue would only grow.
      throw new SvcError("server_busy", `Cannot take more than ${MAX_PENDING} requests of this kind at a time`, {
        hint: "Ask again in a moment",
        extra: { retry_after_seconds: 1 },
      });
    }
    const known = PLANNERS.has(command.name)
      ? this.#threads[0]
      : this.#threads.find(({ pending }) => pending.size === 0);
    const thread = known ?? (this.#threads.length < size ? this.#spawn() : this.#leastBusy(command.type));
    const answered = Promise.withResolvers<ThreadMessage>();
    clearTimeout(thread.idle);
    thread.pending.set(command.id, answered);
    thread.worker.port.postMessage(command);
    const message = await answered.promise;
    if (message.type === "error") throw errorOf(message.error);
    return message;
  }

  /** Requests do not queue on the first of several threads, so that the admission of a job waits for one at most. */
  #leastBusy(type: ThreadCommand["type"]): LibraryThread {
    const [first, ...others] = this.#threads;
    if (type === "task" || others.length === 0) return first;
    return others.reduce((best, thread) => (thread.pending.size < best.pending.size ? thread : best));
  }

  #spawn(): LibraryThread {
    const worker = new Thread(new URL("./worker.ts", import.meta.url), { name: "svc library" });
    const thread: LibraryThread = { worker, pending: new Map(), idle: undefined };
    worker.port.onmessage = ({ data }: MessageEvent<ThreadMessage>) => {
      thread.pending.get(data.id)?.resolve(data);
      thread.pending.delete(data.id);
      if (thread.pending.size === 0) thread.idle = setTimeout(() => this.#end(thread), this.#idle.ms);
    };
    worker.onerror = (message) => {
      this.#remove(thread);
      this.#lose(thread, new Error(`The library thread ended: ${message}`));
    };
    worker.port.postMessage({ type: "open", session: this.#options.session } satisfies ThreadInput);
    this.#threads.push(thread);
    return thread;
  }

  #end(thread: LibraryThread): void {
    this.#remove(thread);
    thread.worker.end();
    this.#idle.onEnd();
  }

  #remove(thread: LibraryThread): void {
    const at = this.#threads.indexOf(thread);
    if (at >= 0) this.#threads.splice(at, 1);
  }

  #lose(thread: LibraryThread, why: Error): void {
    clearTimeout(thread.idle);
    thread.worker.end();
    for (const { reject } of thread.pending.values()) reject(why);
    thread.pending.clear();
  }
}
