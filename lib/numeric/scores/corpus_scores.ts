/**
 * Scores of candidate texts against one or several reference texts, as machine translation, summarisation, captioning
 * and speech recognition report them. BLEU is a statistic of a corpus, CIDEr-D weighs n-grams by a corpus; the others are
 * defined per text.
 *
 * Sources: Papineni et al., ACL 2002 (BLEU); Lin and Och, COLING 2004, and NIST mteval-v13a (smoothing); Popović, WMT 2015
 * (chrF); Lin, 2004 (ROUGE); Banerjee and Lavie, ACL workshop 2005, with the weights of Lavie and Agarwal, WMT 2007
 * (METEOR); Vedantam, Zitnick and Parikh, CVPR 2015 (CIDEr-D).
 */
import { stemmer } from "npm:stemmer@^2.0.1";
import { mean } from "./statistics.ts";
import { codePoints, commonSubsequence, levenshtein } from "./text_similarity.ts";

type Tokens = readonly string[];

/** Tokens of a candidate and of its references. */
export interface TokenizedPair {
  readonly candidate: Tokens;
  readonly references: readonly Tokens[];
}

/** How BLEU treats orders without a match; see {@link corpusBleu}. */
export type BleuSmoothing = "none" | "exponential" | "add_one";

const BLEU_ORDERS = [1, 2, 3, 4];

type Counts = ReadonlyMap<string, number>;

/** Number of occurrences of each n-gram. */
function ngramCounts(tokens: Tokens, order: number): Counts {
  const counts = new Map<string, number>();
  for (let at = 0; at + order <= tokens.length; at++) {
    const ngram = tokens.slice(at, at + order).join("\0");
    counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
  }
  return counts;
}

const total = (counts: Counts) => counts.values().reduce((sum, count) => sum + count, 0);

/** Common n-grams, each counted at most as often as on the other side. */
const shared = (a: Counts, b: Counts) =>
  a.entries().reduce((sum, [ngram, count]) => sum + Math.min(count, b.get(ngram) ?? 0), 0);

/** Harmonic mean of precision and recall with recall `weight` times as important; 0 if both are 0. */
const fScore = (precision: number, recall: number, weight = 1) =>
  precision + recall === 0 ? 0 : (1 + weight ** 2) * precision * recall / (weight ** 2 * precision + recall);

/**
 * BLEU-1 to BLEU-4 of a corpus: brevity penalty times the geometric mean of the clipped n-gram precisions, numerators and
 * denominators summed over the corpus. The reference length is the closest one, the shorter of two equally close.
 *
 * Smoothing of a precision m/t: `none`; `exponential` sets the k-th order with m = 0 to 1/(2^k·t), as NIST mteval and
 * sacreBLEU do; `add_one` takes (m + 1)/(t + 1) for orders above 1. An order without an n-gram in the corpus scores 0, and
 * so do all orders without a common token, as in sacreBLEU 2.
 *
 * @returns BLEU-1, BLEU-2, BLEU-3, BLEU-4 in 0 … 1
 */
export function corpusBleu(pairs: readonly TokenizedPair[], smoothing: BleuSmoothing): number[] {
  const candidateLength = pairs.reduce((sum, { candidate }) => sum + candidate.length, 0);
  const referenceLength = pairs.reduce((sum, { candidate, references }) => {
    const distance = (length: number) => Math.abs(length - candidate.length);
    const lengths = references.map(({ length }) => length).sort((a, b) => distance(a) - distance(b) || a - b);
    return sum + lengths[0];
  }, 0);
  const penalty = Math.min(1, Math.exp(1 - referenceLength / candidateLength));
  let zeros = 0, logSum = 0, common = true;
  return BLEU_ORDERS.map((order) => {
    let matches = 0, count = 0;
    for (const { candidate, references } of pairs) {
      const counts = ngramCounts(candidate, order);
      const highest = new Map<string, number>();
      for (const reference of references) {
        for (const [ngram, n] of ngramCounts(reference, order)) {
          highest.set(ngram, Math.max(n, highest.get(ngram) ?? 0));
        }
      }
      matches += shared(counts, highest);
      count += total(counts);
    }
    if (order === 1) common = matches > 0;
    if (smoothing === "exponential" && matches === 0) matches = 1 / 2 ** ++zeros;
    else if (smoothing === "add_one" && order > 1) [matches, count] = [matches + 1, count + 1];
    logSum += count === 0 ? -Infinity : Math.log(matches / count);
    return common ? penalty * Math.exp(logSum / order) : 0;
  });
}

const CHRF_ORDERS = [1, 2, 3, 4, 5, 6];

/** Character n-grams of a candidate, of its reference, and common ones, by order. */
export type ChrfCounts = readonly (readonly [candidate: number, reference: number, common: number])[];

/** Counts the character n-grams of the orders 1 to 6 of two texts, white space left out. */
export function chrfCounts(candidate: string, reference: string): ChrfCounts {
  const [c, r] = [candidate, reference].map((text) => [...text.replace(/\s+/gu, "")]);
  return CHRF_ORDERS.map((order) => {
    const left = ngramCounts(c, order), right = ngramCounts(r, order);
    return [total(left), total(right), shared(left, right)];
  });
}

/**
 * chrF of one or several texts from the sums of their counts: F score, recall twice as important; precision and recall
 * are means over the orders that both sides have. Empty texts on both sides score 1.
 */
export function chrF(counts: readonly ChrfCounts[]): number {
  const sums = CHRF_ORDERS.map((_, at) =>
    [0, 1, 2].map((side) => counts.reduce((sum, orders) => sum + orders[at][side], 0))
  );
  if (sums[0][0] === 0 && sums[0][1] === 0) return 1;
  const orders = sums.filter(([candidate, reference]) => candidate > 0 && reference > 0);
  if (orders.length === 0) return 0;
  return fScore(
    mean(orders.map(([candidate, , common]) => common / candidate)),
    mean(orders.map(([, reference, common]) => common / reference)),
    2,
  );
}

/** ROUGE-n: F1 of the n-grams of two texts. If neither has one: 1 for equal tokens, else 0. */
export function rougeN(candidate: Tokens, reference: Tokens, order: number): number {
  const c = ngramCounts(candidate, order), r = ngramCounts(reference, order);
  const count = total(c) + total(r);
  if (count > 0) return 2 * shared(c, r) / count;
  return Number(candidate.length === reference.length && candidate.every((token, at) => token === reference[at]));
}

/** ROUGE-L: F1 of the longest common subsequence of tokens; 1 for two empty texts. */
export function rougeLcs(candidate: Tokens, reference: Tokens): number {
  const count = candidate.length + reference.length;
  return count === 0 ? 1 : 2 * commonSubsequence(candidate, reference) / count;
}

/**
 * METEOR with its exact and stem modules (Porter's stemmer); synonyms and paraphrases are left out. With m matched tokens
 * in c chunks (runs that are adjacent in both texts), P = m/|candidate| and R = m/|reference|:
 *
 *     F·(1 - 0.5·(c/m)^3),   F = P·R / (0.9·P + 0.1·R)
 *
 * Tokens are matched from the end of the candidate, each with the last free equal token of the reference: exact matches
 * first, then equal stems. Two empty texts score 1.
 */
export function meteor(candidate: Tokens, reference: Tokens): number {
  if (candidate.length === 0 && reference.length === 0) return 1;
  const partner = new Array<number>(candidate.length).fill(-1);
  const free = reference.map(() => true);
  for (const form of [(token: string) => token, stemmer]) {
    const [left, right] = [candidate.map(form), reference.map(form)];
    for (let i = left.length - 1; i >= 0; i--) {
      if (partner[i] >= 0) continue;
      const j = right.findLastIndex((token, at) => free[at] && token === left[i]);
      if (j < 0) continue;
      partner[i] = j;
      free[j] = false;
    }
  }
  const matches = partner.flatMap((j, i) => j < 0 ? [] : [[i, j]]);
  if (matches.length === 0) return 0;
  const chunks = matches.filter(([i, j], at) =>
    at === 0 || matches[at - 1][0] !== i - 1 || matches[at - 1][1] !== j - 1
  );
  const precision = matches.length / candidate.length, recall = matches.length / reference.length;
  const f = precision * recall / (0.9 * precision + 0.1 * recall);
  return f * (1 - 0.5 * (chunks.length / matches.length) ** 3);
}

/**
 * CIDEr-D of each text: mean over the orders 1 to 4 and the references of the cosine of n-gram counts weighted by inverse
 * document frequency, candidate counts clipped at the reference's, times exp(-(difference of lengths)²/72), times 10. The
 * documents are the items; an n-gram's frequency is the number of items with it in a reference.
 *
 * @returns one score a pair in 0 … 10; 0 throughout for fewer than two items, which have no document frequencies
 */
export function ciderD(pairs: readonly TokenizedPair[]): number[] {
  const weights = BLEU_ORDERS.map((order) => {
    const frequency = new Map<string, number>();
    for (const { references } of pairs) {
      const ngrams = new Set(references.flatMap((reference) => [...ngramCounts(reference, order).keys()]));
      for (const ngram of ngrams) frequency.set(ngram, (frequency.get(ngram) ?? 0) + 1);
    }
    return (tokens: Tokens) => {
      const counts = ngramCounts(tokens, order).entries();
      return new Map(counts.map(([ngram, n]) => [ngram, n * Math.log(pairs.length / (frequency.get(ngram) ?? 1))]));
    };
  });
  const norm = (vector: Counts) => Math.sqrt(vector.values().reduce((sum, weight) => sum + weight ** 2, 0));
  return pairs.map(({ candidate, references }) =>
    10 * mean(references.map((reference) => {
      const closeness = Math.exp(-((candidate.length - reference.length) ** 2) / 72);
      return closeness * mean(weights.map((weigh) => {
        const c = weigh(candidate), r = weigh(reference), norms = norm(c) * norm(r);
        const product = c.entries().reduce((sum, [ngram, weight]) => {
          const other = r.get(ngram) ?? 0;
          return sum + Math.min(weight, other) * other;
        }, 0);
        return norms === 0 ? 0 : product / norms;
      }));
    }))
  );
}

/** Word and character errors of a text: edit distance to the reference, and the reference's length. */
export interface EditCounts {
  readonly errors: number;
  readonly length: number;
}

/** Insertions, deletions and substitutions of tokens; errors/length is the word error rate. */
export function wordErrors(candidate: Tokens, reference: Tokens): EditCounts {
  const numbers = new Map<string, number>();
  const [c, r] = [candidate, reference].map((tokens) =>
    tokens.map((token) => numbers.get(token) ?? (numbers.set(token, numbers.size), numbers.size - 1))
  );
  return { errors: levenshtein(c, r), length: r.length };
}

/** Insertions, deletions and substitutions of characters in Unicode form NFC; runs of white space count as one blank. */
export function characterErrors(candidate: string, reference: string): EditCounts {
  const [c, r] = [candidate, reference].map((text) => codePoints(text.normalize("NFC").trim().replace(/\s+/gu, " ")));
  return { errors: levenshtein(c, r), length: r.length };
}

/**
 * Number of words of a reference that can be read in a candidate: the largest number that occur in it in their order without
 * overlap, blanks removed. A reader of text often loses or adds blanks, which makes no word illegible.
 */
export function wordsRead(candidate: string, reference: Tokens): number {
  const text = candidate.replace(/\s+/gu, "");
  // ends[k]: the first position behind k words.
  const ends = [0];
  for (const word of reference) {
    for (let read = ends.length - 1; read >= 0; read--) {
      const at = text.indexOf(word, ends[read]);
      if (at >= 0) ends[read + 1] = Math.min(ends[read + 1] ?? Infinity, at + word.length);
    }
  }
  return ends.length - 1;
}
