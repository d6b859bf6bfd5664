/**
 * Concepts of images and texts: version 1 of a fixed vocabulary.
 *
 *     colour:<name>, shape:<name>, ground:<colour>        contents
 *     layout:<word>                                       positions: top, bottom, left, right, centre
 *     <colour> <shape>, <shape> <layout word>             combinations
 *     count:<n>                                           objects of an image, or the number words of a text
 *     topic:<name>                                        words of the built-in sentences and their knowledge base
 *
 * An image with a plain background has the concepts of its objects (lib/numeric/image/plain_scene.ts); any other image has
 * those of its pixel colours. A text is read word by word: a colour belongs to the shape or to the word "ground" that
 * follows it, a layout word to the shape before it. A change of the lists or weights is a new version, since it changes
 * every embedding.
 */
import { COLOUR_NAMES, colourName } from "../../lib/numeric/image/colour_name.ts";
import { type FoundObject, readPlainScene, type RgbRaster } from "../../lib/numeric/image/plain_scene.ts";
import { type Shape, SHAPES } from "../../lib/numeric/image/scenes.ts";
import { tokens } from "../../lib/numeric/scores/text_similarity.ts";

export const CONCEPTS_VERSION = "svc.concepts.v1";

/** Concepts of an image or a text with their weights. */
export type ConceptWeights = ReadonlyMap<string, number>;

/** Weight of one mention of a concept. Combinations weigh more than single concepts, number words less. */
const WEIGHT = { colour: 1, shape: 1, together: 2, layout: 0.5, placed: 1, ground: 1, count: 0.5, topic: 1 };

const LAYOUT = ["top", "bottom", "left", "right", "centre"];
/** Number words, each at the index of its number. */
export const COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"];

/** Synonyms of colours, shapes, positions and the background, and other spellings. */
const SYNONYMS: Readonly<Record<string, string>> = {
  color: "colour",
  gray: "grey",
  violet: "purple",
  fuchsia: "magenta",
  turquoise: "cyan",
  disc: "circle",
  disk: "circle",
  circles: "circle",
  squares: "square",
  triangles: "triangle",
  upper: "top",
  above: "top",
  lower: "bottom",
  below: "bottom",
  middle: "centre",
  center: "centre",
  background: "ground",
};

/** The vocabulary's word for a synonym, or the word itself. */
export function plainWord(word: string): string {
  return SYNONYMS[word] ?? word;
}

/** Topics of the built-in sentences with their words. */
const TOPICS: Readonly<Record<string, readonly string[]>> = {
  weather: ["weather", "rain", "storm", "forecast"],
  wind: ["wind", "winds", "gust", "gusts"],
  city: ["lisbon", "city", "town"],
  speed: ["speed", "kilometres", "kilometers"],
  robot: ["robot", "robots", "machine"],
  tool: ["tool", "tools", "toolbox"],
  place: ["bay", "station", "dock"],
  medicine: ["ibuprofen", "medicine", "drug", "dose", "milligrams", "prescribed"],
  doctor: ["doctor", "okafor", "physician", "nurse"],
  surgery: ["operation", "surgery", "knee", "patient"],
  traffic: ["traffic", "lane", "lanes", "delay", "delays"],
  vehicle: ["lorry", "truck", "car", "vehicle"],
  bridge: ["bridge", "harbour", "harbor"],
  sensor: ["sensor", "sensors", "measured", "delta"],
  temperature: ["temperature", "degrees", "celsius", "warm", "cold"],
  humidity: ["humidity", "humid", "moisture"],
  greenhouse: ["greenhouse", "plants", "garden"],
  time: ["noon", "dawn", "seconds", "minutes", "hour", "daily"],
};

const TOPIC_OF = new Map(Object.entries(TOPICS).flatMap(([topic, words]) => words.map((word) => [word, topic])));

class Weights extends Map<string, number> {
  add(concept: string, weight: number): void {
    this.set(concept, (this.get(concept) ?? 0) + weight);
  }
}

/** The layout words of an object: of its row and column of three by three fields, or the centre. */
function layoutOf({ centre: [x, y] }: FoundObject, { width, height }: { width: number; height: number }) {
  const column = Math.min(2, Math.floor(3 * x / width)), row = Math.min(2, Math.floor(3 * y / height));
  const words = [["top", "", "bottom"][row], ["left", "", "right"][column]].filter((word) => word !== "");
  return words.length === 0 ? ["centre"] : words;
}

export function conceptsOfImage(raster: RgbRaster): ConceptWeights {
  const weights = new Weights(), { ground, objects } = readPlainScene(raster);
  if (objects.length === 0) {
    for (const [colour, share] of colourShares(raster)) weights.add(`colour:${colour}`, WEIGHT.colour * share);
    return weights;
  }
  weights.add(`ground:${ground}`, WEIGHT.ground);
  if (objects.length < COUNTS.length) weights.add(`count:${objects.length}`, WEIGHT.count);
  for (const object of objects) {
    weights.add(`colour:${object.colour}`, WEIGHT.colour);
    weights.add(`shape:${object.shape}`, WEIGHT.shape);
    weights.add(`${object.colour} ${object.shape}`, WEIGHT.together);
    for (const word of layoutOf(object, raster)) {
      weights.add(`layout:${word}`, WEIGHT.layout);
      weights.add(`${object.shape} ${word}`, WEIGHT.placed);
    }
  }
  return weights;
}

/** Square roots of the shares of colours that cover at least a twentieth of the image. */
function colourShares({ width, height, data }: RgbRaster): [string, number][] {
  const counts = new Map<string, number>();
  for (let i = 0; i < width * height; i++) {
    const colour = colourName(data[3 * i], data[3 * i + 1], data[3 * i + 2]);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const shares = COLOUR_NAMES.map((colour): [string, number] => [colour, (counts.get(colour) ?? 0) / (width * height)]);
  return shares.filter(([, share]) => share >= 0.05).map(([colour, share]) => [colour, Math.sqrt(share)]);
}

export function conceptsOfText(text: string): ConceptWeights {
  const weights = new Weights();
  let colour: string | undefined, shape: Shape | undefined;
  for (const token of tokens(text)) {
    const word = plainWord(token);
    if ((COLOUR_NAMES as readonly string[]).includes(word)) {
      if (colour !== undefined) weights.add(`colour:${colour}`, WEIGHT.colour);
      colour = word;
    } else if ((SHAPES as readonly string[]).includes(word)) {
      shape = word as Shape;
      weights.add(`shape:${shape}`, WEIGHT.shape);
      if (colour !== undefined) {
        weights.add(`colour:${colour}`, WEIGHT.colour);
        weights.add(`${colour} ${shape}`, WEIGHT.together);
      }
      colour = undefined;
    } else if (word === "ground" && colour !== undefined) {
      weights.add(`ground:${colour}`, WEIGHT.ground);
      colour = shape = undefined;
    } else if (LAYOUT.includes(word)) {
      weights.add(`layout:${word}`, WEIGHT.layout);
      if (shape !== undefined) weights.add(`${shape} ${word}`, WEIGHT.placed);
    }
    if (COUNTS.includes(word)) weights.add(`count:${COUNTS.indexOf(word)}`, WEIGHT.count);
    const topic = TOPIC_OF.get(word);
    if (topic !== undefined) weights.add(`topic:${topic}`, WEIGHT.topic);
  }
  if (colour !== undefined) weights.add(`colour:${colour}`, WEIGHT.colour);
  return weights;
}
