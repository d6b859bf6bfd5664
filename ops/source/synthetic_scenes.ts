/**
 * Scenes of coloured circles, squares and triangles on plain or cluttered backgrounds, with the truth of every task. Reads no file.
 *
 * Shapes: images uint8 [scene, size, size, RGB]; segmentation uint8 [scene, size, size], 0 the background, 1 circle, 2
 * square, 3 triangle. Boxes are in pixels, [x_min, y_min, x_max, y_max] with x_max - x_min the width. No object hides
 * another, edges are not anti-aliased (lib/numeric/image/scenes.ts), and backgrounds are white, silver, grey and black in turn.
 * Clutter covers them by 32 shapes of dull colours, which are no objects and stand in no output but the images.
 *
 * labels: the shape of the largest object, the earliest one among equals. texts: each scene in a sentence. targets: for the
 * sentence of a scene, all scenes that it describes.
 *
 * Draws per scene: object count; per object integers for shape, colour, side, x, y; with clutter, eight integers a shape
 * (lib/numeric/image/scenes.ts).
 *
 * Questions about scenes with one correct answer each: count, colour, shape and position.
 *
 *     How many objects are there?      "2"                                    every scene
 *     How many circles are there?      "0", "1", …                            every scene, the shapes in turn
 *     What colour is the circle?       "red"                                  a shape that occurs once
 *     What shape is the red object?    "circle"                               a colour that occurs once
 *     Where is the red circle?         "top left" … "bottom right"            a unique object of the scene
 *
 * Questions without a unique subject are omitted; of several subjects the object drawn first is used. Each question has
 * its own id: `scene_0000_count`, `_count_shape`, `_colour`, `_shape`, `_position`.
 */
import { defineOperation, type JsonObject, seedParameter, z } from "../api.ts";
import {
  describeScene,
  drawScene,
  GROUND_NAMES,
  MAXIMUM_OBJECTS,
  MINIMUM_SIZE,
  paintScene,
  placeOf,
  type Scene,
  type SceneObject,
  SHAPES,
} from "../../lib/numeric/image/scenes.ts";
import { IMAGES, TEXTS } from "../../lib/contract/kinds.ts";
import { imagesArtifact, textsArtifact } from "../../lib/artifact/values.ts";
import {
  DETECTIONS,
  detectionsArtifact,
  type LabelledDetection,
  rastersArtifact,
  SEGMENTATION,
} from "../../lib/artifact/vision.ts";

interface Asked {
  topic: "count" | "count_shape" | "colour" | "shape" | "position";
  question: string;
  answer: string;
}

/**
 * @param ids of the scenes
 * @returns items of `vqa.questions` and `vqa.answers`, paired by id
 */
function questionsAbout(
  scenes: readonly Scene[],
  ids: readonly string[],
): { questions: JsonObject[]; answers: JsonObject[] } {
  const rows = scenes.flatMap((scene, index) =>
    askAbout(scene, SHAPES[index % SHAPES.length]).map((asked) => ({ ...asked, image_id: ids[index] }))
  );
  return {
    questions: rows.map(({ topic, image_id, question }) => ({ id: `${image_id}_${topic}`, image_id, question })),
    answers: rows.map(({ topic, image_id, answer }) => ({ id: `${image_id}_${topic}`, answer })),
  };
}

function askAbout({ size, objects }: Scene, counted: SceneObject["shape"]): Asked[] {
  /** The first object with a unique key. */
  const unique = (key: (object: SceneObject) => string) =>
    objects.find((object) => objects.filter((other) => key(other) === key(object)).length === 1);
  const ofShape = unique(({ shape }) => shape);
  const ofColour = unique(({ colour }) => colour);
  const ofBoth = unique(({ shape, colour }) => `${colour} ${shape}`);
  const shown = objects.filter(({ shape }) => shape === counted).length;
  return [
    { topic: "count", question: "How many objects are there?", answer: String(objects.length) },
    { topic: "count_shape", question: `How many ${counted}s are there?`, answer: String(shown) },
    ...(ofShape ? [{ topic: "colour", question: `What colour is the ${ofShape.shape}?`, answer: ofShape.colour }] : []),
    ...(ofColour
      ? [{ topic: "shape", question: `What shape is the ${ofColour.colour} object?`, answer: ofColour.shape }]
      : []),
    ...(ofBoth
      ? [{
        topic: "position",
        question: `Where is the ${ofBoth.colour} ${ofBoth.shape}?`,
        answer: placeOf(ofBoth, size),
      }]
      : []),
  ] as Asked[];
}

export default defineOperation({
  id: "source.synthetic_scenes",
  name: "Synthetic scenes",
  description:
    "Coloured shapes on plain or cluttered backgrounds with boxes, masks, labels, questions, answers, texts and targets",
  outputs: {
    images: IMAGES,
    detections: DETECTIONS,
    segmentation: SEGMENTATION,
    labels: "task.labels.json",
    questions: "vqa.questions.json",
    answers: "vqa.answers.json",
    texts: TEXTS,
    targets: "retrieval.targets.json",
  },
  params: z.strictObject({
    example_count: z.int().min(1).max(100_000).default(16).describe("scenes"),
    image_size: z.int().min(MINIMUM_SIZE).max(1024).default(96).describe("width and height in pixels"),
    object_count_min: z.int().min(1).max(MAXIMUM_OBJECTS).default(1).describe("minimum number of objects per scene"),
    object_count_max: z.int().min(1).max(MAXIMUM_OBJECTS).default(3).describe("maximum number of objects per scene"),
    background: z.enum(["plain", "clutter"]).default("plain").describe(
      "clutter: shapes of dull colours behind the objects",
    ),
    seed: seedParameter(0),
  }),
  outputMetadataGuarantees: {
    images: { keys: ["boundary_contract", "dataset", "image_ids"] },
    segmentation: { keys: ["class_names", "image_ids"] },
    texts: { keys: ["dataset", "text_ids"] },
  },
  estimate: ({ example_count: n, image_size: size }) => ({
    images: [["uint8", n, size, size, 3]],
    segmentation: [["uint8", n, size, size]],
  }),
  check: ({ object_count_min, object_count_max }) =>
    object_count_min <= object_count_max ? [] : [{
      message: `Cannot draw at least ${object_count_min} and at most ${object_count_max} objects`,
      place: ["object_count_min"],
      hint: "Set object_count_min to at most object_count_max",
    }],
  run({ params, generator, progress, cancellation }) {
    const { example_count: count, image_size: size } = params;
    const pixels = new Uint8Array(count * size * size * 3), classes = new Uint8Array(count * size * size);
    const scenes = Array.from({ length: count }, (_, index) => {
      cancellation.throwIfCancelled();
      const scene = drawScene(generator, {
        size,
        least: params.object_count_min,
        most: params.object_count_max,
        ground: GROUND_NAMES[index % GROUND_NAMES.length],
        cluttered: params.background === "clutter",
      });
      const painted = paintScene(scene);
      pixels.set(painted.pixels, index * size * size * 3);
      classes.set(painted.classes, index * size * size);
      progress(index + 1, count, { phase: "drawing", unit: "scenes" });
      return scene;
    });
    const ids = scenes.map((_, index) => `scene_${String(index).padStart(4, "0")}`);
    const dataset = { id: "synthetic_scenes", version: "synthetic_scenes-v1" };
    const facts: JsonObject = { dataset, image_ids: ids };
    const texts = scenes.map((scene, index) => ({ id: ids[index], text: describeScene(scene) }));
    const { questions, answers } = questionsAbout(scenes, ids);
    const items = (kind: string, rows: JsonObject[]) => ({
      json: { kind, schema_version: 1, items: rows },
      metadata: { dataset },
    });
    return {
      outputs: {
        images: imagesArtifact({ count, height: size, width: size, channels: 3, dtype: "uint8", data: pixels }, facts),
        detections: detectionsArtifact(
          scenes.map((scene, i) => ({ id: ids[i], detections: boxesOf(scene) })),
          { dataset },
        ),
        segmentation: rastersArtifact({ data: classes, shape: [count, size, size], classNames: SHAPES }, facts),
        labels: items("task.labels", scenes.map((scene, i) => ({ id: ids[i], label: largestOf(scene).shape }))),
        questions: items("vqa.questions", questions),
        answers: items("vqa.answers", answers),
        texts: textsArtifact(texts, { dataset, text_ids: ids }),
        targets: items("retrieval.targets", relevantImages(texts)),
      },
    };
  },
});

function boxesOf({ objects }: Scene): LabelledDetection[] {
  return objects.map(({ shape, x, y, side }) => ({
    label: shape,
    label_id: SHAPES.indexOf(shape),
    confidence: 1,
    box: [x, y, x + side, y + side],
  }));
}

function largestOf({ objects }: Scene): SceneObject {
  return objects.reduce((largest, object) => object.side > largest.side ? object : largest);
}

/** For each text the images that it describes: its own, and those with the same words. */
function relevantImages(texts: readonly { id: string; text: string }[]): JsonObject[] {
  const byText = Map.groupBy(texts, ({ text }) => text);
  return texts.map(({ id, text }) => ({ id, relevant_ids: byText.get(text)!.map((other) => other.id) }));
}
