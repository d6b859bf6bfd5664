/**
 * Candidates against baselines, pair by pair. Methods measured on the same items (images, texts) pair per item, averaged
 * over the replicates; otherwise rows of one replicate pair, which share their noise.
 *
 * A baseline is compared with the candidates of its own point: those of its aggregation cell, else those with the same
 * coordinates. A baseline without either is compared with all.
 */
import { canonicalJson } from "../contract/json.ts";
import { float, type JsonObject, toNumber } from "../contract/value.ts";
import { holm, pairedDifference } from "../numeric/inference.ts";
import { mean as meanOf } from "../numeric/statistics.ts";
import type { Sample } from "./samples.ts";
import type { ComparisonRow, Measure, PackMetric } from "./types.ts";

/** So many items in common make pairs of their own. */
export const LEAST_ITEMS = 6;

/** Where a recipe is compared, and as what. */
interface Place {
  id: string;
  method_id: string | null;
  baseline_id: string | null;
  aggregation_cell_id: string | null;
  matrix_selection: JsonObject;
}

/** The data of a recipe for comparisons. */
export interface ComparedRecipe extends Place {
  samples: readonly Sample[];
}

/** The point of a comparison; null for all points. */
function pointOf({ aggregation_cell_id, matrix_selection }: Place): string | null {
  if (aggregation_cell_id !== null) return `cell ${aggregation_cell_id}`;
  return Object.keys(matrix_selection).length === 0 ? null : canonicalJson(matrix_selection);
}

/** The candidates of each baseline. */
export function comparedPairs<Recipe extends Place>(
  recipes: readonly Recipe[],
  baselines: readonly string[],
): { candidate: Recipe; baseline: Recipe }[] {
  const isBaseline = (recipe: Recipe) =>
    baselines.some((name) => [recipe.id, recipe.baseline_id, recipe.method_id].includes(name));
  return recipes.filter(isBaseline).flatMap((baseline) => {
    const point = pointOf(baseline);
    return recipes.filter((candidate) => !isBaseline(candidate))
      .filter((candidate) => point === null || pointOf(candidate) === point)
      .map((candidate) => ({ candidate, baseline }));
  });
}

/** The fewest pairs whose exact test can fall below a level that is corrected over so many comparisons. */
export function pairsNeeded(comparisons: number, level: number): number {
  return Math.floor(Math.log2(2 * comparisons / level)) + 1;
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
  const rows = comparedPairs(recipes, baselines).flatMap(({ candidate, baseline }) =>
    metrics.flatMap(({ id, direction }) => {
      const { differences, pairing } = differencesOf(candidate, baseline, id);
      if (differences.length === 0) return [];
      const { n, mean, low, high, pValue, pMethod } = pairedDifference(differences, level);
      const tested = n >= 2;
      return [{ candidate, baseline, id, direction, pairing, n, mean, low, high, pMethod, p: tested ? pValue : null }];
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
      pairing: row.pairing,
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

/** Candidate minus baseline over the pairs of the replicates that both completed. */
function differencesOf(
  candidate: ComparedRecipe,
  baseline: ComparedRecipe,
  metric: string,
): { differences: number[]; pairing: "item" | "replicate" } {
  const reference = new Map(baseline.samples.map((sample) => [sample.replicate, sample]));
  const byReplicate: number[] = [], byItem = new Map<string, number[]>();
  for (const { replicate, values, items } of candidate.samples) {
    const other = reference.get(replicate);
    if (other === undefined || values[metric] === undefined || other.values[metric] === undefined) continue;
    byReplicate.push(values[metric] - other.values[metric]);
    const [mine, theirs] = [items[metric] ?? {}, other.items[metric] ?? {}];
    for (const [item, value] of Object.entries(mine)) {
      if (item in theirs) byItem.set(item, [...byItem.get(item) ?? [], value - theirs[item]]);
    }
  }
  return byItem.size >= LEAST_ITEMS
    ? { differences: [...byItem.values()].map(meanOf), pairing: "item" }
    : { differences: byReplicate, pairing: "replicate" };
}
