import assert from "node:assert/strict";
import { join } from "node:path";
import { entriesOf } from "../../../lib/artifact/path_kind.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import type { BundleJob } from "../../../lib/execute/bundle_files.ts";
import { WorkerPool } from "../../../lib/execute/pool.ts";
import { storedContents } from "../../../lib/execute/contents.ts";
import { BundleCommits } from "../../../lib/run/commits.ts";
import { type BundleFiles, DISK, listFiles } from "../../../lib/run/files.ts";
import { readPruned } from "../../../lib/run/prune.ts";
import { runMatrix } from "../../../lib/study/run_matrix.ts";
import { listRuns, showRun } from "../../../lib/run/store.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import type { Workspace } from "../../../lib/run/workspace.ts";
import { dyingDisk, Killed } from "../../support/faults.ts";
import { fakeExecutor, runSmall, testRecipe, testRegistry, withWorkspace } from "./fixture.ts";

/** Runs two short recipes side by side. @returns whether the process was killed meanwhile */
async function runShort(workspace: Workspace, files: BundleFiles, shortMs?: number, pauseMs?: number) {
  let killed = false;
  const noted = (error: unknown) => {
    if (!(error instanceof Killed)) throw error;
    killed = true;
  };
  const commits = new BundleCommits(workspace, { files, shortMs });
  await Promise.all(
    [1, 2].map((pairs) => runSmall(workspace, { pairs, commits, files, fake: { pauseMs } }).catch(noted)),
  );
  try {
    commits[Symbol.dispose]();
  } catch (error) {
    noted(error);
  }
  return killed;
}

const transit = (workspace: Workspace) => entriesOf(workspace.transit).map(({ name }) => name);

Deno.test("wherever short runs are killed, each is there as a whole or not at all", async () => {
  const counting = dyingDisk(Infinity);
  await withWorkspace(async (workspace) => assert.equal(await runShort(workspace, counting), false));
  const numbers = new Set<number>();
  for (let operations = 0; operations <= counting.used(); operations++) {
    for (const tear of [false, true]) {
      await withWorkspace(async (workspace) => {
        const killed = await runShort(workspace, dyingDisk(operations, tear)), rows = listRuns(workspace);
        assert.ok(killed || rows.length === 2);
        numbers.add(rows.length);
        for (const { run_id, status, problem } of rows) {
          assert.deepEqual([status, problem], ["completed", undefined], `after ${operations} operations`);
          const report = await verifyRun(workspace, run_id);
          assert.deepEqual([report.status, report.errors], ["valid", []]);
        }
        assert.deepEqual(transit(workspace), [], "nothing stays in transit");
      });
    }
  }
  assert.deepEqual([...numbers].sort(), [0, 1, 2]);
});

Deno.test("a run that takes longer is seen while it executes, and a kill leaves it incomplete", async () => {
  const counting = dyingDisk(Infinity);
  await withWorkspace(async (workspace) => assert.equal(await runShort(workspace, counting, 0, 1), false));
  const outcomes = new Set<string>();
  for (let operations = 0; operations <= counting.used(); operations += 3) {
    await withWorkspace(async (workspace) => {
      await runShort(workspace, dyingDisk(operations), 0, 1);
      for (const { run_id, status, problem } of listRuns(workspace)) {
        outcomes.add(status);
        assert.equal(problem, undefined);
        const report = await verifyRun(workspace, run_id);
        assert.deepEqual(report.errors, [], `after ${operations} operations`);
        assert.equal(report.status, status === "completed" ? "valid" : "warning");
      }
      assert.deepEqual(transit(workspace), []);
    });
  }
  assert.deepEqual([...outcomes].sort(), ["completed", "incomplete"]);
});

Deno.test("a run is among the runs from its limit on, with its lock and its artifacts", () =>
  withWorkspace(async (workspace) => {
    using commits = new BundleCommits(workspace, { shortMs: 0 });
    const seen: string[][] = [];
    const { run_id } = await runSmall(workspace, {
      commits,
      fake: {
        pauseMs: 1,
        afterStep: () =>
          void seen.push(
            listRuns(workspace).flatMap(({ run_id, status }) => [
              status,
              ...listFiles(join(workspace.runs, run_id)).map(({ path }) => path).filter((path) => path.includes("/")),
            ]),
          ),
      },
    });
    assert.deepEqual(seen[1], ["running", "artifacts/data_0/bits.npz", "artifacts/report_0/report.json"]);
    assert.equal((await verifyRun(workspace, run_id)).status, "valid");
    assert.equal(storedContents(workspace.contents).length, 3, "equal artifacts are stored once");
  }));

Deno.test("a disk that refuses the bundle of a short run fails the run, and the next one is whole", () =>
  withWorkspace(async (workspace) => {
    let full = true;
    const create: BundleFiles["create"] = (...given) => {
      if (full) throw Object.assign(new Error("No space left on device"), { code: "ENOSPC" });
      DISK.create(...given);
    };
    using commits = new BundleCommits(workspace, { files: { ...DISK, create } });
    await assert.rejects(runSmall(workspace, { pairs: 1, commits }), { code: "ENOSPC" });
    assert.deepEqual(listRuns(workspace), []);
    full = false;
    const { run_id } = await runSmall(workspace, { pairs: 1, commits });
    assert.equal((await verifyRun(workspace, run_id)).status, "valid");
  }));

/** The small recipe over labels of its sink, whose source is the same in all points. */
const labelled = {
  ...testRecipe(1),
  metadata: {
    seed: 23,
    seed_namespace: "pair",
    matrix: { dimensions: { label: ["a", "b", "c"] }, step_params: { report_0: { label: { matrix: "label" } } } },
  },
};

Deno.test("points share equal artifacts, and keep what they are asked to keep", async () => {
  for (const keep of ["all", "metrics"] as const) {
    await withWorkspace(async (workspace) => {
      const { rows } = await runMatrix({
        raw: labelled,
        registry: testRegistry(),
        workspace,
        cancellation: createCancellation(),
        execute: fakeExecutor(),
        keep,
      });
      const path = "artifacts/data_0/bits.npz";
      for (const { run_id } of rows) {
        const { directory } = showRun(workspace, run_id!), report = await verifyRun(workspace, run_id!);
        assert.deepEqual([report.status, report.errors], ["valid", []]);
        assert.equal(report.artifacts, keep === "all" ? "present" : "pruned");
        assert.deepEqual(readPruned(directory)?.files.map((file) => file.path), keep === "all" ? undefined : [path]);
        if (keep === "metrics") continue;
        const { nlink, mode } = Deno.lstatSync(join(directory, path));
        // Three bundles and the stored name.
        if (Deno.build.os !== "windows") assert.deepEqual([nlink, mode! & 0o222], [4, 0]);
      }
      assert.equal(storedContents(workspace.contents).length, keep === "all" ? 4 : 3);
      assert.deepEqual(transit(workspace), []);
    });
  }
});

Deno.test("a stored file that has changed is not linked", () =>
  withWorkspace(async (workspace) => {
    using commits = new BundleCommits(workspace);
    const first = await runSmall(workspace, { pairs: 1, commits });
    const stored = join(first.directory, "artifacts/data_0/bits.npz");
    Deno.chmodSync(stored, 0o644);
    Deno.writeFileSync(stored, new Uint8Array(7));
    const second = await runSmall(workspace, { pairs: 1, commits });
    assert.equal((await verifyRun(workspace, second.run_id)).status, "valid");
  }));

/** Runs a short recipe whose bundle a step thread writes. @param change is called with the bundle before */
async function runOnThread(workspace: Workspace, change: (job: BundleJob) => unknown = () => {}) {
  const pool = new WorkerPool();
  try {
    const save = (job: BundleJob) => (change(job), pool.save(job));
    using commits = new BundleCommits(workspace, { save });
    return await runSmall(workspace, { commits });
  } finally {
    pool.close();
  }
}

Deno.test("a step thread writes the same bundle, with equal artifacts stored once", () =>
  withWorkspace(async (workspace) => {
    const commits = new BundleCommits(workspace), own = await runSmall(workspace, { commits });
    commits[Symbol.dispose]();
    const other = await runOnThread(workspace);
    const paths = (directory: string) => listFiles(directory).map(({ path }) => path);
    assert.deepEqual(paths(other.directory), paths(own.directory));
    for (const path of paths(own.directory).filter((path) => path.includes("/") || path.includes("recipe"))) {
      const [a, b] = [own, other].map(({ directory }) => Deno.lstatSync(join(directory, path)));
      if (Deno.build.os !== "windows") assert.equal(b.mode, a.mode);
      if (path.includes("/")) assert.equal(b.ino, a.ino);
      assert.deepEqual(Deno.readFileSync(join(other.directory, path)), Deno.readFileSync(join(own.directory, path)));
    }
    assert.equal((await verifyRun(workspace, other.run_id)).status, "valid");
    assert.deepEqual(transit(workspace), []);
  }));

Deno.test("an artifact that changed after it was hashed is listed, not stored, by a step thread too", () =>
  withWorkspace(async (workspace) => {
    const damage = ({ artifacts: [{ path, bytes }] }: BundleJob) => path.includes("data_0") && bytes.fill(7);
    const { run_id, directory, pruned } = await runOnThread(workspace, damage);
    assert.deepEqual(pruned.map(({ path }) => path), ["artifacts/data_0/bits.npz"]);
    assert.deepEqual(readPruned(directory)?.files, pruned);
    assert.deepEqual((await verifyRun(workspace, run_id)).errors, []);
  }));

Deno.test("an error of the disk in a step thread is that of this thread, and leaves nothing", () =>
  withWorkspace(async (workspace) => {
    const gone = runOnThread(workspace, ({ place }) => Deno.mkdirSync(place));
    await assert.rejects(gone, { name: "Error", code: "EEXIST" });
    assert.deepEqual([listRuns(workspace), transit(workspace)], [[], []]);
  }));
