import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { tryLockRun } from "../../../lib/run/lock.ts";
import { reserveRunId } from "../../../lib/run/reservation.ts";
import { listRuns, removeRuns, resolveRunId, showRun } from "../../../lib/run/store.ts";
import { runSmall, testRecipe, withWorkspace } from "./fixture.ts";

const refusedWith = (code: string, hint?: RegExp) => (error: unknown) => {
  assert.ok(error instanceof SvcError, String(error));
  assert.equal(error.code, code);
  if (hint) assert.match(error.hint ?? "", hint);
  return true;
};

Deno.test("an empty workspace has no runs and gets no folders from being asked", () =>
  withWorkspace((workspace) => {
    assert.deepEqual(listRuns(workspace), []);
    assert.throws(() => resolveRunId(workspace, "x"), refusedWith("run_not_found", /svc runs list/));
    assert.throws(() => Deno.statSync(workspace.stateDir), Deno.errors.NotFound);
  }));

Deno.test("runs are listed newest first, with sizes and suites", () =>
  withWorkspace(async (workspace) => {
    const raw = { ...testRecipe(1), suite: { id: "semantic_comm", name: "S", status: "active", version: 1 } };
    const first = await runSmall(workspace, { raw });
    const second = await runSmall(workspace, { fake: { failAt: "data_0" } });
    const third = await runSmall(workspace);
    const rows = listRuns(workspace);
    assert.deepEqual(rows.map(({ run_id }) => run_id), [third, second, first].map(({ run_id }) => run_id));
    assert.deepEqual(rows.map(({ status }) => status), ["completed", "failed", "completed"]);
    assert.equal(rows[2].suite, "semantic_comm");
    assert.equal(rows[0].suite, null);
    assert.equal(rows[0].recipe_name, "small recipe");
    assert.equal(rows[0].step_count, 4);
    const size = (folder: string): number =>
      [...Deno.readDirSync(folder)].reduce((total, entry) => {
        const path = join(folder, entry.name);
        return total + (entry.isDirectory ? size(path) : Deno.statSync(path).size);
      }, 0);
    assert.equal(rows[0].size_bytes, size(third.directory));
  }));

Deno.test("many runs of one second are listed in the order of their numbers", () =>
  withWorkspace(async (workspace) => {
    const { directory, run_id } = await runSmall(workspace, { pairs: 1 });
    for (const n of [2, 9, 10]) Deno.renameSync(copy(directory, `${directory}.copy`), `${directory}_${n}`);
    assert.deepEqual(listRuns(workspace).map((row) => row.run_id), [
      `${run_id}_10`,
      `${run_id}_9`,
      `${run_id}_2`,
      run_id,
    ]);
  }));

function copy(from: string, to: string): string {
  Deno.mkdirSync(to);
  for (const entry of Deno.readDirSync(from)) {
    if (entry.isDirectory) copy(join(from, entry.name), join(to, entry.name));
    else Deno.copyFileSync(join(from, entry.name), join(to, entry.name));
  }
  return to;
}

Deno.test("a broken bundle is listed with its problem and hides no other", () =>
  withWorkspace(async (workspace) => {
    const good = await runSmall(workspace);
    const bad = await runSmall(workspace);
    Deno.writeTextFileSync(bad.summary_path, "{");
    const rows = listRuns(workspace);
    assert.equal(rows.length, 2);
    assert.match(String(rows.find(({ run_id }) => run_id === bad.run_id)!.problem), /summary\.json/);
    assert.equal(rows.find(({ run_id }) => run_id === good.run_id)!.status, "completed");
    assert.throws(() => showRun(workspace, bad.run_id), refusedWith("bundle_schema_invalid"));
  }));

Deno.test("an id may be shortened while it is unique; otherwise the nearest is offered", () =>
  withWorkspace(async (workspace) => {
    const { run_id } = await runSmall(workspace, { raw: { ...testRecipe(1), name: "alpha" } });
    assert.equal(resolveRunId(workspace, run_id), run_id);
    assert.equal(resolveRunId(workspace, run_id.slice(0, 12)), run_id);
    assert.throws(
      () => resolveRunId(workspace, run_id.replace("alpha", "alhpa")),
      refusedWith("run_not_found", /alpha\?/),
    );
    assert.throws(() => resolveRunId(workspace, "alpha"), refusedWith("run_not_found", /Did you mean .*_alpha\?/));
    const other = await runSmall(workspace, { raw: { ...testRecipe(1), name: "beta" } });
    assert.throws(() => resolveRunId(workspace, "20"), refusedWith("run_not_found", new RegExp(other.run_id)));
    for (const wanted of ["", ".", "..", "../runs", ".locks", `${run_id}/artifacts`]) {
      assert.throws(() => resolveRunId(workspace, wanted), refusedWith("run_not_found"));
    }
  }));

Deno.test("a symbolic link is no run", () =>
  withWorkspace(async (workspace) => {
    const { directory, run_id } = await runSmall(workspace);
    const link = run_id.replace("small", "linked");
    Deno.symlinkSync(directory, join(workspace.runs, link));
    assert.deepEqual(listRuns(workspace).map((row) => row.run_id), [run_id]);
    assert.throws(() => showRun(workspace, link), refusedWith("run_not_found"));
    assert.throws(() => removeRuns(workspace, [link]), refusedWith("run_not_found"));
  }));

Deno.test("finished runs can be removed, all or none; their ids stay reserved", () =>
  withWorkspace(async (workspace) => {
    const kept = await runSmall(workspace);
    const gone = await runSmall(workspace);
    const lock = tryLockRun(workspace, kept.run_id)!;
    assert.throws(() => removeRuns(workspace, [gone.run_id, kept.run_id]), refusedWith("run_still_executing"));
    assert.throws(() => removeRuns(workspace, [gone.run_id, "nothing"]), refusedWith("run_not_found"));
    assert.equal(listRuns(workspace).length, 2);
    lock.release();
    assert.deepEqual(removeRuns(workspace, [gone.run_id, gone.run_id]), [gone.run_id]);
    assert.deepEqual(listRuns(workspace).map(({ run_id }) => run_id), [kept.run_id]);
    assert.deepEqual([...Deno.readDirSync(workspace.transit)], []);
    const time = new Date(gone.summary.created_at_utc as string);
    assert.notEqual(reserveRunId(workspace, "small recipe", time), gone.run_id);
  }));
