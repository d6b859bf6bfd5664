/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The thread of a job: it plans, schedules steps over threads of its own, and reports. */
import { canonicalJson } from "../../contract/json.ts";
import { serveStarter } from "../../numeric/parallel/thread.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import type { CancellationToken } from "../../execute/types.ts";
import { Session } from "../../api/session.ts";
import { errorRecord } from "../problem.ts";
import { performJob } from "./perform.ts";
import { throttledReports } from "./reports.ts";
import type { JobCommand, JobMessage, JobOutcome, JobTask } from "./types.ts";

/** Step threads stay for the next job: they have loaded their operations. */
const IDLE_MS = 60_000;

let session: Session | undefined;
let opening: Promise<void> | undefined;
let current: { jobId: string; cancellation: CancellationToken } | undefined;

const send = serveStarter<JobCommand, JobMessage>((command) => {
  switch (command.type) {
    case "open":
      session = new Session({ ...command.session, idleMs: IDLE_MS });
      opening = session.openProgram();
      return void session.warmUp();
    case "cancel":
      if (current?.jobId === command.jobId) current.cancellation.cancel();
      return;
    case "start":
      return void start(command.task);
  }
});

async function start(task: JobTask): Promise<void> {
  const { jobId } = task;
  const cancellation = createCancellation();
  current = { jobId, cancellation };
  const reports = throttledReports((report) => send({ type: "report", jobId, report: canonicalJson(report) }));
  let outcome: JobOutcome;
  try {
    await opening;
    outcome = await performJob(task, session!, { cancellation, onReport: reports.add });
  } catch (error) {
    const { stack: _stack, ...record } = errorRecord(error);
    outcome = { status: "failed", run_id: null, summary_path: null, error: record, result: null };
  }
  reports.close();
  current = undefined;
  send({ type: "done", jobId, outcome: canonicalJson(outcome) });
}
