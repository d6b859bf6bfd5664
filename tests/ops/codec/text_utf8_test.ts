import assert from "node:assert/strict";
import textUtf8 from "../../../ops/codec/text_utf8.ts";
import { bitsArtifact, bitsOf, textsArtifact, textsOf } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { packBits, unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";

const [encode, decode] = textUtf8;

const ITEMS = [{ id: "a", text: "Grüße, 21.5 °C 😀" }, { id: "b", text: "" }, { id: "c", text: 'quo"te\n\\' }];

async function encoded() {
  const { outputs } = await runOperation(encode, { inputs: { texts: textsArtifact(ITEMS) } });
  return outputs.bits;
}

async function decoded(bits: Uint8Array, metadata: JsonObject, params: JsonObject = {}) {
  const { outputs } = await runOperation(decode, {
    inputs: { bits: { kind: "channel.payload_bits.numpy", ...bitsArtifact(bits, metadata, "payload.bits") } },
    params,
  });
  return { items: textsOf(outputs.texts), delivered: outputs.texts.metadata.delivered };
}

Deno.test("the payload is canonical JSON in UTF-8, and its metadata holds no text", async () => {
  const bits = await encoded();
  assert.equal(
    new TextDecoder().decode(packBits(bitsOf(bits))),
    '{"items":[{"id":"a","text":"Grüße, 21.5 °C 😀"},{"id":"b","text":""},{"id":"c","text":"quo\\"te\\n\\\\"}],' +
      '"kind":"text.batch","schema_version":1}',
  );
  assert.deepEqual(bits.metadata.text_ids, ["a", "b", "c"]);
  assert.deepEqual(bits.metadata.source_item_counts, [bitsOf(bits).length]);
  assert.ok(!JSON.stringify(bits.metadata).includes("Grüße"));
});

Deno.test("texts survive the way to bits and back", async () => {
  const bits = await encoded();
  for (const on_error of ["replace", "fail"]) {
    const { items, delivered } = await decoded(bitsOf(bits), bits.metadata, { on_error });
    assert.deepEqual(items, ITEMS);
    assert.deepEqual(delivered, [true, true, true]);
  }
});

Deno.test("a damaged byte becomes U+FFFD, a damaged id does not matter, unreadable JSON gives empty texts", async () => {
  const { metadata } = await encoded();
  const payload = (text: string, from = "", to: number[] = []) => {
    const bytes = new TextEncoder().encode(text);
    const at = from === "" ? -1 : text.indexOf(from);
    if (at >= 0) bytes.set(to, at);
    return unpackBits(bytes);
  };
  const whole = (a: string, id = "a") =>
    `{"items":[{"id":"${id}","text":"${a}"},{"id":"b","text":""},{"id":"c","text":"z"}],"kind":"text.batch","schema_version":1}`;
  const damaged = await decoded(payload(whole("xyz", "q"), "y", [0xff]), metadata);
  assert.deepEqual(damaged.items[0], { id: "a", text: "x\ufffdz" });
  assert.deepEqual(damaged.delivered, [true, true, true]);
  // An escape that names half a surrogate pair.
  const half = await decoded(payload(whole("\\ud83d!")), metadata);
  assert.equal(half.items[0].text, "\ufffd!");
  for (
    const text of ["{", "[]", '{"items":[]}', '{"items":[1,2,3]}', "", whole("x").replace('"text":"z"', '"text":5')]
  ) {
    const { items, delivered } = await decoded(payload(text), metadata);
    assert.deepEqual(items, ["a", "b", "c"].map((id) => ({ id, text: "" })), text);
    assert.deepEqual(delivered, [false, false, false]);
    await refuses("boundary_utf8_invalid", () => decoded(payload(text), metadata, { on_error: "fail" }));
  }
  await refuses(
    "boundary_utf8_invalid",
    () => decoded(payload(whole("xyz"), "y", [0xff]), metadata, { on_error: "fail" }),
  );
});

Deno.test("an item that the link lost is empty, whatever its bytes, and padding behind the payload is cut", async () => {
  const bits = await encoded();
  const lost = await decoded(bitsOf(bits), { ...bits.metadata, failed_item_indices: [0] });
  assert.deepEqual(lost.items.map(({ text }) => text), ["", "", ""]);
  await refuses(
    "boundary_utf8_invalid",
    () => decoded(bitsOf(bits), { ...bits.metadata, failed_item_indices: [0] }, { on_error: "fail" }),
  );
  const padded = new Uint8Array(bitsOf(bits).length + 13);
  padded.set(bitsOf(bits));
  assert.deepEqual((await decoded(padded, bits.metadata)).items, ITEMS);
});

Deno.test("no pattern of bit errors breaks the receiver", async () => {
  const bits = await encoded();
  for (let seed = 0; seed < 300; seed++) {
    const errors = Generator.seeded(seed).random(bitsOf(bits).length);
    const received = bitsOf(bits).map((bit, i) => bit ^ Number(errors[i] < 0.02 * (seed % 7)));
    const { items } = await decoded(received, bits.metadata);
    assert.deepEqual(items.map(({ id }) => id), ["a", "b", "c"]);
  }
});

Deno.test("text by text, one lost item costs one text", async () => {
  const { outputs } = await runOperation(encode, {
    inputs: { texts: textsArtifact(ITEMS) },
    params: { wire_format: "items" },
  });
  const { metadata } = outputs.bits, bits = bitsOf(outputs.bits);
  assert.deepEqual(metadata.source_item_counts, ITEMS.map(({ text }) => 8 * new TextEncoder().encode(text).length));
  assert.equal(new TextDecoder().decode(packBits(bits)), ITEMS.map(({ text }) => text).join(""));
  for (const on_error of ["replace", "fail"]) {
    assert.deepEqual((await decoded(bits, metadata, { on_error })).items, ITEMS);
  }
  const lost = { ...metadata, failed_item_indices: [0] };
  const { items, delivered } = await decoded(bits, lost);
  assert.deepEqual(items.map(({ text }) => text), ["", "", ITEMS[2].text]);
  assert.deepEqual(delivered, [false, true, true]);
  await refuses("boundary_utf8_invalid", () => decoded(bits, lost, { on_error: "fail" }));
  const damaged = bits.slice();
  damaged.fill(1, 0, 8);
  assert.equal((await decoded(damaged, metadata)).items[0].text, `\ufffd${ITEMS[0].text.slice(1)}`);
  await refuses("boundary_utf8_invalid", () => decoded(damaged, metadata, { on_error: "fail" }));
  const cut = await decoded(bits.subarray(0, bits.length - 8), metadata);
  assert.deepEqual(cut.delivered, [true, true, false]);
});
