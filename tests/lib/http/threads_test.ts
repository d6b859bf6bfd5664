/** Threads of the server end without work and start again with it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { JobThread } from "../../../lib/http/jobs/thread.ts";
import type { JobTask, Report } from "../../../lib/http/jobs/types.ts";
import { ThreadPool } from "../../../lib/http/threads/pool.ts";
import { BITS } from "./support.ts";
import { within } from "../../support/until.ts";
import { temporaryFolder } from "../../support/temporary.ts";

async function inProject(body: (options: { projectRoot: string; stateDir: string }) => Promise<void>): Promise<void> {
  const projectRoot = temporaryFolder("svc-threads-");
  await body({ projectRoot, stateDir: join(projectRoot, ".svc") });
}

/** Counts ends, and lets a test wait for the next one. */
function ends() {
  let next = Promise.withResolvers<void>();
  const idle = {
    ms: 1,
    count: 0,
    onEnd() {
      idle.count++;
      next.resolve();
      next = Promise.withResolvers();
    },
  };
  return { idle, next: () => within("the idle thread ends", next.promise) };
}

Deno.test("a library thread ends without requests, and the next request starts another", () =>
  inProject(async (options) => {
    const { idle, next } = ends();
    const pool = new ThreadPool(
      { size: 1, session: options, perform: () => Promise.reject(new Error("not here")) },
      idle,
    );
    for (let round = 1; round <= 2; round++) {
      const ended = next();
      const { name } = await pool.perform("admit", { kind: "run", request: { recipe: BITS } });
      assert.equal(name, "bits");
      await ended;
      assert.equal(idle.count, round);
    }
    // A thread that has a request does not end.
    const both = [1, 2].map(() => pool.perform("admit", { kind: "run", request: { recipe: BITS } }));
    await Promise.all(both);
    pool.close();
    assert.equal(idle.count, 2);
  }));

Deno.test("a job thread ends without jobs, and the next job starts it again", () =>
  inProject(async (options) => {
    const { idle, next } = ends();
    const thread = new JobThread(options, idle);
    for (let round = 1; round <= 2; round++) {
      const task: JobTask = {
        jobId: String(round),
        kind: "run",
        request: canonicalJson({ recipe: BITS }),
        prepared: null,
        parallelWorkers: 1,
        parallelPoints: 1,
        usePlanCache: true,
        shared: new Int32Array(new SharedArrayBuffer(4)),
      };
      const reports: Report[] = [];
      const ended = next();
      const outcome = await thread.run(task, { onReport: (report) => reports.push(report) });
      assert.equal(outcome.status, "completed", canonicalJson(outcome.error));
      assert.ok(reports.length > 0);
      await ended;
      assert.equal(idle.count, round);
    }
    thread.close();
    assert.equal(idle.count, 2);
  }));
