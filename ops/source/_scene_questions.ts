/**
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
import type { JsonObject } from "../api.ts";
import { placeOf, type Scene, type SceneObject, SHAPES } from "../../lib/numeric/image/scenes.ts";

interface Asked {
  topic: "count" | "count_shape" | "colour" | "shape" | "position";
  question: string;
  answer: string;
}

/**
 * @param ids of the scenes
 * @returns items of `vqa.questions` and `vqa.answers`, paired by id
 */
export function questionsAbout(
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
