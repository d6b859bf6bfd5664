/**
 * Beam search over token sequences. A hypothesis has the score Σ ln p(token) / n over its n tokens behind the start token.
 * In each step the 2·beams best continuations of all beams are taken in the order of their sums; those that end become
 * finished hypotheses if they are among the first `beams`, the others continue. The best `beams` finished hypotheses are
 * kept; the search ends when none of them has a smaller score than the best unfinished one, or at the maximum length, where
 * unfinished beams count as they are. One beam is greedy decoding.
 *
 * Equal sums: the earlier beam, then the lower token.
 *
 * Source: Graves, "Sequence transduction with recurrent neural networks", 2012; length normalisation as in Wu et al., "Google's
 * neural machine translation system", 2016, with exponent 1.
 */

export interface BeamSearch {
  /** First token of every sequence, which is not part of the result. */
  start: number;
  /** Token that ends a sequence, which is not part of the result. */
  end: number;
  /** Token that must follow the start, if any. */
  forcedFirst?: number;
  beams: number;
  /** Longest sequence, start token included. */
  maxLength: number;
  /** Logits of the next token for each sequence. */
  next(sequences: readonly (readonly number[])[]): Promise<readonly ArrayLike<number>[]>;
}

interface Hypothesis {
  tokens: readonly number[];
  sum: number;
}

/** The sequence with the best score, without start and end. */
export async function beamSearch({ start, end, forcedFirst, beams, maxLength, next }: BeamSearch): Promise<number[]> {
  let alive: Hypothesis[] = [{ tokens: [start], sum: 0 }];
  const finished: (Hypothesis & { score: number })[] = [];
  const finish = ({ tokens, sum }: Hypothesis, length: number) => {
    finished.push({ tokens, sum, score: sum / length });
    finished.sort((a, b) => b.score - a.score);
    finished.length = Math.min(finished.length, beams);
  };
  const isDone = () => {
    const [{ tokens, sum }] = alive;
    return finished.length === beams && finished[beams - 1].score >= sum / Math.max(1, tokens.length - 1);
  };
  while (alive.length > 0 && alive[0].tokens.length < maxLength && !isDone()) {
    const length = alive[0].tokens.length, forced = length === 1 ? forcedFirst : undefined;
    const logits = await next(alive.map(({ tokens }) => tokens));
    const candidates = alive.flatMap(({ tokens, sum }, beam) =>
      best(logits[beam], 2 * beams, forced).map(({ token, logarithm }) => ({ tokens, token, sum: sum + logarithm }))
    );
    // The order of equal sums stays: sort is stable.
    candidates.sort((a, b) => b.sum - a.sum);
    alive = [];
    for (const [rank, { tokens, token, sum }] of candidates.slice(0, 2 * beams).entries()) {
      if (token !== end || forced !== undefined) alive.push({ tokens: [...tokens, token], sum });
      else if (rank < beams) finish({ tokens, sum }, length);
      if (alive.length === beams) break;
    }
  }
  if (finished.length < beams) { for (const each of alive) finish(each, Math.max(1, each.tokens.length - 1)); }
  return finished.reduce((a, b) => (b.score > a.score ? b : a)).tokens.slice(1);
}

/** The most likely tokens with the logarithms of their probabilities. */
function best(logits: ArrayLike<number>, count: number, forced?: number): { token: number; logarithm: number }[] {
  if (forced !== undefined) return [{ token: forced, logarithm: 0 }];
  let greatest = -Infinity, sum = 0;
  for (let i = 0; i < logits.length; i++) greatest = Math.max(greatest, logits[i]);
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i] - greatest);
  const normaliser = greatest + Math.log(sum);
  const tokens = Array.from({ length: logits.length }, (_, i) => i)
    .sort((a, b) => logits[b] - logits[a] || a - b).slice(0, count);
  return tokens.map((token) => ({ token, logarithm: logits[token] - normaliser }));
}
