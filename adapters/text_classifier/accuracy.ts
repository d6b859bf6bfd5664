/** Share of correctly labelled reports, over all reports and as the mean over the labels. */
import type { Context, Item, Score } from "./svc_types.ts";

export function accuracy({ reference, candidate }: { reference: Item[]; candidate: Item[] }, _context: Context): Score {
  const predicted = new Map(candidate.map(({ id, label }) => [id, label]));
  const rows = reference.map(({ id, label }) => ({ id, label, correct: predicted.get(id) === label }));
  const share = (own: typeof rows) => own.filter(({ correct }) => correct).length / own.length;
  const recalls = [...new Set(rows.map(({ label }) => label))].map((label) =>
    share(rows.filter((row) => row.label === label))
  );
  return {
    metrics: {
      accuracy: share(rows),
      balanced_accuracy: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
    },
    per_example: rows.map(({ id, correct }) => ({ id, correct })),
  };
}
