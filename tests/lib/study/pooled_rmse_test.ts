/** Root mean squares of a benchmark pool squared errors over replicates, and meet the Cramér-Rao bound where it is attained. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Comparisons, type Place } from "../../../lib/study/pack/compare.ts";
import { sampleOf } from "../../../lib/study/pack/samples.ts";
import type { BenchmarkResult, PackMetric, ResultRow } from "../../../lib/study/pack/types.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import { pooledMetadata } from "../../../lib/contract/metric_metadata.ts";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { type PooledMetric, pooledValue, ratioSums, rootMeanSquare } from "../../../lib/numeric/scores/pooled_ratio.ts";
import type { StepRow } from "../../../lib/execute/types.ts";
import { Findings } from "../../../lib/run/findings.ts";
import { checkMetrics } from "../../../lib/run/verify_metrics.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { aggregateTable } from "../../../lib/cli/benchmark_table.ts";
import { runBenchmark, verifyBenchmark } from "../../support/session.ts";
import { temporaryFolder } from "../../support/temporary.ts";

async function measured(recipe: string, pack: JsonObject): Promise<BenchmarkResult> {
  const projectRoot = temporaryFolder("svc-rmse-");
  await Deno.copyFile(join(ROOT_PATH, "recipes", recipe), join(projectRoot, "recipe.yaml"));
  const document = { schema_version: 1, id: "bounds", version: "1", ...pack };
  await Deno.writeTextFile(join(projectRoot, "pack.json"), prettyJson(document));
  const { result } = await runBenchmark(join(projectRoot, "pack.json"), { projectRoot });
  const { errors } = await verifyBenchmark(openWorkspace({ projectRoot }), result.result_id);
  assert.deepEqual(errors, []);
  return result;
}

function assertMeets(result: BenchmarkResult, metric: string, bound: string): void {
  const [row, limit] = [metric, bound].map((id) => result.aggregates.find((one) => one.metric === id)!);
  for (const aggregate of [row, limit]) {
    const total = (part: string) =>
      result.recipes.reduce((sum, { metrics }) => sum + toNumber(metrics[`${aggregate.metric}.${part}`]), 0);
    assert.equal(aggregate.ci_method, "log_t");
    assert.equal(aggregate.count, total("count"));
    assert.ok(Math.abs(toNumber(aggregate.squared_sum!) / total("squared_sum") - 1) < 1e-12);
    const root = Math.sqrt(total("squared_sum") / total("count"));
    assert.ok(Math.abs(toNumber(aggregate.mean!) / root - 1) < 1e-12, aggregate.metric);
  }
  const [low, high, limitOf] = [row.ci_low!, row.ci_high!, limit.mean!].map(toNumber);
  assert.ok(low <= limitOf && limitOf <= high, `${metric}: ${bound} ${limitOf} is not within ${low} … ${high}`);
}

Deno.test("MUSIC at 15 dB meets the bound of the direction", async () => {
  const result = await measured("aoa_music_ula_baseline.yaml", {
    dataset: { id: "synthetic_ula_aoa" },
    task: { id: "aoa_estimation" },
    metrics: ["aoa.rmse_deg", "aoa.cramer_rao_rmse_deg"],
    replication: { replicates: 10, base_seed: 5 },
    recipes: [{ id: "music", path: "recipe.yaml", matrix: { dimensions: { snr_db: [float(15)] } } }],
  });
  assertMeets(result, "aoa.rmse_deg", "aoa.cramer_rao_rmse_deg");
  assert.match(aggregateTable(result), /aoa\.rmse_deg .* \d+ examples/);
  assert.doesNotMatch(aggregateTable(result), /undefined/);
});

Deno.test("refined peaks of range and Doppler meet the bounds, with one root over all replicates", async () => {
  const result = await measured("recipe_starters/isac_range_doppler.yaml", {
    dataset: { id: "synthetic_ofdm_echoes" },
    task: { id: "range_velocity_estimation" },
    metrics: ["range", "velocity"].flatMap((what) => {
      const unit = what === "range" ? "m" : "mps";
      return [`isac.${what}_rmse_${unit}`, `isac.cramer_rao_${what}_rmse_${unit}`];
    }),
    replication: { replicates: 10, base_seed: 5 },
    recipes: [{ id: "peaks", path: "recipe.yaml", params: { matrix_selection: { refine: true, snr_db: float(5) } } }],
  });
  assertMeets(result, "isac.range_rmse_m", "isac.cramer_rao_range_rmse_m");
  assertMeets(result, "isac.velocity_rmse_mps", "isac.cramer_rao_velocity_rmse_mps");
});

const metricOf = (id: string): PackMetric => ({
  id,
  definition_version: 1,
  source_step: null,
  source_operations: null,
  applicable_roles: null,
  family: "own",
  unit: "",
  direction: "lower_is_better",
  statistic: "mean",
  counts: null,
});

/** The comparison of two methods, from their pooled values replicate by replicate. */
function compared(metric: string, mine: PooledMetric[], theirs: PooledMetric[]) {
  const comparisons = new Comparisons(["base"], [metricOf(metric)], 0.95);
  const place = (id: string): Place => ({
    id,
    method_id: null,
    baseline_id: null,
    aggregation_cell_id: null,
    matrix_selection: {},
  });
  mine.forEach((_, replicate) => {
    for (const [id, values] of [["base", theirs], ["own", mine]] as const) {
      const row = {
        status: "completed",
        replicate,
        metrics: { [metric]: float(pooledValue(values[replicate])!) },
        ...pooledMetadata({ [metric]: values[replicate] }),
      } as unknown as ResultRow;
      comparisons.add(place(id), sampleOf(row, [{ id: metric }]));
    }
  });
  return comparisons.rows()[0];
}

Deno.test("paired tests take the mean square of each replicate, differences the pooled roots", () => {
  // Roots fall on average, from 2.5 to 2.1; mean squares rise, from 8.5 to 8.82.
  const base = [[1], [4], [1], [4]].map(rootMeanSquare), own = [[0], [4.2], [0], [4.2]].map(rootMeanSquare);
  const row = compared("aoa.rmse_deg", own, base);
  const mean = Math.sqrt(8.82) - Math.sqrt(8.5);
  assert.ok(Math.abs(toNumber(row.mean_difference) - mean) < 1e-12, String(row.mean_difference));
  assert.ok(toNumber(row.ci_low!) < mean && mean < toNumber(row.ci_high!));
  // Mean squares differ by -1, 1.64, -1, 1.64: of 16 sign patterns 12 have a sum of at least 1.28.
  assert.equal(toNumber(row.p_value!), 12 / 16);
  const always = Array.from({ length: 7 }, (_, i) => rootMeanSquare([1 + i / 10, 2]));
  const worse = compared("aoa.rmse_deg", always.map((_, i) => rootMeanSquare([2 + i / 10, 3])), always);
  assert.deepEqual([toNumber(worse.p_value!), worse.better], [2 / 128, "baseline"]);
});

Deno.test("decibels of an NMSE are taken of the pooled energies", () => {
  const nmse = (...units: [number, number][]): PooledMetric => ({
    reduction: "ratio_of_sums_db",
    sums: ratioSums(units.map(([error]) => error), units.map(([, power]) => power)),
  });
  const row = compared("channel_estimation.nmse_db", [nmse([1, 10]), nmse([1, 90])], [nmse([1, 1]), nmse([1, 1])]);
  assert.ok(Math.abs(toNumber(row.mean_difference) - 10 * Math.log10(0.02)) < 1e-12);
});

Deno.test("verification compares a root mean square with its sums", () => {
  const pooled = { "aoa.rmse_deg": rootMeanSquare([3, 4]), "channel_estimation.nmse": rootMeanSquare([1, 1]) };
  const problemsOf = (metrics: JsonObject) => {
    const step = { id: "evaluation", metrics, metadata: pooledMetadata(pooled), outputs: {} } as unknown as StepRow;
    const findings = new Findings();
    findings.group("metrics");
    checkMetrics([step], () => null, findings);
    return findings.errors.map(({ code, path }) => `${code} ${path}`);
  };
  const right = { "aoa.rmse_deg": float(Math.sqrt(12.5)), "channel_estimation.nmse": float(1) };
  assert.deepEqual(problemsOf(right), []);
  assert.deepEqual(problemsOf({ ...right, "aoa.rmse_deg": float(3.5) }), [
    "bundle_metric_mismatch $.steps[0].metrics.aoa.rmse_deg",
  ]);
});
