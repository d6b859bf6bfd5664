import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineOperation } from "../../../lib/contract/define.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { BITS } from "../../../lib/contract/kinds.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import { seedParameter } from "../../../lib/contract/schema.ts";
import type { JsonObject, Value } from "../../../lib/contract/value.ts";
import { z } from "../../../lib/contract/zod.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { type MatrixEvent, type MatrixRow, type MatrixRunOptions, runMatrix } from "../../../lib/study/run_matrix.ts";
import { tryLockRun } from "../../../lib/run/lock.ts";
import { endedRuns } from "../../../lib/run/index/ended_runs.ts";
import { openRunIndex } from "../../../lib/run/index/open.ts";
import { selectRuns } from "../../../lib/run/select.ts";
import { listRuns, removeRuns, showRun } from "../../../lib/run/store.ts";
import type { Workspace } from "../../../lib/run/workspace.ts";
import { type FakeExecution, fakeExecutor, testRecipe, testRegistry, withWorkspace } from "../run/fixture.ts";

/** The small recipe over the number of values that its first source writes. */
function swept(counts: Value[] = [4, 5, 6], metadata: JsonObject = {}): JsonObject {
  return {
    ...testRecipe(1),
    metadata: {
      seed: 23,
      ...metadata,
      matrix: { dimensions: { count: counts }, step_params: { data_0: { count: { matrix: "count" } } } },
    },
  };
}

function runSwept(workspace: Workspace, options: Partial<MatrixRunOptions> & { fake?: FakeExecution } = {}) {
  const { fake, ...rest } = options;
  return runMatrix({
    raw: swept(),
    registry: testRegistry(),
    workspace,
    cancellation: createCancellation(),
    execute: fakeExecutor(fake),
    ...rest,
  });
}

const outcome = (rows: readonly MatrixRow[]) =>
  rows.map(({ index, status, reused }) => `${index} ${status}${reused ? " before" : ""}`);

Deno.test("variants run in the order of the matrix, each a bundle of its own", () =>
  withWorkspace(async (workspace) => {
    const events: MatrixEvent[] = [];
    const result = await runSwept(workspace, { onEvent: (event) => events.push(event) });
    assert.equal(result.status, "completed");
    assert.equal(result.recipe_name, "small recipe");
    assert.equal(result.canonical_matrix.variant_count, 3);
    assert.deepEqual(result.diagnostics.map(({ code }) => code), ["variant_seed_namespace"]);
    assert.deepEqual(outcome(result.rows), ["0 completed", "1 completed", "2 completed"]);
    for (const { index, run_id, variant_id, selection, recipe_name, metrics } of result.rows) {
      const { summary } = showRun(workspace, run_id!);
      assert.equal(summary.recipe_name, recipe_name);
      const recipe = JSON.parse(Deno.readTextFileSync(join(workspace.runs, run_id!, "recipe.json")));
      assert.deepEqual(recipe.metadata.matrix_selection, selection);
      assert.equal(recipe.metadata.matrix_index, index);
      assert.equal(recipe.metadata.matrix_variant_id, variant_id);
      assert.equal(recipe.metadata.matrix, undefined);
      assert.equal(recipe.steps[0].params.count, 4 + index);
      assert.deepEqual(Object.keys(metrics), ["data_0", "report_0"]);
      assert.equal(metrics.data_0["test.count"], 3);
    }
    const variants = events.filter(({ kind }) => kind.startsWith("matrix_"));
    assert.deepEqual(
      variants.map(({ kind, fields }) => [kind, fields.index, fields.count, fields.variant_id, fields.run_id]),
      result.rows.flatMap(({ index, variant_id, run_id }) => [
        ["matrix_variant_started", index, 3, variant_id, run_id],
        ["matrix_variant_completed", index, 3, variant_id, run_id],
      ]),
    );
    assert.equal(events.filter(({ kind }) => kind === "run_completed").length, 3);
  }));

Deno.test("variants whose names are ids are found by the name of their recipe", () =>
  withWorkspace(async (workspace) => {
    const ids = (await runSwept(workspace)).rows.map(({ run_id }) => run_id!).sort();
    assert.ok(listRuns(workspace).every(({ recipe_name }) => recipe_name!.startsWith("mxv1-")));
    assert.deepEqual(
      selectRuns(workspace, { recipe: "small recipe" }, "prune").map(({ run_id }) => run_id).sort(),
      ids,
    );
    assert.deepEqual(selectRuns(workspace, { recipe: "small" }, "prune"), []);
    const { index, close } = openRunIndex(workspace);
    const listed = await index.list({ recipeName: "small recipe", limit: 10 });
    assert.deepEqual(listed.rows.map(({ run_id }) => run_id).sort(), ids);
    assert.deepEqual((await index.list({ recipeName: "small", limit: 10 })).rows, []);
    close();
  }));

Deno.test("a variant with a verified complete run is not run again, unless that is asked for", () =>
  withWorkspace(async (workspace) => {
    const first = await runSwept(workspace, { raw: swept([4, 5]) });
    const second = await runSwept(workspace, { raw: swept([4, 5, 6]) });
    assert.deepEqual(outcome(second.rows), ["0 completed before", "1 completed before", "2 completed"]);
    assert.deepEqual(second.rows.slice(0, 2).map(({ run_id }) => run_id), first.rows.map(({ run_id }) => run_id));
    assert.deepEqual(second.rows[0].metrics, first.rows[0].metrics);
    assert.equal(listRuns(workspace).length, 3);
    const again = await runSwept(workspace, { rerun: true });
    assert.deepEqual(outcome(again.rows), ["0 completed", "1 completed", "2 completed"]);
    assert.equal(listRuns(workspace).length, 6);
    // The newest run stands for the variant.
    const last = await runSwept(workspace);
    assert.deepEqual(last.rows.map(({ run_id }) => run_id), again.rows.map(({ run_id }) => run_id));
  }));

Deno.test("a run that failed, was altered, removed, or is of another recipe does not stand for a variant", () =>
  withWorkspace(async (workspace) => {
    const failed = await runSwept(workspace, { fake: { failAt: "report_0" }, continueOnError: true });
    assert.deepEqual(outcome(failed.rows), ["0 failed", "1 failed", "2 failed"]);
    const { rows } = await runSwept(workspace);
    assert.deepEqual(outcome(rows), ["0 completed", "1 completed", "2 completed"]);
    const artifact = join(workspace.runs, rows[0].run_id!, "artifacts/data_0/bits.npz");
    const bytes = Deno.readFileSync(artifact);
    bytes[bytes.length - 1] ^= 1;
    Deno.chmodSync(artifact, 0o644);
    Deno.writeFileSync(artifact, bytes);
    removeRuns(workspace, [rows[1].run_id!]);
    const after = await runSwept(workspace);
    assert.deepEqual(outcome(after.rows), ["0 completed", "1 completed", "2 completed before"]);
    const other = await runSwept(workspace, { raw: swept([4, 5, 6], { note: 1 }) });
    assert.ok(other.rows.every(({ reused }) => !reused));
  }));

Deno.test("a run on another backend does not stand for a variant", () =>
  withWorkspace(async (workspace) => {
    const dual = defineOperation({
      id: "test.dual",
      name: "On two backends",
      outputs: { bits: BITS },
      params: z.strictObject({ count: z.int().default(8), seed: seedParameter() }),
      backends: { benchmark_run: ["numpy", "phylib"] },
      threadSafe: true,
      run: () => {
        throw new Error("Only the fixture executes this");
      },
    });
    const registry = new Registry();
    registry.register([{ operation: dual, moduleUrl: import.meta.url }]);
    const raw = { ...swept([4]), steps: [{ id: "data_0", op: "test.dual" }] };
    const reused = async (backend?: string) => {
      const { rows: [row] } = await runSwept(workspace, { raw, registry, backend });
      return row.reused;
    };
    assert.deepEqual([await reused("numpy"), await reused("phylib"), await reused("phylib"), await reused()], [
      false,
      false,
      true,
      true,
    ]);
  }));

Deno.test("a failed variant ends the matrix, and the next run resumes at it", () =>
  withWorkspace(async (workspace) => {
    let started = 0;
    const execute: MatrixRunOptions["execute"] = (options) =>
      fakeExecutor(++started === 2 ? { failAt: "data_0" } : {})(options);
    const stopped = await runSwept(workspace, { execute });
    assert.equal(stopped.status, "failed");
    assert.deepEqual(outcome(stopped.rows), ["0 completed", "1 failed", "2 skipped"]);
    assert.deepEqual(stopped.rows[1].error, { code: "operation_failed", message: "No" });
    assert.equal(stopped.rows[2].run_id, null);
    const resumed = await runSwept(workspace);
    assert.deepEqual(outcome(resumed.rows), ["0 completed before", "1 completed", "2 completed"]);
  }));

Deno.test("with continueOnError the variants behind a failed one run", () =>
  withWorkspace(async (workspace) => {
    let started = 0;
    const execute: MatrixRunOptions["execute"] = (options) =>
      fakeExecutor(++started === 1 ? { failAt: "report_0" } : {})(options);
    const result = await runSwept(workspace, { execute, continueOnError: true });
    assert.equal(result.status, "failed");
    assert.deepEqual(outcome(result.rows), ["0 failed", "1 completed", "2 completed"]);
    // What a failed variant measured before it failed is kept.
    assert.equal(result.rows[0].metrics.data_0["test.count"], 3);
  }));

Deno.test("points select variants, in the order of the matrix", () =>
  withWorkspace(async (workspace) => {
    const { rows } = await runSwept(workspace, { points: ["count=6", "0"] });
    assert.deepEqual(outcome(rows), ["0 completed", "2 completed"]);
    assert.equal(listRuns(workspace).length, 2);
  }));

Deno.test("a cancellation ends the variant under way, and no other is started", () =>
  withWorkspace(async (workspace) => {
    const cancellation = createCancellation();
    let ended = 0;
    const result = await runSwept(workspace, {
      cancellation,
      continueOnError: true,
      // In the midst of the second variant.
      fake: { afterStep: () => ++ended === 3 && cancellation.cancel() },
    });
    assert.equal(result.status, "canceled");
    assert.deepEqual(outcome(result.rows), ["0 completed", "1 canceled", "2 skipped"]);
    assert.equal(listRuns(workspace).length, 2);
    const resumed = await runSwept(workspace);
    assert.deepEqual(outcome(resumed.rows), ["0 completed before", "1 completed", "2 completed"]);
  }));

Deno.test("a complete variant replaces its unfinished runs; a damaged run is kept and named", () =>
  withWorkspace(async (workspace) => {
    const unfinished: string[] = [];
    // The second variant is canceled, and later interrupted.
    for (const killed of [false, true]) {
      const cancellation = createCancellation();
      let ended = 0;
      const { rows } = await runSwept(workspace, {
        cancellation,
        fake: { afterStep: () => ++ended === (killed ? 1 : 3) && cancellation.cancel() },
      });
      const id = rows[1].run_id!, summary = join(workspace.runs, id, "summary.json");
      if (killed) {
        Deno.writeTextFileSync(
          summary,
          Deno.readTextFileSync(summary).replace('"status": "canceled"', '"status": "running"'),
        );
      }
      unfinished.push(id);
    }
    assert.deepEqual(listRuns(workspace).map(({ status }) => status).sort(), ["canceled", "completed", "incomplete"]);
    const { rows } = await runSwept(workspace);
    assert.deepEqual(rows.map(({ replaced }) => [...replaced].sort()), [[], unfinished.sort(), []]);
    assert.deepEqual(listRuns(workspace).map(({ run_id }) => run_id).sort(), rows.map(({ run_id }) => run_id).sort());

    const damaged = rows[2].run_id!;
    const artifact = join(workspace.runs, damaged, "artifacts/data_0/bits.npz"), bytes = Deno.readFileSync(artifact);
    bytes[bytes.length - 1] ^= 1;
    Deno.chmodSync(artifact, 0o644);
    Deno.writeFileSync(artifact, bytes);
    const events: MatrixEvent[] = [];
    const again = await runSwept(workspace, { onEvent: (event) => events.push(event) });
    assert.deepEqual(outcome(again.rows), ["0 completed before", "1 completed before", "2 completed"]);
    const found = again.diagnostics.filter(({ code }) => code === "variant_run_damaged");
    assert.deepEqual(found.map(({ severity }) => severity), ["warning"]);
    assert.ok(found[0].message.includes(damaged) && found[0].message.includes("bits.npz"), found[0].message);
    assert.equal(events.filter(({ fields }) => fields.code === "variant_run_damaged").length, 1);
    assert.ok(listRuns(workspace).some(({ run_id }) => run_id === damaged));
  }));

Deno.test("the worker limit holds for each variant by itself", () =>
  withWorkspace(async (workspace) => {
    const limits: number[] = [];
    await runSwept(workspace, {
      parallelWorkers: 4,
      execute(options) {
        limits.push(options.parallelWorkers);
        return fakeExecutor()(options);
      },
    });
    assert.deepEqual(limits, [4, 4, 4]);
  }));

Deno.test("variants share their noise under a namespace, and do not without", () =>
  withWorkspace(async (workspace) => {
    const seeds = async (metadata: JsonObject) => {
      const { rows } = await runSwept(workspace, { raw: swept([4, 5, 6], metadata) });
      return rows.map(({ run_id }) => {
        const { steps } = JSON.parse(Deno.readTextFileSync(join(workspace.runs, run_id!, "recipe.json")));
        return steps[0].params.seed as number;
      });
    };
    assert.equal(new Set(await seeds({})).size, 3);
    assert.equal(new Set(await seeds({ seed_namespace: "pair" })).size, 1);
  }));

/** A refused matrix: its code, and the codes of its diagnostics. */
const REFUSED: [Partial<MatrixRunOptions>, string, string[]][] = [
  [{ raw: testRecipe(1) }, "matrix_definition_invalid", []],
  [{ raw: swept([]) }, "recipe_invalid", ["matrix_definition_invalid"]],
  [{ raw: swept([1, 1]) }, "recipe_invalid", ["matrix_values_duplicate"]],
  [{ raw: swept(Array.from({ length: 257 }, (_, n) => n + 1)) }, "recipe_invalid", ["matrix_too_large"]],
  [{ raw: swept([4, 0]) }, "recipe_invalid", ["operation_params_schema_invalid"]],
  [{ raw: { ...testRecipe(1), metadata: { sweeps: { "data_0.count": [1] } } }, strictLegacy: true }, "recipe_invalid", [
    "legacy_sweep_normalized",
  ]],
  [{ raw: { ...testRecipe(1), metadata: { sweeps: { "dta.count": [1] } } } }, "matrix_definition_invalid", []],
  [{ points: ["3"] }, "usage_invalid", []],
  [{ points: ["0", "nothing"] }, "usage_invalid", []],
  [{ parallelWorkers: 0 }, "execution_invalid", []],
  [{ raw: { ...swept(), execution_profile: "layered_digital" } }, "plan_invalid", ["execution_profile_mismatch"]],
  [{ raw: { ...swept(), steps: [{ id: "x", op: "test.nothing" }] } }, "recipe_invalid", [
    "matrix_step_unknown",
    "operation_defaults_unavailable",
  ]],
];
const given = (dimensions: JsonObject, params: Value): JsonObject => ({
  ...testRecipe(1),
  metadata: { matrix: { dimensions, step_params: { data_0: params } } },
});
REFUSED.push(
  [{ raw: { ...given({ n: [1] }, {}), steps: [] } }, "recipe_invalid", ["recipe_validation_error"]],
  [{ raw: given({ n: [1] }, { count: { matrix: "m" }, scale: { matrix: "n" } }) }, "recipe_invalid", [
    "matrix_dimension_unknown",
  ]],
  [{ raw: given({ n: [1], m: [2] }, { count: { matrix: "n" } }) }, "recipe_invalid", ["matrix_dimension_unused"]],
  [{ raw: given({ n: [1] }, { count: { matrix: "n", x: 1 } }) }, "recipe_invalid", ["matrix_reference_malformed"]],
);

Deno.test("a refused matrix tells all it found, and leaves no directory", async () => {
  for (const [options, code, codes] of REFUSED) {
    await withWorkspace(async (workspace) => {
      await assert.rejects(runSwept(workspace, options), (error) => {
        assert.ok(error instanceof SvcError);
        assert.equal(error.code, code);
        const errors = error.diagnostics.filter(({ severity }) => severity === "error");
        const found = new Set(errors.map((item) => item.code));
        assert.deepEqual([...found], codes, code);
        return true;
      });
      assert.equal(existsSync(workspace.stateDir), false, code);
    });
  }
});

Deno.test("variants that run side by side give the same artifacts, in rows of the same order", () =>
  withWorkspace(async (workspace) => {
    const counts = [4, 5, 6, 7, 8];
    const artifacts = (rows: readonly MatrixRow[]) =>
      rows.map(({ run_id, index, variant_id, metrics: { data_0: { "test.count": count } } }) => {
        const { steps } = showRun(workspace, run_id!).summary as { steps: { outputs: JsonObject }[] };
        return [index, variant_id, count, steps.map(({ outputs }) => outputs)];
      });
    const one = await runSwept(workspace, { raw: swept(counts) });
    let running = 0, most = 0;
    const events: MatrixEvent[] = [];
    const execute: MatrixRunOptions["execute"] = async (options) => {
      most = Math.max(most, ++running);
      // The first variants take the longest.
      const pauseMs = 30 - 5 * Number(options.recipe.metadata.matrix_index);
      return await fakeExecutor({ pauseMs })(options).finally(() => running--);
    };
    const many = await runSwept(workspace, {
      raw: swept(counts),
      rerun: true,
      parallelPoints: 3,
      execute,
      onEvent: (event) => events.push(event),
    });
    assert.equal(most, 3);
    assert.equal(many.status, "completed");
    assert.deepEqual(artifacts(many.rows), artifacts(one.rows));
    const steps = events.filter(({ kind }) => kind === "step_completed");
    assert.deepEqual([...new Set(steps.map(({ fields }) => fields.point))].sort(), [0, 1, 2, 3, 4]);

    const failed = await runSwept(workspace, { rerun: true, parallelPoints: 2, fake: { failAt: "report_0" } });
    assert.deepEqual(outcome(failed.rows), ["0 failed", "1 failed", "2 skipped"]);
    await assert.rejects(runSwept(workspace, { parallelPoints: 33 }), (error) => {
      assert.ok(error instanceof SvcError);
      return error.code === "execution_invalid";
    });
  }));

Deno.test("matrices of one recipe at once run each point once", () =>
  withWorkspace(async (workspace) => {
    const results = await Promise.all([
      runSwept(workspace),
      runSwept(workspace),
      runSwept(workspace, { points: ["1"] }),
      runSwept(workspace, { parallelPoints: 3 }),
    ]);
    assert.deepEqual(results.map(({ status }) => status), results.map(() => "completed"));
    const ids = results.map(({ rows }) => rows.map(({ run_id }) => run_id));
    assert.deepEqual(ids, [ids[0], ids[0], [ids[0][1]], ids[0]]);
    assert.equal(listRuns(workspace).length, 3);
    assert.equal(results.flatMap(({ rows }) => rows).filter(({ reused }) => reused).length, 7);
    const lock = tryLockRun(workspace, "matrix_points");
    assert.ok(lock, "the file of completed points is held");
    lock.release();
  }));

Deno.test("a link in place of the file of completed points is refused, and its target is left alone", () =>
  withWorkspace(async (workspace) => {
    const canary = join(workspace.stateDir, "canary");
    Deno.mkdirSync(workspace.locks, { recursive: true });
    Deno.writeTextFileSync(canary, "kept");
    Deno.symlinkSync(canary, join(workspace.locks, "matrix_points.lock"));
    await assert.rejects(runSwept(workspace), { code: "path_refused" });
    assert.equal(Deno.readTextFileSync(canary), "kept");
  }));

Deno.test("a matrix that waits for a point of another process ends when it is canceled, and runs what that one failed", () =>
  withWorkspace(async (workspace) => {
    const cancellation = createCancellation(), begun = Promise.withResolvers<void>();
    const failing = runSwept(workspace, {
      execute: async (options) => {
        begun.resolve();
        await new Promise<void>((resolve) => void cancellation.onCancel(resolve));
        return await fakeExecutor({ failAt: "data_0" })(options);
      },
    });
    await begun.promise;
    const waiting = runSwept(workspace, {
      cancellation,
      onEvent: ({ kind }) => kind === "matrix_variant_waiting" && cancellation.cancel(),
    });
    const next = runSwept(workspace);
    assert.deepEqual(outcome((await failing).rows), ["0 failed", "1 skipped", "2 skipped"]);
    assert.deepEqual([(await waiting).status, ...outcome((await waiting).rows)], [
      "canceled",
      "0 skipped",
      "1 skipped",
      "2 skipped",
    ]);
    assert.deepEqual(outcome((await next).rows), ["0 completed", "1 completed", "2 completed"]);
  }));

Deno.test("the index and the bundles name the same ended runs", () =>
  withWorkspace(async (workspace) => {
    await runSwept(workspace);
    await runSwept(workspace, { raw: swept([7, 8]), fake: { failAt: "report_0" } });
    const cancellation = createCancellation();
    await runSwept(workspace, { raw: swept([9]), cancellation, fake: { afterStep: () => cancellation.cancel() } });
    const ended = listRuns(workspace).filter(({ status }) => status !== "failed")
      .map(({ run_id, status, effective_recipe_sha256 }) => ({ run_id, status, effective_recipe_sha256 }));
    assert.deepEqual(ended.map(({ status }) => status), ["canceled", "completed", "completed", "completed"]);
    assert.deepEqual((await endedRuns(workspace, undefined, 0)).map((row) => ({ ...row })), ended);
    // Of some recipes, and of none.
    const [{ effective_recipe_sha256: sha256 }] = ended,
      own = ended.filter((one) => one.effective_recipe_sha256 === sha256);
    assert.ok(own.length < ended.length);
    assert.deepEqual((await endedRuns(workspace, [sha256!, "0".repeat(64)], 0)).map((row) => ({ ...row })), own);
    assert.deepEqual(await endedRuns(workspace, [], 0), []);
    Deno.writeTextFileSync(join(workspace.stateDir, "index.sqlite3"), "no database");
    assert.equal((await endedRuns(workspace, undefined, 0)).length, ended.length);
  }));

Deno.test("a canceled run that another process has completed meanwhile stays", () =>
  withWorkspace(async (workspace) => {
    const cancellation = createCancellation();
    await runSwept(workspace, { raw: swept([4]), cancellation, fake: { afterStep: () => cancellation.cancel() } });
    const [{ run_id }] = listRuns(workspace), path = join(workspace.runs, run_id, "summary.json");
    const afterStep = () =>
      Deno.writeTextFileSync(
        path,
        Deno.readTextFileSync(path).replace('"status": "canceled"', '"status": "completed"'),
      );
    const { rows: [row] } = await runSwept(workspace, { raw: swept([4]), fake: { afterStep } });
    assert.deepEqual([row.status, row.replaced, existsSync(path)], ["completed", [], true]);
  }));
