/**
 * A VQA packet as payload bits: one line per question, the canonical JSON of its selected label and a line feed, in
 * UTF-8, eight bits per byte, most significant first. Each line is a source item, so a lost packet affects only its
 * lines.
 *
 * The receiver asks the questions and knows them, so their ids are trusted metadata and only the labels are sent.
 */
import { canonicalJson, defineOperation, z } from "../api.ts";
import { PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { travel } from "../../lib/artifact/values.ts";
import { PACKET, packetOf } from "../_vqa.ts";
import { payloadOutput } from "../_payload_output.ts";

export default defineOperation({
  id: "foundation.vqa_payload_encode",
  name: "VQA packet to bits",
  description: "Serialises the labels of a packet as lines of JSON in UTF-8",
  inputs: { packet: [PACKET] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    payload_format: z.enum(["json_utf8"]).default("json_utf8").describe("one line of JSON per question, in UTF-8"),
  }),
  outputMetadataGuarantees: {
    bits: {
      from: "packet",
      keys: ["boundary_contract", "bit_count", "question_ids", "payload_format", "source_item_counts"],
    },
  },
  timingMetric: "encoder.payload_encode",
  run({ inputs, params }) {
    const packet = packetOf(inputs.packet);
    const lines = packet.map(({ selected_label }) => new TextEncoder().encode(`${canonicalJson(selected_label)}\n`));
    const bytes = new Uint8Array(lines.reduce((sum, line) => sum + line.length, 0));
    let at = 0;
    for (const line of lines) {
      bytes.set(line, at);
      at += line.length;
    }
    const metadata = travel(inputs.packet.metadata, {
      payload_format: params.payload_format,
      question_ids: packet.map(({ id }) => id),
      source_item_counts: lines.map((line) => 8 * line.length),
    });
    return payloadOutput(bytes, metadata);
  },
});
