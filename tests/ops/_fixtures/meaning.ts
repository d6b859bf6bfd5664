/** Conformance cases of embeddings, retrieval and visual questions. */
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { paintScene } from "../../../lib/numeric/image/scenes.ts";
import { statesArtifact } from "../../../ops/_semantic_state.ts";
import { tinyAnswerer, tinyClip, tinyDiffusion, tinyEmbedder, tinyFeatures } from "../../support/tiny_models.ts";
import { bitsInput, payloadInput, someBits, symbolsInput, textsInput } from "../inputs.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { casesOf } from "./cases.ts";

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

const document = (kind: string, items: JsonObject[]) => ({ json: { kind, schema_version: 1, items } });

/** Questions about the two pictures, and a packet of their answers. */
export const questionsInput = () =>
  document("vqa.questions", [
    { id: "p1", image_id: "p", question: "What colour is the circle?" },
    { id: "q1", image_id: "q", question: "How many circles are there?" },
  ]);
export const packetInput = (labels: Record<string, string> = { p1: "red", q1: "0" }) =>
  document("vqa.semantic_packet", Object.entries(labels).map(([id, selected_label]) => ({ id, selected_label })));
export const answersInput = (answers: Record<string, string>) =>
  document("vqa.answers", Object.entries(answers).map(([id, answer]) => ({ id, answer })));

/** The lines of a packet as bits, as foundation.vqa_payload_encode writes them. */
export function packetBits(lines: string[] = ['"red"\n', '"0"\n'], metadata: JsonObject = {}) {
  const bits = lines.map((line) => unpackBits(new TextEncoder().encode(line)));
  return payloadInput(bits.flatMap((part) => [...part]), {
    question_ids: lines.map((_, index) => `q${index}`),
    source_item_counts: bits.map(({ length }) => length),
    ...metadata,
  });
}

const picture = () => writePng({ width: 40, height: 30, channels: 3, data: new Uint8Array(3600).fill(70) }).slice();
const record = { id: "r", image: "a.png", question: "What is it?", answer: "grey" };

/** States that carry a sentence each. */
export function statesInput(sentences: Record<string, string>) {
  const states = Object.entries(sentences).map(([id, source_text]) => ({
    id,
    concepts: [],
    entities: [],
    facts: [],
    source_text,
  }));
  return { kind: "semantic.state.json", ...statesArtifact(states, "text") };
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

export const MEANING_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    texts: () => ({ texts }),
    images: () => ({ images: twoPictures() }),
    embeddings: () => ({
      image_embeddings: embeddingsInput(IMAGES),
      text_embeddings: embeddingsInput(QUERIES),
      targets: targetsInput({ a: ["p"], b: ["q", "r"] }),
    }),
    "multimodal embeddings": () => ({
      image_embeddings: { ...embeddingsInput(IMAGES), kind: "multimodal.embedding.numpy" },
      text_embeddings: embeddingsInput(QUERIES),
      targets: targetsInput({ q: ["b"] }),
    }),
    rankings: () => ({
      rankings: {
        json: {
          kind: "retrieval.rankings",
          schema_version: 1,
          items: [{ id: "a", ranked_ids: ["p", "q"], scores: [float(1), float(0)], relevant_ids: ["q"] }],
        },
        metadata: { gallery_size: 2 },
      },
    }),
    "equal embeddings": () => ({
      candidate: embeddingsInput(IMAGES),
      reference: embeddingsInput(IMAGES),
    }),
    "equal CLIP embeddings": () => {
      const space = { ...SPACE, backend: "transformers_clip" };
      return { candidate: embeddingsInput(IMAGES, space), reference: embeddingsInput(IMAGES, space) };
    },
    "images and questions": () => ({ images: twoPictures(), questions: questionsInput() }),
    packet: () => ({ packet: packetInput() }),
    bits: () => ({ bits: packetBits() }),
    "bits with garbage": () => ({ bits: packetBits(['"red"\n', "garbage"]) }),
    answers: () => ({
      candidate: answersInput({ a: "Red " }),
      reference: answersInput({ a: "red" }),
    }),
    labels: () => ({
      candidate: { kind: "task.predictions.json", ...document("task.predictions", [{ id: "a", label: "red" }]) },
      reference: { kind: "task.labels.json", ...document("task.labels", [{ id: "a", label: "blue" }]) },
    }),
    "compared images": () => ({ reconstruction: twoPictures(), reference: twoPictures() }),
    "embedded texts and symbols": () => ({
      candidate: embeddingsInput({ a: [1, 0], b: [0, 1] }),
      reference: embeddingsInput({ a: [1, 0], b: [1, 1] }),
      texts,
      symbols: symbolsInput(40),
    }),
    updates: () => ({
      candidate: bitsInput(someBits(40).map((bit, at) => at === 10 ? 1 - bit : bit)),
      reference: bitsInput(someBits(40)),
      symbols: symbolsInput(40),
    }),
    "compared texts": () => ({ candidate: texts, reference: texts }),
    state: () => ({ state: statesInput({ a: "grey" }) }),
  },
  files: {
    manifest: () => ({
      "v/m.json": JSON.stringify([record]),
      "v/a.png": picture(),
    }),
    ...Object.fromEntries(
      ["train", "validation", "test"].map((split) => [
        `small set, ${split}`,
        () => ({ [`v/${split}.jsonl`]: `${JSON.stringify(record)}\n`, "v/a.png": picture() }),
      ]),
    ),
    flickrFolder,
  },
  models: {
    clip: { clip: tinyClip() },
    answerer: { answerer: tinyAnswerer() },
    embedder: { embedder: tinyEmbedder({ red: [1, 0], circle: [0, 1] }) },
    features: { features: tinyFeatures({ colours: { weights: [1, 1, 1] }, sums: { weights: [0.5, 0] } }) },
    "dists features": {
      features: tinyFeatures(
        { image: { alpha: [1, 1, 1], beta: [1, 1, 1] }, sums: { alpha: [1, 0], beta: [0, 2] } },
        "dists",
      ),
    },
    diffusion: { diffusion: tinyDiffusion({ prediction_type: "epsilon" }) },
  },
});
