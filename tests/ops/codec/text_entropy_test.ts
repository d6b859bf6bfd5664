import assert from "node:assert/strict";
import textEntropy from "../../../ops/codec/text_entropy.ts";
import { bitsArtifact, bitsOf, textsArtifact, textsOf } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { TextModel } from "../../../lib/numeric/coding/text_model.ts";
import { SEMANTIC_TEXT_SMOKE } from "../../../ops/source/_semantic_text_smoke.ts";
import { refuses, runOperation } from "../harness.ts";

const [encode, decode] = textEntropy;

const ITEMS = [
  ...Object.entries(SEMANTIC_TEXT_SMOKE).map(([id, text]) => ({ id, text })),
  { id: "foreign", text: "Grüße, 21.5 °C 😀" },
  { id: "empty", text: "" },
];
const coded = async (order: number, items = ITEMS) =>
  await runOperation(encode, { inputs: { texts: textsArtifact(items) }, params: { order } });
const decoded = async (bits: Uint8Array, metadata: JsonObject, params: JsonObject = {}) =>
  (await runOperation(decode, {
    inputs: { bits: { kind: "channel.payload_bits.numpy", ...bitsArtifact(bits, metadata, "payload.bits") } },
    params,
  })).outputs.texts;

Deno.test("every order returns every text, and higher orders need fewer bits for English", async () => {
  const counts: number[] = [];
  for (const order of [0, 1, 2, 3]) {
    const { outputs: { bits }, metrics } = await coded(order);
    assert.deepEqual(textsOf(await decoded(bitsOf(bits), bits.metadata, { on_error: "fail" })), ITEMS);
    assert.ok(!JSON.stringify(bits.metadata).includes("Grüße"));
    counts.push(Number(metrics["codec.bit_count"]));
  }
  assert.deepEqual(counts, counts.toSorted((a, b) => b - a));
  const english = await coded(3, ITEMS.slice(0, 5));
  // 8 bits a character in UTF-8; fewer than 4 with three characters of context.
  assert.ok(2 * Number(english.metrics["codec.bit_count"]) < Number(english.metrics["codec.native_bit_count"]));
});

Deno.test("code lengths are the information of the model, by hand for order 0", () => {
  // Corpus "aab": a 2, b 1, end 1 of 4 with 3 different symbols, so p(a) = (2 + 3/257)/7, p(end) = (1 + 3/257)/7.
  const model = new TextModel(["aab"], 0);
  const text = "a".repeat(2000), p = (2 + 3 / 257) / 7, end = (1 + 3 / 257) / 7;
  const bits = -2000 * Math.log2(p) - Math.log2(end);
  assert.ok(
    Math.abs(8 * model.encode(text).length - bits) < 16 + 2000 * 0.002,
    `${8 * model.encode(text).length}, ${bits}`,
  );
});

Deno.test("a lost item loses its text only; a damaged one does not stop the others", async () => {
  const { outputs: { bits } } = await coded(3);
  const lost = await decoded(bitsOf(bits), { ...bits.metadata, failed_item_indices: [1] });
  assert.deepEqual(textsOf(lost).map(({ text }) => text), ITEMS.map(({ text }, at) => at === 1 ? "" : text));
  assert.deepEqual(lost.metadata.failed_item_indices, [1]);
  const damaged = bitsOf(bits).map((bit, at) => at === 5 ? 1 - bit : bit);
  const texts = textsOf(await decoded(damaged, bits.metadata));
  assert.notEqual(texts[0].text, ITEMS[0].text);
  assert.deepEqual(texts.slice(1), ITEMS.slice(1));
  await refuses(
    "boundary_utf8_invalid",
    () => decoded(bitsOf(bits), { ...bits.metadata, failed_item_indices: [1] }, { on_error: "fail" }),
  );
});

Deno.test("another payload format, missing ids and a text beyond 65,536 bytes are refused", async () => {
  const { outputs: { bits } } = await coded(2);
  const { payload_format: _format, ...noFormat } = bits.metadata, { text_ids: _ids, ...noIds } = bits.metadata;
  await refuses("boundary_value_invalid", () => decoded(bitsOf(bits), noFormat));
  await refuses("boundary_value_invalid", () => decoded(bitsOf(bits), noIds));
  await refuses("boundary_value_invalid", () => coded(1, [{ id: "long", text: "x".repeat(65537) }]));
});

const CORPUS = textsArtifact(
  ["the red disc lies left of the blue square.", "the blue disc lies right of the red square."].map((text, i) => ({
    id: `c${i}`,
    text,
  })),
);
const through = async (params: JsonObject, corpus: ReturnType<typeof textsArtifact> | undefined, known = corpus) => {
  const items = [{ id: "near", text: "the red square lies left of the blue disc." }, ...ITEMS];
  const texts = textsArtifact(items);
  const { outputs: { bits } } = await runOperation(encode, { inputs: { texts, ...(corpus && { corpus }) }, params });
  const payload = { kind: "channel.payload_bits.numpy", ...bitsArtifact(bitsOf(bits), bits.metadata, "payload.bits") };
  const { outputs } = await runOperation(decode, { inputs: { bits: payload, ...(known && { corpus: known }) } });
  assert.deepEqual(textsOf(outputs.texts), items);
  return (bits.metadata.source_item_counts as number[])[0];
};

Deno.test("a corpus that both ends have shortens texts like it, with either code, and any text comes back", async () => {
  const [english, own, longer, huffman] = [
    await through({}, undefined),
    await through({}, CORPUS),
    await through({ order: 6 }, CORPUS),
    await through({ code: "huffman" }, CORPUS),
  ];
  assert.ok(2 * Math.max(own, longer) < english && own < huffman, `${english} ${own} ${longer} ${huffman}`);
  // 42 characters in 8 bits each.
  assert.ok(huffman < 8 * 42, `${huffman}`);
});

Deno.test("a payload of another corpus, or without the corpus, is refused", async () => {
  const other = textsArtifact([{ id: "c", text: "rain." }]);
  await refuses("boundary_value_invalid", () => through({}, CORPUS, other));
  await refuses("boundary_value_invalid", async () => {
    const { outputs: { bits } } = await runOperation(encode, {
      inputs: { texts: textsArtifact(ITEMS), corpus: CORPUS },
      params: { code: "huffman" },
    });
    await decoded(bitsOf(bits), bits.metadata);
  });
});
