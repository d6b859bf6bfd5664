/**
 * Photographs of Flickr8k with one caption each, from a local folder: images uint8 [image, size, size, RGB], texts whose id
 * is `<image>#<caption index>`, and the pairs as retrieval targets. The first `limit` images of the split, in its order.
 *
 * Files: `_flickr8k.ts`. A run never uses the network; `download` has no effect.
 */
import { defineOperation, SvcError, z } from "../api.ts";
import { IMAGES, TEXTS } from "../../lib/contract/kinds.ts";
import { imagesArtifact, textsArtifact } from "../../lib/artifact/values.ts";
import { locatePicture, readFlickr8k } from "./_flickr8k.ts";
import { targetsArtifact } from "./_retrieval_targets.ts";
import { loadSquares } from "./_square_pictures.ts";

const FOLDER = ".svc/datasets/flickr8k";

export default defineOperation({
  id: "source.flickr8k_retrieval",
  name: "Flickr8k image-text pairs",
  description: "Photographs of Flickr8k from a local folder, one caption each, with retrieval targets",
  outputs: { images: IMAGES, texts: TEXTS, targets: "retrieval.targets.json" },
  params: z.strictObject({
    dataset_dir: z.string().min(1).default(FOLDER).describe("folder of the captions, splits and images"),
    split: z.enum(["test", "validation"]).default("validation").describe("split of the dataset"),
    limit: z.int().positive().default(16).describe("number of images, the first ones of the split"),
    caption_index: z.int().min(0).max(4).default(0).describe("index of the caption of each image"),
    image_size: z.int().min(1).max(4096).default(224).describe("width and height in pixels"),
    download: z.boolean().default(true).describe("accepted without effect: a run never uses the network"),
  }),
  outputMetadataGuarantees: {
    images: { keys: ["boundary_contract", "dataset", "image_ids", "source_files"] },
    texts: { keys: ["dataset", "text_ids"] },
  },
  estimate: ({ limit, image_size }) => ({ images: Math.min(limit, 1000) * image_size ** 2 * 3 }),
  requires: ({ dataset_dir }) => dataset_dir === FOLDER ? [{ kind: "dataset", id: "flickr8k" }] : [],
  async run({ params, files, progress }) {
    const { dataset_dir: folder, split, limit, caption_index: at, image_size: size } = params;
    const pictures = (await readFlickr8k(folder, split, files)).slice(0, limit);
    if (pictures.length === 0) throw new SvcError("boundary_empty", `Cannot find an image of the split ${split}`);
    const paths: string[] = [];
    for (const { file, captions } of pictures) {
      if (!captions[at]) {
        throw new SvcError("boundary_value_invalid", `Cannot find caption ${at} of the image ${file}`);
      }
      paths.push(await locatePicture(folder, file, files));
    }
    const { batch, sourceFiles } = await loadSquares(paths, size, { files, progress });
    const dataset = { id: "flickr8k", version: `flickr8k-${split}-v1`, split };
    const ids = pictures.map(({ file }) => file);
    const texts = pictures.map(({ file, captions }) => ({ id: `${file}#${at}`, text: captions[at] }));
    return {
      outputs: {
        images: imagesArtifact(batch, { dataset, image_ids: ids, source_files: sourceFiles }),
        texts: textsArtifact(texts, { dataset, text_ids: texts.map(({ id }) => id) }),
        targets: targetsArtifact(texts.map(({ id }, index) => ({ id, relevant_ids: [ids[index]] })), { dataset }),
      },
    };
  },
});
