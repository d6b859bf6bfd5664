/**
 * Answers questions about images of coloured shapes by rule: colour, count, shape, position, and existence.
 *
 *     How many (<colour>) objects | circles … are there?     count
 *     What colour is the (<colour>) <shape> | background?     colour
 *     What shape is the <colour> object?                      shape
 *     Where is the <colour> <shape>?                          position, "top left" … "bottom right"
 *     Is | Are there a <colour> <shape>?                      yes or no
 *
 * Colour and shape words of the question select the objects; among several the largest answers. A question that no rule
 * matches, or that fits no object, is answered with "unknown".
 */
import { COLOUR_NAMES } from "../../lib/numeric/image/colour_name.ts";
import type { FoundObject, PlainScene } from "../../lib/numeric/image/plain_scene.ts";
import { PLACES, SHAPES } from "../../lib/numeric/image/scenes.ts";
import { tokens } from "../../lib/numeric/scores/text_similarity.ts";
import { plainWord } from "./_concepts.ts";

const UNKNOWN = "unknown";

/** The answer, and the objects that it is based on. */
export interface RuledAnswer {
  answer: string;
  about: FoundObject[];
}

/** Answers a question about an image of the given size. */
export function answerByRules(
  question: string,
  { ground, objects }: PlainScene,
  size: { width: number; height: number },
): RuledAnswer {
  const words = tokens(question).map(plainWord);
  const has = (...wanted: string[]) => wanted.some((word) => words.includes(word));
  const colours = COLOUR_NAMES.filter((name) => words.includes(name));
  const shapes = SHAPES.filter((name) => words.includes(name));
  const about = objects.filter(({ colour, shape }) =>
    (colours.length === 0 || colours.includes(colour)) && (shapes.length === 0 || shapes.includes(shape))
  );
  if (words[0] === "how" && words[1] === "many") return { answer: String(about.length), about };
  if (["is", "are"].includes(words[0]) && words[1] === "there") {
    return { answer: about.length > 0 ? "yes" : "no", about };
  }
  if (has("colour") && has("ground")) return { answer: ground, about: [] };
  const largest = about.reduce<FoundObject | undefined>(
    (best, object) => best !== undefined && best.area >= object.area ? best : object,
    undefined,
  );
  if (largest === undefined) return { answer: UNKNOWN, about: [] };
  const one = (answer: string): RuledAnswer => ({ answer, about: [largest] });
  if (has("colour")) return one(largest.colour);
  if (has("shape")) return one(largest.shape);
  if (words[0] === "where") return one(placeOfBox(largest.box, size));
  return { answer: UNKNOWN, about: [] };
}

/** The field of three by three that contains the centre of a box. */
function placeOfBox(
  [left, top, right, bottom]: FoundObject["box"],
  { width, height }: { width: number; height: number },
) {
  const third = (from: number, to: number, side: number) => Math.min(2, Math.floor(3 * (from + to) / (2 * side)));
  return PLACES[3 * third(top, bottom, height) + third(left, right, width)];
}
