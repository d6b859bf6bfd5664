/** Text similarity by published word vectors: the vectors within their rounding, known answers, and both recipes. */
import assert from "node:assert/strict";
import { similarity, weightOf, wordsOf } from "../../adapters/word_vectors/similarity.ts";
import { contextOf } from "./_context.ts";

const FOLDER = new URL("../../adapters/word_vectors/", import.meta.url);
const CONTEXT = contextOf("word_vectors");
const texts = (...list: string[]) => list.map((text, i) => ({ id: `text_${i}`, text }));
const score = (sent: string[], received: string[]) =>
  similarity({ reference: texts(...sent), candidate: texts(...received) }, CONTEXT);
const near = (a: number, b: number, tolerance: number) => assert.ok(Math.abs(a - b) < tolerance, `${a}, not ${b}`);

interface Stored {
  cosines: { words: [string, string]; cosine: number }[];
  indices: number[];
  vectors: { shape: number[]; base64: string };
}

const STORED: Stored = JSON.parse(Deno.readTextFileSync(new URL("training/reference.json", FOLDER)));

Deno.test("the graph gives the stored vectors", async () => {
  const indices = Int32Array.from(STORED.indices);
  const { vectors } = await CONTEXT.infer("vectors", {
    indices: { dtype: "int32", shape: [indices.length], data: indices },
  });
  assert.deepEqual(vectors.shape, STORED.vectors.shape);
  assert.deepEqual(vectors.data, new Float32Array(Uint8Array.fromBase64(STORED.vectors.base64).buffer));
});

Deno.test("cosines of words are those of the published vectors, up to their rounding to int8", async () => {
  for (const { words: [one, other], cosine } of STORED.cosines) {
    const { metrics } = await score([one], [other]);
    near(metrics.embedding_cosine, cosine, 0.004);
    near(metrics.token_f1, Math.max(0, cosine), 0.004);
  }
});

Deno.test("weights fall with the frequency of a word, and unknown words have one", () => {
  near(weightOf(0), 1e-3 / (1e-3 + 1 / (2.7 * Math.log(341_479))), 1e-15);
  assert.ok(weightOf(0) < weightOf(10) && weightOf(10) < weightOf(11_999) && weightOf(11_999) < weightOf(undefined));
  assert.equal(weightOf(undefined), 1);
  assert.deepEqual(wordsOf("Ärger, am 3. Mai: A7!"), ["ärger", "am", "3", "mai", "a7"]);
});

Deno.test("equal texts score 1, synonyms more than other words, a lost text 0", async () => {
  const sent = "The doctor drove the car to the river.";
  const { metrics: equal } = await score([sent], [sent]);
  for (const name of ["embedding_cosine", "token_precision", "token_recall", "token_f1"]) near(equal[name], 1, 1e-12);
  assert.equal(equal.known_words, 1);
  const { metrics: synonym } = await score([sent], ["The physician drove the vehicle to the stream."]);
  const { metrics: other } = await score([sent], ["The treaty drove the banana to the senate."]);
  assert.ok(synonym.embedding_cosine > 0.9 && synonym.token_f1 > 0.8, JSON.stringify(synonym));
  assert.ok(other.token_f1 < synonym.token_f1 - 0.1 && other.embedding_cosine < synonym.embedding_cosine - 0.1);
  const { metrics: lost } = await score([sent], [""]);
  assert.deepEqual([lost.embedding_cosine, lost.token_precision, lost.token_recall, lost.token_f1], [0, 0, 0, 0]);
});

Deno.test("a wrong number costs precision and recall, and nothing in the embedding", async () => {
  const { metrics } = await score(["wait 25 minutes"], ["wait 26 minutes"]);
  near(metrics.embedding_cosine, 1, 1e-12);
  // Weights of "wait" and "minutes" over those and the number's 1.
  assert.ok(metrics.token_recall < 0.7 && metrics.token_recall === metrics.token_precision);
  near(metrics.known_words, 2 / 3, 1e-12);
});

Deno.test("unrelated pairs are those of different sent texts", async () => {
  const [a, b] = ["rain and snow", "the queen said banana"];
  const { metrics } = await score([a, b, a], [a, b, a]);
  const { metrics: crossed } = await score([a, b], [b, a]);
  near(metrics.embedding_cosine_unrelated, crossed.embedding_cosine, 1e-12);
  const { metrics: alone } = await score([a, a], [a, a]);
  assert.ok(!("embedding_cosine_unrelated" in alone));
  assert.deepEqual((await score(["?!"], ["rain"])).metrics, {}, "a text without words is left out");
});
