/** Results as a benchmark leaves them, of made-up measurements: what tables and figures are tested with. */
import { aggregate } from "../../../lib/study/rows/aggregate.ts";
import { Tally } from "../../../lib/study/rows/tally.ts";
import { sampleOf } from "../../../lib/study/pack/samples.ts";
import type { BenchmarkResult, ComparisonRow, Measure, PackMetric, ResultRow } from "../../../lib/study/pack/types.ts";
import { rateMetadata } from "../../../lib/contract/metric_metadata.ts";
import { bitCounts } from "../../support/rates.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { bitErrorRateAwgn, bitErrorRateRayleigh } from "../../../lib/numeric/link/theory.ts";
import { findMetric } from "../../../lib/research/catalog.ts";
import { step } from "../../support/step.ts";

function packMetric(id: string): PackMetric {
  const known = findMetric(id)!;
  return {
    id,
    definition_version: 1,
    source_step: null,
    source_operations: null,
    applicable_roles: null,
    family: known.family,
    unit: known.unit,
    direction: known.direction,
    statistic: known.statistic,
    counts: known.counts ?? null,
  };
}

export interface RowMaker {
  id: string;
  label?: string;
  role?: string;
  method: string | null;
  baseline?: string;
  path?: string;
  selection?: JsonObject;
  metrics: (replicate: number) => { [id: string]: Measure };
}

/** The metrics of a row; a bit error rate with counts of independent bits. */
function measured(metrics: ResultRow["metrics"]): Pick<ResultRow, "metrics" | "metric_metadata"> {
  const { "channel.error_count": events, "channel.compare_bit_count": trials } = metrics;
  if (events === undefined || trials === undefined) return { metrics };
  return { metrics, ...rateMetadata({ "channel.ber": bitCounts(Number(events), Number(trials)) }) as JsonObject };
}

/** A completed result of some recipes, `replicates` rows each. */
export function resultOf(
  makers: readonly RowMaker[],
  metrics: readonly string[],
  replicates = 1,
  changes: Partial<BenchmarkResult> = {},
): BenchmarkResult {
  const declared = metrics.map(packMetric);
  const recipes = Array.from({ length: replicates }, (_, replicate) => replicate).flatMap((replicate) =>
    makers.map((maker): ResultRow => ({
      id: maker.id,
      replicate,
      label: maker.label ?? maker.id,
      role: maker.role ?? "candidate",
      method_id: maker.method,
      baseline_id: maker.baseline ?? null,
      recipe_name: `demo__${maker.id}`,
      recipe_path: maker.path ?? "recipes/demo.yaml",
      matrix_selection: maker.selection ?? {},
      run_id: `20260101T000000Z_${maker.id}_${replicate}`,
      run_dir: null,
      status: "completed",
      manifest: null,
      recipe_sha256: "ab".repeat(32),
      semantic_recipe_sha256: null,
      research: null,
      ...measured(maker.metrics(replicate)),
      metric_provenance: {},
      run_evidence_snapshot: null,
    }))
  );
  const tallied = makers.map(({ id }) => {
    const tallies = declared.map((metric) => new Tally(metric.id));
    for (const row of recipes.filter((row) => row.id === id)) {
      for (const tally of tallies) tally.add(sampleOf(row, declared)!);
    }
    return { id, tallies };
  });
  return {
    schema_version: 1,
    kind: "svc.benchmark_result",
    result_id: "20260101T000000Z_demo",
    benchmark: {
      id: "demo",
      version: "1.2.0",
      name: "Demonstration",
      sha256: "cd".repeat(32),
      benchmark_tier: "smoke",
      traceability_profile_requested: false,
      dataset: { id: "random_bits", split: "test" },
      task: { id: "bit_transport" },
      metrics: declared,
      baselines: [],
      metadata: {},
      suite: null,
      catalog_validation: { errors: [], warnings: [] },
    },
    status: "completed",
    attempt_id: "a1",
    attempt_ledger: {
      kind: "svc.benchmark_attempt_ledger",
      relative_path: ".attempt-ledger",
      start_event_sha256: "ef".repeat(32),
      expected_terminal_status: "completed",
    },
    created_at_utc: "2026-01-01T00:00:00Z",
    completed_at_utc: "2026-01-01T00:01:00Z",
    execution: {},
    storage: { backing_run_policy: "pruned_after_snapshot" },
    replication: replicates === 1 ? null : {
      replicates,
      min_replicates: 1,
      base_seed: 0,
      master_seeds: null,
      confidence_level: 0.95,
      until_errors: null,
      until_halfwidth: null,
      max_bits: null,
      stop_metric: null,
    },
    reports: [],
    recipes,
    aggregates: aggregate(tallied, 0.95),
    comparisons: [],
    ...changes,
  };
}

/** The effective recipe of an uncoded link. */
export function linkRecipe(modulation: string, channel: string, snrDb: number): JsonObject {
  return {
    steps: [
      { id: "data", op: "source.random_bits", params: { bit_count: 1000 } },
      { id: "modulator", op: "modulation.digital_modulate", params: { modulation }, inputs: { bits: "data.bits" } },
      {
        id: "channel",
        op: "wireless.channel",
        inputs: { symbols: "modulator.symbols" },
        params: {
          channel,
          snr_db: float(snrDb),
          noise_mode: "snr_at_unit_power",
          receiver_processing: "matched",
          channel_state_mode: "none",
        },
      },
      step("demodulator", "demodulation.digital_demodulate", { rx_symbols: "channel.rx_symbols" }, {
        modulation: "auto",
      }),
      step("ber", "metrics.bit_error_rate", { reference: "data.bits", candidate: "demodulator.bits" }, {
        label: "ber",
      }),
    ],
  };
}

const SNR_DB = [0, 2, 4, 6, 8, 10, 12];
export const LINKS = [
  { method: "qpsk_awgn", modulation: "qpsk", channel: "awgn" },
  { method: "qam16_awgn", modulation: "qam16", channel: "awgn" },
  { method: "qpsk_rayleigh", modulation: "qpsk", channel: "flat_rayleigh" },
] as const;

/** Bit errors of uncoded links over SNR; some points see no error. */
export function errorRateResult(replicates = 5, bits = 5_000): BenchmarkResult {
  const generator = Generator.seeded(3);
  const makers = LINKS.flatMap(({ method, modulation, channel }) =>
    SNR_DB.map((snr): RowMaker => ({
      id: `${method}_${snr}db`,
      label: `${method} at ${snr} dB`,
      method,
      role: method === "qpsk_rayleigh" ? "baseline" : "candidate",
      selection: { snr_db: float(snr) },
      metrics: () => {
        const rate = (channel === "awgn" ? bitErrorRateAwgn : bitErrorRateRayleigh)(modulation, 10 ** (snr / 10));
        const events = generator.random(bits).reduce((count, u) => count + (u < rate ? 1 : 0), 0);
        return {
          "channel.ber": float(events / bits),
          "channel.error_count": events,
          "channel.compare_bit_count": bits,
          "channel.snr_db": float(snr),
        };
      },
    }))
  );
  const comparison: ComparisonRow = {
    candidate_id: "qpsk_awgn_0db",
    baseline_id: "qpsk_rayleigh_0db",
    metric: "channel.ber",
    pairing: "replicate",
    n: replicates,
    mean_difference: -0.0525,
    ci_low: -0.0561,
    ci_high: -0.0489,
    confidence_level: 0.95,
    p_value: 0.0625,
    p_value_holm: 0.0625,
    p_method: "sign_flip",
    distinguishable: false,
    better: null,
  };
  return resultOf(makers, ["channel.ber"], replicates, { comparisons: [comparison] });
}

/** Image quality of two methods over SNR: one that degrades gracefully and one with a cliff, below which images are lost. */
export function qualityResult(replicates = 5): BenchmarkResult {
  const generator = Generator.seeded(4);
  const snrs = [-2, 1, 4, 7, 10, 13, 16, 19];
  const noise = () => float(0.35 * generator.standardNormal(1)[0]);
  const digital = (name: string, uses: number, cliff: number, best: number) => (snr: number): RowMaker => ({
    id: `${name}_${snr}db`,
    method: name,
    role: "baseline",
    selection: { snr_db: float(snr) },
    metrics: () => ({
      ...(snr < cliff ? {} : { "quality.psnr_db": float(best + Number(noise()) * 0.3) }),
      "channel.outage_rate": float(snr < cliff ? 1 : snr < cliff + 3 ? 0.25 : 0),
      "channel.packet_success_rate": float(1 / (1 + Math.exp(-(snr - cliff) * 1.5)) * (1 - 0.02 * generator.random())),
      "channel.snr_db": float(snr),
      "channel.uses_per_pixel": float(uses),
      "channel.channel_use_count": Math.round(uses * 65536),
    }),
  });
  const jscc = (uses: number, best: number) => (snr: number): RowMaker => ({
    id: `deepjscc_${uses}_${snr}db`,
    method: `deepjscc_${uses}`,
    selection: { snr_db: float(snr) },
    metrics: () => ({
      "quality.psnr_db": float(best - 9 * Math.exp(-(snr + 2) / 7) + Number(noise())),
      "channel.outage_rate": float(0),
      "channel.packet_success_rate": float(1),
      "channel.snr_db": float(snr),
      "channel.uses_per_pixel": float(uses),
      "channel.channel_use_count": Math.round(uses * 65536),
    }),
  });
  const makers = snrs.flatMap((snr) => [
    digital("jpeg_ldpc", 0.5, 5, 31)(snr),
    digital("jpeg_oracle", 0.4, 2, 30)(snr),
    jscc(0.25, 32)(snr),
    jscc(0.5, 34.5)(snr),
    jscc(0.75, 36)(snr),
  ]);
  return resultOf(makers, [
    "quality.psnr_db",
    "channel.packet_success_rate",
    "channel.uses_per_pixel",
    "channel.channel_use_count",
  ], replicates);
}
