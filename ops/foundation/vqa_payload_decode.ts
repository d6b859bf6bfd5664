/**
 * Payload bits back to a VQA packet. Ids come from the trusted metadata (`question_ids`), labels from the payload, each
 * from its own line.
 *
 * on_error = fail refuses an invalid or lost line. on_error = replace gives such a question an empty label, and puts
 * U+FFFD for bad UTF-8 inside a readable one.
 */
import { defineOperation, messageOf, parseJson, SvcError, z } from "../api.ts";
import { PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { bitsOf, travel } from "../../lib/artifact/values.ts";
import { decodeUtf8, isUnreadable, payloadItems, trustedIds, unreadable } from "../_utf8_payload.ts";
import { PACKET, packetArtifact } from "../_vqa.ts";

export default defineOperation({
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
