import assert from "node:assert/strict";
import {
  areaUnderRoc,
  brierScore,
  calibrationError,
  type ScoredItem,
  topAccuracy,
} from "../../../lib/numeric/scores/probability_scores.ts";

const near = (actual: number | null, expected: number) =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-12, `${actual}, not ${expected}`);
const ITEMS: ScoredItem[] = [
  { probabilities: [0.7, 0.2, 0.1], truth: 0 },
  { probabilities: [0.4, 0.4, 0.2], truth: 1 },
  { probabilities: [0.1, 0.6, 0.3], truth: 1 },
  { probabilities: [0.2, 0.3, 0.5], truth: 2 },
  { probabilities: [0.5, 0.2, 0.3], truth: 2 },
  { probabilities: [0.3, 0.1, 0.6], truth: 0 },
];

Deno.test("area under the ROC curve, top-k accuracy and Brier score equal scikit-learn 1.2 and NumPy", () => {
  near(areaUnderRoc(ITEMS, 3), 0.8125);
  near(topAccuracy(ITEMS, 2), 1);
  near(brierScore(ITEMS), 0.49666666666666665);
});

Deno.test("of equal probabilities the earlier class is first, and one class alone has no curve", () => {
  near(topAccuracy([ITEMS[1]], 1), 0);
  near(topAccuracy([{ ...ITEMS[1], truth: 0 }], 1), 1);
  assert.equal(areaUnderRoc([ITEMS[0]], 3), null);
});

Deno.test("the calibration error is the gap between confidence and accuracy, weighted by items", () => {
  // Two bins: (0, 0.5] with confidences 0.4, 0.5, 0.5 and one right answer, (0.5, 1] with 0.7, 0.6, 0.6 and two.
  near(calibrationError(ITEMS, 2), (Math.abs(1 - 1.4) + Math.abs(2 - 1.9)) / 6);
  near(calibrationError([{ probabilities: [1, 0], truth: 0 }], 15), 0);
});
