/**
 * Texts as payload bits: canonical JSON of the batch, {items, kind, schema_version}, as UTF-8, eight bits per byte,
 * most significant first. The whole payload is one source item. The ids go into the trusted metadata, the texts do not.
 */
import { PAYLOAD_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { canonicalJson } from "../../lib/contract/json.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { bitsArtifact, textsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/bit_packing.ts";

export default defineOperation({
  id: "model.text_utf8_encode",
  name: "Text to UTF-8 bit payload",
  description: "Serialises the text batch as JSON in UTF-8 and emits payload bits",
  inputs: { texts: [TEXTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
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
    const bytes = new TextEncoder().encode(canonicalJson(textsArtifact(texts).json!));
    const bits = unpackBits(bytes);
    const metadata = travel(inputs.texts.metadata, {
      payload_format: params.payload_format,
      text_ids: texts.map(({ id }) => id),
      source_item_counts: [bits.length],
    });
    return {
      outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
      metrics: { "codec.bit_count": BigInt(bits.length), "codec.bytes": BigInt(bytes.length) },
    };
  },
});
