import assert from "node:assert/strict";
import { join } from "node:path";
import { openDatabase } from "../../../../lib/run/index/database.ts";
import type { RunQuery } from "../../../../lib/run/index/runs.ts";
import { openRunIndex } from "../../../../lib/run/index/open.ts";
import { listRuns, removeRuns } from "../../../../lib/run/store.ts";
import { openWorkspace, type Workspace } from "../../../../lib/run/workspace.ts";
import { run } from "../../../../mod.ts";
import { temporaryFolder } from "../../../support/temporary.ts";

const recipe = (name: string, suite?: string) => ({
  name,
  ...(suite === undefined ? {} : { suite: { id: suite } }),
  steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 8 } }],
});

async function inWorkspace(body: (workspace: Workspace) => Promise<void>): Promise<void> {
  const stateDir = temporaryFolder("svc-index-");
  await body(openWorkspace({ stateDir, projectRoot: stateDir }));
}

/** Past the moment in which a change of the folder could share its time stamp with the last look. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 120));

Deno.test("the index lists what the bundles say, page by page, newest first", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace;
    for (const name of ["a", "b", "a", "c", "a"]) {
      await run(recipe(name, name === "c" ? "semantic_comm" : undefined), { stateDir, projectRoot: stateDir });
    }
    const { index, close } = openRunIndex(workspace);
    const all = (await index.list({ limit: 500 })).rows;
    assert.deepEqual(all, listRuns(workspace));
    const pages: string[] = [];
    let cursor: string | undefined;
    for (;;) {
      const { rows, nextCursor } = await index.list({ limit: 2, cursor });
      pages.push(...rows.map(({ run_id }) => run_id));
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    assert.deepEqual(pages, all.map(({ run_id }) => run_id));
    const named = (await index.list({ limit: 500, recipeName: "a" })).rows;
    assert.deepEqual(named.map(({ recipe_name }) => recipe_name), ["a", "a", "a"]);
    assert.equal((await index.list({ limit: 500, status: "failed" })).rows.length, 0);
    const inSuite = (await index.list({ limit: 500, suite: "semantic_comm" })).rows;
    assert.deepEqual(inSuite.map(({ recipe_name }) => recipe_name), ["c"]);
    await assert.rejects(index.list({ limit: 1, cursor: "none" }), { code: "query_invalid" });
    close();
  }));

Deno.test("runs are found by recipe, parameter, matrix point and metric, and their values go with them", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace, ids: string[] = [];
    for (const bit_count of [8, 16, 8]) {
      const text = recipe(`sweep__bits_${bit_count}`);
      text.steps[0].params = { bit_count };
      const metadata = { matrix_selection: { bits: bit_count } };
      ids.push((await run({ ...text, metadata }, { stateDir, projectRoot: stateDir })).run_id!);
    }
    const { index, database, close } = openRunIndex(workspace);
    const found = async (query: Partial<Parameters<typeof index.list>[0]>) =>
      (await index.list({ limit: 10, ...query })).rows.map(({ run_id }) => run_id).reverse();
    assert.deepEqual(await found({ where: { "data.bit_count": "8" } }), [ids[0], ids[2]]);
    assert.deepEqual(await found({ where: { bits: "16.0" }, recipeName: "sweep" }), [ids[1]]);
    assert.deepEqual(await found({ where: { bits: "16", "data.bit_count": "8" } }), []);
    assert.deepEqual(await found({ where: { bit_count: "8" } }), [ids[0], ids[2]], "of any step");
    assert.deepEqual(await found({ where: { bit_count: "8", bits: "8" }, recipeName: "sweep" }), [ids[0], ids[2]]);
    assert.deepEqual(await found({ where: { bit_count: "8", bits: "16" } }), []);
    assert.deepEqual(await found({ where: { count: "8" } }), [], "a whole name");
    assert.deepEqual(await found({ recipeName: "sweep__bits_8" }), [ids[0], ids[2]]);
    assert.deepEqual(await found({ recipeName: "swee" }), []);
    const errors = {
      id: "ber",
      op: "metrics.bit_error_rate",
      params: { label: "ber" },
      inputs: { reference: "data.bits", candidate: "data.bits" },
    };
    const measured = { name: "ber", steps: [...recipe("ber").steps, errors] };
    ids.push((await run(measured, { stateDir, projectRoot: stateDir })).run_id!);
    await settle();
    assert.deepEqual(await found({ where: { "channel.ber": "0" } }), [ids[3]]);
    const page = await index.list({ limit: 1, recipeName: "sweep" });
    assert.equal((await index.list({ limit: 5, recipeName: "sweep", cursor: page.nextCursor! })).rows.length, 2);
    removeRuns(workspace, ids);
    await settle();
    assert.deepEqual(await found({ recipeName: "sweep" }), []);
    assert.equal((database.prepare("SELECT count(*) AS n FROM run_values").get() as { n: number }).n, 0);
    close();
  }));

Deno.test("a new bundle, a removed one and a changed summary are noticed", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace;
    const first = await run(recipe("a"), { stateDir, projectRoot: stateDir });
    const { index, close } = openRunIndex(workspace);
    const ids = async () => (await index.list({ limit: 10 })).rows.map(({ run_id }) => run_id);
    assert.deepEqual(await ids(), [first.run_id]);
    await settle();
    assert.deepEqual(await ids(), [first.run_id]);
    const second = await run(recipe("b"), { stateDir, projectRoot: stateDir });
    assert.deepEqual(await ids(), [second.run_id, first.run_id]);
    removeRuns(workspace, [first.run_id]);
    assert.deepEqual(await ids(), [second.run_id]);
    const text = await Deno.readTextFile(second.summary_path);
    await Deno.writeTextFile(second.summary_path, text.replace('"status": "completed"', '"status": "failed" '));
    assert.deepEqual((await index.list({ limit: 10 })).rows.map(({ status }) => status), ["failed"]);
    close();
  }));

Deno.test("a bundle whose documents have a wrong shape is listed with its problem, by any query", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace;
    const { summary_path } = await run(recipe("a"), { stateDir, projectRoot: stateDir });
    const text = await Deno.readTextFile(summary_path);
    await Deno.writeTextFile(summary_path, text.replace(/"recipe_sha256": "[0-9a-f]+"/, '"recipe_sha256": null'));
    const { index, close } = openRunIndex(workspace);
    for (const query of [{ status: "completed" }, { recipeName: "a" }, {}, {}]) {
      for (const { problem } of (await index.list({ limit: 10, ...query })).rows) {
        assert.match(String(problem), /recipe_sha256/);
      }
    }
    assert.equal((await index.list({ limit: 10 })).rows.length, 1);
    close();
  }));

Deno.test("a missing, damaged or foreign database is made anew from the bundles", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace;
    const { run_id } = await run(recipe("a"), { stateDir, projectRoot: stateDir });
    const path = join(stateDir, "index.sqlite3");
    const rows = async () => {
      const { index, damaged, close } = openRunIndex(workspace, { check: true });
      const found = (await index.list({ limit: 10 })).rows.map((row) => row.run_id);
      close();
      return { found, damaged };
    };
    assert.deepEqual(await rows(), { found: [run_id], damaged: null });
    await Deno.writeTextFile(path, "this is no database, and never was one".repeat(500));
    const again = await rows();
    assert.deepEqual(again.found, [run_id]);
    assert.ok(again.damaged !== null && (await Deno.stat(again.damaged)).isFile);
    // A page in the middle overwritten: SQLite's own check finds it.
    const bytes = await Deno.readFile(path);
    bytes.fill(0xa5, 4096, 8192);
    await Deno.writeFile(path, bytes);
    assert.deepEqual((await rows()).found, [run_id]);
    await Deno.truncate(path, 100);
    assert.deepEqual((await rows()).found, [run_id]);
    await Deno.remove(path);
    assert.deepEqual((await rows()).found, [run_id]);
  }));

Deno.test("rows that were changed, removed or lost are noticed, and the index is made anew", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace, ids: string[] = [];
    for (const name of ["a", "b", "c"]) {
      ids.push((await run(recipe(name), { stateDir, projectRoot: stateDir })).run_id!);
    }
    await settle();
    const wanted = listRuns(workspace);
    const listed = async (query: Partial<RunQuery> = {}) => {
      const reasons: string[] = [], progress: [number, number][] = [];
      const { index, damaged, close } = openRunIndex(workspace, {
        onDamage: (reason) => reasons.push(reason),
        onProgress: (...at) => progress.push(at),
      });
      const { rows } = await index.list({ limit: 10, ...query });
      close();
      return { rows, reasons, damaged, progress };
    };
    const change = (sql: string) => {
      const { database, close } = openRunIndex(workspace);
      database.exec(sql);
      close();
    };
    assert.deepEqual(await listed(), { rows: wanted, reasons: [], damaged: null, progress: [[3, 3]] });
    assert.deepEqual(await listed(), { rows: wanted, reasons: [], damaged: null, progress: [] });
    for (const column of ["status", "recipe_name", "size_bytes", "created_at_utc", "run_values", "checksum"]) {
      change(`UPDATE runs SET ${column} = 'other' WHERE run_id = '${ids[1]}'`);
      const found = await listed();
      assert.deepEqual(found.rows, wanted, column);
      assert.deepEqual(found.reasons, [`the row of the run ${ids[1]} is damaged`]);
    }
    change(`DELETE FROM runs WHERE run_id = '${ids[1]}'`);
    assert.deepEqual((await listed()).rows, wanted);
    change("DELETE FROM runs");
    assert.deepEqual((await listed()).rows, wanted);

    // A process ended while it wrote, and values are lost: what it left are the database and its journal.
    const path = join(stateDir, "index.sqlite3"), files = ["", "-wal"].map((suffix) => path + suffix);
    const { database, close } = openRunIndex(workspace);
    database.exec("DELETE FROM run_values");
    const left = files.map((file) => Deno.readFileSync(file));
    close();
    files.forEach((file, at) => Deno.writeFileSync(file, left[at]));
    const found = await listed({ where: { "data.bit_count": "8" } });
    assert.deepEqual(found.rows.map(({ run_id }) => run_id).sort(), ids.toSorted());
    assert.ok(found.damaged !== null);
    // Another user at work is no unclean end.
    const other = openRunIndex(workspace);
    other.database.exec("DELETE FROM run_values");
    assert.equal((await listed()).damaged, null);
    other.close();
  }));

Deno.test("rows tell task, mode, workers and what the plan cache did, also behind a database that did not know them", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace;
    const about = { ...recipe("a"), metadata: { seed: 1, research: { task: { id: "bit_transport" } } } };
    await run(about, { stateDir, projectRoot: stateDir, parallelWorkers: 2, usePlanCache: false });
    const first = openRunIndex(workspace);
    const facts = ({ rows }: Awaited<ReturnType<typeof first.index.list>>) =>
      rows.map(({ task_id, mode, parallel_workers, plan_cache }) => [task_id, mode, parallel_workers, plan_cache]);
    const expected = [["bit_transport", "parallel", 2, "bypass"]];
    assert.deepEqual(facts(await first.index.list({ limit: 10 })), expected);
    assert.deepEqual(facts({ rows: listRuns(workspace), nextCursor: null }), expected);
    const columns = ["task_id", "mode", "parallel_workers", "plan_cache"];
    for (const column of columns) first.index.database.exec(`ALTER TABLE runs DROP COLUMN ${column}`);
    first.index.database.exec("PRAGMA user_version = 1");
    first.close();
    const second = openRunIndex(workspace);
    assert.deepEqual(facts(await second.index.list({ limit: 10 })), expected);
    second.close();
  }));

Deno.test("a database of a later version is refused, not overwritten", () =>
  inWorkspace((workspace) => {
    const { database, path } = openDatabase(workspace.stateDir);
    database.exec("PRAGMA user_version = 99");
    database.close();
    assert.throws(() => openDatabase(workspace.stateDir), { code: "index_unsupported" });
    assert.ok(Deno.statSync(path).isFile);
    return Promise.resolve();
  }));

Deno.test("rebuilding forgets rows of bundles that are not there", () =>
  inWorkspace(async (workspace) => {
    const { stateDir } = workspace;
    await run(recipe("a"), { stateDir, projectRoot: stateDir });
    const { index, close } = openRunIndex(workspace);
    await index.sync();
    index.database.exec("UPDATE runs SET recipe_name = 'wrong'");
    assert.equal(await index.rebuild(), 1);
    assert.equal((await index.list({ limit: 10 })).rows[0].recipe_name, "a");
    close();
  }));
