/**
 * Photographs of COCO128 with reference boxes, from a local folder: images uint8 [image, size, size, RGB], letterboxed;
 * boxes in pixels, [x_min, y_min, x_max, y_max], confidence 1, labels of COCO. The first `limit` images by name. A
 * polygon counts as its bounding box.
 *
 * Files: `_yolo_folder.ts`. A run never uses the network; `download` has no effect.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { DETECTIONS, detectionsArtifact } from "../../lib/artifact/vision.ts";
import { COCO_NAMES } from "./_coco_names.ts";
import { readYoloFolder } from "./_yolo_folder.ts";

const FOLDER = ".svc/datasets/coco128";

export default defineOperation({
  id: "source.coco128_detection",
  name: "COCO128 detection data",
  description: "Photographs of COCO128 from a local folder with reference boxes",
  outputs: { images: IMAGES, detections: DETECTIONS },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(FOLDER).describe("folder with images/ and labels/"),
    split: z.enum(["train2017"]).default("train2017").describe("split of the dataset"),
    limit: z.int().positive().default(8).describe("number of images, the first ones by name"),
    image_size: z.int().min(16).max(4096).default(320).describe("width and height in pixels"),
    download: z.boolean().default(true).describe("accepted without effect: a run never uses the network"),
  }),
  outputMetadataGuarantees: { images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] } },
  estimate: ({ limit, image_size }) => ({ images: Math.min(limit, 128) * image_size ** 2 * 3 }),
  requires: ({ dataset_dir }) => dataset_dir === FOLDER ? [{ kind: "dataset", id: "coco128_detection" }] : [],
  async run({ params, files, progress }) {
    const { dataset_dir: folder, split, limit, image_size: size } = params;
    const read = await readYoloFolder({ folder, split, limit, size, classes: COCO_NAMES.length }, { files, progress });
    const dataset = { id: "coco128_detection", version: "coco128_detection-v1", split };
    const items = read.objects.map((objects, index) => ({
      id: read.ids[index],
      detections: objects.map(({ label, points }) => {
        const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
        const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const;
        return { label: COCO_NAMES[label], label_id: label, confidence: 1, box };
      }),
    }));
    const facts = { dataset, image_ids: read.ids, source_files: read.sourceFiles };
    return {
      outputs: {
        images: imagesArtifact(read.batch, facts),
        detections: detectionsArtifact(items, { dataset, class_names: [...COCO_NAMES] }),
      },
    };
  },
});
