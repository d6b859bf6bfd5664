/**
 * Cohen's kappa: agreement of labels and predictions beyond what chance alone would give,
 * (observed - expected) / (1 - expected), 1 for perfect, 0 for chance. Replace it by your own metric.
 *
 * Source: Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1), 1960.
 */
import type { Context, Item, Score } from "../svc_types.ts";

/**
 * Scores predictions.
 * @param call.reference what is true, by id
 * @param call.candidate what was predicted, in any order
 * @returns finite numbers by name; in a run they stand as external.example_metric.<name>. One that is not defined is left out
 */
export function kappa({ reference, candidate }: { reference: Item[]; candidate: Item[] }, _context: Context): Score {
  const predicted = new Map(candidate.map(({ id, label }) => [id, label]));
  const pairs = reference.map(({ id, label }) => ({ id, label, prediction: predicted.get(id) ?? "" }));
  const share = (test: (pair: typeof pairs[number]) => boolean) => pairs.filter(test).length / pairs.length;
  const observed = share(({ label, prediction }) => label === prediction);
  const labels = new Set(pairs.flatMap(({ label, prediction }) => [label, prediction]));
  let expected = 0;
  for (const name of labels) {
    expected += share(({ label }) => label === name) * share((pair) => pair.prediction === name);
  }
  return {
    metrics: {
      observed_agreement: observed,
      // One label everywhere: chance alone agrees always, and there is nothing beyond it to measure.
      ...(expected < 1 ? { cohen_kappa: (observed - expected) / (1 - expected) } : {}),
    },
    per_example: pairs.map(({ id, label, prediction }) => ({ id, correct: label === prediction })),
  };
}
