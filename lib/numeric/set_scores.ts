/**
 * How two sets agree.
 *
 * C is what was said, R what should have been: precision |C ∩ R| / |C|, recall |C ∩ R| / |R|, F1 their harmonic mean.
 * Where a denominator is empty the score is 1 when both sets are empty, else 0; F1 is 0 when both scores are.
 *
 * Source: van Rijsbergen, Information Retrieval, 2nd ed., 1979, ch. 7.
 */

/** Precision, recall and F1 of a set, each in 0 … 1, with what was left out and what was made up. */
export interface SetScores {
  precision: number;
  recall: number;
  f1: number;
  /** Members of the reference that the candidate lacks, in the order of the reference. */
  omitted: string[];
  /** Members of the candidate that the reference lacks, in the order of the candidate. */
  unsupported: string[];
}

/** The form in which two strings are the same: trimmed and case-folded, so that `Straße` equals ` STRASSE`. */
export function folded(text: string): string {
  // Upper case first: it expands what has no single lower-case form.
  return text.trim().toUpperCase().toLowerCase();
}

/**
 * Scores a set against a reference.
 * @param candidate members as they are compared
 * @param reference the same
 */
export function setScores(candidate: ReadonlySet<string>, reference: ReadonlySet<string>): SetScores {
  const shared = candidate.intersection(reference).size;
  const share = (of: number) => of > 0 ? shared / of : Number(candidate.size === reference.size);
  const precision = share(candidate.size), recall = share(reference.size);
  return {
    precision,
    recall,
    f1: precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0,
    omitted: [...reference.difference(candidate)],
    unsupported: [...candidate.difference(reference)],
  };
}
