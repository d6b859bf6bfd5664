import assert from "node:assert/strict";
import {
  type BleuSmoothing,
  characterErrors,
  chrF,
  chrfCounts,
  ciderD,
  corpusBleu,
  meteor,
  rougeN,
  wordErrors,
  wordsRead,
} from "../../../lib/numeric/scores/corpus_scores.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual}, not ${expected}`);
const words = (text: string) => text.split(" ");
const TEXTS: [candidate: string, ...references: string[]][] = DATA.TEXTS;
const PAIRS = TEXTS.map(([candidate, ...references]) => ({
  candidate: words(candidate),
  references: references.map(words),
}));

Deno.test("BLEU-1 to BLEU-4 of a corpus equal those of NLTK 3.8", () => {
  const stored: Record<BleuSmoothing, number[]> = {
    none: [0.5994934106932114, 0.5623746682851477, 0.48453935267854015, 0.40640392381823914],
    exponential: [0.5994934106932114, 0.5623746682851477, 0.48453935267854015, 0.40640392381823914],
    add_one: [0.5994934106932114, 0.5732253404543836, 0.5062924203806535, 0.4423910459041834],
  };
  for (const [smoothing, expected] of Object.entries(stored)) {
    corpusBleu(PAIRS, smoothing as BleuSmoothing).forEach((value, at) => near(value, expected[at]));
  }
});

Deno.test("smoothing of orders without a match", () => {
  // 1-grams 2 of 4, 2-grams 0 of 3, 3-grams 0 of 2, 4-grams 0 of 1; equal lengths, no brevity penalty.
  const pair = [{ candidate: words("a x b y"), references: [words("a b c d")] }];
  assert.deepEqual(corpusBleu(pair, "none"), [0.5, 0, 0, 0]);
  const exponential = corpusBleu(pair, "exponential");
  near(exponential[1], Math.sqrt(0.5 * 0.5 / 3));
  near(exponential[3], (0.5 * (0.5 / 3) * (0.25 / 2) * 0.125) ** 0.25);
  near(corpusBleu(pair, "add_one")[3], (0.5 * (1 / 4) * (1 / 3) * (1 / 2)) ** 0.25);
  // No text is long enough for a 4-gram; an empty candidate has no score.
  assert.equal(corpusBleu([{ candidate: ["a", "b"], references: [["a", "b"]] }], "exponential")[3], 0);
  assert.deepEqual(corpusBleu([{ candidate: [], references: [["a"]] }], "none"), [0, 0, 0, 0]);
  // Without a common token no smoothing gives a score.
  for (const smoothing of ["none", "exponential", "add_one"] as const) {
    assert.deepEqual(corpusBleu([{ candidate: ["cat"], references: [["dog"]] }], smoothing), [0, 0, 0, 0]);
    assert.deepEqual(corpusBleu([{ candidate: words("a b"), references: [words("c d")] }], smoothing), [0, 0, 0, 0]);
  }
});

Deno.test("METEOR with stems and without synonyms equals NLTK's", () => {
  const expected = [0.8654513888888888, 0.7311475409836065, 0.7361111111111112, 0];
  PAIRS.forEach(({ candidate, references }, at) =>
    near(Math.max(...references.map((reference) => meteor(candidate, reference))), expected[at])
  );
  assert.equal(meteor([], []), 1);
});

Deno.test("word and character errors equal NLTK's edit distances", () => {
  const errors = PAIRS.map(({ candidate, references: [reference] }) => wordErrors(candidate, reference));
  assert.deepEqual(errors.map(({ errors }) => errors), [2, 3, 4, 6]);
  assert.deepEqual(errors.map(({ length }) => length), [9, 6, 4, 6]);
  assert.deepEqual(TEXTS.map(([text, reference]) => characterErrors(text, reference).errors), [4, 9, 12, 24]);
  assert.deepEqual(characterErrors("a  b\n", "a b"), { errors: 0, length: 3 });
});

Deno.test("words are read in their order, without overlap, whatever the blanks", () => {
  assert.equal(wordsRead("2h15", ["2", "h", "15"]), 3);
  assert.equal(wordsRead("no diving deep water", ["deep", "water", "no", "diving"]), 2);
  assert.equal(wordsRead("aaa", ["aa", "aa"]), 1);
  // Taking the first word would leave no room for the two behind it.
  assert.equal(wordsRead("b c a", ["a", "b", "c"]), 2);
  assert.equal(wordsRead("", ["a"]), 0);
  assert.equal(wordsRead("a", []), 0);
});

Deno.test("chrF and BLEU with exponential smoothing equal sacreBLEU 2.6", () => {
  const expected = [0.8357811116692521, 0.4628286128050896, 0.502575793921692, 0.10405319351882479];
  TEXTS.forEach(([text, reference], at) => near(chrF([chrfCounts(text, reference)]), expected[at]));
  const pairs = [["a x b y", "a b c d"], ["the cat sat", "the cat ran far"]].map(([candidate, reference]) => ({
    candidate: words(candidate),
    references: [words(reference)],
  }));
  // NLTK differs here: it counts an n-gram in a candidate that is too short for one.
  near(corpusBleu(pairs, "exponential")[3], 0.22772101321113855);
});

Deno.test("chrF by hand", () => {
  // Characters abcd against abce: orders 1 to 4 share 3 of 4, 2 of 3, 1 of 2, 0 of 1 on both sides.
  const score = (candidate: string, reference: string) => chrF([chrfCounts(candidate, reference)]);
  near(score("ab cd", "abce"), (3 / 4 + 2 / 3 + 1 / 2) / 4);
  // abc against ab: precision (2/3 + 1/2)/2 over orders 1 and 2, recall 1.
  const precision = 7 / 12;
  near(score("abc", "ab"), 5 * precision / (4 * precision + 1));
  assert.equal(score("", " "), 1);
  assert.equal(score("a", ""), 0);
  // Pooled: orders 1 and 2 have 2 + 1 and 1 + 0 common of 2 + 2 and 1 + 1; no text has a third.
  near(chrF([chrfCounts("ab", "ab"), chrfCounts("ac", "ad")]), (3 / 4 + 1 / 2) / 2);
});

Deno.test("ROUGE-n counts common n-grams once each", () => {
  // Bigrams "the cat", "cat sat" against "the cat", "cat ran", "ran away".
  near(rougeN(words("the cat sat"), words("the cat ran away"), 2), 2 / 5);
  near(rougeN(words("a a b"), words("a b b"), 1), 4 / 6);
  assert.equal(rougeN(["a"], ["b"], 2), 0);
  assert.equal(rougeN(["a"], ["a"], 2), 1);
});

Deno.test("CIDEr-D by hand", () => {
  // Two items; "a" is in both references and has weight 0, "b" and "c" have ln 2.
  const pairs = [
    { candidate: words("a b"), references: [words("a b")] },
    { candidate: words("a c c"), references: [words("a c")] },
  ];
  const [first, second] = ciderD(pairs);
  // Orders 1 and 2 agree fully, orders 3 and 4 do not exist.
  near(first, 10 * (1 + 1) / 4);
  // Order 1: counts 2 and 1 of "c", clipped to 1: 1·1/(2·1). Order 2: "a c" ln 2 of (ln 2, ln 2 for the unseen "c c").
  near(second, 10 * Math.exp(-1 / 72) * (1 / 2 + 1 / Math.SQRT2) / 4);
  assert.deepEqual(ciderD([pairs[0]]), [0]);
});
