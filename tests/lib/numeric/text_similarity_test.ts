import assert from "node:assert/strict";
import {
  editSimilarity,
  levenshtein,
  mtevalTokens,
  tokenF1,
  tokens,
  unigramBleu,
} from "../../../lib/numeric/scores/text_similarity.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} ${expected}`);

Deno.test("tokens are words, signed numbers and operators in any script", () => {
  const table: [text: string, expected: string][] = DATA.TABLE;
  for (const [text, expected] of table) assert.equal(tokens(text).join(" "), expected, text);
  // The dictionary of the runtime decides where words end, so only their characters are fixed.
  for (const text of ["我喜欢无线通信", "ผมชอบวิทยุ", "私は学生です"]) {
    assert.ok(tokens(text).length > 1, text);
    assert.equal(tokens(text).join(""), text);
  }
});

Deno.test("texts that differ have different tokens", () => {
  for (const [a, b] of [["-40 dB", "40 dB"], ["दिन", "दान"], [".", "!"], ["1.5", "1 5"], ["a + b", "a - b"]]) {
    assert.notDeepEqual(tokens(a), tokens(b), `${a} and ${b}`);
    assert.ok(tokenF1(a, b) < 1);
  }
});

Deno.test("tokens of mteval-v13a", () => {
  const table: [text: string, expected: string][] = [
    ["Hello, world.", "Hello , world ."],
    ["It's 3.5-inch &amp; &quot;x&quot; (a/b), 1,000.", `It's 3.5 - inch & " x " ( a / b ) , 1,000 .`],
    ["well-known broken-\nword", "well-known brokenword"],
    ["<skipped>a\nb &lt;c&gt;", "a b < c >"],
  ];
  for (const [text, expected] of table) assert.equal(mtevalTokens(text).join(" "), expected, text);
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
