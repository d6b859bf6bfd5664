/**
 * Payload bits back to texts. Ids come from the trusted metadata (`text_ids`), texts from the payload.
 *
 * on_error = replace puts U+FFFD for every bad UTF-8 sequence; where the JSON cannot be read, does not hold one text an
 * id, or the link reported the payload as failed, the texts are empty. on_error = fail refuses all of these.
 */
import { PAYLOAD_OR_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { messageOf, SvcError } from "../../lib/contract/error.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { parseJson } from "../../lib/contract/json.ts";
import { z } from "../../lib/contract/zod.ts";
import { bitsOf, metadataCounts, type TextItem, textsArtifact, travel } from "../../lib/artifact/values.ts";
import { packBits } from "../../lib/numeric/bit_packing.ts";

const UNREADABLE = "boundary_utf8_invalid";

export default defineOperation({
  id: "model.text_utf8_decode",
  name: "UTF-8 bit payload to text",
  description: "Turns payload bits back into text, substituting or failing on invalid bytes",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    on_error: z.enum(["replace", "fail"]).default("replace").describe(
      "replace: U+FFFD for bad bytes, empty texts for an unreadable payload; fail: refuse the payload",
    ),
  }),
  outputMetadataGuarantees: { texts: { from: "bits", keys: ["text_ids", "delivered", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  threadSafe: true,
  run({ inputs, params }) {
    const { metadata } = inputs.bits;
    const ids = trustedIds(metadata);
    const strict = params.on_error === "fail";
    let items: TextItem[], delivered = true;
    try {
      items = readPayload(payloadBytes(bitsOf(inputs.bits), metadata, strict), ids, strict);
    } catch (error) {
      const unreadable = error instanceof SvcError && error.code === UNREADABLE;
      // Without trusted ids there is nothing that empty texts could stand for.
      if (strict || ids === undefined || !unreadable) throw error;
      items = ids.map((id) => ({ id, text: "" }));
      delivered = false;
    }
    const delivery = {
      text_ids: items.map(({ id }) => id),
      delivered: items.map(() => delivered),
      failed_item_indices: delivered ? [] : items.map((_, index) => index),
    };
    const kept = travel(metadata, delivery, ["source_item_counts", "item_bit_counts"]);
    return { outputs: { texts: textsArtifact(items, kept) } };
  },
});

function trustedIds(metadata: JsonObject): string[] | undefined {
  const ids = metadata.text_ids;
  if (ids === undefined || ids === null) return undefined;
  if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return ids as string[];
  throw new SvcError("boundary_value_invalid", "Cannot read the metadata text_ids as a list of ids");
}

/** The payload is the first, and only, source item; bits behind it are padding of the link. */
function payloadBytes(bits: Uint8Array, metadata: JsonObject, strict: boolean): Uint8Array {
  if (metadataCounts(metadata, "failed_item_indices")?.includes(0)) throw unreadable("the link lost it");
  const counts = metadataCounts(metadata, "item_bit_counts") ?? metadataCounts(metadata, "source_item_counts");
  const payload = bits.subarray(0, counts?.[0] ?? bits.length);
  if (strict && payload.length % 8 !== 0) throw unreadable(`its ${payload.length} bits are no whole bytes`);
  return packBits(payload.subarray(0, payload.length - payload.length % 8));
}

function readPayload(bytes: Uint8Array, ids: string[] | undefined, strict: boolean): TextItem[] {
  const items = parseItems(decodeUtf8(bytes, strict));
  if (ids === undefined) {
    return items.map(({ id, text }) => {
      if (typeof id !== "string" || id === "") throw unreadable("a text has no id");
      return { id: id.toWellFormed(), text };
    });
  }
  if (items.length !== ids.length) throw unreadable(`it holds ${items.length} texts instead of ${ids.length}`);
  return items.map(({ text }, index) => ({ id: ids[index], text }));
}

function decodeUtf8(bytes: Uint8Array, strict: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: strict, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unreadable("it is no valid UTF-8");
  }
}

function parseItems(text: string): { id: unknown; text: string }[] {
  let document: unknown;
  try {
    document = parseJson(text);
  } catch (error) {
    throw unreadable(messageOf(error));
  }
  if (!isObject(document) || !Array.isArray(document.items)) throw unreadable("it has no list of items");
  return document.items.map((item) => {
    if (!isObject(item) || typeof item.text !== "string") throw unreadable("an item has no text");
    // A damaged escape sequence can leave half a surrogate pair, which no document may hold.
    return { id: item.id, text: item.text.toWellFormed() };
  });
}

function unreadable(reason: string): SvcError {
  return new SvcError(UNREADABLE, `Cannot read the text payload: ${reason}`);
}
