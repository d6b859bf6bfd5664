/**
 * Power over parallel Gaussian channels. An element with gain g and noise N0 has the floor f = N0/g; power p carries
 * log2(1 + p/f) bits. The allocations are exact:
 *
 *     water-filling         max of the sum of log2(1 + p_i/f_i), p >= 0, sum p = budget:    p_i = max(mu - f_i, 0)
 *     box constraints       the same with lower <= p_i <= upper:            p_i = clip(mu - f_i, lower, upper)
 *     simplex projection    the point of {p >= 0, sum p = budget} nearest to s:            p_i = max(s_i - theta, 0)
 *
 * A floor may be Infinity (gain zero): such an element gets nothing, or its lower bound. Levels are kept relative to
 * the lowest floor, so that floors far above the budget cost no digits.
 *
 * Source: Cover and Thomas, Elements of Information Theory, 2nd ed., 2006, 9.4; Boyd and Vandenberghe, Convex
 * Optimization, 2004, 5.5.3; Held, Wolfe and Crowder, "Validation of subgradient optimization", Math. Program. 6, 1974.
 */
import { sum } from "../scores/statistics.ts";

/** Halvings after which a bracket of binary64 numbers cannot become narrower. */
const MOST_HALVINGS = 200;
/** Maximum number of corrections of a projection for the rounding remainder. */
const MOST_SHARINGS = 4;

/**
 * The floors N0/g of gains.
 * @param gains power gains |h|², not negative
 */
export function noiseFloors(gains: ArrayLike<number>, noiseVariance: number): Float64Array<ArrayBuffer> {
  return Float64Array.from(gains, (gain) => (gain > 0 ? noiseVariance / gain : Infinity));
}

function checkBudget(count: number, budget: number): void {
  if (count > 0 && budget >= 0 && Number.isFinite(budget)) return;
  throw new RangeError(`Cannot share a power of ${budget} among ${count} elements`);
}

/**
 * Water-filling. Without any finite floor all elements get the same power.
 * @param floors N0/g, positive; Infinity for a gain of zero
 * @param budget sum of the powers
 * @returns powers whose sum is the budget within rounding; a new array
 * @throws RangeError without elements, or with a budget that is negative or not finite
 */
export function waterFill(floors: ArrayLike<number>, budget: number): Float64Array<ArrayBuffer> {
  checkBudget(floors.length, budget);
  const least = minimum(floors);
  if (!Number.isFinite(least)) return new Float64Array(floors.length).fill(budget / floors.length);
  const heights = heightsAbove(floors, least);
  const level = surfaceLevel(heights, budget);
  return heights.map((height) => Math.max(level - height, 0));
}

/** The water level of a given volume over heights of which the lowest is zero. */
function surfaceLevel(heights: Float64Array, volume: number): number {
  const sorted = heights.slice().sort();
  let under = 0;
  let level = Infinity;
  for (let covered = 1; covered <= sorted.length; covered++) {
    const height = sorted[covered - 1];
    // The level is below this element and all later ones.
    if (height >= level) break;
    under += height;
    level = (volume + under) / covered;
  }
  return level;
}

/** The level mu of the water-filling optimum, the inverse of the price of power; Infinity without any finite floor. */
export function waterLevel(floors: ArrayLike<number>, budget: number): number {
  checkBudget(floors.length, budget);
  const least = minimum(floors);
  if (!Number.isFinite(least)) return Infinity;
  return least + surfaceLevel(heightsAbove(floors, least), budget);
}

/**
 * Distance of powers from the optimality conditions at the optimal level mu, relative to the price of power: the
 * largest |mu/(p + f) - 1| for elements with power, and max(mu/f - 1, 0) for those without. Zero if all floors are
 * infinite.
 * @returns 0 at the optimum, 1 when power is spent on an element that carries nothing
 */
export function waterFillingResidual(powers: ArrayLike<number>, floors: ArrayLike<number>, budget: number): number {
  const level = waterLevel(floors, budget);
  if (level === Infinity) return 0;
  let largest = 0;
  for (let i = 0; i < floors.length; i++) {
    const slack = level / (Math.max(powers[i], 0) + floors[i]) - 1;
    largest = Math.max(largest, powers[i] > 0 ? Math.abs(slack) : slack);
  }
  return largest;
}

/**
 * Water-filling with box constraints, by bisection of the level. Elements without gain share the power that the others
 * cannot take; without any finite floor all elements get the same power.
 * @param lower minimum power of an element; lower · count <= budget
 * @param upper maximum power of an element; upper · count >= budget
 * @returns powers whose sum is the budget within rounding; a new array
 * @throws RangeError for bounds that do not allow the budget
 */
export function waterFillBox(
  floors: ArrayLike<number>,
  budget: number,
  { lower, upper }: { lower: number; upper: number },
): Float64Array<ArrayBuffer> {
  const count = floors.length;
  checkBudget(count, budget);
  const mean = budget / count;
  // Rounding of the mean must not exclude a budget at a bound.
  const slack = 1e-12 * mean;
  if (!(lower >= 0 && lower <= mean + slack && upper >= mean - slack)) {
    throw new RangeError(`Cannot keep ${count} powers within ${lower} and ${upper} when they sum to ${budget}`);
  }
  const least = minimum(floors);
  if (!Number.isFinite(least)) return new Float64Array(count).fill(mean);
  const heights = heightsAbove(floors, least);
  const at = (level: number, height: number) => Math.min(Math.max(level - height, lower), upper);
  let low = 0;
  let high = upper + heights.reduce((most, height) => (height < Infinity ? Math.max(most, height) : most), 0);
  for (let halving = 0; halving < MOST_HALVINGS; halving++) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    let used = 0;
    for (let i = 0; i < count; i++) used += at(middle, heights[i]);
    if (used < budget) low = middle;
    else high = middle;
  }
  const powers = heights.map((height) => at(high, height));
  settle(powers, budget, heights, { lower, upper });
  return powers;
}

/**
 * Shares the power that rounding left over, or that elements with gain cannot take: first among the elements strictly
 * inside the bounds, then among those at a bound that have gain, then among the others.
 */
function settle(
  powers: Float64Array,
  budget: number,
  heights: Float64Array,
  { lower, upper }: { lower: number; upper: number },
): void {
  const stages: ((i: number) => boolean)[] = [
    (i) => powers[i] > lower && powers[i] < upper,
    (i) => heights[i] < Infinity,
    () => true,
  ];
  for (const takes of stages) {
    for (let round = 0; round < powers.length; round++) {
      const rest = budget - sum(powers);
      if (Math.abs(rest) <= Number.EPSILON * budget) return;
      const room = (i: number) => (rest > 0 ? powers[i] < upper : powers[i] > lower);
      const takers = Array.from(powers.keys()).filter((i) => takes(i) && room(i));
      if (takers.length === 0) break;
      for (const i of takers) powers[i] = Math.min(Math.max(powers[i] + rest / takers.length, lower), upper);
    }
  }
}

/**
 * Euclidean projection onto {p >= 0, sum p = budget}, by sorting, in binary64 (`svc_exact_simplex_projection_v1`).
 *
 * Rounding: theta comes from the sorted scores; p_i = max(s_i - theta, 0) is rounded once per element; the remainder of
 * the budget is shared equally among the elements with power, until the compensated sum over the sorted powers is
 * within 2^-52 of the budget, relatively, at most four times. The result does not depend on the order of elements:
 * scores in another order give the same powers in that order, bit for bit, and equal scores give equal powers.
 * @param scores finite numbers
 * @returns the nearest point, a new array
 * @throws RangeError without scores, with scores that are not finite, or with an unusable budget
 */
export function projectOntoSimplex(scores: ArrayLike<number>, budget: number): Float64Array<ArrayBuffer> {
  checkBudget(scores.length, budget);
  const depths = Float64Array.from(scores, (score) => -score);
  if (!depths.every(Number.isFinite)) throw new RangeError("Cannot project scores that are not finite");
  // max(s - theta, 0) is water-filling with the floors -s.
  const powers = waterFill(depths, budget);
  for (let round = 0; round < MOST_SHARINGS; round++) {
    const rest = budget - sum(powers.slice().sort());
    if (Math.abs(rest) <= Number.EPSILON * budget) break;
    const share = rest / powers.reduce((count, power) => count + Number(power > 0), 0);
    for (let i = 0; i < powers.length; i++) if (powers[i] > 0) powers[i] = Math.max(powers[i] + share, 0);
  }
  return powers;
}

function heightsAbove(floors: ArrayLike<number>, least: number): Float64Array<ArrayBuffer> {
  const heights = new Float64Array(floors.length);
  for (let i = 0; i < heights.length; i++) heights[i] = floors[i] - least;
  return heights;
}

function minimum(values: ArrayLike<number>): number {
  let least = Infinity;
  for (let i = 0; i < values.length; i++) least = Math.min(least, values[i]);
  return least;
}
