/** Summaries of runs, read once each when a run has ended. */
import { get, type Reply } from "../api.ts";
import { signal, useEffect } from "../preact.ts";
import type { Copy } from "./copies.ts";
import { isEnded, type Job, jobs } from "./events.ts";

export type Summary = Reply<"/api/runs/:run_id">["summary"];
export type Output = Summary["steps"][number]["outputs"][string];

const summaries = signal<ReadonlyMap<string, Summary>>(new Map());
const asked = new Set<string>();

/** Reads the summary of a job's run where it has ended and that was not done yet. */
function wantSummary(job: Job | undefined): void {
  const runId = job?.run_id ?? null;
  if (job === undefined || runId === null || !isEnded(job.state) || asked.has(runId)) return;
  asked.add(runId);
  get("/api/runs/:run_id", { params: { run_id: runId } }).then(
    ({ summary }) => summaries.value = new Map(summaries.value).set(runId, summary),
    () => asked.delete(runId),
  );
}

/** The summary of a job's run, as soon as there is one. */
export function useSummary(job: Job | undefined): Summary | null {
  useEffect(() => wantSummary(job), [job?.state, job?.run_id]);
  return job?.run_id == null ? null : summaries.value.get(job.run_id) ?? null;
}

export const jobOf = (copy: Copy): Job | undefined => copy.jobId === null ? undefined : jobs.value.get(copy.jobId);

/** Shape and type of an output, as one text. */
export function shapeOf({ metadata }: Output): string {
  const { shape, dtype } = metadata;
  return [dtype, Array.isArray(shape) ? `[${shape.join(", ")}]` : null].filter(Boolean).map(String).join(" ");
}
