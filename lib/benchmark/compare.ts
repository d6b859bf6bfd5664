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
import { RunningSum } from "../numeric/statistics.ts";
import type { Sample } from "./samples.ts";
import type { ComparisonRow, Measure, PackMetric } from "./types.ts";

/** So many items in common make pairs of their own. */
export const LEAST_ITEMS = 6;

/** Where a recipe is compared, and as what. */
export interface Place {
  id: string;
  method_id: string | null;
  baseline_id: string | null;
  aggregation_cell_id: string | null;
  matrix_selection: JsonObject;
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

/** Differences of a pair in one metric. */
interface Differences {
  byReplicate: number[];
  byItem: Map<string, { sum: RunningSum; n: number }>;
}

/**
 * Comparisons of the recipes of a pack, from their rows replicate by replicate. Memory: one number for each pair, metric
 * and common replicate, and the samples of one replicate.
 */
export class Comparisons {
  readonly #baselines: readonly string[];
  readonly #metrics: readonly PackMetric[];
  readonly #level: number;
  readonly #places = new Map<string, Place>();
  #pairs: { candidate: Place; baseline: Place; differences: Differences[] }[] = [];
  #paired = 0;
  #replicate = -1;
  #window = new Map<string, Sample>();

  /**
   * @param baselines recipe ids, baseline ids or method ids
   * @param confidence two-sided, inside 0 … 1; its complement is the level of the corrected tests
   */
  constructor(baselines: readonly string[], metrics: readonly PackMetric[], confidence: Measure) {
    this.#baselines = baselines;
    this.#metrics = metrics;
    this.#level = toNumber(confidence);
  }

  /** Adds a row; `sample` is null if it did not complete. */
  add(place: Place, sample: Sample | null): void {
    if (this.#baselines.length === 0) return;
    if (sample !== null && sample.replicate !== this.#replicate) {
      this.#close();
      this.#replicate = sample.replicate;
    }
    if (!this.#places.has(place.id)) this.#places.set(place.id, place);
    if (sample !== null) this.#window.set(place.id, sample);
  }

  /** Takes the differences of the current replicate. */
  #close(): void {
    if (this.#paired < this.#places.size) {
      const known = new Map(this.#pairs.map((pair) => [`${pair.candidate.id}|${pair.baseline.id}`, pair.differences]));
      this.#pairs = comparedPairs([...this.#places.values()], this.#baselines).map(({ candidate, baseline }) => ({
        candidate,
        baseline,
        differences: known.get(`${candidate.id}|${baseline.id}`) ??
          this.#metrics.map(() => ({ byReplicate: [], byItem: new Map() })),
      }));
      this.#paired = this.#places.size;
    }
    for (const { candidate, baseline, differences } of this.#pairs) {
      const mine = this.#window.get(candidate.id), theirs = this.#window.get(baseline.id);
      if (mine === undefined || theirs === undefined) continue;
      this.#metrics.forEach(({ id }, i) => addDifference(differences[i], mine, theirs, id));
    }
    this.#window = new Map();
  }

  rows(): ComparisonRow[] {
    this.#close();
    const level = this.#level;
    const rows = this.#pairs.flatMap(({ candidate, baseline, differences }) =>
      this.#metrics.flatMap(({ id, direction }, i) => {
        const { byReplicate, byItem } = differences[i];
        if (byReplicate.length === 0) return [];
        const pairing = byItem.size >= LEAST_ITEMS ? "item" as const : "replicate" as const;
        const values = pairing === "item" ? [...byItem.values()].map(({ sum, n }) => sum.value / n) : byReplicate;
        const { n, mean, low, high, pValue, pMethod } = pairedDifference(values, level);
        const p = n >= 2 ? pValue : null;
        return [{ candidate, baseline, id, direction, pairing, n, mean, low, high, pMethod, p }];
      })
    );
    const tested = rows.flatMap(({ p }) => p === null ? [] : [p]);
    const corrected = holm(tested)[Symbol.iterator]();
    return rows.map((row): ComparisonRow => {
      const { n, mean, low, high, p } = row;
      const pHolm = p === null ? null : corrected.next().value!;
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
}

/** Candidate minus baseline of one replicate, and of the items that both have in it. */
function addDifference({ byReplicate, byItem }: Differences, mine: Sample, theirs: Sample, metric: string): void {
  const value = mine.values[metric], reference = theirs.values[metric];
  if (value === undefined || reference === undefined) return;
  byReplicate.push(value - reference);
  const items = theirs.items[metric] ?? {};
  for (const [item, own] of Object.entries(mine.items[metric] ?? {})) {
    if (!(item in items)) continue;
    let mean = byItem.get(item);
    if (mean === undefined) byItem.set(item, mean = { sum: new RunningSum(), n: 0 });
    mean.sum.add(own - items[item]);
    mean.n++;
  }
}
