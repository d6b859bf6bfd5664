/**
 * Texts as payload bits, eight bits a byte, most significant first. The ids go into the trusted metadata, the texts do not.
 *
 * `json`: canonical JSON of the batch, {items, kind, schema_version}, as UTF-8; the whole payload is one source item.
 * `items`: the UTF-8 bytes of each text one after another; each text is one source item, so that a lost packet or block
 * loses only its text.
 */
import { PAYLOAD_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { canonicalJson, defineOperation, z } from "../api.ts";
import { textsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import { ITEM_FORMAT } from "../_utf8_payload.ts";
import { payloadOutput } from "../_payload_output.ts";

export default defineOperation({
  id: "model.text_utf8_encode",
  name: "Text to UTF-8 bit payload",
  description: "Serialises the text batch in UTF-8, as one JSON document or text by text, and emits payload bits",
  inputs: { texts: [TEXTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    wire_format: z.enum(["json", "items"]).default("json").describe(
      "json: the batch is one source item; items: each text is one, and a lost packet loses one text",
    ),
    payload_format: z.enum(["json_utf8"]).default("json_utf8").describe("canonical JSON of the batch in UTF-8"),
  }),
  outputMetadataGuarantees: {
    bits: {
      from: "texts",
      keys: ["boundary_contract", "bit_count", "text_ids", "payload_format", "source_item_counts"],
    },
  },
  timingMetric: "encoder.payload_encode",
  threadSafe: true,
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
