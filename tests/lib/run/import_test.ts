import assert from "node:assert/strict";
import { join } from "node:path";
import { openZip } from "../../../lib/artifact/zip_read.ts";
import { writeZip } from "../../../lib/artifact/zip_write.ts";
import { parseJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { openRun } from "../../../lib/run/bundle_place.ts";
import { diffRuns } from "../../../lib/run/diff.ts";
import { importRun } from "../../../lib/run/import_run.ts";
import { pruneRuns } from "../../../lib/run/retention.ts";
import { exportCrate } from "../../../lib/run/ro_crate.ts";
import { listRuns, removeRuns, showRun } from "../../../lib/run/store.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { openWorkspace, type Workspace } from "../../../lib/run/workspace.ts";
import { runSmall, withWorkspace } from "./fixture.ts";

/** A run of a colleague, and a workspace of one's own. */
const withBoth = (
  body: (theirs: { folder: string; run_id: string }, mine: Workspace, workspace: Workspace) => Promise<void>,
) =>
  withWorkspace(async (workspace) => {
    const { run_id, directory } = await runSmall(workspace);
    const mine = openWorkspace({ projectRoot: join(workspace.projectRoot, "mine") });
    await body({ folder: directory, run_id }, mine, workspace);
  });

const tree = (folder: string): string[] =>
  [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? tree(join(folder, name)).map((path) => `${name}/${path}`) : [name]
  ).sort();

Deno.test("a bundle in a folder is verified, filed under its id, and found there", () =>
  withBoth(async ({ folder, run_id }, mine) => {
    const report = await importRun(mine, folder);
    assert.deepEqual([report.outcome, report.run_id, report.original_id], ["imported", run_id, run_id]);
    const { directory } = showRun(mine, run_id);
    assert.deepEqual(tree(directory), [...tree(folder), "import.json"].sort());
    for (const path of tree(folder)) {
      assert.deepEqual(Deno.readFileSync(join(directory, path)), Deno.readFileSync(join(folder, path)), path);
    }
    const verified = await verifyRun(mine, run_id);
    assert.deepEqual([verified.status, verified.sha256sums], ["valid", report.sha256sums]);
    assert.deepEqual(listRuns(mine).map((row) => [row.run_id, row.status]), [[run_id, "completed"]]);
    const record = parseJson(Deno.readTextFileSync(join(directory, "import.json"))) as JsonObject;
    assert.deepEqual([record.run_id, record.source, record.archive_sha256], [run_id, folder, null]);
    assert.equal((await importRun(mine, folder)).outcome, "present");
    assert.equal(listRuns(mine).length, 1);
  }));

Deno.test("a crate and its ZIP file are imported, and an imported run is exported without its source", () =>
  withBoth(async ({ run_id }, mine, workspace) => {
    const crate = join(workspace.projectRoot, "crate"), zip = join(workspace.projectRoot, "out", "run.zip");
    exportCrate(workspace, run_id, { out: crate });
    exportCrate(workspace, run_id, { out: zip, format: "zip" });
    assert.throws(() => exportCrate(workspace, run_id, { out: zip, format: "zip" }), { code: "usage_invalid" });
    const names = openZip(Deno.readFileSync(zip)).map(({ name }) => name);
    assert.deepEqual(names, tree(crate).map((path) => `${run_id}/${path}`).sort());
    const imported = await importRun(mine, zip);
    assert.equal((await importRun(mine, crate)).outcome, "present");
    assert.equal((await verifyRun(mine, imported.run_id)).status, "valid");
    const again = join(workspace.projectRoot, "again");
    exportCrate(mine, run_id, { out: again });
    assert.deepEqual(tree(again), tree(crate));
  }));

Deno.test("another run of the same id keeps its place; the imported one gets a number", () =>
  withBoth(async ({ folder, run_id }, mine) => {
    // A run of one's own that happens to have the id: of the same recipe with another seed.
    const other = await runSmall(mine, {
      raw: { schema_version: 1, name: "other", steps: [{ id: "data", op: "test.source", params: {}, inputs: {} }] },
    });
    Deno.renameSync(other.directory, join(mine.runs, run_id));
    const { run_id: filed } = await importRun(mine, folder);
    assert.equal(filed, `${run_id}-2`);
    const report = await verifyRun(mine, filed);
    assert.deepEqual([report.status, report.target_id], ["valid", filed]);
    assert.equal(showRun(mine, filed).summary.run_id, run_id);
    assert.equal((await diffRuns(mine, filed, folder, { paths: true })).equal, true);
    pruneRuns(mine, { ids: [filed] }, {});
    assert.equal((await verifyRun(mine, filed)).artifacts, "pruned");
    assert.deepEqual(removeRuns(mine, [filed]), [filed]);
    assert.ok(showRun(mine, run_id));
  }));

Deno.test("a bundle that does not verify, has not ended or is none is refused, and nothing stays", () =>
  withBoth(async ({ folder, run_id }, mine, workspace) => {
    const copy = (change: (at: string) => void) => {
      const at = Deno.makeTempDirSync({ dir: workspace.projectRoot });
      for (const path of tree(folder)) {
        Deno.mkdirSync(join(at, path, ".."), { recursive: true });
        Deno.writeFileSync(join(at, path), Deno.readFileSync(join(folder, path)));
      }
      change(at);
      return at;
    };
    const edit = (at: string, name: string, from: string | RegExp, to: string) =>
      Deno.writeTextFileSync(join(at, name), Deno.readTextFileSync(join(at, name)).replace(from, to));
    const artifact = tree(folder).find((path) => path.endsWith(".npz"))!;
    const cases: [string, (at: string) => void, string][] = [
      ["a changed artifact", (at) => Deno.writeFileSync(join(at, artifact), new Uint8Array(4)), "run_import_refused"],
      ["a changed document", (at) => edit(at, "manifest.json", "small recipe", "large recipe"), "run_import_refused"],
      ["a further file", (at) => Deno.writeTextFileSync(join(at, "notes.txt"), "x"), "run_import_refused"],
      ["no list", (at) => Deno.removeSync(join(at, "SHA256SUMS")), "run_import_refused"],
      ["a link", (at) => Deno.symlinkSync("/etc/hostname", join(at, "artifacts/x")), "run_import_refused"],
      [
        "an id that leads elsewhere",
        (at) => edit(at, "summary.json", `"run_id": "${run_id}"`, '"run_id": "../x"'),
        "run_import_refused",
      ],
      [
        "a run without an end",
        (at) => edit(at, "summary.json", '"status": "completed"', '"status": "running"'),
        "run_still_executing",
      ],
      ["no bundle", (at) => Deno.removeSync(join(at, "summary.json")), "bundle_file_missing"],
    ];
    for (const [name, change, code] of cases) {
      await assert.rejects(importRun(mine, copy(change)), { code }, name);
    }
    await assert.rejects(importRun(mine, join(workspace.projectRoot, "nowhere")), { code: "run_not_found" });
    const zip = (name: string, entries: [string, string][]) => {
      const path = join(workspace.projectRoot, name);
      Deno.writeFileSync(
        path,
        writeZip(entries.map(([name, text]) => ({ name, parts: [new TextEncoder().encode(text)] }))),
      );
      return path;
    };
    await assert.rejects(importRun(mine, zip("none.zip", [["a.txt", "x"]])), { code: "run_import_refused" });
    await assert.rejects(importRun(mine, zip("out.zip", [["summary.json", "{}"], ["../evil", "x"]])), {
      code: /path_refused|artifact_archive_invalid/,
    });
    assert.deepEqual(listRuns(mine), []);
    assert.deepEqual([...Deno.readDirSync(mine.transit)], []);
    assert.ok(!tree(workspace.projectRoot).some((path) => path.endsWith("evil")));
  }));

Deno.test("a path names a run only where paths are allowed", () =>
  withBoth(async ({ folder, run_id }, mine) => {
    assert.equal(openRun(mine, folder, { paths: true }).run_id, run_id);
    assert.equal((await verifyRun(mine, folder, { paths: true })).status, "valid");
    assert.throws(() => openRun(mine, folder), { code: "run_not_found" });
    await assert.rejects(verifyRun(mine, folder), { code: "run_not_found" });
    await assert.rejects(diffRuns(mine, folder, folder), { code: "run_not_found" });
    assert.throws(() => removeRuns(mine, [folder]), { code: "run_not_found" });
    // Looking changes nothing, and needs no state directory.
    assert.throws(() => Deno.statSync(mine.stateDir), Deno.errors.NotFound);
  }));
