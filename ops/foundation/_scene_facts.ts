/**
 * Facts of a semantic state about a scene of coloured shapes, readable for a generator and for people:
 *
 *     red circle | at | top left        an object and its field of three by three
 *     green square | in | the picture   an object without a known position
 *     ground | is | white
 *
 * Two objects with equal shape, colour and field give two equal facts.
 */
import { COLOUR_NAMES, type ColourName } from "../../lib/numeric/image/colour_name.ts";
import { type PlaceName, PLACES, type Shape, SHAPES } from "../../lib/numeric/image/scenes.ts";
import type { Fact, SemanticState } from "../_semantic_state.ts";
import { wordsOf } from "../_words.ts";
import { COUNTS, plainWord } from "./_concepts.ts";

export interface DescribedObject {
  colour: ColourName;
  shape: Shape;
  place?: PlaceName;
}

export interface DescribedScene {
  ground?: ColourName;
  objects: DescribedObject[];
}

const NOWHERE = "the picture";

const isColour = (word: string): word is ColourName => (COLOUR_NAMES as readonly string[]).includes(word);
const isShape = (word: string): word is Shape => (SHAPES as readonly string[]).includes(word);
const isPlace = (words: string): words is PlaceName => (PLACES as readonly string[]).includes(words);

/** The facts of a scene; objects in their order, then the background. */
export function sceneFacts({ ground, objects }: DescribedScene): Fact[] {
  const facts = objects.map(({ colour, shape, place }): Fact => ({
    subject: `${colour} ${shape}`,
    predicate: place === undefined ? "in" : "at",
    object: place ?? NOWHERE,
  }));
  return ground === undefined ? facts : [...facts, { subject: "ground", predicate: "is", object: ground }];
}

/** The field of three by three that contains a point of an image. */
export function fieldOf([x, y]: readonly [number, number], { width, height }: { width: number; height: number }) {
  const third = (at: number, of: number) => Math.min(2, Math.floor(3 * at / of));
  return PLACES[3 * third(y, height) + third(x, width)];
}

/**
 * Reads a description word by word: a colour belongs to the shape or to the word "ground" directly after it, a number
 * word to the shape of that colour, layout words to the shape before them.
 */
export function readSceneText(text: string): DescribedScene {
  const scene: DescribedScene = { objects: [] };
  let colour: ColourName | undefined, count = 1;
  let described: DescribedObject[] = [], layout = new Set<string>();
  const place = () => {
    const words = [["top", "bottom"], ["left", "right"]].map((pair) => pair.find((word) => layout.has(word)))
      .filter((word) => word !== undefined).join(" ") || [...layout].join(" ");
    if (isPlace(words)) { for (const object of described) object.place = words; }
    described = [];
    layout = new Set();
  };
  for (const { text: written } of wordsOf(text)) {
    const word = plainWord(written.toLowerCase());
    if (isColour(word)) {
      place();
      colour = word;
    } else if (isShape(word)) {
      place();
      if (colour !== undefined) {
        described = Array.from({ length: count }, () => ({ colour: colour!, shape: word }));
        scene.objects.push(...described);
      }
      colour = undefined;
      count = 1;
    } else if (word === "ground" && colour !== undefined) {
      scene.ground = colour;
      colour = undefined;
    } else if (["top", "bottom", "left", "right", "centre"].includes(word)) layout.add(word);
    else {
      // "a red car in the square": only adjacent words belong to a shape.
      colour = undefined;
      count = Math.max(1, COUNTS.indexOf(word));
    }
  }
  place();
  return scene;
}

/**
 * The drawable content of a state: its facts of the form above; without them, its concepts read as a description;
 * without drawable concepts, its sentence. Unreadable damaged parts are omitted.
 */
export function readSceneState({ facts, concepts, source_text }: SemanticState): DescribedScene {
  const scene: DescribedScene = { objects: [] };
  for (const { subject, predicate, object } of facts) {
    const [colour, shape, ...more] = subject.split(" ");
    if (subject === "ground" && predicate === "is" && isColour(object)) scene.ground = object;
    if (more.length > 0 || !isColour(colour) || !isShape(shape ?? "")) continue;
    scene.objects.push({ colour, shape: shape as Shape, ...(isPlace(object) ? { place: object } : {}) });
  }
  if (scene.objects.length > 0) return scene;
  const described = [concepts.join(" "), source_text ?? ""].map(readSceneText);
  return described.find(({ objects }) => objects.length > 0) ?? scene;
}
