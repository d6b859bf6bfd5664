/** What the page knows of a job, whatever the order in which replies and events come. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { type Job, jobs, rememberJob, variantRuns } from "../../../ui/state/events.ts";

const JOB: Job = {
  job_id: "one",
  kind: "run",
  state: "queued",
  recipe_name: null,
  run_id: null,
  error: null,
  created_at_utc: "2026-01-01T00:00:00Z",
};

Deno.test("a reply that comes after the end of its job leaves the end, and adds what it alone tells", () => {
  rememberJob({ ...JOB, state: "running", run_id: "run" });
  rememberJob({ ...JOB, state: "completed" });
  rememberJob({ ...JOB, recipe_name: "link" });
  rememberJob({ ...JOB, recipe_name: "link", state: "running" });
  assert.deepEqual(jobs.value.get("one"), { ...JOB, state: "completed", recipe_name: "link", run_id: "run" });
});

Deno.test("a late reply of a matrix adds variants and does not start one again that has ended", () => {
  const run = (index: number, status: string) => ({ index, run_id: `run_${index}`, status, reused: false });
  const sweep = (variants: JsonObject): Job => ({ ...JOB, job_id: "sweep", kind: "matrix", progress: { variants } });
  rememberJob(sweep({ a: run(0, "completed"), b: run(1, "running") }));
  rememberJob(sweep({ a: run(0, "running"), c: run(2, "failed") }));
  rememberJob(sweep({ b: run(1, "completed") }));
  assert.deepEqual(variantRuns(jobs.value.get("sweep")!), {
    a: run(0, "completed"),
    b: run(1, "completed"),
    c: run(2, "failed"),
  });
});
