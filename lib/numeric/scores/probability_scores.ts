/**
 * Scores of predicted class probabilities.
 *
 * Sources: Brier, Monthly Weather Review 78(1), 1950; Guo et al., On calibration of modern neural networks, ICML 2017
 * (expected calibration error); Hanley and McNeil, Radiology 143(1), 1982 (area under the ROC curve as a rank statistic).
 */
import { mean, sum } from "./statistics.ts";

/** Probabilities of the classes for one item, and the index of its true class. */
export interface ScoredItem {
  readonly probabilities: readonly number[];
  readonly truth: number;
}

/** Mean over the items of Σ_k (p_k - y_k)², y one at the true class: 0 … 2. */
export const brierScore = (items: readonly ScoredItem[]): number =>
  mean(items.map(({ probabilities, truth }) => sum(probabilities.map((p, k) => (p - Number(k === truth)) ** 2))));

/** Share of items whose true class is among the k most probable ones; of equal probabilities the earlier class is first. */
export const topAccuracy = (items: readonly ScoredItem[], k: number): number =>
  mean(items.map(({ probabilities, truth }) => {
    const before = probabilities.filter((p, at) =>
      p > probabilities[truth] || (p === probabilities[truth] && at < truth)
    );
    return Number(before.length < k);
  }));

/**
 * Expected calibration error: Σ over bins of (share of items)·|accuracy - mean confidence|, the confidence being the
 * largest probability. Bins have equal width, (b/n, (b + 1)/n]; 0 counts to the first.
 */
export function calibrationError(items: readonly ScoredItem[], bins: number): number {
  const top = items.map(({ probabilities, truth }) => {
    const confidence = Math.max(...probabilities);
    return { confidence, right: Number(probabilities.indexOf(confidence) === truth) };
  });
  const groups = Map.groupBy(top, ({ confidence }) => Math.max(1, Math.ceil(confidence * bins)));
  return sum(
    [...groups.values()].map((group) =>
      Math.abs(sum(group.map(({ right, confidence }) => right - confidence))) / items.length
    ),
  );
}

/**
 * Area under the ROC curve, mean over the classes that have items of both kinds (one against the rest): probability that
 * an item of the class gets a larger probability of it than another item, equal ones counted half.
 * @returns null if all items have one class
 */
export function areaUnderRoc(items: readonly ScoredItem[], classCount: number): number | null {
  const areas: number[] = [];
  for (let k = 0; k < classCount; k++) {
    const sorted = items.map(({ probabilities, truth }) => ({ score: probabilities[k], own: truth === k }))
      .sort((a, b) => a.score - b.score);
    const positives = sorted.filter(({ own }) => own).length, negatives = sorted.length - positives;
    if (positives === 0 || negatives === 0) continue;
    let rankSum = 0;
    for (let from = 0, to = 0; from < sorted.length; from = to) {
      while (to < sorted.length && sorted[to].score === sorted[from].score) to++;
      const middle = (from + 1 + to) / 2;
      rankSum += middle * sorted.slice(from, to).filter(({ own }) => own).length;
    }
    areas.push((rankSum - positives * (positives + 1) / 2) / (positives * negatives));
  }
  return areas.length === 0 ? null : mean(areas);
}
