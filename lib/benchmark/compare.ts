/**
 * Candidates against baselines, replicate by replicate: rows of one replicate share their noise, so their difference
 * says more than two means would.
 *
 * A baseline is compared with the candidates of its own point: those of its aggregation cell, else those with the same
 * coordinates. One without either is compared with all.
 */
import { canonicalJson } from "../contract/json.ts";
import { float, type JsonObject, toNumber } from "../contract/value.ts";
import { holm, pairedDifference } from "../numeric/inference.ts";
import type { Sample } from "./samples.ts";
import type { ComparisonRow, Measure, PackMetric } from "./types.ts";

/** A recipe as comparisons see it. */
export interface ComparedRecipe {
  id: string;
  method_id: string | null;
  baseline_id: string | null;
  aggregation_cell_id: string | null;
  matrix_selection: JsonObject;
  samples: readonly Sample[];
}

/** Where a recipe is compared; null where everywhere. */
function pointOf({ aggregation_cell_id, matrix_selection }: ComparedRecipe): string | null {
  if (aggregation_cell_id !== null) return `cell ${aggregation_cell_id}`;
  return Object.keys(matrix_selection).length === 0 ? null : canonicalJson(matrix_selection);
}

/**
 * Compares the recipes of a pack.
 * @param baselines recipe ids, baseline ids or method ids
 * @param confidence two-sided, inside 0 … 1; its complement is the level of the corrected tests
 */
export function compareMethods(
  recipes: readonly ComparedRecipe[],
  baselines: readonly string[],
  metrics: readonly PackMetric[],
  confidence: Measure,
): ComparisonRow[] {
  const level = toNumber(confidence);
  const isBaseline = (recipe: ComparedRecipe) =>
    baselines.some((name) => [recipe.id, recipe.baseline_id, recipe.method_id].includes(name));
  const pairs = recipes.filter(isBaseline).flatMap((baseline) => {
    const point = pointOf(baseline);
    return recipes.filter((candidate) => !isBaseline(candidate))
      .filter((candidate) => point === null || pointOf(candidate) === point)
      .map((candidate) => ({ candidate, baseline }));
  });
  const rows = pairs.flatMap(({ candidate, baseline }) =>
    metrics.flatMap(({ id, direction }) => {
      const differences = differencesOf(candidate, baseline, id);
      if (differences.length === 0) return [];
      const { n, mean, low, high, pValue, pMethod } = pairedDifference(differences, level);
      const tested = n >= 2;
      return [{ candidate, baseline, id, direction, n, mean, low, high, pMethod, p: tested ? pValue : null }];
    })
  );
  const tested = rows.filter(({ p }) => p !== null);
  const corrected = holm(tested.map(({ p }) => p!));
  return rows.map((row): ComparisonRow => {
    const { n, mean, low, high, p } = row;
    const pHolm = p === null ? null : corrected[tested.indexOf(row)];
    const distinguishable = pHolm !== null && pHolm < 1 - level;
    const decided = distinguishable && row.direction !== "neutral" && mean !== 0;
    return {
      candidate_id: row.candidate.id,
      baseline_id: row.baseline.id,
      metric: row.id,
      n,
      mean_difference: float(mean),
      ci_low: low === null ? null : float(low),
      ci_high: high === null ? null : float(high),
      confidence_level: float(level),
      p_value: p === null ? null : float(p),
      p_value_holm: pHolm === null ? null : float(pHolm),
      p_method: p === null ? null : row.pMethod,
      distinguishable,
      better: !decided ? null : (mean > 0) === (row.direction === "higher_is_better") ? "candidate" : "baseline",
    };
  });
}

/** Candidate minus baseline over the replicates that both completed. */
function differencesOf(candidate: ComparedRecipe, baseline: ComparedRecipe, metric: string): number[] {
  const reference = new Map(baseline.samples.map(({ replicate, values }) => [replicate, values[metric]]));
  return candidate.samples.flatMap(({ replicate, values }) => {
    const other = reference.get(replicate);
    return values[metric] === undefined || other === undefined ? [] : [values[metric] - other];
  });
}
