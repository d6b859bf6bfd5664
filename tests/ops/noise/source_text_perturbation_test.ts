import assert from "node:assert/strict";
import perturb from "../../../ops/noise/source_text_perturbation.ts";
import { textsArtifact, textsOf } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { runOperation } from "../harness.ts";

const TEXTS = textsArtifact([
  { id: "a", text: "one two  three four" },
  { id: "b", text: "five six seven eight\tnine " },
], { text_ids: ["a", "b"] });

async function noisy(params: JsonObject) {
  const { outputs } = await runOperation(perturb, { inputs: { texts: TEXTS }, params });
  return textsOf(outputs.texts).map(({ text }) => text);
}

// NumPy: default_rng(5).random(9) < 0.4; and, of a fresh stream, permutation(4), then permutation(5).
const HITS = [false, false, false, true, true, true, false, true, true];
const WORDS = [["one", "two", "three", "four"], ["five", "six", "seven", "eight", "nine"]];
const PERMUTATIONS = [[3, 1, 2, 0], [1, 4, 2, 3, 0]];

Deno.test("words are masked and dropped where NumPy's stream says", async () => {
  const words = WORDS.flat();
  const masked = words.map((word, i) => HITS[i] ? "[MASK]" : word);
  const got = await noisy({ mode: "mask_words", probability: 0.4, seed: 5 });
  assert.deepEqual(got.join(" ").trim().split(/\s+/), masked);
  // White space between words survives masking.
  assert.match(got[0], / {2}/);
  assert.match(got[1], /\t/);
  const dropped = await noisy({ mode: "drop_words", probability: 0.4, seed: 5 });
  assert.deepEqual(dropped.join(" ").split(/\s+/), words.filter((_, i) => !HITS[i]));
});

Deno.test("shuffling permutes each text with NumPy's permutations and ignores the probability", async () => {
  const [a, b] = await noisy({ mode: "shuffle_words", seed: 5 });
  const expected = PERMUTATIONS.map((order, i) => order.map((at) => WORDS[i][at]));
  assert.deepEqual(a.split(/\s+/), expected[0]);
  assert.deepEqual(b.trim().split(/\s+/), expected[1]);
});

Deno.test("probability 0 and mode none leave the texts alone, probability 1 takes every word", async () => {
  const original = ["one two  three four", "five six seven eight\tnine "];
  assert.deepEqual(await noisy({}), original);
  assert.deepEqual(await noisy({ mode: "drop_words" }), original);
  assert.deepEqual(await noisy({ mode: "drop_words", probability: 1 }), ["", ""]);
  assert.deepEqual(await noisy({ mode: "mask_words", probability: 1, mask_token: "_" }), ["_ _  _ _", "_ _ _ _\t_ "]);
});

Deno.test("empty texts pass", async () => {
  const inputs = { texts: textsArtifact([{ id: "a", text: "" }]) };
  for (const mode of ["drop_words", "mask_words", "shuffle_words"]) {
    const { outputs } = await runOperation(perturb, { inputs, params: { mode, probability: 0.5 } });
    assert.deepEqual(textsOf(outputs.texts), [{ id: "a", text: "" }]);
  }
});
