import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { parseJson, prettyJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { storedContents } from "../../../lib/execute/contents.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { type BundleFiles, listFiles } from "../../../lib/run/files.ts";
import { collectGarbage } from "../../../lib/run/gc.ts";
import { markRemoved, reserveRunId } from "../../../lib/run/reservation.ts";
import { restoreRun } from "../../../lib/run/restore.ts";
import { pruneRuns, removeSelected, takeBack } from "../../../lib/run/retention.ts";
import { parseAge, parseSize, selectRuns } from "../../../lib/run/select.ts";
import { listRuns } from "../../../lib/run/store.ts";
import { tryLockRun } from "../../../lib/run/lock.ts";
import { emptyTrash, removals, UNDO_MS } from "../../../lib/run/trash.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import type { Workspace } from "../../../lib/run/workspace.ts";
import { dyingDisk, Killed } from "../../support/faults.ts";
import { type FakeExecution, fakeExecutor, runSmall, testRecipe, testRegistry, withWorkspace } from "./fixture.ts";

const refusedWith = (code: string) => (error: unknown) => {
  assert.ok(error instanceof SvcError, String(error));
  assert.equal(error.code, code);
  return true;
};

const restore = (workspace: Workspace, id: string, fake: FakeExecution = {}, files?: BundleFiles) =>
  restoreRun(workspace, id, {
    registry: testRegistry(),
    cancellation: createCancellation(),
    execute: fakeExecutor(fake),
    files,
  });

/** Path to the bytes of every file of a bundle, as text of one byte a character. */
const contentOf = (directory: string) =>
  new Map(
    listFiles(directory).map((
      { path },
    ) => [path, new TextDecoder("latin1").decode(Deno.readFileSync(join(directory, path)))]),
  );

const pathsOf = (directory: string) => listFiles(directory).map(({ path }) => path);

Deno.test("a pruned bundle is valid, and restored it equals the original byte for byte", () =>
  withWorkspace(async (workspace) => {
    const { run_id, directory } = await runSmall(workspace);
    const before = contentOf(directory);
    const report = pruneRuns(workspace, { ids: [run_id] });
    assert.deepEqual([report.runs.length, report.files, report.dry_run], [1, 4, false]);
    assert.deepEqual(pathsOf(directory).filter((path) => path.startsWith("artifacts")), []);
    const documents = contentOf(directory);
    for (const [path, text] of documents) if (path !== "pruned.json") assert.equal(text, before.get(path), path);
    const { files } = parseJson(documents.get("pruned.json")!) as { files: JsonObject[] };
    assert.equal(files.length, 4);
    for (const { path, size_bytes } of files) assert.equal(before.get(String(path))!.length, size_bytes);
    const verified = await verifyRun(workspace, run_id);
    assert.deepEqual([verified.status, verified.artifacts, verified.errors], ["valid", "pruned", []]);

    assert.deepEqual(await restore(workspace, run_id), {
      run_id,
      status: "restored",
      files: 4,
      size_bytes: report.size_bytes,
      warnings: [],
    });
    assert.deepEqual(contentOf(directory), before);
    assert.equal((await verifyRun(workspace, run_id)).artifacts, "present");
    assert.equal((await restore(workspace, run_id)).status, "complete");
    assert.deepEqual([...Deno.readDirSync(workspace.transit)], []);
  }));

Deno.test("a restore that differs names the step and changes nothing", () =>
  withWorkspace(async (workspace) => {
    const { run_id, directory } = await runSmall(workspace);
    pruneRuns(workspace, { ids: [run_id] });
    const before = contentOf(directory);
    for (const fake of [{ offset: 1 }, { failAt: "data_1" }]) {
      const error = await restore(workspace, run_id, fake).then(() => null, (error) => error);
      assert.ok(refusedWith("restore_mismatch")(error));
      assert.equal(error.extra.first_difference, fake.offset === 1 ? "data_0" : "data_1");
      assert.deepEqual(contentOf(directory), before);
    }
  }));

Deno.test("verify refuses a pruned bundle that claims something else", () =>
  withWorkspace(async (workspace) => {
    const { run_id, directory } = await runSmall(workspace);
    pruneRuns(workspace, { ids: [run_id] });
    const path = join(directory, "pruned.json"), text = Deno.readTextFileSync(path);
    const document = parseJson(text) as { files: JsonObject[] };
    const outcome = async (changed: JsonObject | string) => {
      Deno.writeTextFileSync(path, typeof changed === "string" ? changed : prettyJson(changed));
      const { status, errors } = await verifyRun(workspace, run_id);
      return [status, ...new Set(errors.map(({ code }) => code))];
    };
    const [first, ...rest] = document.files;
    const other = { ...first, sha256: "0".repeat(64) };
    assert.deepEqual(await outcome({ ...document, files: rest }), ["invalid", "bundle_file_missing"]);
    assert.deepEqual(await outcome({ ...document, files: [other, ...rest] }), ["invalid", "bundle_hash_mismatch"]);
    const extra = { ...first, path: "artifacts/data_0/more.npz" };
    assert.deepEqual(await outcome({ ...document, files: [...document.files, extra] }), [
      "invalid",
      "bundle_link_mismatch",
    ]);
    assert.ok(
      (await outcome({ ...document, files: [{ ...first, path: "summary.json" }] })).includes("bundle_schema_invalid"),
    );
    assert.ok((await outcome("{}")).includes("bundle_schema_invalid"));
    assert.deepEqual(await outcome(text), ["valid"]);
    // The digests of what is left still count.
    Deno.writeTextFileSync(join(directory, "execution-plan.json"), "{}");
    assert.equal((await verifyRun(workspace, run_id)).status, "invalid");
  }));

Deno.test("keep and drop prune a run when it is complete", () =>
  withWorkspace(async (workspace) => {
    const metrics = await runSmall(workspace, { keep: "metrics" });
    // Reports stay, so that verification compares the metrics with them.
    assert.deepEqual(metrics.pruned.map(({ path }) => path), [
      "artifacts/data_0/bits.npz",
      "artifacts/data_1/bits.npz",
    ]);
    assert.equal((await verifyRun(workspace, metrics.run_id)).not_compared, 0);
    const some = await runSmall(workspace, { drop: ["data_0", "report_1"] });
    assert.deepEqual(some.pruned.map(({ path }) => path), [
      "artifacts/data_0/bits.npz",
      "artifacts/report_1/report.json",
    ]);
    assert.deepEqual(pathsOf(some.directory).filter((path) => path.startsWith("artifacts")), [
      "artifacts/data_1/bits.npz",
      "artifacts/report_0/report.json",
    ]);
    const failed = await runSmall(workspace, { keep: "metrics", fake: { failAt: "report_1" } });
    assert.deepEqual(failed.pruned, []);
    for (const { run_id } of [metrics, some]) assert.equal((await verifyRun(workspace, run_id)).status, "valid");
    const before = listRuns(workspace).length;
    await assert.rejects(runSmall(workspace, { drop: ["data_9"] }), refusedWith("execution_invalid"));
    assert.equal(listRuns(workspace).length, before);
    // The rest goes with a second prune, and one restore brings everything back.
    pruneRuns(workspace, { ids: [some.run_id] });
    assert.equal((await restore(workspace, some.run_id)).files, 4);
    assert.equal((await verifyRun(workspace, some.run_id)).artifacts, "present");
  }));

Deno.test("runs are selected by id, recipe, age and size", () =>
  withWorkspace(async (workspace) => {
    const small = await runSmall(workspace, { pairs: 1 });
    const large = await runSmall(workspace, { pairs: 3 });
    const variant = await runSmall(workspace, { raw: { ...testRecipe(1), name: "small recipe__snr_db_3" } });
    const other = await runSmall(workspace, { raw: { ...testRecipe(1), name: "small recipes" } });
    const old = join(small.directory, "summary.json");
    const text = Deno.readTextFileSync(old);
    Deno.writeTextFileSync(old, text.replace(/"completed_at_utc": "\d+/, '"completed_at_utc": "2001'));
    const ids = (selection: Parameters<typeof selectRuns>[1]) =>
      selectRuns(workspace, selection, "prune").map(({ run_id }) => run_id).sort();
    assert.deepEqual(ids({ recipe: "small recipe" }), [small, large, variant].map(({ run_id }) => run_id).sort());
    assert.deepEqual(ids({ olderThan: "30d" }), [small.run_id]);
    const size = listRuns(workspace).find(({ run_id }) => run_id === large.run_id)!.size_bytes;
    assert.deepEqual(ids({ largerThan: `${size - 1}B` }), [large.run_id]);
    assert.deepEqual(ids({ largerThan: `${size}` }), []);
    assert.deepEqual(ids({ ids: [other.run_id, small.run_id], olderThan: "1w" }), [small.run_id]);
    assert.throws(() => ids({}), refusedWith("usage_invalid"));
    assert.throws(() => ids({ olderThan: "30" }), refusedWith("usage_invalid"));
    assert.throws(() => ids({ largerThan: "100XB" }), refusedWith("usage_invalid"));
    const lock = tryLockRun(workspace, large.run_id)!;
    assert.throws(() => ids({ ids: [large.run_id] }), refusedWith("run_still_executing"));
    assert.ok(!ids({ recipe: "small recipe" }).includes(large.run_id));
    lock.release();

    const files = () => listRuns(workspace).map(({ run_id }) => pathsOf(join(workspace.runs, run_id)));
    const before = files();
    const dry = removeSelected(workspace, { recipe: "small recipe" }, { dryRun: true });
    assert.deepEqual(files(), before);
    assert.deepEqual([dry.runs.length, dry.freed_bytes], [3, dry.size_bytes]);
    assert.equal(dry.runs.find(({ run_id }) => run_id === large.run_id)!.size_bytes, size);
    assert.equal(pruneRuns(workspace, { recipe: "small recipe" }, { dryRun: true }).files, 10);
    assert.deepEqual(files(), before);
    assert.deepEqual(removeSelected(workspace, { recipe: "small recipe" }), { ...dry, dry_run: false });
    assert.deepEqual(listRuns(workspace).map(({ run_id }) => run_id), [other.run_id]);
  }));

Deno.test("ages and sizes are read with their units", () => {
  assert.deepEqual(["45s", "2m", "1.5h", "30d", "1w"].map(parseAge), [45e3, 120e3, 5400e3, 2592e6, 6048e5]);
  assert.deepEqual(["5", "5B", "2kB", "100MB", "1.5GB", "1KiB", "2 MiB", "1TiB"].map(parseSize), [
    5,
    5,
    2000,
    1e8,
    1.5e9,
    1024,
    2 * 2 ** 20,
    2 ** 40,
  ]);
});

/** Runs an action on a disk that dies after each possible number of operations, in a new workspace each time. */
async function killEverywhere(
  prepare: (workspace: Workspace) => Promise<string>,
  action: (workspace: Workspace, id: string, files: BundleFiles) => unknown,
  check: (workspace: Workspace, id: string, killed: boolean) => Promise<void>,
): Promise<void> {
  for (let operations = 0, killed = true; killed; operations++) {
    assert.ok(operations < 100);
    for (const tear of [false, true]) {
      await withWorkspace(async (workspace) => {
        const id = await prepare(workspace);
        killed = false;
        try {
          await action(workspace, id, dyingDisk(operations, tear));
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
          killed = true;
        }
        await check(workspace, id, killed);
      });
    }
  }
}

const original = new Map<string, Map<string, string>>();

/** A run whose content is remembered. */
async function remembered(workspace: Workspace): Promise<string> {
  const { run_id, directory } = await runSmall(workspace, { pairs: 1 });
  original.set(run_id, contentOf(directory));
  return run_id;
}

/** The bundle is valid, its documents are the original ones, and a restore gives the original. */
async function whole(workspace: Workspace, id: string): Promise<void> {
  const { status, errors } = await verifyRun(workspace, id);
  assert.deepEqual([status, errors], ["valid", []]);
  await restore(workspace, id);
  assert.deepEqual(contentOf(join(workspace.runs, id)), original.get(id));
  listRuns(workspace);
  assert.deepEqual([...Deno.readDirSync(workspace.transit)], []);
}

Deno.test("wherever a prune is killed, the bundle claims what it has and can be restored", () =>
  killEverywhere(
    remembered,
    (workspace, id, files) => pruneRuns(workspace, { ids: [id] }, { files }),
    async (workspace, id, killed) => {
      if (!killed) assert.equal((await verifyRun(workspace, id)).artifacts, "pruned");
      await whole(workspace, id);
    },
  ));

Deno.test("wherever a restore is killed, the bundle claims what it has and can be restored", () =>
  killEverywhere(
    async (workspace) => {
      const id = await remembered(workspace);
      pruneRuns(workspace, { ids: [id] });
      return id;
    },
    (workspace, id, files) => restore(workspace, id, {}, files),
    async (workspace, id, killed) => {
      if (!killed) assert.equal((await verifyRun(workspace, id)).artifacts, "present");
      await whole(workspace, id);
    },
  ));

const onlyRemoval = (workspace: Workspace): string => {
  const [name, ...others] = removals(workspace);
  assert.deepEqual(others, []);
  return name;
};

Deno.test("a removal and a pruning are taken back byte for byte, until the next one or for ten minutes", () =>
  withWorkspace(async (workspace) => {
    const kept = await runSmall(workspace), other = await runSmall(workspace);
    const before = contentOf(kept.directory);
    const ids = () => listRuns(workspace).map(({ run_id }) => run_id).sort();
    assert.throws(() => takeBack(workspace), refusedWith("removal_not_found"));
    const report = removeSelected(workspace, { ids: [kept.run_id] }, { undoable: true });
    assert.equal(report.removal, onlyRemoval(workspace));
    assert.deepEqual(ids(), [other.run_id]);
    assert.deepEqual(takeBack(workspace, String(report.removal)), {
      removal: report.removal,
      runs: [kept.run_id],
      artifacts_of: [],
    });
    assert.deepEqual(ids(), [kept.run_id, other.run_id].sort());
    assert.deepEqual(contentOf(kept.directory), before);
    assert.deepEqual(removals(workspace), []);

    const pruned = pruneRuns(workspace, { ids: [kept.run_id] }, { undoable: true });
    assert.equal((await verifyRun(workspace, kept.run_id)).artifacts, "pruned");
    // Those that a restore made meanwhile stay.
    await restore(workspace, kept.run_id);
    assert.deepEqual(takeBack(workspace), { removal: pruned.removal, runs: [], artifacts_of: [kept.run_id] });
    pruneRuns(workspace, { ids: [kept.run_id] }, { undoable: true });
    takeBack(workspace);
    assert.deepEqual(contentOf(kept.directory), before);
    assert.equal((await verifyRun(workspace, kept.run_id)).status, "valid");

    // The next removal ends it, and so do ten minutes; files of others in that folder stay.
    const first = String(removeSelected(workspace, { ids: [kept.run_id] }, { undoable: true }).removal);
    Deno.mkdirSync(join(workspace.trash, "of somebody else"));
    const second = String(pruneRuns(workspace, { ids: [other.run_id] }, { undoable: true }).removal);
    assert.throws(() => takeBack(workspace, first), refusedWith("removal_not_found"));
    const lock = tryLockRun(workspace, second)!;
    assert.throws(() => takeBack(workspace), refusedWith("run_still_executing"));
    emptyTrash(workspace);
    lock.release();
    assert.equal(onlyRemoval(workspace), second, "nothing ends a removal that is being taken back");
    const old = `${String(Date.now() - UNDO_MS - 1).padStart(13, "0")}${second.slice(13)}`;
    Deno.renameSync(join(workspace.trash, second), join(workspace.trash, old));
    listRuns(workspace);
    assert.deepEqual([...Deno.readDirSync(workspace.trash)].map(({ name }) => name), ["of somebody else"]);
    collectGarbage(workspace);
    assert.deepEqual(storedContents(workspace.contents), [], "no stored artifact outlives its runs");
  }));

Deno.test("a run that came in the place of a removed one is not replaced", () =>
  withWorkspace(async (workspace) => {
    const { run_id, directory } = await runSmall(workspace);
    removeSelected(workspace, { ids: [run_id] }, { undoable: true });
    Deno.mkdirSync(directory);
    assert.throws(() => takeBack(workspace), refusedWith("removal_not_empty"));
    Deno.removeSync(directory);
    assert.deepEqual(takeBack(workspace).runs, [run_id]);
  }));

/** The run is in its place or can be taken back, and then it is the original. */
async function nothingLost(workspace: Workspace, id: string): Promise<void> {
  if (removals(workspace).length > 0) takeBack(workspace);
  await whole(workspace, id);
}

const undoable = [
  ["a removal", removeSelected],
  ["a pruning", pruneRuns],
] as const;

for (const [name, act] of undoable) {
  Deno.test(`wherever ${name} that can be taken back is killed, nothing is lost`, () =>
    killEverywhere(
      remembered,
      (workspace, id, files) => act(workspace, { ids: [id] }, { undoable: true, files }),
      nothingLost,
    ));

  Deno.test(`wherever taking back ${name} is killed, a second time completes it`, () =>
    killEverywhere(
      async (workspace) => {
        const id = await remembered(workspace);
        act(workspace, { ids: [id] }, { undoable: true });
        return id;
      },
      (workspace, _id, files) => takeBack(workspace, undefined, files),
      nothingLost,
    ));
}

/** What processes that were killed leave, beside a run that is whole. */
async function litter(workspace: Workspace): Promise<string> {
  const id = await remembered(workspace);
  const unused = reserveRunId(workspace, "never", new Date("2020-01-01T00:00:00Z"));
  const removed = reserveRunId(workspace, "removed", new Date("2020-01-01T00:00:00Z"));
  markRemoved(workspace, removed);
  for (const name of [unused, removed]) Deno.utimeSync(join(workspace.reservations, name), 1e9, 1e9);
  reserveRunId(workspace, "young", new Date());
  Deno.mkdirSync(join(workspace.transit, "20200101T000000Z_half/artifacts"), { recursive: true });
  Deno.writeTextFileSync(join(workspace.transit, "20200101T000000Z_half/summary.json"), "{}");
  Deno.writeTextFileSync(join(workspace.runs, id, "manifest.json.tmp"), "half");
  Deno.mkdirSync(join(workspace.runs, id, "artifacts/.staging/data_0-1"), { recursive: true });
  Deno.writeTextFileSync(join(workspace.runs, id, "artifacts/.staging/data_0-1/half.npz"), "half");
  Deno.mkdirSync(join(workspace.contents, "ab"), { recursive: true });
  Deno.writeTextFileSync(join(workspace.contents, "ab", `ab${"0".repeat(62)}`), "no bundle has this");
  const interrupted = await runSmall(workspace, { raw: { ...testRecipe(1), name: "interrupted" } });
  const summary = join(interrupted.directory, "summary.json");
  Deno.writeTextFileSync(
    summary,
    Deno.readTextFileSync(summary).replace('"status": "completed"', '"status": "running"')
      .replace(/"created_at_utc": "\d+/, '"created_at_utc": "2020'),
  );
  // A file that no other run has: stored, and not yet in a manifest.
  const half = join(interrupted.directory, "artifacts/half.npz");
  Deno.writeTextFileSync(half, "half");
  Deno.mkdirSync(join(workspace.contents, "cd"), { recursive: true });
  Deno.linkSync(half, join(workspace.contents, "cd", `cd${"0".repeat(62)}`));
  return id;
}

Deno.test("gc removes what killed processes left, and nothing else", () =>
  withWorkspace(async (workspace) => {
    const id = await litter(workspace);
    const all = () => pathsOf(workspace.stateDir);
    const before = all();
    const dry = collectGarbage(workspace, { incomplete: "1d", dryRun: true });
    assert.deepEqual(
      all().filter((path) => !path.includes("interrupted")),
      before.filter((path) => !path.includes("interrupted")),
    );
    const report = collectGarbage(workspace, { incomplete: "1d" });
    // An interrupted run is settled before it goes, which changes its size.
    const places = (items: typeof dry.items) => items.map(({ what, path }) => [what, path]);
    assert.deepEqual(places(report.items), places(dry.items));
    const what = report.items.map((item) => item.what).sort();
    assert.deepEqual(what, ["content", "incomplete", "reservation", "staging", "staging", "staging"]);
    assert.ok(report.items.some(({ path }) => path.endsWith("Z_never")));
    assert.deepEqual([...Deno.readDirSync(workspace.reservations)].map(({ name }) => name.split("_")[1]).sort(), [
      "interrupted",
      "removed",
      "small",
      "young",
    ]);
    await whole(workspace, id);
    assert.deepEqual(collectGarbage(workspace, { incomplete: "1d" }).items, []);
    const lock = tryLockRun(workspace, "gc")!;
    assert.throws(() => collectGarbage(workspace), refusedWith("gc_running"));
    lock.release();
  }));

Deno.test("gc leaves a run alone that executes", () =>
  withWorkspace(async (workspace) => {
    const afterStep = () => assert.deepEqual(collectGarbage(workspace, { incomplete: "0s" }).items, []);
    await runSmall(workspace, { pairs: 1, fake: { afterStep } });
  }));

Deno.test("wherever gc is killed, the runs that stay are whole and a second gc completes it", () =>
  killEverywhere(
    litter,
    (workspace, _, files) => collectGarbage(workspace, { incomplete: "1d", files }),
    async (workspace, id) => {
      collectGarbage(workspace, { incomplete: "1d" });
      assert.deepEqual(collectGarbage(workspace, { incomplete: "1d" }).items, []);
      assert.deepEqual(listRuns(workspace).map(({ run_id }) => run_id), [id]);
      await whole(workspace, id);
    },
  ));
