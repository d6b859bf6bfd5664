/**
 * Character error rate: edit distance of the received text to the sent one, over the characters sent. A text that is
 * missing counts as empty. Replace it by your own metric.
 *
 * Source: Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966.
 */
import type { Context, Score, TextItem } from "../svc_types.ts";

/** Smallest number of inserted, deleted and replaced characters. Exported for its test. */
export function editDistance(a: string, b: string): number {
  const [from, to] = [[...a], [...b]];
  let row = to.map((_, i) => i + 1);
  for (const [i, character] of from.entries()) {
    let left = i + 1, corner = i;
    row = row.map((above, j) => {
      left = Math.min(left + 1, above + 1, corner + (character === to[j] ? 0 : 1));
      corner = above;
      return left;
    });
  }
  return row.at(-1) ?? from.length;
}

/**
 * Scores texts.
 * @param call.reference texts that were sent, by id
 * @param call.candidate received texts, in any order
 * @returns finite numbers by name, recorded as external.example_text_metric.<name>
 */
export function characterErrorRate(
  { reference, candidate }: { reference: TextItem[]; candidate: TextItem[] },
  _context: Context,
): Score {
  const received = new Map(candidate.map(({ id, text }) => [id, text]));
  const rows = reference.map(({ id, text }) => ({
    id,
    errors: editDistance(text, received.get(id) ?? ""),
    characters: [...text].length,
  }));
  const sum = (of: (row: typeof rows[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  const characters = sum((row) => row.characters);
  return {
    metrics: {
      ...(characters > 0 ? { character_error_rate: sum(({ errors }) => errors) / characters } : {}),
      characters,
    },
    per_example: rows,
  };
}
