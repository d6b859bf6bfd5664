/** Bundles and state directories of somebody else: no command reads, writes or removes outside of them, or waits. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { type JsonObject, parseJson, prettyJson } from "../../../lib/contract/json.ts";
import { diffRuns } from "../../../lib/run/diff.ts";
import { listFiles } from "../../../lib/run/files.ts";
import { collectGarbage } from "../../../lib/run/gc.ts";
import { markRuns } from "../../../lib/run/marks.ts";
import { writePictures, writeStrip } from "../../../lib/run/pictures.ts";
import { pruneRuns, removeSelected } from "../../../lib/run/retention.ts";
import { exportCrate } from "../../../lib/run/ro_crate.ts";
import { listRuns, showRun } from "../../../lib/run/store.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import type { RunResult } from "../../../lib/run/run.ts";
import { openWorkspace, type Workspace } from "../../../lib/run/workspace.ts";
import { fakeExecutor, runSmall } from "./fixture.ts";
import { restoreRun } from "../../../lib/run/restore.ts";
import { testRegistry } from "./fixture.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const LINUX = Deno.build.os === "linux";

/** A project beside a tree of canaries; at the end the tree is as it was. */
async function besideCanaries(
  body: (place: { workspace: Workspace; canaries: string; state: string }) => void | Promise<void>,
): Promise<void> {
  const folder = temporaryFolder("svc-hostile-");
  const canaries = join(folder, "canaries"), state = join(folder, "project/.svc");
  for (const path of ["a", "deep/b", "deep/c.json", ".staging-x/d", "runs/e.tmp"]) {
    Deno.mkdirSync(dirname(join(canaries, path)), { recursive: true });
    Deno.writeTextFileSync(join(canaries, path), path);
  }
  const tree = () => listFiles(canaries).map(({ path }) => [path, Deno.readTextFileSync(join(canaries, path))]);
  const before = tree();
  await body({
    workspace: openWorkspace({ projectRoot: join(folder, "project"), stateDir: state }),
    canaries,
    state,
  });
  assert.deepEqual(tree(), before);
}

const restore = (workspace: Workspace, id: string) =>
  restoreRun(workspace, id, {
    registry: testRegistry(),
    cancellation: createCancellation(),
    execute: fakeExecutor(),
  });

/** Every command of this module on a run; each ends, or is refused with a code. @returns the codes */
async function everyCommand(workspace: Workspace, id: string): Promise<(string | null)[]> {
  const out = join(dirname(workspace.projectRoot), "out");
  const commands = [
    () => listRuns(workspace),
    () => showRun(workspace, id),
    () => verifyRun(workspace, id),
    () => diffRuns(workspace, id, id),
    () => exportCrate(workspace, id, { out: join(out, "crate") }),
    () => writePictures(workspace, id, join(out, "pictures")),
    () => writeStrip(workspace, id),
    () => pruneRuns(workspace, { ids: [id] }, { dryRun: true }),
    () => pruneRuns(workspace, { ids: [id] }),
    () => restore(workspace, id),
    () => collectGarbage(workspace, { incomplete: "0s" }),
    () => markRuns(workspace, [id], { starred: true }),
    () => removeSelected(workspace, { ids: [id] }),
  ];
  const codes: (string | null)[] = [];
  for (const command of commands) {
    try {
      await command();
      codes.push(null);
    } catch (error) {
      assert.ok(error instanceof SvcError, `${command}: ${error}`);
      codes.push(error.code);
    }
  }
  if (exists(out)) Deno.removeSync(out, { recursive: true });
  return codes;
}

const change = (directory: string, name: string, edit: (document: JsonObject) => void) => {
  const document = parseJson(Deno.readTextFileSync(join(directory, name))) as JsonObject;
  edit(document);
  Deno.writeTextFileSync(join(directory, name), prettyJson(document));
};
type Outputs = { id: string; outputs: Record<string, JsonObject> }[];
const outputOf = (document: JsonObject) => (document.steps as unknown as Outputs)[0].outputs.bits;

Deno.test("a path, a digest or a step id of a summary leads no command outside", () =>
  besideCanaries(async ({ workspace, canaries }) => {
    const edits: ((summary: JsonObject) => void)[] = [
      (summary) => outputOf(summary).path = "../../../../canaries/a",
      (summary) => outputOf(summary).path = "artifacts/../../../../../canaries/a",
      (summary) => outputOf(summary).path = join(canaries, "a"),
      (summary) => outputOf(summary).sha256 = "../../../../../canaries/deep/c.json",
      (summary) => (summary.steps as unknown as Outputs)[0].id = "../../../../canaries/deep/c",
      (summary) => summary.run_id = "../../../../canaries",
      (summary) => summary.steps = null,
      (summary) => summary.execution = { mode: "parallel", parallel_workers: 1e9 },
    ];
    for (const edit of edits) {
      const { run_id, directory } = await runSmall(workspace, { pairs: 1 });
      change(directory, "summary.json", edit);
      await everyCommand(workspace, run_id);
    }
  }));

Deno.test("a pruned.json that names files outside restores none of them", () =>
  besideCanaries(async ({ workspace }) => {
    for (const path of ["artifacts/../../../../../canaries/a", "artifacts/x/../../y", "artifacts//a"]) {
      const { run_id, directory } = await runSmall(workspace, { pairs: 1 });
      pruneRuns(workspace, { ids: [run_id] });
      change(directory, "pruned.json", (document) => (document.files as JsonObject[])[0].path = path);
      await assert.rejects(restore(workspace, run_id), { code: "bundle_schema_invalid" });
      await everyCommand(workspace, run_id);
    }
  }));

Deno.test("a link in a bundle leads no command outside, and removal removes the link", () =>
  besideCanaries(async ({ workspace, canaries }) => {
    const links: [name: string, target: string][] = [
      ["artifacts", canaries],
      ["artifacts/data_0", join(canaries, "deep")],
      ["artifacts/data_0/bits.npz", join(canaries, "a")],
      ["artifacts/.staging-x", canaries],
      ["summary.json", join(canaries, "deep/c.json")],
      ["summary.json.tmp", join(canaries, "a")],
      ["manifest.json.tmp", join(canaries, "new")],
      ["pruned.json", join(canaries, "new")],
      ["SHA256SUMS", join(canaries, "a")],
      ["extra", canaries],
    ];
    for (const [name, target] of links) {
      const { run_id, directory } = await runSmall(workspace, { pairs: 1 });
      if (exists(join(directory, name))) Deno.removeSync(join(directory, name), { recursive: true });
      Deno.symlinkSync(target, join(directory, name));
      const codes = await everyCommand(workspace, run_id);
      assert.equal(codes.at(-1), null, `${name}: a hostile run can be removed`);
      assert.equal(exists(directory), false);
    }
  }));

Deno.test("a folder of the state directory that is a link is refused before anything in it is touched", () =>
  besideCanaries(async ({ workspace, canaries, state }) => {
    const { run_id } = await runSmall(workspace, { pairs: 1 });
    for (const name of ["runs", "runs/.transit", "runs/.contents", "runs/.locks", "runs/.run-id-reservations"]) {
      const place = join(state, name), aside = `${place}-aside`;
      const moved = exists(place);
      if (moved) Deno.renameSync(place, aside);
      Deno.symlinkSync(canaries, place);
      assert.throws(() => collectGarbage(workspace, { incomplete: "0s" }), { code: "path_refused" }, name);
      for (const selection of [{ ids: [run_id] }, { recipe: "small recipe" }]) {
        assert.throws(() => removeSelected(workspace, selection), { code: "path_refused" }, name);
      }
      const run = await runSmall(workspace, { pairs: 1 }).catch((error) => error);
      if (name === "runs/.contents") {
        assert.equal(((run as RunResult).summary.failure as JsonObject).code, "path_refused");
      } else assert.equal((run as SvcError).code, "path_refused", name);
      Deno.removeSync(place);
      if (moved) Deno.renameSync(aside, place);
    }
    // An entry in such a folder that is a link is removed itself.
    Deno.mkdirSync(join(state, "runs/.transit"), { recursive: true });
    Deno.symlinkSync(canaries, join(state, "runs/.transit", run_id));
    Deno.mkdirSync(join(state, "runs/.contents"), { recursive: true });
    Deno.symlinkSync(canaries, join(state, "runs/.contents/aa"));
    Deno.symlinkSync(join(canaries, "a"), join(state, "runs/.locks/x.lock"));
    collectGarbage(workspace);
    assert.equal(exists(join(state, "runs/.transit", run_id)), false);
  }));

Deno.test({
  name: "a pipe or a sparse giant in the place of a document keeps no command waiting, and other runs are served",
  ignore: !LINUX,
  fn: () =>
    besideCanaries(async ({ workspace }) => {
      const good = (await runSmall(workspace, { pairs: 1 })).run_id;
      const names = ["summary.json", "manifest.json", "recipe.json", "recipe.authored.json", "execution-plan.json"];
      for (const name of [...names, "SHA256SUMS", "pruned.json", "artifacts/data_0/bits.npz", "summary.json.tmp"]) {
        for (const kind of ["pipe", "giant"]) {
          const { run_id, directory } = await runSmall(workspace, { pairs: 1 });
          const path = join(directory, name);
          if (exists(path)) Deno.removeSync(path);
          if (kind === "pipe") await new Deno.Command("mkfifo", { args: [path] }).output();
          else Deno.createSync(path).truncateSync(2 ** 36);
          const row = listRuns(workspace).find((one) => one.run_id === run_id)!;
          if (name === "summary.json" || name === "recipe.authored.json") assert.match(String(row.problem), /Cannot/);
          assert.notEqual((await verifyRun(workspace, run_id)).status, "valid", name);
          assert.equal(listRuns(workspace).find((one) => one.run_id === good)!.problem, undefined);
          collectGarbage(workspace);
          removeSelected(workspace, { ids: [run_id] });
        }
      }
      assert.equal((await verifyRun(workspace, good)).status, "valid");
    }),
});
