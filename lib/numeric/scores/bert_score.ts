/**
 * BERTScore: each token of one text is matched with the nearest token of the other by the cosine of their contextual
 * embeddings. Precision is the weighted mean over the tokens of the candidate, recall over those of the reference. Source:
 * Zhang et al., "BERTScore: evaluating text generation with BERT", ICLR 2020, section 3.
 */

/** The tokens of a text: one vector and one weight each. */
export interface EmbeddedText {
  vectors: readonly ArrayLike<number>[];
  weights: readonly number[];
}

export interface BertScore {
  precision: number;
  recall: number;
  f1: number;
}

/** Scores a candidate. A text whose weights sum to 0 matches nothing but another such text. */
export function bertScore(candidate: EmbeddedText, reference: EmbeddedText): BertScore {
  const weightOf = ({ weights }: EmbeddedText) => weights.reduce((sum, weight) => sum + weight, 0);
  const [ours, theirs] = [weightOf(candidate), weightOf(reference)];
  if (ours === 0 || theirs === 0) {
    const score = Number(ours === theirs);
    return { precision: score, recall: score, f1: score };
  }
  const [left, right] = [candidate, reference].map(({ vectors }) => vectors.map(unit));
  const cosines = left.map((a) => right.map((b) => a.reduce((sum, value, i) => sum + value * b[i], 0)));
  const precision = cosines.reduce((sum, row, i) => sum + candidate.weights[i] * Math.max(...row), 0) / ours;
  const recall = right.reduce(
    (sum, _, j) => sum + reference.weights[j] * Math.max(...cosines.map((row) => row[j])),
    0,
  ) / theirs;
  return { precision, recall, f1: precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0 };
}

/**
 * Inverse document frequencies of tokens, log((N + 1) / (n + 1)) for a token in n of N texts.
 * @param texts token ids of each reference
 */
export function inverseDocumentFrequency(texts: readonly (readonly number[])[]): (token: number) => number {
  const counts = new Map<number, number>();
  for (const text of texts) for (const token of new Set(text)) counts.set(token, (counts.get(token) ?? 0) + 1);
  return (token) => Math.log((texts.length + 1) / ((counts.get(token) ?? 0) + 1));
}

function unit(vector: ArrayLike<number>): Float64Array {
  const values = Float64Array.from(vector), length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}
