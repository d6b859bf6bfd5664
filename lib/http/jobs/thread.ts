/** A job thread as the main thread sees it: one job at a time, kept for the next one while all goes well. */
import { parseJson } from "../../contract/json.ts";
import type { LibraryOptions } from "../service.ts";
import type { JobCommand, JobMessage, JobOutcome, JobTask, Report } from "./types.ts";

interface Current {
  jobId: string;
  onReport(report: Report): void;
  ended: PromiseWithResolvers<JobOutcome>;
}

export class JobThread {
  readonly #worker: Worker;
  #current: Current | null = null;

  constructor(options: LibraryOptions) {
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "svc job" });
    this.#worker.onmessage = ({ data }: MessageEvent<JobMessage>) => this.#receive(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#current?.ended.reject(new Error(`The job thread ended: ${event.message}`));
    };
    this.#send({ type: "open", options });
  }

  /** Runs a job. @throws Error when the thread died */
  async run(task: JobTask, { onReport }: Pick<Current, "onReport">): Promise<JobOutcome> {
    const current: Current = { jobId: task.jobId, onReport, ended: Promise.withResolvers() };
    this.#current = current;
    this.#send({ type: "start", task });
    try {
      return await current.ended.promise;
    } finally {
      this.#current = null;
    }
  }

  cancel(jobId: string): void {
    this.#send({ type: "cancel", jobId });
  }

  close(): void {
    this.#worker.terminate();
    this.#current?.ended.reject(new Error("The job thread was closed"));
  }

  #send(command: JobCommand): void {
    this.#worker.postMessage(command);
  }

  #receive(message: JobMessage): void {
    const current = this.#current;
    if (current?.jobId !== message.jobId) return;
    // Numbers keep their type only as text.
    if (message.type === "report") current.onReport(parseJson(message.report) as unknown as Report);
    else current.ended.resolve(parseJson(message.outcome) as JobOutcome);
  }
}
