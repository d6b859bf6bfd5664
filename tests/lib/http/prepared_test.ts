/**
 * Recipes and packs of requests are compiled and planned once.
 *
 * The counts are taken at two methods that the compiler and the planner call once per valid recipe, whoever calls them:
 * `SeedPolicy.record` and `PlanCache.observe`. They see the calls of one thread, so admission and job run in the test's.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalJson, type Value } from "../../../lib/contract/json.ts";
import type { SealedText } from "../../../lib/contract/sealed.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { performJob } from "../../../lib/http/jobs/perform.ts";
import type { JobKind, JobOutcome } from "../../../lib/http/jobs/types.ts";
import { TASKS } from "../../../lib/http/threads/tasks.ts";
import { PlanCache } from "../../../lib/plan/cache.ts";
import { SeedPolicy } from "../../../lib/recipe/seeds.ts";
import { Session } from "../../../lib/api/session.ts";
import { BITS as recipe, LINK, openTestServer, packOf } from "./support.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const TWO = packOf("two", ["link.json", "link.json"]);

/** Calls with a function that returns the compilations and plans since its last call. */
async function counted<T>(body: (since: () => { compiled: number; planned: number }) => Promise<T>): Promise<T> {
  const { record } = SeedPolicy.prototype, { observe } = PlanCache.prototype;
  let compiled = 0, planned = 0;
  SeedPolicy.prototype.record = function () {
    compiled++;
    return record.call(this);
  };
  PlanCache.prototype.observe = function (registry) {
    planned++;
    return observe.call(this, registry);
  };
  try {
    return await body(() => {
      const seen = { compiled, planned };
      compiled = planned = 0;
      return seen;
    });
  } finally {
    Object.assign(SeedPolicy.prototype, { record });
    Object.assign(PlanCache.prototype, { observe });
  }
}

async function inProject(body: (options: { projectRoot: string; stateDir: string }) => Promise<void>): Promise<void> {
  const projectRoot = temporaryFolder("svc-prepared-");
  await body({ projectRoot, stateDir: join(projectRoot, ".svc") });
}

/** What the admission of a run prepares. */
async function admittedRun(session: Session): Promise<SealedText> {
  const { prepared } = await TASKS.admit(session, { kind: "run", request: { recipe } });
  assert.ok(prepared);
  return prepared;
}

async function perform(
  session: Session,
  kind: JobKind,
  request: Value,
  prepared: SealedText | null = null,
): Promise<JobOutcome> {
  const outcome = await performJob(
    {
      jobId: "1",
      kind,
      request: canonicalJson(request),
      prepared,
      parallelWorkers: 1,
      parallelPoints: 1,
      usePlanCache: true,
      shared: new Int32Array(new SharedArrayBuffer(4)),
    },
    session,
    { cancellation: createCancellation(), onReport() {} },
  );
  assert.equal(outcome.status, "completed", canonicalJson(outcome.error));
  return outcome;
}

Deno.test("a recipe is compiled and planned by its admission, and not by its job", () =>
  inProject((options) =>
    counted(async (since) => {
      await using library = new Session(options);
      await using job = new Session(options);
      const prepared = await admittedRun(library);
      assert.deepEqual(since(), { compiled: 1, planned: 1 });
      const { run_id } = await perform(job, "run", { recipe }, prepared);
      assert.deepEqual(since(), { compiled: 0, planned: 0 });
      assert.equal((await job.runs.verify(run_id!)).status, "valid");

      // A job that was recovered after a restart has its request alone.
      since();
      await perform(job, "run", { recipe }, null);
      assert.deepEqual(since(), { compiled: 1, planned: 1 });
    })
  ));

Deno.test("a job plans again where its operations are not those of the admission", () =>
  inProject((options) =>
    counted(async (since) => {
      const operations = [new URL("../../recipes/operations/indices.ts", import.meta.url)];
      await using library = new Session(options);
      await using job = new Session({ ...options, operations });
      const prepared = await admittedRun(library);
      since();
      await perform(job, "run", { recipe }, prepared);
      assert.deepEqual(since(), { compiled: 1, planned: 1 });
    })
  ));

Deno.test("an altered text of a prepared run is refused", () =>
  inProject(async (options) => {
    await using session = new Session(options);
    const prepared = await admittedRun(session);
    const altered = { ...prepared, text: prepared.text.replace('"bit_count":64', '"bit_count":65') };
    assert.notEqual(altered.text, prepared.text);
    await assert.rejects(perform(session, "run", { recipe }, altered), { code: "internal_error" });
  }));

Deno.test("the recipes of a pack are checked by its admission, and its job plans its rows alone", () =>
  inProject((options) =>
    counted(async (since) => {
      const { projectRoot } = options;
      for (const [path, document] of [["recipes/link.json", LINK], ["benchmarks/two.json", TWO]] as const) {
        await Deno.mkdir(join(projectRoot, path, ".."), { recursive: true });
        await Deno.writeTextFile(join(projectRoot, path), JSON.stringify(document));
      }
      await using library = new Session(options);
      await using job = new Session(options);
      const { request, prepared } = await TASKS.admit(library, { kind: "benchmark", request: { path: "two" } });
      assert.equal(since().planned, 2);
      await perform(job, "benchmark", request as Value, prepared!);
      assert.equal(since().planned, 2);
      // Without the prepared pack its recipes are checked again.
      await perform(job, "benchmark", request as Value, null);
      assert.equal(since().planned, 4);
    })
  ));

Deno.test("the bundle of a job has the plan of its admission", async () => {
  await using server = await openTestServer();
  // The threads of jobs have caches of their own, which do not know this plan.
  assert.equal((await server.post("/api/recipe/plan", { recipe })).json.cache.outcome, "miss");
  const cacheOf = async (execution: Value) => {
    const { run_id } = (await server.post("/api/recipe/run-payload", { recipe, execution })).json;
    return (await server.get(`/api/runs/${run_id}`)).json.summary.execution_plan.cache;
  };
  const { outcome, reason } = await cacheOf({});
  assert.deepEqual([outcome, reason], ["hit", "live"]);
  assert.equal((await cacheOf({ use_plan_cache: false })).outcome, "bypass");
});
