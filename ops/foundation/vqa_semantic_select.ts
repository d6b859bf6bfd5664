/**
 * Selects the parts of images that answer questions.
 *
 * local_rules finds coloured circles, squares and triangles on a plain background (lib/numeric/image/plain_scene.ts) and
 * answers by the rules of `_vqa_rules.ts`. The packet contains one selected label per question, which is all that a
 * receiver of answers needs. The detections contain, for each image, the objects that any of its questions is about.
 */
import { defineOperation, float, type JsonObject, SvcError, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imagesOf, sizeAt, travel } from "../../lib/artifact/values.ts";
import { type FoundObject, readPlainScene } from "../../lib/numeric/image/plain_scene.ts";
import { SHAPES } from "../../lib/numeric/image/scenes.ts";
import { DETECTIONS, PACKET, packetArtifact, QUESTIONS, questionsOf } from "../_vqa.ts";
import { rgbAt } from "./_rgb_images.ts";
import { picturesOfQuestions } from "./_vqa_pictures.ts";
import { answerByRules } from "./_vqa_rules.ts";

export default defineOperation({
  id: "foundation.vqa_semantic_select",
  name: "Question-driven region selection",
  description: "Finds the objects that each question is about, and puts the answering label into a packet",
  inputs: { images: [IMAGES], questions: [QUESTIONS] },
  outputs: { detections: DETECTIONS, packet: PACKET },
  params: z.strictObject({
    selector: z.enum(["local_rules"]).default("local_rules").describe("rules for coloured shapes"),
  }),
  outputMetadataGuarantees: { packet: { from: "questions", keys: ["question_ids", "selector"] } },
  timingMetric: "encoder.inference",
  run({ inputs, params, progress }) {
    const batch = imagesOf(inputs.images), questions = questionsOf(inputs.questions);
    if (questions.length === 0) throw new SvcError("boundary_empty", "Cannot select for an empty list of questions");
    const { ids, indexOf } = picturesOfQuestions(questions, inputs.images.metadata, batch.count);
    const scenes = ids.map((_, index) => {
      progress(index, ids.length, { phase: "looking", unit: "images" });
      return readPlainScene(rgbAt(batch, index));
    });
    const relevant = scenes.map(() => new Set<FoundObject>());
    const packet = questions.map((question) => {
      const index = indexOf(question);
      const { answer, about } = answerByRules(question.question, scenes[index], sizeAt(batch, index));
      about.forEach((object) => relevant[index].add(object));
      return { id: question.id, selected_label: answer };
    });
    const items = ids.map((id, index): JsonObject => ({
      id,
      // In the order of the image, independent of the order of the questions.
      detections: scenes[index].objects.filter((object) => relevant[index].has(object)).map(detection),
    }));
    const { selector } = params;
    const metadata = travel(inputs.questions.metadata, { question_ids: questions.map(({ id }) => id), selector });
    return {
      outputs: {
        detections: {
          json: { kind: "vision.detections", schema_version: 1, items },
          metadata: travel(inputs.images.metadata, { selector }),
        },
        packet: packetArtifact(packet, metadata),
      },
    };
  },
});

function detection({ shape, box }: FoundObject): JsonObject {
  return { label: shape, label_id: SHAPES.indexOf(shape), confidence: float(1), box: box.map(float) };
}
