/**
 * Scenes of coloured circles, squares and triangles on a plain background: drawn at random, painted as images and as
 * class rasters, described in words.
 *
 * Every pixel belongs to one object or to the background (`ground`), by integer arithmetic on its centre: edges are
 * hard, not anti-aliased, so that image, raster and box agree to the pixel and colours are exact. An object of side s
 * at (x, y) has the box [x, y, x + s, y + s] and touches all four edges of it. With (u, v) = 2(i, j) + 1 - s, the pixel
 * (i, j) of that box is covered by
 *
 *     square:    all of it                        area s²
 *     circle:    u² + v² <= s²                    area about π s²/4
 *     triangle:  |u| <= j + 1, apex on top        area about s²/2
 *
 * Objects never overlap: boxes keep a distance of `GAP` pixels. Clutter lies behind them: shapes of dull colours that overlap and
 * cross the edges, and are no objects.
 */
import type { Generator } from "../random/random.ts";

export const SHAPES = ["circle", "square", "triangle"] as const;
export type Shape = (typeof SHAPES)[number];

/**
 * The six corners of the RGB cube that have a hue, less saturated: all differ clearly from each other and the
 * backgrounds. Exported for tests.
 */
export const COLOURS = {
  red: [220, 40, 40],
  green: [40, 170, 60],
  blue: [50, 80, 220],
  yellow: [235, 205, 40],
  magenta: [200, 60, 200],
  cyan: [50, 195, 210],
} as const satisfies Record<string, Rgb>;
export type Colour = keyof typeof COLOURS;
export const COLOUR_NAMES = Object.keys(COLOURS) as readonly Colour[];

/** Background colours without a hue; consecutive scenes of a batch use them in turn. Exported for tests. */
export const GROUNDS = {
  white: [245, 245, 245],
  silver: [185, 185, 185],
  grey: [95, 95, 95],
  black: [20, 20, 20],
} as const satisfies Record<string, Rgb>;
export type Ground = keyof typeof GROUNDS;
export const GROUND_NAMES = Object.keys(GROUNDS) as readonly Ground[];

/** Names of the nine fields of an image, row by row, for the centre of an object. */
export const PLACES = [
  "top left",
  "top",
  "top right",
  "left",
  "centre",
  "right",
  "bottom left",
  "bottom",
  "bottom right",
] as const;
export type PlaceName = (typeof PLACES)[number];

type Rgb = readonly [red: number, green: number, blue: number];

/** An object by its box: the left upper corner and the side, in pixels. */
export interface SceneObject {
  readonly shape: Shape;
  readonly colour: Colour;
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** A shape of the background: of any colour, and cut at the edges of the image. */
interface Patch extends Omit<SceneObject, "colour"> {
  readonly colour: Rgb;
}

/** A square image of objects; later objects of the list are painted over earlier ones. */
export interface Scene {
  /** Width and height in pixels. */
  readonly size: number;
  readonly ground: Ground;
  readonly objects: readonly SceneObject[];
  /** Shapes between ground and objects. */
  readonly clutter?: readonly Patch[];
}

/** Pixels between the boxes of two objects, and between a box and the edge of the image. */
export const GAP = 2;
/** The smallest image in which three shapes can be distinguished, and the maximum number of objects. */
export const MINIMUM_SIZE = 64;
export const MAXIMUM_OBJECTS = 8;
/** Shapes of a cluttered background; the difference of a channel of their colours from a grey is less than this. */
const PATCHES = 32, DULLNESS = 30;

/**
 * The sides that objects of a scene may have: from an eighth of the image to a third, or less if many objects share it,
 * so that the smallest one always finds a place.
 */
export function sideLimits(size: number, count: number): { least: number; most: number } {
  const least = Math.floor(size / 8);
  const corners = size - 2 * GAP - least + 1;
  // A placed object of side s blocks (s + least - 1 + 2 GAP)² corners; all others together must leave one free.
  const reach = count > 1 ? Math.ceil(corners / Math.sqrt(count - 1)) - 1 : Infinity;
  return { least, most: Math.max(least, Math.min(Math.floor(size / 3), reach - least + 1 - 2 * GAP)) };
}

/**
 * Draws a scene.
 *
 * Draws, in order: the object count; per object integers for shape, colour, side, x and y. A side that fits nowhere is
 * reduced until it fits. x is uniform over the columns with a free place, y over the free places of that column. With clutter,
 * per patch integers for shape, side (a sixteenth to a half of the image), x, y, grey and the three channels follow.
 * @param options.size width and height in pixels, at least `MINIMUM_SIZE`
 * @param options.least minimum number of objects
 * @param options.most maximum number of objects, at most `MAXIMUM_OBJECTS`
 * @param options.ground background colour; it is not drawn at random
 * @param options.cluttered whether shapes of dull colours lie on the ground
 */
export function drawScene(
  generator: Generator,
  { size, least, most, ground, cluttered = false }: {
    size: number;
    least: number;
    most: number;
    ground: Ground;
    cluttered?: boolean;
  },
): Scene {
  const below = (high: number) => Number(generator.integers(0, high, 1)[0]);
  const count = least + below(most - least + 1);
  const limits = sideLimits(size, count);
  const objects: SceneObject[] = [];
  for (let i = 0; i < count; i++) {
    const shape = SHAPES[below(SHAPES.length)], colour = COLOUR_NAMES[below(COLOUR_NAMES.length)];
    let side = limits.least + below(limits.most - limits.least + 1);
    let columns = freeColumns(size, objects, side);
    while (columns.length === 0) columns = freeColumns(size, objects, --side);
    const { x, rows } = columns[below(columns.length)];
    objects.push({ shape, colour, side, x, y: rows[below(rows.length)] });
  }
  if (!cluttered) return { size, ground, objects };
  const clutter = Array.from({ length: PATCHES }, (): Patch => {
    const shape = SHAPES[below(SHAPES.length)], side = Math.floor(size / 16) + below(Math.floor(7 * size / 16));
    const x = below(size + side) - side, y = below(size + side) - side;
    const grey = DULLNESS + below(256 - 2 * DULLNESS), channel = () => grey + below(2 * DULLNESS - 1) - DULLNESS + 1;
    return { shape, side, x, y, colour: [channel(), channel(), channel()] };
  });
  return { size, ground, objects, clutter };
}

/** The columns for the left edge of one more object, each with the rows for its upper edge. */
function freeColumns(size: number, objects: readonly SceneObject[], side: number): { x: number; rows: number[] }[] {
  const columns: { x: number; rows: number[] }[] = [];
  for (let x = GAP; x <= size - GAP - side; x++) {
    const near = objects.filter((other) => x < other.x + other.side + GAP && other.x < x + side + GAP);
    const rows: number[] = [];
    for (let y = GAP; y <= size - GAP - side; y++) {
      if (near.every((other) => y >= other.y + other.side + GAP || other.y >= y + side + GAP)) rows.push(y);
    }
    if (rows.length > 0) columns.push({ x, rows });
  }
  return columns;
}

/** Whether a shape of side s covers the pixel (column, row) of its box. Exported for tests. */
export function covers(shape: Shape, side: number, column: number, row: number): boolean {
  const u = 2 * column + 1 - side, v = 2 * row + 1 - side;
  if (shape === "circle") return u * u + v * v <= side * side;
  return shape === "square" || Math.abs(u) <= row + 1;
}

/**
 * Paints a scene.
 * @returns `pixels`, 8-bit RGB [size, size, 3], and `classes` [size, size]: 0 background, 1 + index in `SHAPES` for an
 *   object
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { paintScene } from "./scenes.ts";
 *
 * const objects = [{ shape: "square", colour: "red", x: 2, y: 2, side: 3 }] as const;
 * const { pixels, classes } = paintScene({ size: 8, ground: "white", objects });
 * assert.deepEqual(pixels.subarray(3 * (2 * 8 + 2), 3 * (2 * 8 + 2) + 3), Uint8Array.of(220, 40, 40));
 * assert.equal(classes.filter((value) => value === 2).length, 9);
 * ```
 */
export function paintScene(
  { size, ground, objects, clutter = [] }: Scene,
): { pixels: Uint8Array; classes: Uint8Array } {
  const pixels = new Uint8Array(3 * size * size), classes = new Uint8Array(size * size);
  const paint = (at: number, [red, green, blue]: Rgb) => {
    pixels[3 * at] = red;
    pixels[3 * at + 1] = green;
    pixels[3 * at + 2] = blue;
  };
  for (let at = 0; at < classes.length; at++) paint(at, GROUNDS[ground]);
  for (const { shape, colour, x, y, side } of [...clutter, ...objects]) {
    const named = typeof colour === "string", label = named ? 1 + SHAPES.indexOf(shape) : 0;
    for (let row = 0; row < side; row++) {
      for (let column = 0; column < side; column++) {
        // A scene that was not drawn here may have objects that cross the edge.
        const inside = x + column >= 0 && x + column < size && y + row >= 0 && y + row < size;
        if (!inside || !covers(shape, side, column, row)) continue;
        const at = (y + row) * size + x + column;
        classes[at] = label;
        paint(at, named ? COLOURS[colour] : colour);
      }
    }
  }
  return { pixels, classes };
}

/** The field of the three by three that contains the centre of an object. */
export function placeOf({ x, y, side }: SceneObject, size: number): PlaceName {
  // In halves of pixels, so that the centre is an integer.
  const third = (corner: number) => Math.min(2, Math.floor(3 * (2 * corner + side) / (2 * size)));
  return PLACES[3 * third(y) + third(x)];
}

/** A sentence about a scene: "A red circle at the top left and a blue square at the centre on a white ground." */
export function describeScene({ size, ground, objects, clutter }: Scene): string {
  const phrases = objects.map((object) => `a ${object.colour} ${object.shape} at the ${placeOf(object, size)}`);
  const last = phrases.pop()!;
  const list = phrases.length === 0 ? last : `${phrases.join(", ")} and ${last}`;
  return `${list[0].toUpperCase()}${list.slice(1)} on a ${clutter ? "cluttered" : ground} ground.`;
}
