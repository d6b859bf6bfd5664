import assert from "node:assert/strict";
import { folded, setScores } from "../../../lib/numeric/scores/set_scores.ts";

const scores = (candidate: string, reference: string) => {
  const members = (text: string) => new Set(text.split(" ").filter((member) => member !== ""));
  return setScores(members(candidate), members(reference));
};

Deno.test("precision and recall count shared members", () => {
  const { precision, recall, f1, omitted, unsupported } = scores("a b x", "a b c d");
  assert.deepEqual([precision, recall], [2 / 3, 1 / 2]);
  assert.ok(Math.abs(f1 - 4 / 7) < 1e-15);
  assert.deepEqual([omitted, unsupported], [["c", "d"], ["x"]]);
});

Deno.test("an empty denominator scores 1 between two empty sets, else 0", () => {
  const three = ({ precision, recall, f1 }: ReturnType<typeof setScores>) => [precision, recall, f1];
  assert.deepEqual(three(scores("", "")), [1, 1, 1]);
  assert.deepEqual(three(scores("", "a")), [0, 0, 0]);
  assert.deepEqual(three(scores("a", "")), [0, 0, 0]);
  assert.deepEqual(three(scores("a", "b")), [0, 0, 0]);
});

Deno.test("strings fold trimmed and without case", () => {
  assert.equal(folded("  Straße "), folded("STRASSE"));
  assert.equal(folded("ΟΔΟΣ"), folded("οδος"));
  assert.notEqual(folded("a b"), folded("ab"));
});
