/** Texts as payload bits in UTF-8, and back. */
import { PAYLOAD_BITS, PAYLOAD_OR_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { canonicalJson, defineOperation, isObject, type JsonObject, messageOf, parseJson, z } from "../api.ts";
import { bitsOf, type TextItem, textsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import {
  decodeUtf8,
  isUnreadable,
  ITEM_FORMAT,
  payloadBytes,
  payloadItems,
  payloadOutput,
  trustedIds,
  unreadable,
} from "../_utf8_payload.ts";

/**
 * Texts as payload bits, eight bits a byte, most significant first. The ids go into the trusted metadata, the texts do not.
 *
 * `json`: canonical JSON of the batch, {items, kind, schema_version}, as UTF-8; the whole payload is one source item.
 * `items`: the UTF-8 bytes of each text one after another; each text is one source item, so that a lost packet or block
 * loses only its text.
 */
const textUtf8Encode = defineOperation({
  id: "model.text_utf8_encode",
  name: "Text to UTF-8 bit payload",
  description: "Serialises the text batch in UTF-8, as one JSON document or text by text, and emits payload bits",
  inputs: { texts: [TEXTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    wire_format: z.enum(["json", "items"]).default("json")
      .describe("json: the batch is one source item; items: each text is one, and a lost packet loses one text"),
    payload_format: z.enum(["json_utf8"]).default("json_utf8").describe("canonical JSON of the batch in UTF-8"),
  }),
  outputMetadataGuarantees: {
    bits: {
      from: "texts",
      keys: ["boundary_contract", "bit_count", "text_ids", "payload_format", "source_item_counts"],
    },
  },
  timingMetric: "encoder.payload_encode",
  run({ inputs, params }) {
    const texts = textsOf(inputs.texts);
    const perItem = params.wire_format === "items";
    const parts = perItem ? texts.map(({ text }) => text) : [canonicalJson(textsArtifact(texts).json!)];
    const encoder = new TextEncoder(), bytes = encoder.encode(parts.join(""));
    const metadata = travel(inputs.texts.metadata, {
      payload_format: perItem ? ITEM_FORMAT : params.payload_format,
      text_ids: texts.map(({ id }) => id),
      source_item_counts: parts.map((part) => 8 * encoder.encode(part).length),
    });
    return payloadOutput(bytes, metadata);
  },
});

/**
 * Payload bits back to texts. Ids come from the trusted metadata (`text_ids`), texts from the payload.
 *
 * on_error = replace puts U+FFFD for every bad UTF-8 sequence; where the JSON cannot be read, does not hold one text an
 * id, or the link reported the payload as failed, the texts are empty. In a payload of text by text (`payload_format`
 * utf8_items) only the texts of lost source items are empty. on_error = fail refuses all of these.
 */
const textUtf8Decode = defineOperation({
  id: "model.text_utf8_decode",
  name: "UTF-8 bit payload to text",
  description: "Turns payload bits back into text, substituting or failing on invalid bytes",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    on_error: z.enum(["replace", "fail"]).default("replace")
      .describe("replace: U+FFFD for bad bytes, empty texts for an unreadable payload; fail: refuse the payload"),
  }),
  outputMetadataGuarantees: { texts: { from: "bits", keys: ["text_ids", "delivered", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  run({ inputs, params }) {
    const { metadata } = inputs.bits;
    const ids = trustedIds(metadata, "text_ids");
    const strict = params.on_error === "fail";
    const bits = bitsOf(inputs.bits);
    const { items, lost } = metadata.payload_format === ITEM_FORMAT && ids !== undefined
      ? readItems(payloadItems(bits, metadata, ids.length), ids, strict)
      : readBatch(bits, metadata, ids, strict);
    const delivery = {
      text_ids: items.map(({ id }) => id),
      delivered: items.map((_, index) => !lost.includes(index)),
      failed_item_indices: lost,
    };
    const kept = travel(metadata, delivery, ["source_item_counts", "item_bit_counts"]);
    return { outputs: { texts: textsArtifact(items, kept) } };
  },
});

/** Texts with the indices of those that the link lost. */
interface ReadTexts {
  items: TextItem[];
  lost: number[];
}

function readItems(parts: readonly (Uint8Array | undefined)[], ids: readonly string[], strict: boolean): ReadTexts {
  const lost = parts.flatMap((part, index) => part === undefined ? [index] : []);
  if (strict && lost.length > 0) throw unreadable(`the link lost the text ${ids[lost[0]]}`);
  return {
    items: parts.map((part, index) => ({ id: ids[index], text: part === undefined ? "" : decodeUtf8(part, strict) })),
    lost,
  };
}

function readBatch(bits: Uint8Array, metadata: JsonObject, ids: string[] | undefined, strict: boolean): ReadTexts {
  try {
    return { items: readPayload(payloadBytes(bits, metadata, strict), ids, strict), lost: [] };
  } catch (error) {
    // Without trusted ids there is nothing that empty texts could stand for.
    if (strict || ids === undefined || !isUnreadable(error)) throw error;
    return { items: ids.map((id) => ({ id, text: "" })), lost: ids.map((_, index) => index) };
  }
}

function readPayload(bytes: Uint8Array, ids: string[] | undefined, strict: boolean): TextItem[] {
  const items = parseItems(decodeUtf8(bytes, strict));
  if (ids === undefined) {
    return items.map(({ id, text }) => {
      if (typeof id !== "string" || id === "") throw unreadable("a text has no id");
      return { id, text };
    });
  }
  if (items.length !== ids.length) throw unreadable(`it has ${items.length} texts instead of ${ids.length}`);
  return items.map(({ text }, index) => ({ id: ids[index], text }));
}

function parseItems(text: string): { id: unknown; text: string }[] {
  let document: unknown;
  try {
    document = parseJson(text, { repair: true });
  } catch (error) {
    throw unreadable(messageOf(error));
  }
  if (!isObject(document) || !Array.isArray(document.items)) throw unreadable("it has no list of items");
  return document.items.map((item) => {
    if (!isObject(item) || typeof item.text !== "string") throw unreadable("an item has no text");
    return { id: item.id, text: item.text };
  });
}

export default [textUtf8Encode, textUtf8Decode];
