/**
 * The index of many runs: pages of all, of a recipe, and of runs with a value of a parameter and of a metric; and a rebuild
 * from bundles. Rows are synthetic; only runs on the listed pages have a folder.
 *
 *     deno run -A tests/bench/index_bench.ts
 *
 * SVC_BENCH_RUNS sets the number of runs: 1,000,000 by default.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { openRunIndex } from "../../lib/run/index/open.ts";
import { RUN_COLUMNS, runWriter, transaction } from "../../lib/run/index/database.ts";
import type { RunQuery } from "../../lib/run/index/runs.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { ms, row, sized, time } from "./measure.ts";
import { idOf, timeOf, writeBundle } from "./stored_runs.ts";

const runs = sized(Number(Deno.env.get("SVC_BENCH_RUNS") ?? 1_000_000), 3_000), bundles = sized(2_000, 20);
const PAGE = 50;
const folder = await Deno.makeTempDir({ prefix: "svc-index-" });

/** Rows as a rebuild of the bundles would write them. */
async function pages(): Promise<void> {
  const stateDir = join(folder, "pages"), workspace = openWorkspace({ projectRoot: folder, stateDir });
  const every = Math.max(1, runs / (2 * PAGE) | 0);
  const listed = new Set<number>();
  for (let n = 0; n <= PAGE + 1; n++) {
    for (const i of [runs - n, (Math.floor((runs - 1) / 100) - n) * 100 + 7, runs - n * 1000 + 7, runs - n * every]) {
      if (i >= 0 && i < runs) listed.add(i);
    }
  }
  for (const i of listed) writeBundle(stateDir, i, runs);
  await new Promise((resolve) => setTimeout(resolve, 150));
  const { index, database, close } = openRunIndex(workspace);
  await index.sync();
  const put = runWriter(database), unknown = Object.fromEntries(RUN_COLUMNS.map((name) => [name, null]));
  const started = performance.now();
  for (let i = 0; i < runs;) {
    transaction(database, () => {
      for (const end = Math.min(runs, i + 10_000); i < end; i++) {
        const values: [string, string | number][] = [["recipe", "link"], ["recipe", `link__${i % 100}`]];
        values.push(["channel.snr_db", i % 1000], ["channel.ber", i / runs], ["link.modulation", "qpsk"]);
        const created_at_utc = timeOf(i), sort_key = `${created_at_utc}|${"1".padStart(20, "0")}|${idOf(i)}`;
        const own = { run_id: idOf(i), status: "completed", recipe_name: `link__${i % 100}`, created_at_utc, sort_key };
        put({ ...unknown, mtime: "", size: 0, step_count: 1, size_bytes: 0, artifacts: "complete", ...own }, values);
      }
    });
  }
  // The index compares the number of its rows with that of the folders.
  database.exec(
    "UPDATE meta SET value = substr(value, 1, instr(value, ' ')) || (SELECT count(*) FROM runs) WHERE key = 'runs_stamp'",
  );
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  row(
    `write ${runs} rows`,
    ms(performance.now() - started),
    `${(statSync(join(stateDir, "index.sqlite3")).size / runs).toFixed(0)} bytes a run`,
  );
  const snr = String((runs - 1000 + 7) % 1000), ber = String((runs - every) / runs);
  const queries: [string, Partial<RunQuery>][] = [
    ["newest", {}],
    ["of a recipe", { recipeName: "link" }],
    ["of a variant", { recipeName: `link__7` }],
    ["with a parameter", { where: { "channel.snr_db": snr } }],
    ["with a metric", { where: { "channel.ber": ber } }],
    ["with a value of all runs and one of a single run", { where: { "link.modulation": "qpsk", "channel.ber": ber } }],
    ["of a variant with a parameter", { recipeName: "link", where: { "channel.snr_db": snr } }],
  ];
  for (const [what, query] of queries) {
    let found = 0;
    const took = await time(9, async () => found = (await index.list({ limit: PAGE, ...query })).rows.length);
    row(`a page of runs ${what}`, ms(took), `${found} runs, aim < 20 ms`);
    if (found === 0) throw new Error(`There is no run ${what}`);
  }
  close();
}

async function rebuild(): Promise<void> {
  const stateDir = join(folder, "rebuild"), workspace = openWorkspace({ projectRoot: folder, stateDir });
  for (let i = 0; i < bundles; i++) writeBundle(stateDir, i, runs);
  const { index, close } = openRunIndex(workspace);
  const started = performance.now();
  await index.rebuild();
  const took = performance.now() - started;
  if (index.count() !== bundles) throw new Error(`The index has ${index.count()} of ${bundles} runs`);
  row(`rebuild from ${bundles} bundles`, ms(took), `${(took / bundles).toFixed(2)} ms a run`);
  close();
}

try {
  await rebuild();
  await pages();
} finally {
  await Deno.remove(folder, { recursive: true });
}
