/**
 * What a benchmark costs beyond the runs in it: a pack of short runs against the same runs one after another with a pool
 * of their own, and the memory of the process over a thousand of them.
 */
import { join } from "node:path";
import { runBenchmark } from "../support/session.ts";
import { createRegistry } from "../../ops/registry.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { createCancellation } from "../../lib/execute/cancellation.ts";
import { executePlan } from "../../lib/execute/execute.ts";
import { WorkerPool } from "../../lib/execute/pool.ts";
import { readRecipeText } from "../../lib/recipe/read.ts";
import { captureEnvironment } from "../../lib/run/environment.ts";
import { runRecipe } from "../../lib/run/run.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { median, ms, row, sized } from "./measure.ts";

const RECIPE = `name: link
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 1000}}
  - {id: link, op: wireless.digital_link, params: {snr_db: 0.0}, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`;
const pack = (replicates: number) =>
  `schema_version: 1
id: short_runs
version: "1"
dataset: {id: synthetic_random_bits}
task: {id: bit_transport}
metrics: [channel.ber]
replication: {replicates: ${replicates}}
recipes: [{id: link, path: link.yaml}]
`;

const projectRoot = await Deno.makeTempDir({ prefix: "svc-bench-" });
await Deno.writeTextFile(join(projectRoot, "link.yaml"), RECIPE);
const file = join(projectRoot, "pack.yaml");

// Runs and rows take turns, so that whatever else the machine does falls on both.
const registry = await createRegistry();
const workspace = openWorkspace({ projectRoot });
const pool = new WorkerPool();
const environment = await captureEnvironment(projectRoot);
const raw = readRecipeText(RECIPE, { file: "link.yaml" }).value as JsonObject & { metadata: JsonObject };
async function bareRuns(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const recipe = { ...raw, metadata: { ...raw.metadata, seed: Math.floor(performance.now() * 1000) } };
    const startedAt = performance.now();
    const cancellation = createCancellation();
    const execute: typeof executePlan = (execution) => executePlan({ ...execution, pool });
    await runRecipe({ raw: recipe, registry, workspace, environment, cancellation, execute });
    times.push(performance.now() - startedAt);
  }
  return times;
}
async function rows(count: number): Promise<{ times: number[]; memory: { rss: number; heapUsed: number }[] }> {
  await Deno.writeTextFile(file, pack(count));
  const times: number[] = [], memory: { rss: number; heapUsed: number }[] = [];
  let last = NaN;
  await runBenchmark(file, {
    projectRoot,
    onEvent({ kind }) {
      if (kind !== "benchmark_row_completed") return;
      const now = performance.now();
      if (!Number.isNaN(last)) times.push(now - last);
      last = now;
      const { rss, heapUsed } = Deno.memoryUsage();
      memory.push({ rss, heapUsed });
    },
  });
  return { times, memory };
}

const WARM_UP = sized(20, 0), TURNS = sized(5, 1), RUNS = sized(30, 1), ROWS = sized(1000, 10);
await bareRuns(WARM_UP);
if (WARM_UP > 0) await rows(WARM_UP);
const bare: number[] = [], benchmarked: number[] = [];
for (let turn = 0; turn < TURNS; turn++) {
  bare.push(...await bareRuns(RUNS));
  benchmarked.push(...(await rows(RUNS + 1)).times);
}
const difference = median(benchmarked) - median(bare);
row("benchmark layer a row", ms(difference), `a row ${ms(median(benchmarked))}, its run alone ${ms(median(bare))}`);
pool.close();

const { memory } = await rows(ROWS);
const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
// The heap swings with the collector: the least of some rows is held.
const held = (from: number) => Math.min(...memory.slice(from, from + ROWS / 20 + 1).map(({ heapUsed }) => heapUsed));
row(
  `heap held after ${ROWS} rows`,
  mebibytes(held(0.95 * ROWS)),
  `after ${ROWS / 10} rows ${mebibytes(held(ROWS / 10))}; whole process ${mebibytes(memory[ROWS - 1].rss)} and ${
    mebibytes(memory[ROWS / 10 - 1].rss)
  }`,
);
await Deno.remove(projectRoot, { recursive: true });
