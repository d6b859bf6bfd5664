/**
 * A study of 10,000 points of a trivial link, two side by side: its check before the run, each point beside its steps, and
 * memory. A plain script makes the same operations in memory.
 *
 *     deno run -A tests/bench/study_bench.ts
 */
import { join } from "node:path";
import { cpuUsage } from "node:process";
import { type InputArtifact, open } from "../../mod.ts";
import { runOperation } from "../../lib/conformance/run_operation.ts";
import { float } from "../../lib/contract/value.ts";
import { createRegistry } from "../../ops/registry.ts";
import { ms, row, sized } from "./measure.ts";

const POINTS = sized(10_000, 6);
const projectRoot = await Deno.makeTempDir({ prefix: "svc-bench-" });
const link = `name: link
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 1000}}
  - {id: link, op: wireless.digital_link, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`;
const pack = `schema_version: 1
id: study
version: "1"
dataset: {id: synthetic_random_bits}
task: {id: bit_transport}
metrics: [channel.ber]
recipes:
  - id: link
    path: link.yaml
    matrix:
      sample: {n: ${POINTS}, ranges: {snr_db: {min: -5.0, max: 10.0}}}
      step_params: {link: {snr_db: {matrix: snr_db}}}
`;
await Deno.writeTextFile(join(projectRoot, "link.yaml"), link);
await Deno.writeTextFile(join(projectRoot, "study.yaml"), pack);

const registry = await createRegistry();
const started = performance.now();
for (let n = 0; n < POINTS; n++) {
  const make = async (op: string, inputs: Record<string, InputArtifact>, params = {}) =>
    (await runOperation(registry.get(op).operation, { inputs, params, seed: n })).outputs;
  const { bits } = await make("source.random_bits", {}, { bit_count: 1000 });
  const { bits: received } = await make("wireless.digital_link", { bits }, { snr_db: float(15 * n / POINTS - 5) });
  await make("metrics.bit_error_rate", { reference: bits, candidate: received });
}
const plain = (performance.now() - started) / POINTS;

{
  await using svc = await open({ projectRoot });
  const before = performance.now();
  let first = NaN, peak = 0, used = cpuUsage();
  const { result } = await svc.benchmarks.run(join(projectRoot, "study.yaml"), {
    parallelPoints: 2,
    onEvent({ kind, fields }) {
      if (kind !== "benchmark_row_completed") return;
      // Threads and modules are loaded with the first point.
      if (Number.isNaN(first)) [first, used] = [performance.now(), cpuUsage()];
      if (Number(fields.index) % 100 === 0) peak = Math.max(peak, Deno.memoryUsage().rss);
    },
  });
  const point = (performance.now() - first) / (POINTS - 1), { user, system } = cpuUsage(used);
  if (result.status !== "completed") throw new Error(`The study is ${result.status}`);
  row("check and plan all points before the first", ms(first - before), `${ms((first - before) / POINTS)} a point`);
  row("the operations of a point in memory", ms(plain));
  row(
    `a point of ${POINTS}, two side by side`,
    ms(point),
    `${ms(point - plain)} beside its steps, ${(point / plain).toFixed(1)} times a plain script; aim: at most 6 ms`,
  );
  row("  processor time of a point, all threads", ms((user + system) / 1000 / (POINTS - 1)));
  row("  largest memory of the process", `${(peak / 2 ** 20).toFixed(0)} MiB`);
}
await Deno.remove(projectRoot, { recursive: true });
