/** Texts as arithmetic-coded payload bits, and back. */
import { defineOperation, SvcError, type Value, z } from "../api.ts";
import { TextModel } from "../../lib/numeric/coding/text_model.ts";
import { PAYLOAD_BITS, PAYLOAD_OR_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { bitsArtifact, bitsOf, textsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { decodeUtf8, payloadItems, trustedIds, unreadable } from "../_utf8_payload.ts";
import corpus from "./_english_corpus.json" with { type: "json" };

/** Most bytes of one text. */
const TEXT_BYTES = 1 << 16;

const models = new Map<number, TextModel>();

/** The model of an order 0 … 3, trained on the sentences of the corpus. */
const textModel = (order: number): TextModel =>
  models.getOrInsertComputed(
    order,
    () => new TextModel(corpus.paragraphs.flatMap((paragraph) => paragraph.split(/(?<=[.!?]) /)), order),
  );

/** `payload_format` of texts that are coded with the model of an order. */
const entropyFormat = (order: number): string => `text_entropy_${corpus.version}_order_${order}`;

/** The order of a payload. @throws SvcError `boundary_value_invalid` for another format */
function entropyOrder(format: Value | undefined): number {
  const order = [0, 1, 2, 3].find((known) => format === entropyFormat(known));
  if (order !== undefined) return order;
  throw new SvcError(
    "boundary_value_invalid",
    `Cannot decode a payload of the format ${JSON.stringify(format ?? null)}`,
    {
      hint: "Decode the payload bits of model.text_entropy_encode, sent over a link that keeps their metadata",
    },
  );
}

/**
 * Texts as payload bits by arithmetic coding of their UTF-8 bytes with a context model of English prose, which both ends
 * have. Each text is one source item of whole bytes, so that a lost packet or block loses only its text. The ids go into the
 * trusted metadata, the texts do not. Any text can be sent; a text unlike the corpus takes more bits than UTF-8.
 *
 * Model and code: lib/numeric/coding/text_model.ts, lib/numeric/coding/range_coder.ts.
 */
const textEntropyEncode = defineOperation({
  id: "model.text_entropy_encode",
  name: "Text to arithmetic-coded bits",
  description: "Codes each text with a context model of English and emits payload bits",
  inputs: { texts: [TEXTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    order: z.int().min(0).max(3).default(3)
      .describe("number of bytes that the probability of the next byte depends on"),
  }),
  outputMetadataGuarantees: {
    bits: {
      from: "texts",
      keys: ["boundary_contract", "bit_count", "text_ids", "payload_format", "source_item_counts"],
    },
  },
  timingMetric: "encoder.payload_encode",
  run({ inputs, params }) {
    const texts = textsOf(inputs.texts), model = textModel(params.order);
    const utf8 = texts.map(({ text }) => new TextEncoder().encode(text).length);
    const long = utf8.findIndex((length) => length > TEXT_BYTES);
    if (long >= 0) {
      throw new SvcError("boundary_value_invalid", `Cannot code the text ${texts[long].id} of ${utf8[long]} bytes`, {
        hint: `Split it into texts of at most ${TEXT_BYTES} bytes`,
      });
    }
    const messages = texts.map(({ text }) => model.encode(text));
    const bytes = Uint8Array.from(messages.flatMap((message) => [...message])), bits = unpackBits(bytes);
    const metadata = travel(inputs.texts.metadata, {
      payload_format: entropyFormat(params.order),
      text_ids: texts.map(({ id }) => id),
      source_item_counts: messages.map((message) => 8 * message.length),
    });
    return {
      outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
      metrics: {
        "codec.bit_count": BigInt(bits.length),
        "codec.bytes": BigInt(bytes.length),
        "codec.native_bit_count": BigInt(8 * utf8.reduce((sum, length) => sum + length, 0)),
      },
    };
  },
});

/**
 * Payload bits of `model.text_entropy_encode` back to texts. Ids and order come from the trusted metadata. Texts that the link
 * lost are empty; a damaged message without a checksum gives a wrong text, or none that ends, which is lost as well.
 */
const textEntropyDecode = defineOperation({
  id: "model.text_entropy_decode",
  name: "Arithmetic-coded bits to text",
  description: "Decodes texts with the context model of the encoder",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    on_error: z.enum(["replace", "fail"]).default("replace")
      .describe("replace: empty texts for lost items, U+FFFD for bad bytes; fail: refuse the payload"),
  }),
  outputMetadataGuarantees: { texts: { from: "bits", keys: ["text_ids", "delivered", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  run({ inputs, params }) {
    const { metadata } = inputs.bits, strict = params.on_error === "fail";
    const ids = trustedIds(metadata, "text_ids");
    if (ids === undefined) throw new SvcError("boundary_value_invalid", "Cannot decode texts without their ids");
    const model = textModel(entropyOrder(metadata.payload_format));
    const texts = payloadItems(bitsOf(inputs.bits), metadata, ids.length).map((message) =>
      message === undefined ? undefined : model.decode(message, TEXT_BYTES)
    );
    const lost = texts.flatMap((text, index) => text === undefined ? [index] : []);
    if (strict && lost.length > 0) throw unreadable(`the link lost the text ${ids[lost[0]]}`);
    const items = texts.map((text, index) => ({
      id: ids[index],
      text: text === undefined ? "" : decodeUtf8(text, strict),
    }));
    const delivery = {
      text_ids: ids,
      delivered: texts.map((text) => text !== undefined),
      failed_item_indices: lost,
    };
    const kept = travel(metadata, delivery, ["source_item_counts", "item_bit_counts"]);
    return { outputs: { texts: textsArtifact(items, kept) } };
  },
});

export default [textEntropyEncode, textEntropyDecode];
