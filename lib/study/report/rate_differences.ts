/**
 * Bjøntegaard's mean differences of the rate-distortion curves of a result from that of one method, with intervals over images
 * or replicates: of each that all points of both curves have, the difference of its own two curves is taken.
 */
import { toNumber } from "../../contract/value.ts";
import { bdQuality, bdRate, type RateDifference, type RatePoint } from "../../numeric/scores/bjontegaard.ts";
import { studentT } from "../../numeric/scores/inference.ts";
import { sampleOf } from "../pack/samples.ts";
import type { BenchmarkResult } from "../pack/types.ts";
import { completedRows, estimateOf, metricFacts } from "../rows/estimates.ts";
import { recipeRows } from "../rows/stored_rows.ts";
import { baselineOf } from "./figure/difference.ts";
import { chosenRecipes, groupsOf, placeOf } from "./figure/groups.ts";
import type { Group, PlotRequest } from "./figure/types.ts";
import { axesOf, defaultPlot } from "./plot_defaults.ts";

/** A mean difference of two curves. */
export interface CurveDifference {
  /** Of the curves of the means: of the rate relative, of the quality in its unit. Null without a common range. */
  difference: number | null;
  /** The common range of quality, or of rate. */
  range: [from: number, to: number] | null;
  /** Mean and interval over the differences of single images or replicates; null for fewer than two. */
  single: { over: "items" | "replicates"; n: number; mean: number; low: number; high: number } | null;
}

export interface MethodRateDifference {
  method: string;
  /** BD-rate: negative is less rate at equal quality. */
  rate: CurveDifference;
  /** BD-quality, such as BD-PSNR: positive is more quality at equal rate. */
  quality: CurveDifference;
}

export interface RateDifferences {
  schema_version: 1;
  kind: "svc.rate_differences";
  result_id: string;
  /** Metric of the rate. */
  x: string;
  /** Metric of the quality. */
  y: string;
  y_unit: string;
  baseline: string;
  confidence_level: number;
  methods: MethodRateDifference[];
}

type Request = Pick<PlotRequest, "x" | "y" | "group" | "where" | "baseline">;

/**
 * The differences of all other series from one.
 * @throws SvcError `usage_invalid` for metrics that the result does not have, and without one baseline
 */
export function rateDifferences(result: BenchmarkResult, request: Request = {}): RateDifferences {
  const { x, y } = axesOf(result, "rate-distortion", request), chosen = chosenRecipes(result, request);
  const groups = groupsOf(result, chosen, request.group ?? "method", x);
  const reference = baselineOf(groups, request.baseline, hasBaseline);
  const level = toNumber(result.replication?.confidence_level ?? 0.95);
  const curves = new Map(groups.map((group) => [group, curveOf(result, group, x, y)]));
  return {
    schema_version: 1,
    kind: "svc.rate_differences",
    result_id: result.result_id,
    x,
    y,
    y_unit: metricFacts(result, y).unit,
    baseline: reference.key,
    confidence_level: level,
    methods: groups.filter((group) => group !== reference).map((group) => {
      const [a, b] = [curves.get(reference)!, curves.get(group)!];
      return {
        method: group.key,
        rate: differenceOf(a, b, bdRate, { level, to: Math.log1p, from: Math.expm1 }),
        quality: differenceOf(a, b, bdQuality, { level, to: Number, from: Number }),
      };
    }),
  };
}

/** The differences of a pack that draws rate over distortion with one baseline; null for another. */
export function packRateDifferences(result: BenchmarkResult): RateDifferences | null {
  const completed = recipeRows(result).some(({ status }) => status === "completed");
  if (!completed || defaultPlot(result) !== "rate-distortion") return null;
  const { x } = axesOf(result, "rate-distortion", {}),
    groups = groupsOf(result, chosenRecipes(result, {}), "method", x);
  return groups.length > 1 && groups.filter(hasBaseline).length === 1 ? rateDifferences(result) : null;
}

const hasBaseline = ({ kind, recipes }: Group) =>
  kind === "baseline" || recipes.some(({ role }) => role === "baseline");

interface Curve {
  means: RatePoint[];
  /** Curves of single items and of single replicates that have all points. */
  single: Record<"items" | "replicates", ReadonlyMap<string, readonly RatePoint[]>>;
}

/** Sums of the places of a point, for its mean. */
interface Sums {
  n: number;
  rate: number;
  quality: number;
}

function curveOf(result: BenchmarkResult, { recipes }: Group, x: string, y: string): Curve {
  const means = recipes.flatMap(({ id }, i): RatePoint[] => {
    const rate = placeOf(result, recipes[i], x), quality = estimateOf(result, id, y)?.mean ?? null;
    return rate === null || quality === null ? [] : [{ rate, quality }];
  });
  const collected = { items: new Map<string, Map<string, Sums>>(), replicates: new Map<string, Map<string, Sums>>() };
  const add = (over: "items" | "replicates", name: string, recipe: string, rate?: number, quality?: number) => {
    if (rate === undefined || quality === undefined) return;
    const points = collected[over].get(name) ?? new Map<string, Sums>();
    const { n, ...sums } = points.get(recipe) ?? { n: 0, rate: 0, quality: 0 };
    points.set(recipe, { n: n + 1, rate: sums.rate + rate, quality: sums.quality + quality });
    collected[over].set(name, points);
  };
  const dependent = new Set<string>();
  for (const row of completedRows(result, new Set(recipes.map(({ id }) => id)))) {
    const { replicate, values, items, independent } = sampleOf(row, [{ id: x }, { id: y }])!;
    // Replicates that repeat each other tell nothing of the spread.
    if (independent === false) dependent.add(row.id);
    else add("replicates", String(replicate), row.id, values[x], values[y]);
    for (const [item, quality] of Object.entries(items[y] ?? {})) add("items", item, row.id, items[x]?.[item], quality);
  }
  const whole = (over: "items" | "replicates") =>
    new Map(
      [...collected[over]].filter(([, points]) => points.size === recipes.length).map(([name, points]) => [
        name,
        [...points.values()].map(({ n, rate, quality }) => ({ rate: rate / n, quality: quality / n })),
      ]),
    );
  return { means, single: { items: whole("items"), replicates: dependent.size > 0 ? new Map() : whole("replicates") } };
}

function differenceOf(
  a: Curve,
  b: Curve,
  measure: (a: readonly RatePoint[], b: readonly RatePoint[]) => RateDifference | null,
  { level, to, from }: { level: number; to(difference: number): number; from(mean: number): number },
): CurveDifference {
  const found = measure(a.means, b.means);
  const over = (["items", "replicates"] as const).map((over) => {
    const values = [...a.single[over]].flatMap(([name, points]) => {
      const other = b.single[over].get(name), single = other === undefined ? null : measure(points, other);
      return single === null ? [] : [to(single.difference)];
    });
    return { over, values };
  }).find(({ values }) => values.length > 1);
  const interval = over === undefined ? null : studentT(over.values, level);
  return {
    difference: found?.difference ?? null,
    range: found === null ? null : [found.from, found.to],
    single: interval === null ? null : {
      over: over!.over,
      n: interval.n,
      mean: from(interval.mean),
      low: from(interval.low!),
      high: from(interval.high!),
    },
  };
}
