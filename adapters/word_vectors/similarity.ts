/**
 * Similarity of received texts to those sent, by the word vectors of GloVe 6B (100 dimensions).
 *
 *     embedding   cosine of the means of the words' vectors, each word w weighted by a / (a + p(w)), a = 10⁻³
 *     token       precision: mean over the received words of the largest similarity to a sent word, recall: the other way round,
 *                 both with those weights; F1 their harmonic mean
 *
 * p(w) = 1/((r + 2.7)·ln(341 479)), r the rank of the word in the published list (Zipf's and Mandelbrot's law); unknown words have
 * p = 0. Two equal words have similarity 1, two others max(0, cosine), an unknown word has 0 to all others. Words are lower-case
 * runs of letters and digits; numbers are unknown words, so a wrong number costs precision and recall, and nothing in the
 * embedding. Means of word vectors of unrelated sentences are similar too: `embedding_cosine_unrelated` is the mean over
 * received texts against all other sent ones, the value of a method that delivers nothing in particular.
 *
 * Sources: Pennington, Socher and Manning, GloVe, EMNLP 2014; Arora, Liang and Ma, A simple but tough-to-beat baseline for
 * sentence embeddings, ICLR 2017 (weights; the common component is not removed); Zhang et al., BERTScore, ICLR 2020
 * (matching; here with vectors that do not depend on the context).
 */
import type { Context, Score, TextItem } from "./svc_types.ts";

const SMOOTHING = 1e-3;
const PUBLISHED_WORDS = 341_479;
const DIMENSIONS = 100;

/** A word with its weight and unit vector; null for an unknown word. */
interface Word {
  text: string;
  weight: number;
  direction: Float64Array | null;
}

/** @param rank in the published list, from 0; undefined for an unknown word */
export function weightOf(rank: number | undefined): number {
  if (rank === undefined) return 1;
  return SMOOTHING / (SMOOTHING + 1 / ((rank + 2.7) * Math.log(PUBLISHED_WORDS)));
}

/** Lower-case maximal runs of letters and digits. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/**
 * Scores texts.
 * @param call.reference texts that were sent, by id; those without words are left out
 * @param call.candidate received texts; a missing one counts as empty
 */
export async function similarity(
  { reference, candidate }: { reference: TextItem[]; candidate: TextItem[] },
  context: Context,
): Promise<Score> {
  const received = new Map(candidate.map(({ id, text }) => [id, text]));
  const pairs = reference.map(({ id, text }) => ({
    id,
    text,
    sent: wordsOf(text),
    got: wordsOf(received.get(id) ?? ""),
  }))
    .filter(({ sent }) => sent.length > 0);
  const all = pairs.flatMap(({ sent, got }) => [...sent, ...got]);
  const words = await looked(all, context);
  const rows = pairs.map(({ id, text, sent, got }) => {
    const [from, to] = [sent, got].map((list) => list.map((word) => words.get(word)!));
    const [u, v] = [embedding(from), embedding(to)];
    const precision = matched(to, from), recall = matched(from, to);
    return {
      id,
      text,
      u,
      v,
      embedding_cosine: dot(u, v),
      token_precision: precision,
      token_recall: recall,
      token_f1: precision + recall === 0 ? 0 : 2 * precision * recall / (precision + recall),
    };
  });
  const mean = (of: (row: typeof rows[number]) => number) => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const unrelated = unrelatedCosine(rows);
  return {
    metrics: rows.length === 0 ? {} : {
      embedding_cosine: mean((row) => row.embedding_cosine),
      ...(unrelated === null ? {} : { embedding_cosine_unrelated: unrelated }),
      token_precision: mean((row) => row.token_precision),
      token_recall: mean((row) => row.token_recall),
      token_f1: mean((row) => row.token_f1),
      known_words: all.filter((word) => words.get(word)!.direction !== null).length / all.length,
    },
    per_example: rows.map(({ u: _u, v: _v, text: _text, ...row }) => row),
  };
}

/** The distinct words of a list, with their vectors from one call of the model. */
async function looked(list: readonly string[], context: Context): Promise<Map<string, Word>> {
  const table = await Deno.readTextFile(new URL("models/words.txt", import.meta.url));
  const known = new Map(
    table.trimEnd().split("\n").map((line, index) => {
      const [word, rank] = line.split(" ");
      return [word, { index, rank: Number(rank) }];
    }),
  );
  const distinct = [...new Set(list)], found = distinct.filter((word) => known.has(word));
  const words = new Map<string, Word>(
    distinct.map((text) => [text, { text, weight: weightOf(undefined), direction: null }]),
  );
  if (found.length === 0) return words;
  const indices = Int32Array.from(found, (word) => known.get(word)!.index);
  const { vectors } = await context.infer("vectors", {
    indices: { dtype: "int32", shape: [found.length], data: indices },
  });
  const data = vectors.data as Float32Array;
  found.forEach((text, k) => {
    const direction = unit(Float64Array.from(data.subarray(k * DIMENSIONS, (k + 1) * DIMENSIONS)));
    words.set(text, { text, weight: weightOf(known.get(text)!.rank), direction });
  });
  return words;
}

/** The unit vector of a text, from unit vectors of its known words; zeros without any. */
function embedding(words: readonly Word[]): Float64Array {
  const sum = new Float64Array(DIMENSIONS);
  for (const { weight, direction } of words) direction?.forEach((value, i) => sum[i] += weight * value);
  return unit(sum);
}

/** Weighted mean over words of the largest similarity to one of the others; 0 without words. */
function matched(words: readonly Word[], others: readonly Word[]): number {
  let sum = 0, weights = 0;
  for (const word of words) {
    sum += word.weight * Math.max(0, ...others.map((other) => alike(word, other)));
    weights += word.weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

function alike(a: Word, b: Word): number {
  if (a.text === b.text) return 1;
  return a.direction === null || b.direction === null ? 0 : Math.max(0, dot(a.direction, b.direction));
}

/** Mean cosine over all pairs of a sent text and a received one that belongs to another text; null without such pairs. */
function unrelatedCosine(rows: readonly { text: string; u: Float64Array; v: Float64Array }[]): number | null {
  let sum = 0, pairs = 0;
  const all = total(rows);
  for (const own of Map.groupBy(rows, ({ text }) => text).values()) {
    const { u, v } = total(own);
    sum += dot(u, all.v) - dot(u, v);
    pairs += own.length * (rows.length - own.length);
  }
  return pairs === 0 ? null : sum / pairs;
}

function total(rows: readonly { u: Float64Array; v: Float64Array }[]): { u: Float64Array; v: Float64Array } {
  const u = new Float64Array(DIMENSIONS), v = new Float64Array(DIMENSIONS);
  for (const row of rows) {
    row.u.forEach((value, i) => u[i] += value);
    row.v.forEach((value, i) => v[i] += value);
  }
  return { u, v };
}

function unit(vector: Float64Array): Float64Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}
