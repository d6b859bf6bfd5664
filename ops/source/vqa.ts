/** Visual questions with answers and images: images uint8 [image, size, size, RGB], each image once. */
import { paintScene, type Scene, type SceneObject, SHAPES } from "../../lib/numeric/image/scenes.ts";
import { defineOperation, float, type JsonObject, sha256Hex, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { ANSWERS, answersArtifact, DETECTIONS, QUESTIONS, questionsArtifact } from "../_vqa.ts";
import { checkIds, parseIds } from "./_ids.ts";
import { readVqaRecords, vqaOutputs } from "./_vqa_records.ts";
import samples from "./_vqa_smoke.json" with { type: "json" };

interface Sample {
  scene: Scene;
  /** Question and answer. */
  asked: readonly (readonly [string, string])[];
}

const VQA_SMOKE = samples as object as Readonly<Record<string, Sample>>;

const KNOWN = Object.keys(VQA_SMOKE);

/**
 * Built-in images, uint8 [image, 96, 96, RGB], with questions, their answers, and objects as boxes [x_min, y_min,
 * x_max, y_max] in pixels. Question ids are `<image>_q1`, `_q2`, …. Drawn by the program.
 */
const vqaSmoke = defineOperation({
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

/**
 * Visual questions of a local file, with their answers and images: images uint8 [image, size, size, RGB], each image
 * once. Records: `_vqa_records.ts`.
 */
const vqaManifest = defineOperation({
  id: "source.vqa_manifest",
  name: "Local VQA manifest",
  description: "Reads questions, answers and images from a JSON or JSONL file",
  outputs: { answers: ANSWERS, images: IMAGES, questions: QUESTIONS },
  params: z.strictObject({
    manifest_path: z.string().min(1)
      .describe("JSON list, or one JSON object per line: id, image, question, answer, answers"),
    image_root: z.string().default("").describe("folder of relative image paths; empty is that of the manifest"),
    limit: z.int().positive().default(8).describe("number of records, from the first on"),
    image_size: z.int().min(1).max(4096).default(224).describe("width and height in pixels"),
  }),
  outputMetadataGuarantees: { images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] } },
  requires: ({ manifest_path }) => [{ kind: "file", id: manifest_path }],
  estimate: () => ({ images: null }),
  async run({ params, files, progress }) {
    const { manifest_path: path, limit, image_size: size } = params;
    const bytes = await files.read(path);
    const records = readVqaRecords(new TextDecoder().decode(bytes), path).slice(0, limit);
    const folder = params.image_root || path.split("/").slice(0, -1).join("/");
    const version = "local_vqa_manifest-v1";
    const dataset = { id: "local_vqa_manifest", version, manifest_sha256: sha256Hex(bytes) };
    return { outputs: await vqaOutputs(records, dataset, { folder, size, files, progress }) };
  },
});

const FOLDER = ".svc/datasets/vqa_small";

/**
 * A small public sample of visual questions from a local folder: `<split>.jsonl` with records {id, image, question,
 * answer} (`_vqa_records.ts`) and their images. images uint8 [image, size, size, RGB], each image once.
 *
 * A run never uses the network; `download` has no effect.
 */
const vqaSmallHf = defineOperation({
  id: "source.vqa_small_hf",
  name: "Small public VQA sample",
  description: "Questions, answers and images of a small public sample in a local folder",
  outputs: { answers: ANSWERS, images: IMAGES, questions: QUESTIONS },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(FOLDER).describe("folder of <split>.jsonl and the images"),
    split: z.enum(["test", "train", "validation"]).default("validation").describe("split of the dataset"),
    limit: z.int().positive().default(8).describe("number of records, from the first on"),
    image_size: z.int().min(1).max(4096).default(224).describe("width and height in pixels"),
    download: z.boolean().default(true).describe("accepted without effect: a run never uses the network"),
  }),
  outputMetadataGuarantees: { images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] } },
  requires: ({ dataset_dir }) => dataset_dir === FOLDER ? [{ kind: "dataset", id: "vqa_small" }] : [],
  estimate: () => ({ images: null }),
  async run({ params, files, progress }) {
    const { dataset_dir: folder, split, limit, image_size: size } = params;
    const path = `${folder}/${split}.jsonl`;
    const records = readVqaRecords(new TextDecoder().decode(await files.read(path)), path).slice(0, limit);
    const dataset = { id: "vqa_small", version: "vqa_small-v1", split };
    return { outputs: await vqaOutputs(records, dataset, { folder, size, files, progress }) };
  },
});

export default [vqaSmoke, vqaManifest, vqaSmallHf];
