/**
 * How processor time grows with what a project holds and what a recipe asks for. The exponent of a row is that between its two
 * largest sizes: 0 is flat, 1 linear, and one above 1 would grow faster than the work.
 *
 *     deno run -A tests/bench/growth_bench.ts
 */
import { join } from "node:path";
import process from "node:process";
import { inside } from "../../lib/artifact/inside.ts";
import { openWorkspace, type Workspace } from "../../lib/run/workspace.ts";
import { exportBenchmark } from "../../lib/study/report/reports.ts";
import { LedgerIndex } from "../../lib/study/rows/ledger.ts";
import { showBenchmarkResult } from "../../lib/study/rows/store.ts";
import { LEDGER_FILE } from "../../lib/study/pack/types.ts";
import { open, type Session } from "../../mod.ts";
import { verifyBenchmark } from "../support/session.ts";
import { writeSyntheticResult } from "../support/synthetic_result.ts";
import { ms, row, sized } from "./measure.ts";
import { writeBundle } from "./stored_runs.ts";

const root = await Deno.makeTempDir({ prefix: "svc-growth-" });
const tiny = sized(0, 1) === 1;

/** Processor time of this process in ms, the least of some rounds. */
async function cost(rounds: number, body: () => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < sized(rounds, 1); round++) {
    const before = process.cpuUsage();
    await body();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const shown = (size: number) =>
  size >= 1000 && Number.isInteger(Math.log10(size)) ? `1e${Math.log10(size)}` : `${size}`;

/** A row: the exponent of the largest sizes, and the time of each size. */
function growth(what: string, sizes: readonly number[], times: readonly number[]): void {
  const last = times.length - 1;
  const exponent = Math.log(times[last] / times[last - 1]) / Math.log(sizes[last] / sizes[last - 1]);
  row(what, exponent.toFixed(2), sizes.map((size, at) => `${shown(size)}: ${ms(times[at])}`).join(", "));
}

/** Measures quantities at each size and reports their growth. @param at measures at a size: what, and its time */
async function over(sizes: readonly number[], at: (size: number) => Promise<Record<string, number>>): Promise<void> {
  const found: Record<string, number>[] = [];
  for (const size of sizes) found.push(await at(size));
  for (const what of Object.keys(found[0])) growth(what, sizes, found.map((times) => times[what]));
}

/** A session over a folder of its own. */
async function withSession<T>(body: (svc: Session, folder: string) => Promise<T>): Promise<T> {
  const projectRoot = await Deno.makeTempDir({ dir: root }), stateDir = join(projectRoot, ".svc");
  try {
    await using svc = await open({ projectRoot, stateDir, idleMs: 600_000 });
    return await body(svc, stateDir);
  } finally {
    await Deno.remove(projectRoot, { recursive: true });
  }
}

const source = { id: "data", op: "source.random_bits", params: { bit_count: 64 } };
const link = (points: number, bits = 64) => ({
  name: "link",
  metadata: {
    seed: 23,
    matrix: {
      dimensions: { snr_db: Array.from({ length: points }, (_, i) => i / 10 + 0.05) },
      step_params: { channel: { snr_db: { matrix: "snr_db" } } },
    },
  },
  steps: [
    { ...source, params: { bit_count: bits } },
    { id: "mapper", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    { id: "channel", op: "wireless.channel", params: { channel: "awgn" }, inputs: { symbols: "mapper.symbols" } },
  ],
});
const chain = (length: number) => ({
  name: `chain_${length}`,
  steps: [
    source,
    ...Array.from({ length: length - 1 }, (_, i) => ({
      id: `s${i}`,
      op: "channel.bit_boundary",
      inputs: { bits: `${i === 0 ? "data" : `s${i - 1}`}.bits` },
    })),
  ],
});
const fan = (width: number) => ({
  name: "fan",
  steps: [
    source,
    ...Array.from(
      { length: width },
      (_, i) => ({ id: `s${i}`, op: "channel.bit_boundary", inputs: { bits: "data.bits" } }),
    ),
  ],
});

const decades = (last: number, tinyLast: number) =>
  [1e2, 1e3, 1e4, 1e5].filter((size) => size <= sized(last, tinyLast)).concat(tiny ? [200] : []);

async function storedRuns(): Promise<void> {
  await over(decades(1e5, 1e2), (runs) =>
    withSession(async (svc, stateDir) => {
      for (let i = 0; i < runs; i++) writeBundle(stateDir, i, runs);
      await svc.recipes.runMatrix(link(2));
      // What a rebuild read is known by now, as in a project where runs came one by one.
      return {
        "start of a sweep of two points, by runs stored": await cost(5, () =>
          svc.recipes.runMatrix(link(2), { rerun: true })),
        "a page of 20 runs, by runs stored": await cost(9, () =>
          svc.runs.list({ limit: 20 })),
      };
    }));
}

async function points(): Promise<void> {
  await over(tiny ? [2, 4] : [16, 64, 256], (count) =>
    withSession(async (svc) => {
      await svc.recipes.runMatrix(link(2));
      return {
        "a sweep of trivial links, by points": await cost(3, () => svc.recipes.runMatrix(link(count), { rerun: true })),
      };
    }));
}

/** Processor time of the main thread in ms (Linux). */
const mainThreadMs = () => Number(Deno.readTextFileSync(`/proc/self/task/${Deno.pid}/schedstat`).split(" ")[0]) / 1e6;

/** The main thread of a point, and the cores that points keep busy before it is the limit. */
async function mainThread(bits: number, count: number): Promise<void> {
  await withSession(async (svc) => {
    const recipe = link(count, bits), rounds: { own: number; all: number }[] = [];
    for (let round = 0; round <= sized(5, 1); round++) {
      const own = mainThreadMs();
      const all = await cost(1, () => svc.recipes.runMatrix(recipe, { rerun: true }));
      if (round > 0) rounds.push({ own: (mainThreadMs() - own) / count, all: all / count });
    }
    const { own, all } = rounds.reduce((least, one) => one.own < least.own ? one : least);
    row(
      `main thread of a point of ${shown(bits)} bits`,
      ms(own),
      `all threads ${ms(all)}: ${(all / own).toFixed(1)} cores`,
    );
  });
}

const RESULT = "20260101T000000Z_synthetic";

/** A written result of some rows, and what measures it. @param evidence whether it can be verified */
async function ofResult(
  count: number,
  evidence: boolean,
  measure: (workspace: Workspace) => Promise<Record<string, number>>,
) {
  const folder = await Deno.makeTempDir({ dir: root }), recipes = Math.min(100, count / 25);
  try {
    const workspace = openWorkspace({ projectRoot: folder, stateDir: folder });
    await writeSyntheticResult(workspace, { recipes, replicates: count / recipes, evidence });
    return await measure(workspace);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function rows(): Promise<void> {
  await over(decades(1e5, 1e2), (count) =>
    ofResult(count, false, async (workspace) => {
      const result = () => showBenchmarkResult(workspace, RESULT), out = join(workspace.stateDir, "tables");
      const ledger = () => new LedgerIndex(inside(result().directory, LEDGER_FILE)).advance();
      return {
        "read a result, by rows": await cost(3, result),
        "read a ledger to resume, by rows": await cost(3, ledger),
        "export a result, by rows": await cost(1, () => exportBenchmark(workspace, RESULT, { out })),
      };
    }));
  // A row is verified by its plan and its files: milliseconds each.
  await over(decades(1e4, 1e2), (count) =>
    ofResult(count, true, async (workspace) => ({
      "verify a result, by rows": await cost(1, async () => {
        const { status } = await verifyBenchmark(workspace, RESULT);
        if (status !== "valid") throw new Error(`The result is ${status}`);
      }),
    })));
}

async function steps(): Promise<void> {
  await over(tiny ? [4, 8] : [32, 128, 512], (count) =>
    withSession(async (svc) => {
      const recipe = chain(count), { run_id } = await svc.recipes.run(recipe);
      return {
        "check and plan a recipe, by steps": await cost(5, () => svc.recipes.plan(recipe)),
        "run trivial steps, by steps": await cost(3, () => svc.recipes.run(recipe)),
        "verify a run, by files of its bundle": await cost(5, () => svc.runs.verify(run_id!)),
      };
    }));
}

async function workers(): Promise<void> {
  await over(tiny ? [1, 2] : [1, 2, 4, 8], (parallelWorkers) =>
    withSession(async (svc) => {
      const recipe = fan(sized(256, 4));
      await svc.recipes.run(recipe, { parallelWorkers });
      return {
        "run 256 steps beside each other, by workers": await cost(
          3,
          () => svc.recipes.run(recipe, { parallelWorkers }),
        ),
      };
    }));
}

try {
  if (Deno.build.os === "linux") {
    await mainThread(1000, sized(100, 2));
    await mainThread(sized(1e7, 1e4), sized(4, 1));
  }
  for (const measure of [points, steps, workers, rows, storedRuns]) await measure();
} finally {
  await Deno.remove(root, { recursive: true });
}
