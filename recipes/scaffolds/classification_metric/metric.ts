/**
 * Cohen's kappa: agreement of labels and predictions beyond chance, (observed - expected) / (1 - expected), 1 for
 * perfect agreement, 0 for chance. Replace it by your own metric.
 *
 * Source: Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1), 1960.
 */
import type { Context, Item, Score } from "../svc_types.ts";

/**
 * Scores predictions.
 * @param call.reference true labels, by id
 * @param call.candidate predicted labels, in any order
 * @returns finite numbers by name, recorded as external.example_metric.<name>. Undefined ones are omitted
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
      // With a single label chance always agrees, so kappa is undefined.
      ...(expected < 1 ? { cohen_kappa: (observed - expected) / (1 - expected) } : {}),
    },
    per_example: pairs.map(({ id, label, prediction }) => ({ id, correct: label === prediction })),
  };
}
