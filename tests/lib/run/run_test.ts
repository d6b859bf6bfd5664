import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { type JsonObject, parseJson, type Value } from "../../../lib/contract/json.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { type BundleFiles, DISK, listFiles } from "../../../lib/run/files.ts";
import { isRunLocked } from "../../../lib/run/lock.ts";
import { reserveRunId, runIdBase } from "../../../lib/run/reservation.ts";
import { checkExecution } from "../../../lib/run/execution.ts";
import type { RunEvent } from "../../../lib/run/run.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { runSmall, testRecipe, withWorkspace } from "./fixture.ts";

const read = (directory: string, name: string) => parseJson(Deno.readTextFileSync(join(directory, name))) as JsonObject;

function codeOf(code: string) {
  return (error: unknown) => error instanceof SvcError && error.code === code;
}

Deno.test("a completed run leaves the whole bundle, and verifies", () =>
  withWorkspace(async (workspace) => {
    const result = await runSmall(workspace, { parallelWorkers: 4 });
    assert.equal(result.status, "completed");
    assert.equal(result.directory, join(workspace.runs, result.run_id));
    assert.match(result.run_id, /^\d{8}T\d{6}Z_small_recipe$/);
    assert.deepEqual(listFiles(result.directory).map(({ path }) => path), [
      "SHA256SUMS",
      "artifacts/data_0/bits.npz",
      "artifacts/data_1/bits.npz",
      "artifacts/report_0/report.json",
      "artifacts/report_1/report.json",
      "execution-plan.json",
      "manifest.json",
      "recipe.authored.json",
      "recipe.json",
      "summary.json",
    ]);
    const summary = read(result.directory, "summary.json");
    assert.deepEqual(summary, result.summary);
    assert.deepEqual(summary.execution, { mode: "parallel", parallel_workers: 4 });
    const metrics = summary.metrics as JsonObject;
    assert.ok(metrics["memory.run.peak_rss_bytes"]! >= metrics["memory.run.start_rss_bytes"]!);
    const evidence = (summary.measurement_evidence as JsonObject)["memory.run.rss"] as JsonObject;
    assert.equal(evidence.status, "measured");
    const report = await verifyRun(workspace, result.run_id);
    assert.deepEqual(report.errors, []);
    assert.equal(report.status, "valid");
    assert.equal(report.certification.verdict, "current_profile_pass");
    assert.equal(isRunLocked(workspace, result.run_id), false);
    assert.deepEqual([...Deno.readDirSync(workspace.locks)], []);
  }));

Deno.test("numbers keep their type in every document", () =>
  withWorkspace(async (workspace) => {
    const { directory } = await runSmall(workspace);
    assert.match(Deno.readTextFileSync(join(directory, "recipe.json")), /"scale": 1\.0/);
    assert.match(Deno.readTextFileSync(join(directory, "summary.json")), /"gain": 2\.0/);
    assert.match(Deno.readTextFileSync(join(directory, "summary.json")), /"test\.count": 3,/);
  }));

Deno.test("no document of a bundle names the bundle's own place", () =>
  withWorkspace(async (workspace) => {
    const { directory } = await runSmall(workspace);
    const manifest = Deno.readTextFileSync(join(directory, "manifest.json"));
    for (const name of ["summary.json", "recipe.json", "execution-plan.json"]) {
      assert.equal(Deno.readTextFileSync(join(directory, name)).includes(workspace.projectRoot), false, name);
    }
    assert.equal(manifest.includes(directory), false);
  }));

Deno.test("rows stand in plan order whatever the order of completion", () =>
  withWorkspace(async (workspace) => {
    const order = ["data_1", "report_1", "data_0", "report_0"];
    const { directory, run_id } = await runSmall(workspace, { fake: { order } });
    for (const name of ["summary.json", "manifest.json"]) {
      const ids = (read(directory, name).steps as JsonObject[]).map(({ id }) => id);
      assert.deepEqual(ids, ["data_0", "report_0", "data_1", "report_1"]);
    }
    assert.equal((await verifyRun(workspace, run_id)).status, "valid");
  }));

Deno.test("a failed and a cancelled run keep what was done, with the reason", () =>
  withWorkspace(async (workspace) => {
    const failed = await runSmall(workspace, { fake: { failAt: "report_0" } });
    assert.equal(failed.status, "failed");
    assert.deepEqual(failed.summary.failure, { kind: "operation", step_id: "report_0", code: "operation_failed" });
    assert.equal(failed.summary.error, "No");
    assert.equal((failed.summary.steps as Value[]).length, 2);
    const cancellation = createCancellation();
    const canceled = await runSmall(workspace, { cancellation, fake: { afterStep: () => cancellation.cancel() } });
    assert.equal(canceled.status, "canceled");
    assert.equal((canceled.summary.steps as Value[]).length, 1);
    for (const { run_id } of [failed, canceled]) {
      const report = await verifyRun(workspace, run_id);
      assert.deepEqual(report.errors, []);
      assert.equal(report.certification.verdict, "nonpublication_evidence_pass");
    }
  }));

Deno.test("a defect of the executor ends the run as failed", () =>
  withWorkspace(async (workspace) => {
    const execute = () => Promise.reject(new TypeError("broken"));
    const result = await runSmall(workspace, { execute });
    assert.equal(result.status, "failed");
    assert.deepEqual(result.summary.failure, { kind: "internal", code: "internal_error" });
    assert.equal((await verifyRun(workspace, result.run_id)).status, "valid");
  }));

Deno.test("events come in order with the names they have on the wire", () =>
  withWorkspace(async (workspace) => {
    const events: RunEvent[] = [];
    const { run_id } = await runSmall(workspace, { pairs: 1, onEvent: (event) => events.push(event) });
    assert.deepEqual(events.map(({ kind }) => kind), [
      "execution_plan_cache",
      "run_created",
      "run_started",
      "step_completed",
      "step_completed",
      "run_completed",
    ]);
    assert.deepEqual(Object.keys(events[0].fields), ["outcome", "reason", "key_sha256", "plan_sha256"]);
    assert.deepEqual(events[1].fields, { run_id });
    const failing: RunEvent[] = [];
    await runSmall(workspace, { fake: { failAt: "data_0" }, onEvent: (event) => failing.push(event) });
    assert.equal(failing.at(-1)!.kind, "run_failed");
    assert.equal(failing.at(-1)!.fields.error, "No");
  }));

Deno.test("whatever is refused leaves no trace and tells every problem", () =>
  withWorkspace(async (workspace) => {
    const refusals: [JsonObject, string, number][] = [
      [{ ...testRecipe(), extra: 1, more: 2 }, "recipe_invalid", 2],
      [{ ...testRecipe(), schema_version: true }, "recipe_invalid", 1],
      [
        {
          ...testRecipe(1),
          metadata: {
            matrix: { dimensions: { n: [1, 2] }, step_params: { data_0: { count: { matrix: "n" } } } },
          },
        },
        "plan_invalid",
        1,
      ],
      [
        {
          ...testRecipe(1),
          steps: [{ id: "a", op: "test.sink", inputs: {} }, { id: "b", op: "test.sink", inputs: {} }],
        },
        "plan_invalid",
        2,
      ],
    ];
    for (const [raw, code, count] of refusals) {
      await assert.rejects(runSmall(workspace, { raw }), (error: SvcError) => {
        assert.equal(error.code, code, JSON.stringify(error.diagnostics));
        assert.ok(error.diagnostics.length >= count, JSON.stringify(error.diagnostics));
        return true;
      });
    }
    await assert.rejects(runSmall(workspace, { parallelWorkers: 33 }), codeOf("execution_invalid"));
    assert.throws(() => Deno.statSync(workspace.stateDir), Deno.errors.NotFound);
  }));

Deno.test("execution takes exactly the counts of workers and points, and a cache flag", () => {
  assert.deepEqual(checkExecution({}), { parallelWorkers: 1, parallelPoints: 1, usePlanCache: true });
  assert.deepEqual(checkExecution({ parallel_workers: 32, parallel_points: 2, use_plan_cache: false }), {
    parallelWorkers: 32,
    parallelPoints: 2,
    usePlanCache: false,
  });
  const bad: Value[] = [
    { parallel_workers: 0 },
    { parallel_workers: 33 },
    { parallel_workers: true },
    { parallel_workers: 1.5 },
    { parallel_workers: parseJson("2.0") },
    { parallel_workers: "2" },
    { parallel_workers: null },
    { parallel_points: 0 },
    { parallel_points: 33 },
    { use_plan_cache: 1 },
    { use_plan_cache: null },
    { workers: 2 },
    [],
    null,
  ];
  for (const execution of bad) assert.throws(() => checkExecution(execution), codeOf("execution_invalid"));
});

Deno.test("ids are reserved for ever, with numbers for collisions", () =>
  withWorkspace((workspace) => {
    const time = new Date("2026-01-02T03:04:05.678Z");
    assert.equal(runIdBase("a b/ü😀.c-d_e", time), "20260102T030405Z_a_b___.c-d_e");
    assert.equal(reserveRunId(workspace, "r", time), "20260102T030405Z_r");
    assert.equal(reserveRunId(workspace, "r", time), "20260102T030405Z_r_2");
    // A link or a copied bundle in the place of the next one is stepped over, never written through.
    Deno.symlinkSync(workspace.projectRoot, join(workspace.runs, "20260102T030405Z_r_3"));
    assert.equal(reserveRunId(workspace, "r", time), "20260102T030405Z_r_4");
    assert.ok(reserveRunId(workspace, "x".repeat(1000), time).length < 240);
  }));

Deno.test("runs that begin in the same second get ids of their own", () =>
  withWorkspace(async (workspace) => {
    const results = await Promise.all([1, 2, 3, 4].map(() => runSmall(workspace)));
    assert.equal(new Set(results.map(({ run_id }) => run_id)).size, 4);
    for (const { run_id } of results) assert.equal((await verifyRun(workspace, run_id)).status, "valid");
  }));

Deno.test("the documents of a running run grow, are valid at every time, and have the status running", () =>
  withWorkspace(async (workspace) => {
    const seen: number[] = [];
    const afterStep = () => {
      const [id] = [...Deno.readDirSync(workspace.runs)].filter(({ name }) => !name.startsWith(".")).map(({ name }) =>
        name
      );
      const summary = read(join(workspace.runs, id), "summary.json");
      assert.equal(summary.status, "running");
      assert.equal(read(join(workspace.runs, id), "manifest.json").status, "running");
      assert.equal(isRunLocked(workspace, id), true);
      seen.push((summary.steps as Value[]).length);
    };
    await runSmall(workspace, { pairs: 3, fake: { pauseMs: 110, afterStep } });
    assert.equal(seen.length, 6);
    assert.ok(seen.at(-1)! > 0, "the summary was rewritten before the end");
  }));

Deno.test("a running bundle is not rewritten more often than every 200 ms", () =>
  withWorkspace(async (workspace) => {
    let rewrites = 0;
    const files: BundleFiles = {
      ...DISK,
      rename: (from, to) => {
        if (to.endsWith("summary.json")) rewrites++;
        DISK.rename(from, to);
      },
    };
    const startedAt = performance.now();
    await runSmall(workspace, { pairs: 100, files, fake: { pauseMs: 1 } });
    // The last one is the final summary.
    assert.ok(rewrites >= 1 && rewrites - 1 <= (performance.now() - startedAt) / 200, `${rewrites} rewrites`);
  }));

Deno.test("the workspace is the given one, else SVC_WORKSPACE, else .svc in the project", () => {
  const before = Deno.env.get("SVC_WORKSPACE");
  try {
    Deno.env.delete("SVC_WORKSPACE");
    assert.equal(openWorkspace({ projectRoot: "/p" }).stateDir, "/p/.svc");
    assert.equal(openWorkspace().projectRoot, Deno.cwd());
    Deno.env.set("SVC_WORKSPACE", "/w");
    assert.equal(openWorkspace({ projectRoot: "/p" }).stateDir, "/w");
    assert.equal(openWorkspace({ projectRoot: "/p", stateDir: "/given" }).runs, "/given/runs");
  } finally {
    if (before === undefined) Deno.env.delete("SVC_WORKSPACE");
    else Deno.env.set("SVC_WORKSPACE", before);
  }
});
