import assert from "node:assert/strict";
import { editSimilarity, levenshtein, tokenF1, tokens, unigramBleu } from "../../../lib/numeric/text_similarity.ts";

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} ${expected}`);

Deno.test("tokens are lower-cased runs of letters and digits in any script", () => {
  assert.deepEqual(tokens("It's 21.5 °C in Köln, ΑΘΗΝΑ_2 и 東京!"), [
    "it",
    "s",
    "21",
    "5",
    "c",
    "in",
    "köln",
    "αθηνα",
    "2",
    "и",
    "東京",
  ]);
});

Deno.test("F1 and unigram precision clip repeated tokens", () => {
  // Shared: the, cat (the second "the" has no partner). F1 = 2·2/(3+4), precision 2/3, penalty exp(1 - 4/3).
  near(tokenF1("the the cat", "the cat sat down"), 4 / 7);
  near(unigramBleu("the the cat", "the cat sat down"), Math.exp(1 - 4 / 3) * 2 / 3);
  // A longer candidate has no brevity penalty.
  near(unigramBleu("the cat sat down today", "the cat"), 2 / 5);
  near(tokenF1("Cat, THE!", "the cat"), 1);
});

Deno.test("the Levenshtein distance has its textbook values", () => {
  const distance = (a: string, b: string) => levenshtein([...a].map(codePoint), [...b].map(codePoint));
  assert.equal(distance("kitten", "sitting"), 3);
  assert.equal(distance("Saturday", "Sunday"), 3);
  assert.equal(distance("", "abc"), 3);
  assert.equal(distance("flaw", "lawn"), 2);
  near(editSimilarity("kitten", "sitting"), 1 - 3 / 7);
  // One code point outside the basic plane counts once.
  near(editSimilarity("a😀", "a😁"), 1 / 2);
});

Deno.test("two empty texts score 1, one empty text 0", () => {
  for (const score of [tokenF1, unigramBleu, editSimilarity]) {
    assert.equal(score("", ""), 1);
    assert.equal(score("", "word"), 0);
    assert.equal(score("word", ""), 0);
  }
});

function codePoint(character: string): number {
  return character.codePointAt(0)!;
}
