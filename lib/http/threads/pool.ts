/**
 * Threads that compile, plan, hash and decode, so that the main thread only routes and streams. They start at the first
 * request that needs one; each takes any number of requests at once and works on them in turn.
 */
import { SvcError } from "../../contract/error.ts";
import { canonicalJson, parseJson, type Value } from "../../contract/json.ts";
import type { PlainReply, PlainRequest } from "../answer.ts";
import { errorOf } from "../problem.ts";
import { type Library, type LibraryOptions, openLibrary } from "../service.ts";
import type { ThreadCommand, ThreadMessage } from "./protocol.ts";
import type { TaskInput, TaskName, TaskOutput } from "./tasks.ts";

/** Requests that may wait for the threads, all together. */
const MAX_PENDING = 64;

const closed = () => new SvcError("shutting_down", "Cannot answer any more: the server is shutting down");

interface Thread {
  worker: Worker;
  pending: Map<number, PromiseWithResolvers<ThreadMessage>>;
}

export class ThreadPool {
  readonly #size: number;
  readonly #options: LibraryOptions;
  readonly #threads: Thread[] = [];
  #nextId = 1;
  #local: Library | undefined;
  #closed = false;

  /** @param size threads at most; 0 does the work on the calling thread */
  constructor(size: number, options: LibraryOptions) {
    this.#size = size;
    this.#options = options;
  }

  /** Answers a request by a route. @throws what the route throws */
  async answer(name: string, request: PlainRequest): Promise<PlainReply> {
    if (this.#size === 0) {
      const [{ answer }, { routeNamed }] = await Promise.all([import("../answer.ts"), import("../routes/index.ts")]);
      return await answer(routeNamed(name), request, this.#library());
    }
    const message = await this.#ask({ type: "route", id: this.#nextId++, name, request });
    if (message.type !== "reply") throw new Error("The thread answered something else");
    return message.reply;
  }

  /** Does a task. @throws what the task throws */
  async perform<Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<TaskOutput<Name>> {
    if (this.#size === 0) {
      const { TASKS } = await import("./tasks.ts");
      return await (TASKS[name] as unknown as (library: Library, input: unknown) => Promise<TaskOutput<Name>>)(
        this.#library(),
        input,
      );
    }
    const text = canonicalJson(input as unknown as Value);
    const message = await this.#ask({ type: "task", id: this.#nextId++, name, input: text });
    if (message.type !== "output") throw new Error("The thread answered something else");
    return parseJson(message.output) as unknown as TaskOutput<Name>;
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#threads.splice(0)) this.#lose(thread, closed());
  }

  #library(): Library {
    return this.#local ??= openLibrary(this.#options);
  }

  async #ask(command: Exclude<ThreadCommand, { type: "open" }>): Promise<ThreadMessage> {
    if (this.#closed) throw closed();
    if (this.#threads.reduce((sum, { pending }) => sum + pending.size, 0) >= MAX_PENDING) {
      // Clients that went away are still being answered; a queue without an end would only grow.
      throw new SvcError("server_busy", `Cannot take more than ${MAX_PENDING} requests of this kind at a time`, {
        hint: "Ask again in a moment",
        extra: { retry_after_seconds: 1 },
      });
    }
    const idle = this.#threads.find(({ pending }) => pending.size === 0);
    const thread = idle ?? (this.#threads.length < this.#size ? this.#spawn() : this.#leastBusy(command.type));
    const answered = Promise.withResolvers<ThreadMessage>();
    thread.pending.set(command.id, answered);
    thread.worker.postMessage(command);
    const message = await answered.promise;
    if (message.type === "error") throw errorOf(message.error);
    return message;
  }

  /** Requests never queue up on the first thread of several: a job that is to be admitted waits for one of them at most. */
  #leastBusy(type: ThreadCommand["type"]): Thread {
    const [first, ...others] = this.#threads;
    if (type === "task" || others.length === 0) return first;
    return others.reduce((best, thread) => (thread.pending.size < best.pending.size ? thread : best));
  }

  #spawn(): Thread {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "svc library" });
    const thread: Thread = { worker, pending: new Map() };
    worker.onmessage = ({ data }: MessageEvent<ThreadMessage>) => {
      thread.pending.get(data.id)?.resolve(data);
      thread.pending.delete(data.id);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const at = this.#threads.indexOf(thread);
      if (at >= 0) this.#threads.splice(at, 1);
      this.#lose(thread, new Error(`The library thread ended: ${event.message}`));
    };
    worker.postMessage({ type: "open", options: this.#options } satisfies ThreadCommand);
    this.#threads.push(thread);
    return thread;
  }

  #lose(thread: Thread, why: Error): void {
    thread.worker.terminate();
    for (const { reject } of thread.pending.values()) reject(why);
    thread.pending.clear();
  }
}
