/**
 * The server on loopback: requests per second and latencies of the requests of a dashboard. The load comes from `wrk`
 * where it is installed, else from this program itself.
 */
import { join } from "node:path";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { startServer } from "../../lib/http/serve.ts";
import { run } from "../../mod.ts";
import { ms, output, row, sized } from "./measure.ts";

const RUNS = Number(Deno.env.get("SVC_BENCH_RUNS") ?? sized(10_000, 5));
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

await Deno.remove(folder, { recursive: true });

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
