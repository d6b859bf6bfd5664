import assert from "node:assert/strict";
import { join } from "node:path";
import { type JsonObject, parseJson } from "../../../lib/contract/json.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { withSystemCode } from "../../../lib/contract/system_error.ts";
import { type BundleFiles, listFiles } from "../../../lib/run/files.ts";
import { isRunLocked, tryLockRun } from "../../../lib/run/lock.ts";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { listRuns, removeRuns, showRun } from "../../../lib/run/store.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import type { Workspace } from "../../../lib/run/workspace.ts";
import { dyingDisk, Killed } from "../../support/faults.ts";
import { within } from "../../support/until.ts";
import { runSmall, withWorkspace } from "./fixture.ts";

/** Leaves something in staging, as a step does that is at work. */
function stage(workspace: Workspace): void {
  const [id] = [...Deno.readDirSync(workspace.runs)].map(({ name }) => name).filter((name) => !name.startsWith("."));
  Deno.mkdirSync(join(workspace.runs, id, "artifacts/.staging/report_0-1"), { recursive: true });
  Deno.writeTextFileSync(join(workspace.runs, id, "artifacts/.staging/report_0-1/half.npz"), "half");
}

async function runUntilKilled(workspace: Workspace, files: BundleFiles): Promise<boolean> {
  try {
    await runSmall(workspace, { pairs: 1, files, fake: { afterStep: () => stage(workspace) } });
    return false;
  } catch (error) {
    if (error instanceof Killed) return true;
    throw error;
  }
}

Deno.test("wherever a run is killed, no summary claims an end that verify refuses", async () => {
  const counting = dyingDisk(Infinity);
  await withWorkspace(async (workspace) => assert.equal(await runUntilKilled(workspace, counting), false));
  const total = counting.used();
  const outcomes: string[] = [];
  for (let operations = 0; operations <= total; operations++) {
    for (const tear of [false, true]) {
      await withWorkspace(async (workspace) => {
        const killed = await runUntilKilled(workspace, dyingDisk(operations, tear));
        const rows = listRuns(workspace);
        assert.ok(rows.length <= 1);
        assert.deepEqual([...Deno.readDirSync(workspace.transit)], [], "nothing stays in transit");
        if (rows.length === 0) {
          outcomes.push("none");
          return;
        }
        const [{ run_id, status, problem }] = rows;
        outcomes.push(status);
        assert.equal(problem, undefined);
        assert.ok(status === "completed" || killed);
        const { directory, summary, manifest } = showRun(workspace, run_id);
        assert.equal(manifest.status, status);
        const report = await verifyRun(workspace, run_id);
        assert.deepEqual(report.errors, [], `after ${operations} operations`);
        assert.equal(report.status, status === "completed" ? "valid" : "warning");
        const files = listFiles(directory).map(({ path }) => path);
        assert.deepEqual(files.filter((path) => path.includes(".staging") || path.endsWith(".tmp")), []);
        assert.equal(files.includes("SHA256SUMS"), status === "completed");
        if (status === "incomplete") {
          assert.deepEqual(summary.failure, { kind: "interrupted", code: "run_interrupted" });
          assert.equal(report.certification.verdict, "nonpublication_evidence_pass");
        }
      });
    }
  }
  assert.equal(outcomes[0], "none");
  assert.equal(outcomes.at(-1), "completed");
  assert.ok(outcomes.includes("incomplete"));
});

Deno.test("settling an interrupted run may be interrupted as well", async () => {
  for (let operations = 0; operations < 20; operations++) {
    await withWorkspace(async (workspace) => {
      // Killed between SHA256SUMS and the summary: all but the last rename and what follows it.
      const counting = dyingDisk(Infinity);
      await runUntilKilled(workspace, counting);
      removeRuns(workspace, listRuns(workspace).map(({ run_id }) => run_id));
      assert.equal(await runUntilKilled(workspace, dyingDisk(counting.used() - 2)), true);
      const [before] = [...Deno.readDirSync(workspace.runs)].map(({ name }) => name).filter((name) =>
        !name.startsWith(".")
      );
      assert.ok(listFiles(join(workspace.runs, before)).some(({ path }) => path === "SHA256SUMS"));
      listRuns(workspace, dyingDisk(operations));
      const [row] = listRuns(workspace);
      assert.equal(row.status, "incomplete");
      assert.deepEqual((await verifyRun(workspace, row.run_id)).errors, []);
    });
  }
});

Deno.test("an executing run is left alone", () =>
  withWorkspace(async (workspace) => {
    let looked = 0;
    const { run_id } = await runSmall(workspace, {
      fake: {
        afterStep: () => {
          const [row] = listRuns(workspace);
          assert.equal(row.status, "running");
          looked++;
        },
      },
    });
    assert.equal(looked, 4);
    assert.equal(showRun(workspace, run_id).summary.status, "completed");
  }));

Deno.test("a state directory that is removed during a run is an error of the file system", () =>
  withWorkspace(async (workspace) => {
    const afterStep = () => Deno.removeSync(workspace.stateDir, { recursive: true });
    const error = await runSmall(workspace, { pairs: 1, fake: { order: ["data_0"], afterStep } }).catch(withSystemCode);
    assert.ok(error instanceof SvcError);
    assert.deepEqual([error.code, error.extra.system_code], ["file_system_error", "ENOENT"]);
    assert.ok(!exists(workspace.stateDir), "nothing is written where the state directory was");
  }));

Deno.test("a lock belongs to one holder, also within one process", () =>
  withWorkspace((workspace) => {
    const lock = tryLockRun(workspace, "a");
    assert.ok(lock);
    assert.equal(tryLockRun(workspace, "a"), null);
    assert.equal(isRunLocked(workspace, "a"), true);
    lock.release();
    assert.equal(isRunLocked(workspace, "a"), false);
    assert.equal(isRunLocked(workspace, "b"), false);
  }));

Deno.test("kill -9 frees the lock, and the run is found interrupted", () =>
  withWorkspace(async (workspace) => {
    const script = `
      import { runSmall } from ${JSON.stringify(new URL("./fixture.ts", import.meta.url).href)};
      import { openWorkspace } from ${JSON.stringify(new URL("../../../lib/run/workspace.ts", import.meta.url).href)};
      const workspace = openWorkspace({ projectRoot: ${JSON.stringify(workspace.projectRoot)} });
      await runSmall(workspace, { pairs: 3, fake: { afterStep: ({ id }) => {
        if (id === "data_1") { console.log("here"); for (;;); }
      } } });`;
    const path = join(workspace.projectRoot, "killed.ts");
    Deno.writeTextFileSync(path, script);
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--quiet",
        "--config",
        new URL("../../../deno.json", import.meta.url).pathname,
        path,
      ],
      stdout: "piped",
      env: { SVC_WORKSPACE: workspace.stateDir },
    }).spawn();
    const reader = child.stdout.getReader();
    const { value } = await within("the second step starts", reader.read());
    assert.equal(new TextDecoder().decode(value).trim(), "here");
    const [running] = listRuns(workspace);
    assert.equal(running.status, "running");
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    const [row] = listRuns(workspace);
    assert.equal(row.status, "incomplete");
    const report = await verifyRun(workspace, row.run_id);
    assert.deepEqual(report.errors, []);
    const summary = parseJson(Deno.readTextFileSync(join(workspace.runs, row.run_id, "summary.json"))) as JsonObject;
    assert.equal(summary.status, "incomplete");
  }));
