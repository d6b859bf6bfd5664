/**
 * A result of many rows: writing, listing, a page, a figure, export, resuming and verification, with time and memory of
 * each. Rows and snapshots are synthetic, and written as a benchmark writes them.
 *
 *     deno run -A tests/bench/rows_bench.ts
 *
 * SVC_BENCH_ROWS sets the number of rows: 100,000 by default, 1,000,000 for the full size.
 */
import { inside } from "../../lib/artifact/inside.ts";
import { join } from "node:path";
import process from "node:process";
import { LedgerIndex } from "../../lib/study/rows/ledger.ts";
import { exportBenchmark, plotBenchmark } from "../../lib/study/report/reports.ts";
import { pageOfRows } from "../../lib/study/rows/stored_rows.ts";
import { showBenchmarkResult } from "../../lib/study/rows/store.ts";
import { LEDGER_FILE } from "../../lib/study/pack/types.ts";
import { verifyBenchmark } from "../support/session.ts";
import { listFiles } from "../../lib/run/files.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { writeSyntheticResult } from "../support/synthetic_result.ts";
import { ms, row, sized } from "./measure.ts";

const [only, given] = Deno.args;
const tiny = sized(0, 1) === 1;
const rows = sized(Number(Deno.env.get("SVC_BENCH_ROWS") ?? 100_000), 250);
const recipes = Math.min(100, rows / 25), replicates = rows / recipes;
const folder = given ?? await Deno.makeTempDir({ prefix: "svc-rows-" });
const workspace = openWorkspace({ projectRoot: folder, stateDir: folder });
const id = "20260101T000000Z_synthetic";
const shown = () => showBenchmarkResult(workspace, id);

const STAGES: Record<string, () => unknown> = {
  "write a half, and end": () => writeSyntheticResult(workspace, { recipes, replicates, until: replicates / 2 }),
  "resume, write the rest and the result": () => writeSyntheticResult(workspace, { recipes, replicates }),
  "read the result": shown,
  "read the ledger, as to resume": () => new LedgerIndex(inside(shown().directory, LEDGER_FILE)).advance(),
  "a page of 200 rows from the middle": () => pageOfRows(shown().result, shown().directory, rows / 2, 200),
  "a figure over Es/N0": () => plotBenchmark(workspace, id, { plot: "error-rate", x: "snr_db" }),
  "export": () => exportBenchmark(workspace, id, { out: join(folder, "tables") }),
  "verify": async () => {
    const { status, errors } = await verifyBenchmark(workspace, id);
    if (status !== "valid") throw new Error(`The result is ${status}: ${JSON.stringify(errors.slice(0, 3))}`);
  },
};

/** Peak resident memory of this process in MiB; unknown elsewhere than on Linux. */
function peak(): string {
  if (Deno.build.os !== "linux") return "unknown";
  return (Number(/VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync("/proc/self/status"))?.[1]) / 1024).toFixed(0);
}

async function perform(what: string): Promise<void> {
  const started = performance.now(), before = process.cpuUsage();
  await STAGES[what]();
  const took = performance.now() - started, { user, system } = process.cpuUsage(before);
  const cost = `${((user + system) / rows).toFixed(1)} µs of processor time a row`;
  row(what, ms(took), `${cost}, peak ${peak()} MiB, aim < 380 MiB (400 MB)`);
}

/** Each stage in a process of its own, as a user runs it; all in this one at the tiny size. */
async function all(): Promise<void> {
  console.log(`${rows} rows of ${recipes} recipes`);
  for (const what of Object.keys(STAGES)) {
    const args = ["run", "-A", "--no-check", "--frozen", import.meta.filename!, what, folder];
    if (tiny) await perform(what);
    else if (!(await new Deno.Command(Deno.execPath(), { args }).spawn().status).success) Deno.exit(1);
  }
  const stored = listFiles(shown().directory);
  const bytes = (path: string) =>
    stored.filter((file) => file.path.startsWith(path)).reduce((sum, { size }) => sum + size, 0) / rows;
  row("files of the result", `${stored.length}`);
  row(
    "bytes a row: ledger, rows, evidence",
    [".attempt", "rows/", "evidence/"].map((at) => bytes(at).toFixed(0)).join(" + "),
  );
}

if (only !== undefined && !tiny) await perform(only);
else {
  try {
    await all();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
