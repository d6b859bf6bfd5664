/**
 * Photographs of COCO8-seg with reference classes of pixels, from a local folder: images uint8 [image, size, size,
 * RGB], letterboxed; segmentation uint8 [image, size, size], 0 the background, otherwise 1 + the class of COCO. The
 * first `limit` images of the split by name. A pixel belongs to a polygon if its centre lies inside; where objects
 * overlap, the smaller one wins. A box counts as a polygon.
 *
 * Files: `_yolo_folder.ts`. A run never uses the network; `download` has no effect.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { emptyRaster, rastersArtifact, SEGMENTATION } from "../../lib/artifact/vision.ts";
import { fillPolygon, polygonArea } from "../../lib/numeric/image/polygon.ts";
import { COCO_NAMES } from "./_coco_names.ts";
import { readYoloFolder } from "./_yolo_folder.ts";

const FOLDER = ".svc/datasets/coco8-seg";

export default defineOperation({
  id: "source.coco8_segmentation",
  name: "COCO8 segmentation data",
  description: "Photographs of COCO8-seg from a local folder with reference classes of pixels",
  outputs: { images: IMAGES, segmentation: SEGMENTATION },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(FOLDER).describe("folder with images/ and labels/"),
    split: z.enum(["train", "val"]).default("val").describe("split of the dataset"),
    limit: z.int().positive().default(4).describe("number of images, the first ones by name"),
    image_size: z.int().min(16).max(4096).default(320).describe("width and height in pixels"),
    download: z.boolean().default(true).describe("accepted without effect: a run never uses the network"),
  }),
  outputMetadataGuarantees: {
    images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] },
    segmentation: { keys: ["class_names", "image_ids"] },
  },
  estimate({ limit, image_size }) {
    const pixels = Math.min(limit, 4) * image_size ** 2;
    return { images: 3 * pixels, segmentation: pixels };
  },
  requires: ({ dataset_dir }) => dataset_dir === FOLDER ? [{ kind: "dataset", id: "coco8_segmentation" }] : [],
  async run({ params, files, progress }) {
    const { dataset_dir: folder, split, limit, image_size: size } = params;
    const read = await readYoloFolder({ folder, split, limit, size, classes: COCO_NAMES.length }, { files, progress });
    const pixels = size * size, classes = emptyRaster(read.ids.length * pixels, COCO_NAMES.length);
    read.objects.forEach((objects, image) => {
      const largestFirst = [...objects].sort((a, b) => polygonArea(b.points) - polygonArea(a.points));
      for (const { label, points } of largestFirst) {
        fillPolygon(points, { width: size, height: size }, (pixel) => classes[image * pixels + pixel] = 1 + label);
      }
    });
    const dataset = { id: "coco8_segmentation", version: "coco8_segmentation-v1", split };
    const facts = { dataset, image_ids: read.ids };
    const shape = [read.ids.length, size, size];
    return {
      outputs: {
        images: imagesArtifact(read.batch, { ...facts, source_files: read.sourceFiles }),
        segmentation: rastersArtifact({ data: classes, shape, classNames: COCO_NAMES }, facts),
      },
    };
  },
});
