/**
 * One built-in example of every kind of semantic artifact, all about the same two small scenes.
 *
 * Shapes: segmentations uint8 [scene, 64, 64], 0 the background; importance_map float32 [scene, 64, 64], 1 on objects
 * and 0.1 elsewhere; video_frames uint8 [scene, frame, 64, 64, RGB], in which objects move one pixel to the right per
 * frame; embeddings float32 [scene, embedding_dim] in the space of local_semantic, of the images and of the captions.
 * Rankings list for each caption the images in the order of their cosine.
 *
 * Two small scenes and the output of an imagined system: correct for the first one; in the second one object moved and
 * one is missing. All built-in semantic artifacts describe these scenes.
 */
import { paintScene, placeOf, type Scene, SHAPES } from "../../lib/numeric/image/scenes.ts";
import { CAPTIONS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type JsonObject, z } from "../api.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { captionsArtifact } from "../_captions.ts";
import { DETECTIONS, detectionsArtifact, rastersArtifact, SEGMENTATION } from "../../lib/artifact/vision.ts";
import { CONCEPTS_VERSION, conceptsOfImage, conceptsOfText } from "../foundation/_concepts.ts";
import { builtInSpace, embeddingsArtifact } from "../foundation/_embedding_space.ts";
import { hashFeatures } from "../foundation/_hashing.ts";
import scenes from "./_semantic_artifacts.json" with { type: "json" };

interface SmokeScene {
  id: string;
  truth: Scene;
  guess: Scene;
  captions: [reference: string[], candidate: string];
  question: { answer: string; guess: string };
}

const SMOKE_SCENES = scenes as object as readonly SmokeScene[];

const FRAMES = 4;
const IDS = SMOKE_SCENES.map(({ id }) => id);

export default defineOperation({
  id: "source.semantic_artifacts_smoke",
  name: "Fixture of all semantic artifacts",
  description: "Emits one built-in example of each typed semantic artifact",
  outputs: {
    captions_candidate: CAPTIONS,
    captions_reference: CAPTIONS,
    clip_embeddings: "vision.embedding.clip.numpy",
    detections_candidate: DETECTIONS,
    detections_reference: DETECTIONS,
    importance_map: "semantic.importance_map.numpy",
    multimodal_embeddings: "multimodal.embedding.numpy",
    rankings: "retrieval.rankings.json",
    scene_graph: "vision.scene_graph.json",
    segmentation_candidate: SEGMENTATION,
    segmentation_reference: SEGMENTATION,
    semantic_map: "vision.semantic_map.json",
    video_frames: "video.frame_sequence.numpy",
    vqa_candidate: "vqa.answers.json",
    vqa_reference: "vqa.answers.json",
  },
  params: z.strictObject({
    dataset: z.enum(["semantic_artifact_smoke"]).default("semantic_artifact_smoke").describe("built-in dataset"),
    embedding_dim: z.int().min(1).max(65536).default(8).describe("size of an embedding"),
  }),
  outputMetadataGuarantees: {
    clip_embeddings: { keys: ["embedding_ids", "embedding_space"] },
    multimodal_embeddings: { keys: ["embedding_ids", "embedding_space"] },
    segmentation_candidate: { keys: ["class_names", "image_ids"] },
    segmentation_reference: { keys: ["class_names", "image_ids"] },
  },
  estimate({ embedding_dim }) {
    const embeddings = 8 * IDS.length * embedding_dim;
    return { clip_embeddings: embeddings, multimodal_embeddings: embeddings };
  },
  run({ params: { dataset: id, embedding_dim } }) {
    const dataset = { id, version: `${id}-v1` }, metadata: JsonObject = { dataset, image_ids: IDS };
    const truths = SMOKE_SCENES.map(({ truth }) => truth), guesses = SMOKE_SCENES.map(({ guess }) => guess);
    const space = builtInSpace("local_semantic", CONCEPTS_VERSION, embedding_dim);
    const hashed = (concepts: ReadonlyMap<string, number>) => hashFeatures(concepts, embedding_dim, CONCEPTS_VERSION);
    const pictures = truths.map((scene) =>
      hashed(conceptsOfImage({ width: scene.size, height: scene.size, data: paintScene(scene).pixels }))
    );
    const captions = SMOKE_SCENES.map(({ captions: [[reference]] }) => hashed(conceptsOfText(reference)));
    return {
      outputs: {
        captions_candidate: captionsArtifact(
          SMOKE_SCENES.map(({ id, captions }) => ({ id, texts: [captions[1]] })),
          { dataset },
        ),
        captions_reference: captionsArtifact(
          SMOKE_SCENES.map(({ id, captions }) => ({ id, texts: captions[0] })),
          { dataset },
        ),
        clip_embeddings: embeddingsArtifact(pictures, IDS, space, { dataset }),
        multimodal_embeddings: embeddingsArtifact(captions, IDS, space, { dataset }),
        rankings: rankingsOf(captions, pictures, dataset),
        detections_candidate: boxesOf(guesses, 0.9, dataset),
        detections_reference: boxesOf(truths, 1, dataset),
        segmentation_candidate: rastersOf(guesses, metadata),
        segmentation_reference: rastersOf(truths, metadata),
        importance_map: importanceOf(truths, metadata),
        video_frames: videoOf(truths, metadata),
        scene_graph: {
          json: { kind: "vision.scene_graph", schema_version: 1, items: truths.map(graphOf) },
          metadata: { dataset },
        },
        semantic_map: {
          json: { kind: "vision.semantic_map", schema_version: 1, items: truths.map(mapOf) },
          metadata: { dataset },
        },
        vqa_candidate: answers(SMOKE_SCENES.map(({ question }) => question.guess), dataset),
        vqa_reference: answers(SMOKE_SCENES.map(({ question }) => question.answer), dataset),
      },
    };
  },
});

function boxesOf(scenes: readonly Scene[], confidence: number, dataset: JsonObject) {
  const items = scenes.map(({ objects }, index) => ({
    id: IDS[index],
    detections: objects.map(({ shape, x, y, side }) => ({
      label: shape,
      label_id: SHAPES.indexOf(shape),
      confidence,
      box: [x, y, x + side, y + side] as const,
    })),
  }));
  return detectionsArtifact(items, { dataset });
}

/** Values of all pixels of all scenes, scene by scene. */
function classesOf(scenes: readonly Scene[]): Uint8Array {
  return Uint8Array.from(scenes.flatMap((scene) => [...paintScene(scene).classes]));
}

const shapeOf = (scenes: readonly Scene[]) => [scenes.length, scenes[0].size, scenes[0].size];

function rastersOf(scenes: readonly Scene[], metadata: JsonObject) {
  return rastersArtifact({ data: classesOf(scenes), shape: shapeOf(scenes), classNames: SHAPES }, metadata);
}

function importanceOf(scenes: readonly Scene[], metadata: JsonObject) {
  const data = Float32Array.from(classesOf(scenes), (value) => value > 0 ? 1 : 0.1);
  return { array: ndarray("float32", data, shapeOf(scenes)), metadata };
}

function videoOf(scenes: readonly Scene[], metadata: JsonObject) {
  const moved = (scene: Scene, by: number): Scene => ({
    ...scene,
    objects: scene.objects.map((object) => ({ ...object, x: object.x + by })),
  });
  const frames = scenes.flatMap((scene) =>
    Array.from({ length: FRAMES }, (_, frame) => paintScene(moved(scene, frame)).pixels)
  );
  const data = Uint8Array.from(frames.flatMap((pixels) => [...pixels]));
  const [count, height, width] = shapeOf(scenes);
  return {
    array: ndarray("uint8", data, [count, FRAMES, height, width, 3]),
    metadata: { ...metadata, frame_count: FRAMES },
  };
}

/** Objects with their attributes, and the left-of relation of each pair. */
function graphOf({ objects, size }: Scene, index: number): JsonObject {
  const named = objects.map((object, i) => ({ object, id: `${IDS[index]}_object_${i}` }));
  return {
    id: IDS[index],
    objects: named.map(({ object, id }) => ({
      id,
      label: object.shape,
      attributes: [object.colour, placeOf(object, size)],
    })),
    relations: named.flatMap((a) =>
      named.filter((b) => a.object.x < b.object.x)
        .map((b): JsonObject => ({ subject: a.id, predicate: "left of", object: b.id }))
    ),
  };
}

/** Contents of a grid of three by three fields. */
function mapOf({ objects, size, ground }: Scene, index: number): JsonObject {
  return {
    id: IDS[index],
    ground,
    regions: objects.map((object) => ({ place: placeOf(object, size), label: object.shape, colour: object.colour })),
  };
}

function rankingsOf(queries: readonly Float64Array[], gallery: readonly Float64Array[], dataset: JsonObject) {
  const items = queries.map((query, index): JsonObject => {
    const scored = gallery.map((picture, at) => ({
      id: IDS[at],
      score: query.reduce((sum, value, i) => sum + value * picture[i], 0),
    }));
    scored.sort((a, b) => b.score - a.score);
    return {
      id: IDS[index],
      ranked_ids: scored.map(({ id }) => id),
      scores: scored.map(({ score }) => float(score)),
      relevant_ids: [IDS[index]],
    };
  });
  return {
    json: { kind: "retrieval.rankings", schema_version: 1, items },
    metadata: { dataset, gallery_size: IDS.length },
  };
}

function answers(texts: readonly string[], dataset: JsonObject) {
  const items = texts.map((answer, index): JsonObject => ({ id: IDS[index], answer }));
  return { json: { kind: "vqa.answers", schema_version: 1, items }, metadata: { dataset } };
}
