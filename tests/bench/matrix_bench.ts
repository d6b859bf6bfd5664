/**
 * A matrix of 256 points over the shipped digital image link of 20 steps: expanding (every point compiled), and planning
 * every point. Then sweeps of a link of three short steps, one point after another and two side by side, against the same
 * operations in memory.
 *
 *     deno run -A tests/bench/matrix_bench.ts
 */
import { cpuUsage } from "node:process";
import { fileURLToPath } from "node:url";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { planMatrix } from "../../lib/plan/plan_matrix.ts";
import { expandMatrix } from "../../lib/recipe/expand_matrix.ts";
import { readRecipeFile } from "../../lib/recipe/read.ts";
import { createRegistry } from "../../ops/registry.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import { runOperation } from "../../lib/conformance/run_operation.ts";
import { open } from "../../mod.ts";
import { median, ms, row, sized, time } from "./measure.ts";

const POINTS = sized(256, 3);
const RUNS = 15;

const registry = await createRegistry();
const file = new URL("../../recipes/recipe_starters/image_protected_digital_awgn.yaml", import.meta.url);
const { value, locate } = await readRecipeFile(fileURLToPath(file));
const { matrix } = (value as JsonObject).metadata as { matrix: { dimensions: JsonObject } };
matrix.dimensions = { snr_db: Array.from({ length: POINTS }, (_, n) => float(n / 8 - 10)) };

const expand = () => expandMatrix(value, { registry, locate });
const expansion = expand();
const steps = expansion.recipe!.steps.length;
if (expansion.status !== "valid" || expansion.points.length !== POINTS || steps !== 20) {
  throw new Error("The recipe of the benchmark does not expand");
}
const plan = async () => {
  const planned = await planMatrix(expansion, { registry });
  if (planned.status !== "planned") throw new Error("The points of the benchmark do not plan");
};

const expanding = await time(RUNS, expand), planning = await time(RUNS, plan);
console.log(
  `${POINTS} points x ${steps} steps, medians of ${RUNS} runs; the plan cache holds 128, so every plan is made anew`,
);
row("expand: compile the recipe and every point", ms(expanding), `${ms(expanding / POINTS)} a point`);
row("plan every point", ms(planning), `${ms(planning / POINTS)} a point`);
row("together", ms(expanding + planning), "aim: under 500 ms");

const LINK: { id: string; op: string; params: JsonObject; inputs: Record<string, string> }[] = [
  { id: "data", op: "source.random_bits", params: { bit_count: 1000 }, inputs: {} },
  { id: "link", op: "wireless.digital_link", params: {}, inputs: { bits: "data.bits" } },
  { id: "ber", op: "metrics.bit_error_rate", params: {}, inputs: { reference: "data.bits", candidate: "link.bits" } },
];
const SWEPT = sized(128, 4), TURNS = sized(5, 1);
const levels = Array.from({ length: SWEPT }, (_, n) => float(n / 8 - 5));
const sweep = {
  name: "link",
  metadata: {
    seed: 7,
    matrix: { dimensions: { snr_db: levels }, step_params: { link: { snr_db: { matrix: "snr_db" } } } },
  },
  steps: LINK,
};

/** Removed at the end: a file system may create files slowly for some time after it has removed many. */
const stateDirs: string[] = [];

/** Milliseconds a point of a sweep into an empty state directory, and those of all processors. */
async function sweeping(parallelPoints: number): Promise<{ wall: number; cpu: number }> {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-bench-" });
  stateDirs.push(stateDir);
  await using svc = await open({ stateDir });
  let started = NaN, before = cpuUsage();
  const { rows } = await svc.recipes.runMatrix(sweep, {
    parallelPoints,
    // Threads and modules are loaded with the first point.
    onEvent: ({ kind, fields }) => {
      if (kind !== "matrix_variant_completed" || fields.index !== 0) return;
      started = performance.now();
      before = cpuUsage();
    },
  });
  const elapsed = performance.now() - started, { user, system } = cpuUsage(before);
  if (rows.some(({ status }) => status !== "completed")) throw new Error("A point of the sweep failed");
  return { wall: elapsed / (SWEPT - 1), cpu: (user + system) / 1000 / (SWEPT - 1) };
}

/** Milliseconds a point of the same operations in memory. */
async function bare(): Promise<number> {
  const started = performance.now();
  for (const snr_db of levels) {
    const made = new Map<string, InputArtifact>();
    for (const { id, op, params, inputs } of LINK) {
      const given = Object.fromEntries(Object.entries(inputs).map(([port, from]) => [port, made.get(from)!]));
      const { outputs } = await runOperation(registry.get(op).operation, {
        inputs: given,
        params: id === "link" ? { ...params, snr_db } : params,
        seed: 7,
      });
      for (const [port, output] of Object.entries(outputs)) made.set(`${id}.${port}`, output);
    }
  }
  return (performance.now() - started) / SWEPT;
}

const alone: { wall: number; cpu: number }[] = [], beside: number[] = [], raw: number[] = [];
await bare();
for (let turn = 0; turn < TURNS; turn++) {
  alone.push(await sweeping(1));
  raw.push(await bare());
  beside.push((await sweeping(2)).wall);
}
for (const folder of stateDirs) await Deno.remove(folder, { recursive: true });
const point = median(alone.map(({ wall }) => wall)), cpu = median(alone.map(({ cpu }) => cpu));
const pair = median(beside), floor = median(raw);
console.log(`${SWEPT} points x ${LINK.length} steps of 1,000 bits, medians of ${TURNS} sweeps`);
row("the operations of a point in memory", ms(floor));
row(
  "a point with its bundle",
  ms(point),
  `${ms(point - floor)} beside its operations; aim: at most 10 ms beside its steps`,
);
row("  processor time of such a point, all threads", ms(cpu));
row(
  "a point with its bundle, two side by side",
  ms(pair),
  `${(point / pair).toFixed(2)} times as many points a second`,
);
