/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The thread of a job: it plans, schedules steps over threads of its own, and reports. */
import { canonicalJson, type Value } from "../../contract/json.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import { WorkerPool } from "../../execute/pool.ts";
import type { CancellationToken } from "../../execute/types.ts";
import { errorRecord } from "../problem.ts";
import { type Library, openLibrary } from "../service.ts";
import { performJob } from "./perform.ts";
import { throttledReports } from "./reports.ts";
import type { JobCommand, JobMessage, JobOutcome, JobTask } from "./types.ts";

let library: Library | undefined;
let current: { jobId: string; cancellation: CancellationToken } | undefined;
/** Kept from job to job: its threads have loaded their operations. */
const pool = new WorkerPool();

const send = (message: JobMessage) => self.postMessage(message);

self.onmessage = ({ data: command }: MessageEvent<JobCommand>) => {
  switch (command.type) {
    case "open":
      library = openLibrary(command.options);
      pool.warmUp();
      return;
    case "cancel":
      if (current?.jobId === command.jobId) current.cancellation.cancel();
      return;
    case "start":
      return void start(command.task);
  }
};

async function start(task: JobTask): Promise<void> {
  const { jobId } = task;
  const cancellation = createCancellation();
  current = { jobId, cancellation };
  const reports = throttledReports((report) =>
    send({ type: "report", jobId, report: canonicalJson(report as unknown as Value) })
  );
  let outcome: JobOutcome;
  try {
    outcome = await performJob(task, library!, { cancellation, pool, onReport: reports.add });
  } catch (error) {
    const { stack: _stack, ...record } = errorRecord(error);
    outcome = { status: "failed", run_id: null, summary_path: null, error: record as unknown as Value, result: null };
  }
  reports.close();
  current = undefined;
  send({ type: "done", jobId, outcome: canonicalJson(outcome) });
}
