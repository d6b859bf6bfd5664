/**
 * Visual questions of a local file, with their answers and images: images uint8 [image, size, size, RGB], each image
 * once. Records: `_vqa_records.ts`.
 */
import { defineOperation, sha256Hex, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { ANSWERS, QUESTIONS } from "../_vqa.ts";
import { readVqaRecords, vqaOutputs } from "./_vqa_records.ts";

export default defineOperation({
  id: "source.vqa_manifest",
  name: "Local VQA manifest",
  description: "Reads questions, answers and images from a JSON or JSONL file",
  outputs: { answers: ANSWERS, images: IMAGES, questions: QUESTIONS },
  params: z.strictObject({
    manifest_path: z.string().min(1).describe(
      "JSON list, or one JSON object per line: id, image, question, answer, answers",
    ),
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
