/**
 * Ratios of sums over units (examples, channel realisations), and functions of them whose mean is not the mean of their values:
 *
 *     root_mean_square     sqrt(Σa / Σb)          a: squared errors, b: their number
 *     ratio_of_sums        Σa / Σb                a: error energy, b: reference energy
 *     ratio_of_sums_db     10·log10(Σa / Σb)
 *     weighted_rate        Σa / Σb                a: events times weights of importance sampling, b: trials
 *
 * Sums of several runs are added, and root and logarithm are taken last. With R = Σa/Σb over U units:
 *
 *     interval of ln R     ln R ± t(U-1)·sqrt(U/(U-1)·Σ(a_u - R·b_u)²)/Σa
 *
 * (of a weighted rate with (Σa)²/Σa² - 1 degrees of freedom, for few events carry most of the weight),
 * and its ends go through the same function. On the logarithm the interval stays positive, and a mean square of few examples,
 * which is skewed to the right, is nearer to symmetric.
 *
 * Source: Cochran, Sampling Techniques, 3rd ed., 1977, ch. 6 (variance of a ratio estimator); the logarithm by the delta method.
 */
import { sum } from "./statistics.ts";
import { studentQuantile } from "./student_t.ts";

export type PooledReduction = "root_mean_square" | "ratio_of_sums" | "ratio_of_sums_db" | "weighted_rate";

/** Sums over units, which pool by addition. */
export interface RatioSums {
  numerator: number;
  denominator: number;
  units: number;
  numerator_squared: number;
  numerator_denominator: number;
  denominator_squared: number;
}

/** A metric that is a function of a ratio of sums. */
export interface PooledMetric {
  reduction: PooledReduction;
  sums: RatioSums;
}

/**
 * Sums of units; those without a denominator count for nothing.
 * @param denominators 1 for each unit when left out
 */
export function ratioSums(numerators: ArrayLike<number>, denominators?: ArrayLike<number>): RatioSums {
  const a: number[] = [], b: number[] = [];
  for (let unit = 0; unit < numerators.length; unit++) {
    const denominator = denominators === undefined ? 1 : denominators[unit];
    if (!(denominator > 0)) continue;
    a.push(numerators[unit]);
    b.push(denominator);
  }
  return {
    numerator: sum(a),
    denominator: sum(b),
    units: a.length,
    numerator_squared: sum(a.map((value) => value * value)),
    numerator_denominator: sum(a.map((value, i) => value * b[i])),
    denominator_squared: sum(b.map((value) => value * value)),
  };
}

/** A root mean square over values that are one unit, such as the samples of a waveform. */
export const rootOfUnit = (squaredSum: number, count: number): PooledMetric => ({
  reduction: "root_mean_square",
  sums: ratioSums([squaredSum], [count]),
});

/** The root mean square of errors, one unit each. */
export const rootMeanSquare = (errors: ArrayLike<number>): PooledMetric => ({
  reduction: "root_mean_square",
  sums: ratioSums(Array.from(errors, (error) => error * error)),
});

/** Adds sums of other units. */
export function pooledSums(a: RatioSums, b: RatioSums): RatioSums {
  return {
    numerator: a.numerator + b.numerator,
    denominator: a.denominator + b.denominator,
    units: a.units + b.units,
    numerator_squared: a.numerator_squared + b.numerator_squared,
    numerator_denominator: a.numerator_denominator + b.numerator_denominator,
    denominator_squared: a.denominator_squared + b.denominator_squared,
  };
}

/** The value of a ratio. */
export function reduced(ratio: number, reduction: PooledReduction): number {
  if (reduction === "root_mean_square") return Math.sqrt(ratio);
  return reduction === "ratio_of_sums_db" ? 10 * Math.log10(ratio) : ratio;
}

/** The slope of {@link reduced}. */
export function slope(ratio: number, reduction: PooledReduction): number {
  if (reduction === "root_mean_square") return 1 / (2 * Math.sqrt(ratio));
  return reduction === "ratio_of_sums_db" ? 10 / (Math.LN10 * ratio) : 1;
}

/** The effective number of events of a weighted rate: so many events of equal weight have the same relative error. */
export const effectiveEvents = ({ numerator, numerator_squared }: RatioSums): number =>
  numerator > 0 ? numerator ** 2 / numerator_squared : 0;

/**
 * The value of a metric, or null without a denominator, where the logarithm of zero would be taken, and for a weighted rate
 * without an event.
 */
export function pooledValue({ reduction, sums: { numerator, denominator } }: PooledMetric): number | null {
  if (reduction === "weighted_rate" && numerator === 0) return null;
  const value = denominator > 0 ? reduced(numerator / denominator, reduction) : NaN;
  return Number.isFinite(value) ? value : null;
}

/**
 * The value with its interval; a single unit and errors of zero have none.
 * @param confidence two-sided, inside 0 … 1
 */
export function pooledEstimate(
  metric: PooledMetric,
  confidence: number,
): { mean: number; low: number | null; high: number | null } | null {
  const mean = pooledValue(metric), { reduction, sums } = metric;
  if (mean === null) return null;
  const { numerator, denominator, units } = sums, ratio = numerator / denominator;
  if (units < 2 || !(numerator > 0)) return { mean, low: null, high: null };
  const spread = sums.numerator_squared - 2 * ratio * sums.numerator_denominator +
    ratio * ratio * sums.denominator_squared;
  const error = Math.sqrt(Math.max(0, spread) * units / (units - 1)) / numerator;
  const isRate = metric.reduction === "weighted_rate";
  const freedom = isRate ? Math.max(1, effectiveEvents(sums) - 1) : units - 1;
  const reach = studentQuantile(0.5 + confidence / 2, freedom) * error, high = ratio * Math.exp(reach);
  return {
    mean,
    low: reduced(ratio * Math.exp(-reach), reduction),
    high: reduced(isRate ? Math.min(1, high) : high, reduction),
  };
}
