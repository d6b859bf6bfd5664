/**
 * Built-in images, uint8 [image, size, size, RGB], with a caption each and the pairs as retrieval targets: the id of a
 * caption is that of its image with `_caption`. Drawn by the program, equal at every size.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES, TEXTS } from "../../lib/contract/kinds.ts";
import { imagesArtifact, textsArtifact } from "../../lib/artifact/values.ts";
import { paintScene } from "../../lib/numeric/image/scenes.ts";
import { checkIds, parseIds } from "./_ids.ts";
import { RETRIEVAL_SMOKE, smokeScene } from "./_retrieval_smoke.ts";
import { targetsArtifact } from "./_retrieval_targets.ts";

const KNOWN = Object.keys(RETRIEVAL_SMOKE);

export default defineOperation({
  id: "source.retrieval_smoke",
  name: "Tiny image-text retrieval fixture",
  description: "Built-in images of coloured shapes with captions and retrieval targets",
  outputs: { images: IMAGES, texts: TEXTS, targets: "retrieval.targets.json" },
  params: z.strictObject({
    dataset: z.enum(["retrieval_smoke"]).default("retrieval_smoke").describe("built-in dataset"),
    sample_ids: z.string().default("").describe("comma-separated ids, in this order; empty uses all"),
    image_size: z.int().min(32).max(1024).default(224).describe("width and height in pixels"),
  }),
  outputMetadataGuarantees: {
    images: { keys: ["boundary_contract", "dataset", "image_ids"] },
    texts: { keys: ["dataset", "text_ids"] },
  },
  estimate: ({ sample_ids, image_size: size }) => ({
    images: [["uint8", parseIds(sample_ids).length || KNOWN.length, size, size, 3]],
  }),
  check: ({ sample_ids }) => checkIds(sample_ids, "sample_ids", KNOWN),
  run({ params: { dataset: id, sample_ids, image_size: size } }) {
    const wanted = parseIds(sample_ids), ids = wanted.length > 0 ? wanted : KNOWN;
    const data = new Uint8Array(ids.length * size * size * 3);
    ids.forEach((name, index) =>
      data.set(paintScene(smokeScene(RETRIEVAL_SMOKE[name], size)).pixels, index * size * size * 3)
    );
    const dataset = { id, version: `${id}-v1` };
    const texts = ids.map((name) => ({ id: `${name}_caption`, text: RETRIEVAL_SMOKE[name].caption }));
    const batch = { count: ids.length, height: size, width: size, channels: 3, dtype: "uint8", data } as const;
    return {
      outputs: {
        images: imagesArtifact(batch, { dataset, image_ids: ids }),
        texts: textsArtifact(texts, { dataset, text_ids: texts.map((text) => text.id) }),
        targets: targetsArtifact(texts.map((text, index) => ({ id: text.id, relevant_ids: [ids[index]] })), {
          dataset,
        }),
      },
    };
  },
});
