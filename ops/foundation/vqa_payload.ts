/** Visual question answering over a link: the selected packet as payload bits, and back. */
import { canonicalJson, defineOperation, messageOf, parseJson, SvcError, z } from "../api.ts";
import { PAYLOAD_BITS, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { bitsOf, travel } from "../../lib/artifact/values.ts";
import { ANSWERS, answersArtifact, PACKET, packetArtifact, packetOf } from "../_vqa.ts";
import { decodeUtf8, isUnreadable, payloadItems, payloadOutput, trustedIds, unreadable } from "../_utf8_payload.ts";

/**
 * A VQA packet as payload bits: one line per question, the canonical JSON of its selected label and a line feed, in
 * UTF-8, eight bits per byte, most significant first. Each line is a source item, so a lost packet affects only its
 * lines.
 *
 * The receiver asks the questions and knows them, so their ids are trusted metadata and only the labels are sent.
 */
const vqaPayloadEncode = defineOperation({
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

/**
 * Payload bits back to a VQA packet. Ids come from the trusted metadata (`question_ids`), labels from the payload, each
 * from its own line.
 *
 * on_error = fail refuses an invalid or lost line. on_error = replace gives such a question an empty label, and puts
 * U+FFFD for bad UTF-8 inside a readable one.
 */
const vqaPayloadDecode = defineOperation({
  id: "foundation.vqa_payload_decode",
  name: "VQA packet from bits",
  description: "Turns payload bits back into a packet, failing on damage or leaving labels empty",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { packet: PACKET },
  params: z.strictObject({
    on_error: z.enum(["fail", "replace"]).default("fail").describe(
      "fail: refuse a damaged payload; replace: U+FFFD for bad bytes, empty labels for unreadable lines",
    ),
  }),
  outputMetadataGuarantees: { packet: { from: "bits", keys: ["question_ids", "delivered", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  run({ inputs, params }) {
    const { metadata } = inputs.bits, strict = params.on_error === "fail";
    const ids = trustedIds(metadata, "question_ids");
    if (ids === undefined) {
      throw new SvcError("boundary_value_invalid", "Cannot read a VQA payload without the ids of its questions", {
        hint: "Its metadata need question_ids, which foundation.vqa_payload_encode writes",
      });
    }
    const lines = payloadItems(bitsOf(inputs.bits), metadata, ids.length);
    const labels = lines.map((line, index) => {
      try {
        return labelOf(line, strict);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        if (!strict) return undefined;
        throw new SvcError((error as SvcError).code, `${messageOf(error)} (question ${ids[index]})`);
      }
    });
    const delivered = labels.map((label) => label !== undefined);
    const kept = travel(metadata, {
      delivered,
      failed_item_indices: delivered.flatMap((there, index) => there ? [] : [index]),
    }, ["source_item_counts", "item_bit_counts"]);
    const packet = ids.map((id, index) => ({ id, selected_label: labels[index] ?? "" }));
    return { outputs: { packet: packetArtifact(packet, kept) } };
  },
});

/** @throws SvcError that says why a line cannot be read */
function labelOf(line: Uint8Array | undefined, strict: boolean): string {
  if (line === undefined) throw unreadable("the link lost it");
  let label: unknown;
  try {
    label = parseJson(decodeUtf8(line, strict), { repair: true });
  } catch (error) {
    throw isUnreadable(error) ? error : unreadable(messageOf(error));
  }
  if (typeof label !== "string") throw unreadable("its line is not a text");
  return label;
}

/** Answers questions with the labels of the received packet; an empty label (a lost selection) is an empty answer. */
const vqaAnswerFromPacket = defineOperation({
  id: "foundation.vqa_answer_from_packet",
  name: "Answer from semantic packet",
  description: "Answers questions with the labels selected in the received packet",
  inputs: { packet: [PACKET] },
  outputs: { answers: ANSWERS },
  params: z.strictObject({
    receiver: z.enum(["selected_label"]).default("selected_label").describe("the label is the answer"),
  }),
  outputMetadataGuarantees: { answers: { from: "packet" } },
  timingMetric: "decoder.inference",
  run({ inputs }) {
    const answers = packetOf(inputs.packet).map(({ id, selected_label }) => ({ id, answer: selected_label }));
    return { outputs: { answers: answersArtifact(answers, travel(inputs.packet.metadata)) } };
  },
});

export default [vqaPayloadEncode, vqaPayloadDecode, vqaAnswerFromPacket];
