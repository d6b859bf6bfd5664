/** Joint coding of text by a sequence-to-sequence model of a few kilobytes, whose answers are known by hand. */
import assert from "node:assert/strict";
import decode from "../../../ops/joint_coding/text_bart_jscc_decode.ts";
import encode from "../../../ops/joint_coding/text_bart_jscc_encode.ts";
import channel from "../../../ops/wireless/channel.ts";
import { symbolsOf, textsOf } from "../../../lib/artifact/values.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { tinyTextCoder } from "../../support/tiny_models.ts";
import { refuses, runOperation } from "../harness.ts";
import { textsInput } from "../inputs.ts";

const models = { text: tinyTextCoder() };
const TEXTS = { a: "red disc left", b: "blue", c: "green square right of red disc" };
const sent = (params: JsonObject = {}, texts: Record<string, string> = TEXTS) =>
  runOperation(encode, {
    inputs: { texts: textsInput(texts) },
    params: { model_id: "models/text", ...params },
    models,
  });
const received = async (symbols: InputArtifact, params: JsonObject = {}) => {
  const all = { model_id: "models/text", ...params };
  return (await runOperation(decode, { inputs: { symbols }, params: all, models })).outputs.texts;
};
const wordsOf = async (symbols: InputArtifact, params: JsonObject = {}) =>
  textsOf(await received(symbols, params)).map(({ text }) => text);
const shared = (name: string, body: () => Promise<void>) =>
  Deno.test(name, { sanitizeOps: false, sanitizeResources: false }, body);

shared("texts come back, with one beam and with four, with and without power normalisation", async () => {
  for (const power_normalize of [true, false]) {
    const { outputs: { symbols }, metrics } = await sent({ power_normalize });
    for (const num_beams of [1, 4]) assert.deepEqual(await wordsOf(symbols, { num_beams }), Object.values(TEXTS));
    // Three, one and six words between two special tokens, ten symbols each.
    assert.deepEqual(symbols.metadata.source_item_counts, [50, 30, 80]);
    assert.deepEqual(symbols.metadata.text_token_counts, [5, 3, 8]);
    assert.equal(metrics["text.channel_uses_per_word"], 16);
    assert.deepEqual((await received(symbols)).metadata.text_ids, ["a", "b", "c"]);
  }
});

shared("the symbols of each text have mean power 1, or are the features", async () => {
  const powers = async (params: JsonObject) => {
    const { outputs: { symbols } } = await sent(params);
    const values = symbolsOf(symbols);
    let at = 0;
    return (symbols.metadata.source_item_counts as number[]).map((count) => {
      const part = values.subarray(at, at += 2 * count);
      return part.reduce((sum, value) => sum + value ** 2, 0) / count;
    });
  };
  for (const power of await powers({})) assert.ok(Math.abs(power - 1) < 1e-6, `${power}`);
  // Two features of a token are 1, one code of its word and one of its place; the first token has no place.
  const counts = [5, 3, 8];
  (await powers({ power_normalize: false })).forEach((power, i) => {
    const wanted = (2 * counts[i] - 1) / (10 * counts[i]);
    assert.ok(Math.abs(power - wanted) < 1e-6, `${power}`);
  });
});

shared("a long text is cut and keeps its end", async () => {
  const { outputs: { symbols }, metrics } = await sent({ max_length: 4 });
  assert.deepEqual(symbols.metadata.text_token_counts, [4, 3, 4]);
  assert.equal(metrics["codec.truncated_text_count"], 2n);
  assert.deepEqual(await wordsOf(symbols), ["red disc", "blue", "green square"]);
  const whole = (await sent()).outputs.symbols;
  assert.deepEqual(await wordsOf(whole, { generation_max_length: 3 }), ["red disc", "blue", "green square"]);
});

shared("noise changes words, and more noise changes more of them", async () => {
  const texts = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`t${i}`, "red disc left of blue square"]));
  const { outputs: { symbols } } = await sent({}, texts);
  const wrong = [];
  for (const snr_db of [20, 0, -12]) {
    const { outputs: { rx_symbols } } = await runOperation(channel, {
      inputs: { symbols },
      params: { channel: "awgn", snr_db },
      seed: 3,
    });
    const words = await wordsOf(rx_symbols);
    wrong.push(words.filter((text) => text !== "red disc left of blue square").length);
  }
  assert.equal(wrong[0], 0);
  assert.ok(wrong[1] < wrong[2] && wrong[2] > 6, `${wrong}`);
});

shared("symbols of another model, without their metadata, or of another number are refused", async () => {
  const { outputs: { symbols } } = await sent();
  const other = {
    ...tinyTextCoder(),
    "config.json": new TextEncoder().encode(`{"eos_token_id": 3, "bos_token_id": 2}`),
  };
  const params = { model_id: "models/text" };
  await refuses(
    "artifact_hash_mismatch",
    () => runOperation(decode, { inputs: { symbols }, params, models: { text: other } }),
  );
  const changed = (metadata: JsonObject) =>
    Object.assign(Object.create(symbols), { metadata: { ...symbols.metadata, ...metadata } });
  await refuses("boundary_shape_invalid", () => received(changed({ source_item_counts: [50, 30, 79] })));
  await refuses("boundary_shape_invalid", () => received(changed({ text_symbol_gains: [1, 0, 1] })));
  await refuses("boundary_shape_invalid", () => received(changed({ text_ids: ["a"] })));
});

shared("a folder without steering tokens is refused, and a start token alone is enough", async () => {
  const config = (text: string) => ({ text: { ...tinyTextCoder(), "config.json": new TextEncoder().encode(text) } });
  const through = async (given: ReturnType<typeof config>) => {
    const params = { model_id: "m" };
    const { outputs: { symbols } } = await runOperation(encode, {
      inputs: { texts: textsInput(TEXTS) },
      params,
      models: given,
    });
    const { outputs } = await runOperation(decode, { inputs: { symbols }, params, models: given });
    return textsOf(outputs.texts).map(({ text }) => text);
  };
  await refuses("model_unavailable", () => through(config(`{"eos_token_id": 3}`)));
  await refuses("model_unavailable", () => through(config("[")));
  assert.deepEqual(await through(config(`{"eos_token_id": 3, "bos_token_id": 2}`)), Object.values(TEXTS));
});
