/**
 * A small public sample of visual questions from a local folder: `<split>.jsonl` with records {id, image, question,
 * answer} (`_vqa_records.ts`) and their images. images uint8 [image, size, size, RGB], each image once.
 *
 * A run never uses the network; `download` has no effect.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { ANSWERS, QUESTIONS } from "../_vqa.ts";
import { readVqaRecords, vqaOutputs } from "./_vqa_records.ts";

const FOLDER = ".svc/datasets/vqa_small";

export default defineOperation({
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
