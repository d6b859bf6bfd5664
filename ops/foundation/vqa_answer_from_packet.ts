/** Answers questions with the labels of the received packet; an empty label (a lost selection) is an empty answer. */
import { defineOperation, z } from "../api.ts";
import { travel } from "../../lib/artifact/values.ts";
import { ANSWERS, answersArtifact, PACKET, packetOf } from "../_vqa.ts";

export default defineOperation({
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
