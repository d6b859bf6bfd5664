/**
 * The server on loopback: requests per second and latencies of what a dashboard asks for, run lists over many runs, and what
 * the index costs. The load comes from `wrk` where it is installed, else from this program itself.
 */
import { join } from "node:path";
import { RunIndex } from "../../lib/run/index/runs.ts";
import { openDatabase, transaction } from "../../lib/run/index/database.ts";
import { listRuns } from "../../lib/run/store.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { startServer } from "../../lib/http/serve.ts";
import { run } from "../../mod.ts";
import { ms, output, row, sized, time } from "./measure.ts";

const RUNS = Number(Deno.env.get("SVC_BENCH_RUNS") ?? sized(10_000, 5));
const ROWS = sized(100_000, 100);
const PAGE = sized(100, 2);
const SECONDS = sized(5, 0.05);

const folder = await Deno.makeTempDir({ prefix: "svc-http-bench-" });
const options = { projectRoot: folder, stateDir: join(folder, ".svc") };
const workspace = openWorkspace(options);

// One real bundle, copied under many ids: what is listed are real files.
const { run_id, directory } = await run({
  name: "bench",
  steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 64 } }],
}, options);
const summary = await Deno.readTextFile(join(directory, "summary.json"));
const authored = await Deno.readTextFile(join(directory, "recipe.authored.json"));
for (let i = 0; i < RUNS - 1; i++) {
  const created = new Date(Date.UTC(2026, 0, 1) + 1000 * i).toISOString();
  const id = `${created.replace(/\.\d+/, "").replaceAll(/[-:]/g, "")}_bench`;
  Deno.mkdirSync(join(workspace.runs, id));
  const text = summary.replaceAll(run_id, id).replace(/"created_at_utc": "[^"]*"/, `"created_at_utc": "${created}"`);
  Deno.writeTextFileSync(join(workspace.runs, id, "summary.json"), text);
  Deno.writeTextFileSync(join(workspace.runs, id, "recipe.authored.json"), authored);
}
row(`listing ${RUNS} runs from their bundles`, ms(await time(1, () => listRuns(workspace))));
{
  const { database } = openDatabase(workspace.stateDir);
  const index = new RunIndex(workspace, { database });
  row(`index of ${RUNS} runs made anew`, ms(await time(1, () => index.rebuild())));
  const first = await time(21, () => index.list({ limit: PAGE }));
  row(`first page of ${PAGE} runs`, ms(first), "aim: under 20 ms");
  const middle = (await index.list({ limit: sized(500, 2) })).nextCursor!;
  row(`a later page of ${PAGE} runs`, ms(await time(21, () => index.list({ limit: PAGE, cursor: middle }))));
  row("  with a status that none has", ms(await time(21, () => index.list({ limit: PAGE, status: "failed" }))));
  database.close();
}

const server = await startServer({ ...options, port: 0, log() {} });
const load = await loader();
for (
  const path of [
    "/api/health",
    "/api/ops",
    "/api/ops/wireless.channel",
    "/api/runs",
    "/api/runs?limit=20",
    "/api/run-jobs",
  ]
) {
  const response = await fetch(server.url + path);
  await response.body?.cancel();
  const { perSecond, p50, p99 } = await load(server.url + path);
  row(`GET ${path}`, `${perSecond.toFixed(0)} /s`, `p50 ${p50}, p99 ${p99}`);
  const tag = response.headers.get("etag");
  if (tag === null) continue;
  const again = await load(server.url + path, { "if-none-match": tag });
  row(`  by a client that has it`, `${again.perSecond.toFixed(0)} /s`, `p50 ${again.p50}, p99 ${again.p99}`);
}
await server.stop();

// Rows without bundles: how queries scale. Nothing is synchronised, so nothing is looked for on the disk.
const { database } = openDatabase(join(folder, "large"));
const insert = database.prepare(
  `INSERT INTO runs (run_id, status, recipe_name, created_at_utc, completed_at_utc, mtime, size, step_count, size_bytes,
     sort_key) VALUES (?, ?, ?, ?, ?, '', 0, 1, 1, ?)`,
);
row(
  `${ROWS} rows written in one transaction`,
  ms(
    once(() =>
      transaction(database, () => {
        for (let i = 0; i < ROWS; i++) {
          const created = new Date(Date.UTC(2020, 0, 1) + 60_000 * i).toISOString();
          insert.run(
            `run_${i}`,
            i % 50 === 0 ? "failed" : "completed",
            `recipe_${i % 7}`,
            created,
            created,
            `${created}|${i}`,
          );
        }
      })
    ),
  ),
);
const query = (filter: string) => database.prepare(`SELECT * FROM runs ${filter} ORDER BY sort_key DESC LIMIT 101`);
for (
  const [what, filter] of [["all", ""], ["by status", "WHERE status = 'failed'"], [
    "by recipe",
    "WHERE recipe_name = 'recipe_3'",
  ]]
) {
  const statement = query(filter);
  row(`first page of ${ROWS} rows, ${what}`, ms(await time(51, () => statement.all())));
}
database.close();
await Deno.remove(folder, { recursive: true });

/** Milliseconds of one call. */
function once(body: () => unknown): number {
  const started = performance.now();
  body();
  return performance.now() - started;
}

interface Load {
  perSecond: number;
  p50: string;
  p99: string;
}

/** wrk with eight connections, where it is installed. It loads for a whole second at least: a tiny run does so once. */
async function loader(): Promise<typeof wrkLoad> {
  try {
    await wrkLoad(`${server.url}/api/health`);
    return SECONDS < 1 ? fetchLoad : wrkLoad;
  } catch {
    console.log("  wrk is not here (Debian package wrk); the load comes from this program");
    return fetchLoad;
  }
}

async function wrkLoad(url: string, headers: Record<string, string> = {}): Promise<Load> {
  const given = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const text = await output("wrk", ["-t1", "-c8", `-d${Math.ceil(SECONDS)}s`, "--latency", ...given, url]);
  const field = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "?";
  return {
    perSecond: Number(field(/Requests\/sec:\s+([\d.]+)/)),
    p50: field(/50%\s+(\S+)/),
    p99: field(/99%\s+(\S+)/),
  };
}

/** Eight loops of fetch. */
async function fetchLoad(url: string, headers: Record<string, string> = {}): Promise<Load> {
  const times: number[] = [];
  const until = performance.now() + 1000 * SECONDS;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (performance.now() < until) {
      const started = performance.now();
      await (await fetch(url, { headers })).arrayBuffer();
      times.push(performance.now() - started);
    }
  }));
  times.sort((a, b) => a - b);
  return {
    perSecond: times.length / SECONDS,
    p50: ms(times[times.length >> 1]),
    p99: ms(times[Math.floor(times.length * 0.99)]),
  };
}
