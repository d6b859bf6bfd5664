/**
 * Candidates against baselines, pair by pair. Methods measured on the same items (images, texts) pair per item, averaged
 * over the replicates; otherwise rows of one replicate pair, which share their noise. Root mean squares are compared by the
 * mean squares of the replicates.
 *
 * A baseline is compared with the candidates of its own point: those of its aggregation cell, else those with the same
 * coordinates. A coordinate that only names the method, such as `repetition: 1` beside `repetition: 3`, is none of the
 * point. A baseline without either is compared with all.
 *
 * Exact constants, such as the channel uses of both methods in all replicates, are compared without a test and are in no
 * family of the correction.
 */
import { canonicalJson } from "../../contract/json.ts";
import { float, type JsonObject, toNumber } from "../../contract/value.ts";
import { holm, pairedDifference, type PairedEstimate, studentT } from "../../numeric/scores/inference.ts";
import { type PooledMetric, pooledSums, reduced, slope } from "../../numeric/scores/pooled_ratio.ts";
import { RunningSum } from "../../numeric/scores/statistics.ts";
import { findMetric, isAccounting } from "../../research/catalog.ts";
import type { Sample } from "./samples.ts";
import { type ComparisonRow, EXACT, type Measure, NOT_INDEPENDENT, type PackMetric } from "./types.ts";

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

/** Es/N0 of the channel is a condition of a comparison; that of a design, such as `trained_snr_db`, may name a method. */
const CONDITION = /^((wireless_)?channel[._])?(snr|esn0|ebn0)(_db)?$/;

/** The recipes of one method, and their coordinates: those with one value, and those with several. */
interface Method<Recipe extends Place> {
  places: Recipe[];
  fixed: Map<string, string>;
  varying: Set<string>;
}

/** Recipes that are baselines, and the others. */
export function comparedSides<Recipe extends Place>(
  recipes: readonly Recipe[],
  baselines: readonly string[],
): { candidates: Recipe[]; references: Recipe[] } {
  const isBaseline = (recipe: Recipe) =>
    baselines.some((name) => [recipe.id, recipe.baseline_id, recipe.method_id].includes(name));
  return { candidates: recipes.filter((recipe) => !isBaseline(recipe)), references: recipes.filter(isBaseline) };
}

/** The candidates of each baseline. */
export function comparedPairs<Recipe extends Place>(
  recipes: readonly Recipe[],
  baselines: readonly string[],
): { candidate: Recipe; baseline: Recipe }[] {
  const order = new Map(recipes.map((recipe, index) => [recipe, index]));
  const { candidates, references } = comparedSides(recipes, baselines);
  const cells = Map.groupBy(candidates, ({ aggregation_cell_id }) => aggregation_cell_id);
  const free = (list: readonly Recipe[]) => list.filter(({ aggregation_cell_id }) => aggregation_cell_id === null);
  const matched = matches(methodsOf(free(references)), methodsOf(free(candidates)));
  return references.flatMap((baseline) => {
    const { aggregation_cell_id: cell, matrix_selection } = baseline;
    const found = cell !== null
      ? cells.get(cell) ?? []
      : Object.keys(matrix_selection).length === 0
      ? candidates
      : (matched.get(baseline) ?? []).sort((a, b) => order.get(a)! - order.get(b)!);
    return found.map((candidate) => ({ candidate, baseline }));
  });
}

function methodsOf<Recipe extends Place>(places: readonly Recipe[]): Method<Recipe>[] {
  const groups = Map.groupBy(places, ({ id, method_id, baseline_id }) => method_id ?? baseline_id ?? id);
  return [...groups.values()].map((places) => {
    const names = new Set(places.flatMap(({ matrix_selection }) => Object.keys(matrix_selection)));
    const fixed = new Map<string, string>(), varying = new Set<string>();
    for (const name of names) {
      const values = new Set(places.map((place) => coordinate(place, name)));
      if (values.size === 1) fixed.set(name, [...values][0]);
      else varying.add(name);
    }
    return { places, fixed, varying };
  });
}

const coordinate = ({ matrix_selection }: Place, name: string) => canonicalJson(matrix_selection[name] ?? null);

/** The candidates at the point of each baseline. */
function matches<Recipe extends Place>(
  baselines: readonly Method<Recipe>[],
  candidates: readonly Method<Recipe>[],
): Map<Recipe, Recipe[]> {
  const whole = (place: Recipe) => canonicalJson(place.matrix_selection);
  const points = (methods: readonly Method<Recipe>[]) => new Set(methods.flatMap(({ places }) => places.map(whole)));
  const [theirs, mine] = [points(baselines), points(candidates)];
  const found = new Map<Recipe, Recipe[]>();
  for (const baseline of baselines) {
    for (const candidate of candidates) {
      // Of two single points nothing says which coordinate names the method: equal points come first.
      const isPaired = baseline.places.length === 1 && candidate.places.length === 1 &&
        (mine.has(whole(baseline.places[0])) || theirs.has(whole(candidate.places[0])));
      const names = [...new Set([...baseline.fixed.keys(), ...baseline.varying])].filter((name) =>
        candidate.varying.has(name) ||
        candidate.fixed.has(name) &&
          (isPaired || CONDITION.test(name) || baseline.varying.has(name) ||
            candidate.fixed.get(name) === baseline.fixed.get(name))
      );
      const keyOf = (place: Recipe) => names.map((name) => coordinate(place, name)).join();
      const groups = Map.groupBy(candidate.places, keyOf);
      for (const place of baseline.places) {
        found.set(place, [...found.get(place) ?? [], ...groups.get(keyOf(place)) ?? []]);
      }
    }
  }
  return found;
}

/** The fewest pairs whose exact test can fall below a level that is corrected over so many comparisons. */
export function pairsNeeded(comparisons: number, level: number): number {
  return Math.floor(Math.log2(2 * comparisons / level)) + 1;
}

type ComparedMetric = Pick<PackMetric, "id" | "direction">;

/** Differences of a pair in one metric. */
interface Differences {
  byReplicate: number[];
  /** Of a metric that pools by sums: those of both methods over the common replicates, and their ratios in each. */
  pooled: { mine: PooledMetric; theirs: PooledMetric; ratios: [number, number][] } | null;
  byItem: Map<string, { sum: RunningSum; n: number }>;
  /** Whether no seed acts on the values of both methods in any replicate. */
  unseeded: boolean;
  /** The values of both methods while all replicates have them; null once one differs. */
  constant: { mine: number; theirs: number } | null;
}

/**
 * Comparisons of the recipes of a pack, from their rows replicate by replicate. Memory: one number for each pair, metric
 * and common replicate, and the samples of one replicate.
 */
export class Comparisons {
  readonly #baselines: readonly string[];
  readonly #metrics: readonly ComparedMetric[];
  readonly #level: number;
  readonly #withConstants: boolean;
  readonly #places = new Map<string, Place>();
  #pairs: { candidate: Place; baseline: Place; differences: Differences[] }[] = [];
  readonly #dependent = new Set<string>();
  #paired = 0;
  #replicate = -1;
  #window = new Map<string, Sample>();

  /**
   * @param baselines recipe ids, baseline ids or method ids
   * @param confidence two-sided, inside 0 … 1; its complement is the level of the corrected tests
   * @param options `withConstants` tests exact constants like values of a random quantity, as older results do
   */
  constructor(
    baselines: readonly string[],
    metrics: readonly ComparedMetric[],
    confidence: Measure,
    { withConstants = false }: { withConstants?: boolean } = {},
  ) {
    this.#withConstants = withConstants;
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
    if (sample?.independent === false) this.#dependent.add(place.id);
  }

  /** Takes the differences of the current replicate. */
  #close(): void {
    if (this.#paired < this.#places.size) {
      const known = new Map(this.#pairs.map((pair) => [`${pair.candidate.id}|${pair.baseline.id}`, pair.differences]));
      this.#pairs = comparedPairs([...this.#places.values()], this.#baselines).map(({ candidate, baseline }) => ({
        candidate,
        baseline,
        differences: known.get(`${candidate.id}|${baseline.id}`) ??
          this.#metrics.map(() => ({
            byReplicate: [],
            pooled: null,
            byItem: new Map(),
            constant: null,
            unseeded: true,
          })),
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
        const { byReplicate, byItem, pooled, constant, unseeded } = differences[i];
        if (byReplicate.length === 0) return [];
        const isPooled = pooled !== null && pooled.ratios.length === byReplicate.length && byItem.size < LEAST_ITEMS;
        const pairing = byItem.size >= LEAST_ITEMS ? "item" as const : "replicate" as const;
        const values = pairing === "item" ? [...byItem.values()].map(({ sum, n }) => sum.value / n) : byReplicate;
        const { n, mean, low, high, pValue, pMethod } = isPooled
          ? pooledDifference(pooled, level)
          : pairedDifference(values, level);
        const isDependent = byReplicate.length > 1 && [candidate, baseline].some(({ id }) => this.#dependent.has(id));
        const isExact = !this.#withConstants && n >= 2 && constant !== null && !isDependent &&
          (unseeded || isAccounted(id)) &&
          isLevel(values);
        const p = n >= 2 && !isDependent && !isExact ? pValue : null;
        const [from, to] = isDependent ? [null, null] : [low, high];
        return [{
          candidate,
          baseline,
          id,
          direction,
          pairing,
          n,
          mean,
          low: from,
          high: to,
          pMethod,
          p,
          isDependent,
          isExact,
        }];
      })
    );
    const tested = rows.flatMap(({ p }) => p === null ? [] : [p]);
    const corrected = holm(tested)[Symbol.iterator]();
    return rows.map((row): ComparisonRow => {
      const { n, mean, low, high, p } = row;
      const pHolm = p === null ? null : corrected.next().value!;
      // Nothing random acts on exact constants: any difference is one.
      const distinguishable = row.isExact ? mean !== 0 : pHolm !== null && pHolm < 1 - level;
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
        ...(row.isDependent ? NOT_INDEPENDENT : row.isExact ? { reason: EXACT } : {}),
      };
    });
  }
}

/** Whether a metric counts resources; one that is not in the catalogue does not. */
function isAccounted(id: string): boolean {
  const known = findMetric(id);
  return known !== undefined && isAccounting(known);
}

/** Whether all values are equal but for rounding. */
function isLevel(values: readonly number[]): boolean {
  const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
  return high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high));
}

/** Candidate minus baseline of one replicate, and of the items that both have in it. */
function addDifference(differences: Differences, mine: Sample, theirs: Sample, metric: string): void {
  const value = mine.values[metric], reference = theirs.values[metric], { byReplicate, byItem } = differences;
  if (value === undefined || reference === undefined) return;
  const isFirst = byReplicate.length === 0, { constant } = differences;
  differences.unseeded &&= [mine, theirs].every(({ unseeded = [] }) => unseeded.includes(metric));
  if (isFirst) differences.constant = { mine: value, theirs: reference };
  else if (constant?.mine !== value || constant.theirs !== reference) differences.constant = null;
  byReplicate.push(value - reference);
  const [a, b] = [mine.pooled?.[metric], theirs.pooled?.[metric]];
  if (a !== undefined && b !== undefined && a.reduction === b.reduction) {
    const before = differences.pooled;
    if (before === null) differences.pooled = { mine: a, theirs: b, ratios: [] };
    else {
      before.mine = { ...a, sums: pooledSums(before.mine.sums, a.sums) };
      before.theirs = { ...b, sums: pooledSums(before.theirs.sums, b.sums) };
    }
    differences.pooled!.ratios.push([ratioOf(a), ratioOf(b)]);
  }
  const items = theirs.items[metric] ?? {};
  for (const [item, own] of Object.entries(mine.items[metric] ?? {})) {
    if (!(item in items)) continue;
    let mean = byItem.get(item);
    if (mean === undefined) byItem.set(item, mean = { sum: new RunningSum(), n: 0 });
    mean.sum.add(own - items[item]);
    mean.n++;
  }
}

const ratioOf = ({ sums: { numerator, denominator } }: PooledMetric): number => numerator / denominator;

/**
 * The difference of two pooled values, such as two root mean squares. The test is that of the mean squares (or other ratios)
 * of the replicates; the interval is theirs too, scaled by the slopes at the pooled values.
 */
function pooledDifference(
  { mine, theirs, ratios }: NonNullable<Differences["pooled"]>,
  confidence: number,
): PairedEstimate {
  const [a, b] = [ratioOf(mine), ratioOf(theirs)], { reduction } = mine;
  const tested = pairedDifference(ratios.map(([own, other]) => own - other), confidence);
  const mean = reduced(a, reduction) - reduced(b, reduction);
  const [mySlope, theirSlope] = [slope(a, reduction), slope(b, reduction)];
  const scaled = studentT(ratios.map(([own, other]) => mySlope * own - theirSlope * other), confidence);
  const reach = scaled.low === null || !Number.isFinite(scaled.mean) ? null : scaled.mean - scaled.low;
  return { ...tested, mean, low: reach === null ? null : mean - reach, high: reach === null ? null : mean + reach };
}
