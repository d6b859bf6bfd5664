/**
 * Built-in images, uint8 [image, 96, 96, RGB], with questions, their answers, and objects as boxes [x_min, y_min,
 * x_max, y_max] in pixels. Question ids are `<image>_q1`, `_q2`, …. Drawn by the program.
 */
import { defineOperation, float, type JsonObject, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { paintScene, type SceneObject, SHAPES } from "../../lib/numeric/image/scenes.ts";
import { ANSWERS, answersArtifact, DETECTIONS, QUESTIONS, questionsArtifact } from "../_vqa.ts";
import { checkIds, parseIds } from "./_ids.ts";
import { VQA_SMOKE } from "./_vqa_smoke.ts";

const KNOWN = Object.keys(VQA_SMOKE);

export default defineOperation({
  id: "source.vqa_smoke",
  name: "Tiny VQA and detection fixture",
  description: "Built-in images of coloured shapes with questions, answers and boxes",
  outputs: { answers: ANSWERS, detections: DETECTIONS, images: IMAGES, questions: QUESTIONS },
  params: z.strictObject({
    dataset: z.enum(["coco_vqa_smoke"]).default("coco_vqa_smoke").describe("built-in dataset"),
    sample_ids: z.string().default("").describe("comma-separated ids, in this order; empty uses all"),
  }),
  outputMetadataGuarantees: { images: { keys: ["boundary_contract", "dataset", "image_ids"] } },
  estimate: ({ sample_ids }) => ({ images: 96 ** 2 * 3 * (parseIds(sample_ids).length || KNOWN.length) }),
  check: ({ sample_ids }) => checkIds(sample_ids, "sample_ids", KNOWN),
  run({ params }) {
    const wanted = parseIds(params.sample_ids), ids = wanted.length > 0 ? wanted : KNOWN;
    const painted = ids.map((id) => paintScene(VQA_SMOKE[id].scene).pixels);
    const data = new Uint8Array(painted.length * painted[0].length);
    painted.forEach((pixels, index) => data.set(pixels, index * pixels.length));
    const { size } = VQA_SMOKE[ids[0]].scene;
    const batch = { count: ids.length, height: size, width: size, channels: 3, dtype: "uint8", data } as const;
    const dataset = { id: params.dataset, version: `${params.dataset}-v1` };
    const asked = ids.flatMap((image_id) =>
      VQA_SMOKE[image_id].asked.map(([question, answer], at) => ({
        id: `${image_id}_q${at + 1}`,
        image_id,
        question,
        answer,
      }))
    );
    const boxes = ids.map((id): JsonObject => ({ id, detections: VQA_SMOKE[id].scene.objects.map(boxOf) }));
    return {
      outputs: {
        answers: answersArtifact(asked.map(({ id, answer }) => ({ id, answer })), { dataset }),
        detections: { json: { kind: "vision.detections", schema_version: 1, items: boxes }, metadata: { dataset } },
        images: imagesArtifact(batch, { dataset, image_ids: ids }),
        questions: questionsArtifact(asked.map(({ answer: _, ...question }) => question), { dataset }),
      },
    };
  },
});

function boxOf({ shape, x, y, side }: SceneObject): JsonObject {
  const box = [x, y, x + side, y + side].map(float);
  return { label: shape, label_id: SHAPES.indexOf(shape), confidence: float(1), box };
}
