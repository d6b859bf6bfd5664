/** The main thread's side of a job thread, which runs one job at a time. Its worker ends after an idle time. */
import { parseJson } from "../../contract/json.ts";
import { Thread } from "../../numeric/parallel/thread.ts";
import type { SessionData } from "../../api/core.ts";
import type { JobCommand, JobMessage, JobOutcome, JobTask, Report } from "./types.ts";

interface Current {
  jobId: string;
  onReport(report: Report): void;
  ended: PromiseWithResolvers<JobOutcome>;
}

/** A worker without a job ends after this long, and its step threads and about 80 MB of memory with it. One that waits runs a short job in a tenth of the time. */
const IDLE_MS = 60_000;

export class JobThread {
  readonly #session: SessionData;
  readonly #idle: { onEnd(): void; ms: number };
  #worker: Thread | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #current: Current | null = null;

  /** @param idle `onEnd` is called when the worker has ended after `ms` without a job */
  constructor(session: SessionData, idle: { onEnd(): void; ms?: number }) {
    this.#session = session;
    this.#idle = { ms: IDLE_MS, ...idle };
  }

  /** Runs a job. @throws Error when the thread died */
  async run(task: JobTask, { onReport }: Pick<Current, "onReport">): Promise<JobOutcome> {
    clearTimeout(this.#timer);
    const current: Current = { jobId: task.jobId, onReport, ended: Promise.withResolvers() };
    this.#current = current;
    this.#worker ??= this.#start();
    this.#send({ type: "start", task });
    try {
      return await current.ended.promise;
    } finally {
      this.#current = null;
      if (this.#worker !== null) this.#timer = setTimeout(() => this.#end(), this.#idle.ms);
    }
  }

  cancel(jobId: string): void {
    this.#send({ type: "cancel", jobId });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#worker?.end();
    this.#worker = null;
    this.#current?.ended.reject(new Error("The job thread was closed"));
  }

  #start(): Thread {
    const worker = new Thread(new URL("./worker.ts", import.meta.url), { name: "svc job" });
    worker.port.onmessage = ({ data }: MessageEvent<JobMessage>) => this.#receive(data);
    worker.onerror = (message) => this.#current?.ended.reject(new Error(`The job thread ended: ${message}`));
    worker.port.postMessage({ type: "open", session: this.#session } satisfies JobCommand);
    return worker;
  }

  #end(): void {
    this.close();
    this.#idle.onEnd();
  }

  #send(command: JobCommand): void {
    this.#worker?.port.postMessage(command);
  }

  #receive(message: JobMessage): void {
    const current = this.#current;
    if (current?.jobId !== message.jobId) return;
    // Numbers keep their type only as text.
    if (message.type === "report") current.onReport(parseJson(message.report) as Report);
    else current.ended.resolve(parseJson(message.outcome) as JobOutcome);
  }
}
