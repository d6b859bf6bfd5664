/** Conformance cases of embeddings and retrieval. */
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { float } from "../../lib/contract/value.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { paintScene } from "../../lib/numeric/scenes.ts";
import type { FixtureCase } from "./fixtures.ts";
import { textsInput } from "./inputs.ts";
import { writePng } from "../../lib/artifact/png_encode.ts";

const texts = textsInput({ a: "A red circle on a white ground", b: "winds of 45 kilometres per hour" });

/** A red disc, and a blue square, 64 x 64. */
export function twoPictures(ids: string[] = ["p", "q"]) {
  const data = new Uint8Array(2 * 64 * 64 * 3);
  data.set(
    paintScene({ size: 64, ground: "white", objects: [{ colour: "red", shape: "circle", x: 5, y: 5, side: 20 }] })
      .pixels,
  );
  const square = { colour: "blue", shape: "square", x: 30, y: 30, side: 20 } as const;
  data.set(paintScene({ size: 64, ground: "black", objects: [square] }).pixels, 64 * 64 * 3);
  const batch = { count: 2, height: 64, width: 64, channels: 3, dtype: "uint8", data } as const;
  return { kind: "image.batch.numpy", ...imagesArtifact(batch, { image_ids: ids }) };
}

export const SPACE = {
  backend: "local_semantic",
  model_id: "svc",
  model_revision: "v",
  revision_status: "built_in",
  preprocessing_contract: "v",
};

/** Embeddings in place, one row an id. */
export function embeddingsInput(rows: Record<string, number[]>, space: Record<string, string> = SPACE) {
  const vectors = Object.values(rows), dimensions = vectors[0].length;
  return {
    kind: "foundation.embedding.numpy",
    array: ndarray("float32", Float32Array.from(vectors.flat()), [vectors.length, dimensions]),
    metadata: {
      boundary_contract: "semantic.embedding",
      embedding_ids: Object.keys(rows),
      embedding_space: { ...space, dimensions },
    },
  };
}

export function targetsInput(relevant: Record<string, string[]>) {
  const items = Object.entries(relevant).map(([id, relevant_ids]) => ({ id, relevant_ids }));
  return { kind: "retrieval.targets.json", json: { kind: "retrieval.targets", schema_version: 1, items } };
}

const IMAGES = { p: [1, 0, 0], q: [0, 1, 0], r: [0, 0, 1] };
const QUERIES = { a: [0.9, 0.1, 0], b: [0, 0.2, 0.8] };

/** Two pictures with five captions each, as Flickr8k is published. */
export function flickrFolder(): Record<string, Uint8Array | string> {
  const picture = (value: number) =>
    writePng({ width: 40, height: 30, channels: 3, data: new Uint8Array(3600).fill(value) }).slice();
  const captions = (file: string) => Array.from({ length: 5 }, (_, i) => `${file}#${i}\tcaption ${i} of ${file} .`);
  return {
    "f/Flickr8k.token.txt": [...captions("1.jpg"), ...captions("2.jpg"), ...captions("3.jpg")].join("\n") + "\n",
    "f/Flickr_8k.devImages.txt": "2.jpg\n1.jpg\n",
    "f/Flickr_8k.testImages.txt": "3.jpg\r\n",
    "f/Images/1.jpg": picture(10),
    "f/Flicker8k_Dataset/2.jpg": picture(200),
    "f/3.jpg": picture(90),
  };
}

export const MEANING_FIXTURES: Record<string, FixtureCase[]> = {
  "foundation.clip_text_embed": [
    { inputs: () => ({ texts }) },
    { inputs: () => ({ texts }), params: { backend: "local_hash", dimensions: 16 } },
  ],
  "foundation.clip_image_embed": [
    { inputs: () => ({ images: twoPictures() }) },
    { inputs: () => ({ images: twoPictures() }), params: { backend: "local_color_histogram", bins: 5 } },
  ],
  "foundation.clip_retrieval_rank": [
    {
      inputs: () => ({
        image_embeddings: embeddingsInput(IMAGES),
        text_embeddings: embeddingsInput(QUERIES),
        targets: targetsInput({ a: ["p"], b: ["q", "r"] }),
      }),
      params: { top_k: 2 },
    },
    {
      name: "images ask for texts",
      inputs: () => ({
        image_embeddings: { ...embeddingsInput(IMAGES), kind: "multimodal.embedding.numpy" },
        text_embeddings: embeddingsInput(QUERIES),
        targets: targetsInput({ q: ["b"] }),
      }),
      params: { normalize: false },
    },
  ],
  "metrics.retrieval": [{
    inputs: () => ({
      rankings: {
        json: {
          kind: "retrieval.rankings",
          schema_version: 1,
          items: [{ id: "a", ranked_ids: ["p", "q"], scores: [float(1), float(0)], relevant_ids: ["q"] }],
        },
        metadata: { gallery_size: 2 },
      },
    }),
  }],
  "metrics.embedding_similarity": [
    { inputs: () => ({ candidate: embeddingsInput(IMAGES), reference: embeddingsInput(IMAGES) }) },
    {
      name: "CLIP",
      inputs: () => {
        const space = { ...SPACE, backend: "transformers_clip" };
        return { candidate: embeddingsInput(IMAGES, space), reference: embeddingsInput(IMAGES, space) };
      },
      params: { label: "generation.image_image_clip", normalize: false },
    },
  ],
  "source.retrieval_smoke": [{ params: { image_size: 32 } }],
  "source.flickr8k_retrieval": [{ params: { dataset_dir: "f", image_size: 16 }, files: flickrFolder }],
};
