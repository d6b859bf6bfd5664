/**
 * Payload bits of `model.text_entropy_encode` back to texts. Ids and order come from the trusted metadata. Texts that the link
 * lost are empty; a damaged message without a checksum gives a wrong text, or none that ends, which is lost as well.
 */
import { PAYLOAD_OR_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation, SvcError, z } from "../api.ts";
import { bitsOf, textsArtifact, travel } from "../../lib/artifact/values.ts";
import { decodeUtf8, payloadItems, trustedIds, unreadable } from "../_utf8_payload.ts";
import { entropyOrder, TEXT_BYTES, textModel } from "./_text_entropy.ts";

export default defineOperation({
  id: "model.text_entropy_decode",
  name: "Arithmetic-coded bits to text",
  description: "Decodes texts with the context model of the encoder",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    on_error: z.enum(["replace", "fail"]).default("replace").describe(
      "replace: empty texts for lost items, U+FFFD for bad bytes; fail: refuse the payload",
    ),
  }),
  outputMetadataGuarantees: { texts: { from: "bits", keys: ["text_ids", "delivered", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  threadSafe: true,
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
