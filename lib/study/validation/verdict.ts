/**
 * The verdict of a validation card: each measured point beside its expected value e.
 *
 *     relative   |m - e| <= t |e|            absolute   |m - e| <= t
 *     sigma      |m - e| <= t s, with s = sqrt(e (1 - e) / n) of n independent trials, else the error behind the interval
 *     db         |x' - x| <= t, where the curve through the measured points has the value e at x' and the reference at x
 *     margin  0 <= x - x' <= t, of a requirement: the curve has the value at x or before
 *
 * The curve is linear in log m over the coordinate snr_db; beyond its ends the nearest segment is extended. All tolerances of a
 * point hold. A counted rate with fewer than 100 errors is outside, except for `absolute` and a margin alone. A card is `reproduced` when all
 * points are within, `partly` when each point outside is within in its row of a switched cause, else it `differs`.
 */
import { SvcError } from "../../contract/error.ts";
import { isObject, toNumber } from "../../contract/value.ts";
import { studentQuantile } from "../../numeric/scores/student_t.ts";
import { AXIS, type CheckedPoint, curveOf, type ValidationRecord } from "../pack/card.ts";
import type { AggregateRow, BenchmarkResult } from "../pack/types.ts";
import { rateDifferences } from "../report/rate_differences.ts";

/** Degrees of freedom at which Student's quantile is the normal one. */
const MANY = 1e6;

/** Least errors behind a measured rate. */
const LEAST_ERRORS = 100;

/** A measured point. */
export interface PointVerdict extends CheckedPoint {
  /** Null for a rate without an error. */
  measured: number | null;
  low: number | null;
  high: number | null;
  /** Failed units, or bits that are independent; null for other metrics. */
  errors: number | null;
  /** By kind of tolerance: the shift in dB, or the difference in the unit of the tolerance; null where it cannot be measured. */
  deviation: { [Kind in keyof CheckedPoint["tolerance"]]?: number | null };
  within: boolean;
}

export interface Verdict {
  card: string;
  result_id: string;
  /** Whether the result lies beside the cards (`published.ts`) and not in the workspace. */
  published?: true;
  quick: boolean;
  verdict: "reproduced" | "partly" | "differs";
  /** Points of the card in their order, each followed by its rows of switched causes. */
  points: PointVerdict[];
}

/** The record of a result that is of a card, else null. */
function validationOf({ benchmark }: Pick<BenchmarkResult, "benchmark">): ValidationRecord | null {
  const { validation } = benchmark.metadata;
  return isObject(validation) ? validation as unknown as ValidationRecord : null;
}

/**
 * Judges the result of a card.
 * @throws SvcError `benchmark_incomplete` for a result without all rows, `card_invalid` for one that is of no card or whose
 *   points have several rows
 */
export function verdictOf(result: BenchmarkResult): Verdict {
  const validation = validationOf(result), { result_id } = result;
  if (validation === null) throw new SvcError("card_invalid", `Cannot judge ${result_id}: it is of no validation card`);
  if (result.status !== "completed") {
    const why = result.error === undefined ? result.status : result.error.message;
    throw new SvcError("benchmark_incomplete", `Cannot judge the card ${validation.card}: ${why}`);
  }
  const rows = validation.points.map((point) => rowOf(result, point));
  const points = validation.points.map((point, index) => {
    const further = (point.curve ?? []).map(([x, entry]): [number, number | null] => [
      x,
      numberOf(rowOf(result, { ...point, entry }).mean),
    ]);
    return judged(point, index, validation.points, { rows, further });
  });
  return { card: validation.card, result_id, quick: validation.quick, verdict: verdictFrom(points), points };
}

/** The verdict of judged points. */
export function verdictFrom(points: readonly PointVerdict[]): Verdict["verdict"] {
  const outside = points.filter(({ within, cause }) => !within && cause === undefined);
  const isExplained = ({ index }: PointVerdict) =>
    points.some((other) => other.index === index && other.cause !== undefined && other.within);
  return outside.length === 0 ? "reproduced" : outside.every(isExplained) ? "partly" : "differs";
}

/** What a verdict takes from an aggregate row. */
type Measured = Pick<AggregateRow, "mean"> & Partial<AggregateRow>;

function rowOf(result: BenchmarkResult, { entry, metric, index, difference }: CheckedPoint): Measured {
  const { aggregates, result_id } = result;
  if (difference !== undefined) return differenceOf(result, metric, difference);
  const rows = aggregates.filter((row) =>
    row.metric === metric && (row.recipe_id === entry || row.recipe_id.startsWith(`${entry}@`))
  );
  if (rows.length === 1) return rows[0];
  throw new SvcError(
    "card_invalid",
    `Cannot judge the point ${index}: ${result_id} has ${rows.length} rows of ${metric}`,
    {
      hint: rows.length === 0
        ? "Name a metric that the recipe reports"
        : "Name every dimension of the recipe as a coordinate of the point",
    },
  );
}

/** A difference of two curves; that of single items or replicates has their interval. */
function differenceOf(
  result: BenchmarkResult,
  metric: string,
  { rate: x, quality: y, curve, reference }: NonNullable<CheckedPoint["difference"]>,
): Measured {
  const found = rateDifferences(result, { x, y, baseline: reference }).methods.find(({ method }) => method === curve);
  const { difference = null, single = null } = found?.[metric.startsWith("bd_rate") ? "rate" : "quality"] ?? {};
  if (!metric.endsWith("_mean")) return { mean: difference };
  return { mean: single?.mean ?? null, ci_low: single?.low ?? null, ci_high: single?.high ?? null };
}

const numberOf = (value: AggregateRow["mean"] | undefined) =>
  value === null || value === undefined ? null : toNumber(value);

function judged(
  point: CheckedPoint,
  place: number,
  points: readonly CheckedPoint[],
  { rows, further }: { rows: readonly Measured[]; further: readonly [number, number | null][] },
): PointVerdict {
  const row = rows[place], { expected, tolerance } = point;
  const measured = numberOf(row.mean);
  const errors = row.trials === undefined ? null : Number(row.unit === "bit" ? row.events : row.unit_failures);
  // Without an error the rate is known to be small: `absolute` compares 0.
  const difference = (measured ?? 0) - expected;
  const deviation: PointVerdict["deviation"] = {};
  if (tolerance.absolute !== undefined) deviation.absolute = difference;
  if (tolerance.relative !== undefined) deviation.relative = difference / Math.abs(expected);
  if (tolerance.sigma !== undefined) {
    const error = standardError(row, expected);
    deviation.sigma = error === null ? null : difference === 0 ? 0 : difference / error;
  }
  if (tolerance.db !== undefined || tolerance.margin_db !== undefined) {
    const curve = curveOf(point);
    const own = points.flatMap((other, at): [number, number | null][] =>
      curveOf(other) === curve ? [[snrOf(other), numberOf(rows[at].mean)]] : []
    );
    const moved = shift(point, [...own, ...further].filter((one): one is [number, number] => one[1] !== null));
    if (tolerance.db !== undefined) deviation.db = moved;
    if (tolerance.margin_db !== undefined) deviation.margin_db = moved === null ? null : -moved;
  }
  const holds = Object.entries(deviation).every(([kind, value]) =>
    value !== null && Math.abs(value) <= tolerance[kind as keyof typeof tolerance]! &&
    (kind !== "margin_db" || value >= 0)
  );
  const needsErrors = Object.keys(tolerance).some((kind) => kind !== "absolute" && kind !== "margin_db");
  return {
    ...point,
    measured,
    low: numberOf(row.ci_low),
    high: numberOf(row.ci_high),
    errors,
    deviation,
    within: holds && !(needsErrors && errors !== null && errors < LEAST_ERRORS),
  };
}

const snrOf = ({ at }: CheckedPoint): number => {
  const [, value] = Object.entries(at).find(([name]) => AXIS.test(name)) ?? [];
  return toNumber(value as number);
};

/** The standard error of a mean; null where the replicates give none. */
function standardError(row: Measured, expected: number): number | null {
  if (row.ci_method === "wilson") return Math.sqrt(expected * (1 - expected) / Number(row.trials));
  const low = numberOf(row.ci_low), high = numberOf(row.ci_high);
  if (low === null || high === null || row.confidence_level === undefined) return null;
  // An interval of sums has its degrees of freedom from the units, which are the replicates where the row names none.
  const freedom = row.ci_method === "gaffke"
    ? MANY
    : Number(row.ci_method === "student_t" ? row.n : row.units ?? row.n) - 1;
  return (high - low) / (2 * studentQuantile((1 + toNumber(row.confidence_level)) / 2, freedom));
}

/** x' - x of the measured curve, or null where it does not cross the expected value. */
function shift(point: CheckedPoint, curve: readonly [number, number][]): number | null {
  const x = snrOf(point), points = curve.filter(([, value]) => value > 0).sort(([a], [b]) => a - b);
  const wanted = Math.log(point.expected);
  let nearest: number | null = null;
  for (let i = 1; i < points.length; i++) {
    const [[x0, m0], [x1, m1]] = [points[i - 1], points[i]], [y0, y1] = [Math.log(m0), Math.log(m1)];
    const share = (wanted - y0) / (y1 - y0);
    const reaches = (share >= 0 || i === 1) && (share <= 1 || i === points.length - 1);
    if (!Number.isFinite(share) || !reaches) continue;
    const found = x0 + share * (x1 - x0) - x;
    if (nearest === null || Math.abs(found) < Math.abs(nearest)) nearest = found;
  }
  return nearest;
}
