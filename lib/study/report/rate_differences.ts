/**
 * BD-rate of the methods of a rate-distortion pack against its baseline method: the method of the rows with the role baseline,
 * on the curves of the means that the pack's default plot draws.
 */
import { bdRate, type RatePoint } from "../../numeric/scores/bjontegaard.ts";
import { isObject } from "../../contract/value.ts";
import { estimateOf, recipesOf } from "../rows/estimates.ts";
import type { BenchmarkResult } from "../pack/types.ts";

export interface MethodRateDifference {
  method: string;
  baseline: string;
  /** Relative; null without a common range of quality. */
  difference: number | null;
  /** Common range of the quality metric. */
  range: readonly [number, number] | null;
  rateMetric: string;
  qualityMetric: string;
}

/** The differences of a result; none unless its pack draws rate over distortion with one baseline method. */
export function rateDifferences(result: BenchmarkResult): MethodRateDifference[] {
  const plot = result.benchmark.metadata.default_plot;
  if (!isObject(plot) || plot.plot !== "rate-distortion" || typeof plot.x !== "string" || typeof plot.y !== "string") {
    return [];
  }
  const curves = new Map<string, RatePoint[]>(), baselines = new Set<string>();
  for (const { id, role, method_id } of recipesOf(result)) {
    const rate = estimateOf(result, id, plot.x)?.mean ?? null, quality = estimateOf(result, id, plot.y)?.mean ?? null;
    if (typeof method_id !== "string" || rate === null || quality === null) continue;
    curves.set(method_id, [...curves.get(method_id) ?? [], { rate, quality }]);
    if (role === "baseline") baselines.add(method_id);
  }
  if (baselines.size !== 1) return [];
  const [baseline] = baselines, reference = curves.get(baseline)!;
  const { x: rateMetric, y: qualityMetric } = plot;
  return [...curves].filter(([method]) => method !== baseline).map(([method, points]) => {
    const found = bdRate(reference, points);
    return {
      method,
      baseline,
      difference: found?.difference ?? null,
      range: found === null ? null : [found.from, found.to],
      rateMetric,
      qualityMetric,
    };
  });
}
