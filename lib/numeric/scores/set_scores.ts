/**
 * Agreement of two sets.
 *
 * C is the candidate, R the reference: precision |C ∩ R| / |C|, recall |C ∩ R| / |R|, F1 their harmonic mean. With a
 * zero denominator the score is 1 if both sets are empty, else 0; F1 is 0 if both scores are.
 *
 * Source: van Rijsbergen, Information Retrieval, 2nd ed., 1979, ch. 7.
 */

/** Precision, recall and F1 of a set, each in 0 … 1, with the missing and the additional members. */
export interface SetScores {
  precision: number;
  recall: number;
  f1: number;
  /** Members of the reference that the candidate lacks, in the order of the reference. */
  omitted: string[];
  /** Members of the candidate that the reference lacks, in the order of the candidate. */
  unsupported: string[];
}

/** The normal form for comparing strings: trimmed and case-folded, so that `Straße` equals ` STRASSE`. */
export function folded(text: string): string {
  // Upper case first: it expands characters without a single lower-case form.
  return text.trim().toUpperCase().toLowerCase();
}

/**
 * Scores a set against a reference.
 * @param candidate members in their compared form
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
