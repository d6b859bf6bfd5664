/**
 * Finds coloured circles, squares and triangles on a plain background, without a model.
 *
 * The background (`ground`) is the commonest colour along the edge of the image. Pixels that differ from it by more
 * than a threshold are foreground; their connected parts (4 neighbours) are objects, and parts of several colours are
 * split by colour. A shape is classified by its roundness A/(π·r²), A the area and r the distance from the centroid
 * that contains 96 % of its pixels: 1.04 for a circle, 0.85 for a square and 0.6 for a triangle, with a tolerance for
 * the pixels of small ones, at any rotation. A shape that fills its box is a square in any case. The outermost pixels
 * are ignored, because a codec blurs and rings there.
 */
import { type ColourName, colourName } from "./colour_name.ts";
import type { Shape } from "./scenes.ts";

/** Samples in 0 … 255, rows of pixels of 3 channels. */
export interface RgbRaster {
  readonly width: number;
  readonly height: number;
  readonly data: ArrayLike<number>;
}

export interface FoundObject {
  colour: ColourName;
  shape: Shape;
  /** x_min, y_min, x_max, y_max in pixels; the upper ends are exclusive. */
  box: [number, number, number, number];
  /** Pixels. */
  area: number;
  roundness: number;
  /** Centre of gravity in pixels. */
  centre: [number, number];
}

export interface PlainScene {
  ground: ColourName;
  /** From the top left, by rows of their centres; empty without a plain background. */
  objects: FoundObject[];
}

/** Distance in RGB from the background above which a pixel is foreground; JPEG at quality 50 stays well below. */
const FOREGROUND = 60;
/** Share of the pixels within the reach of an object. */
const RIM = 0.96;
/** Minimum share of the image for an object. */
const LEAST_AREA = 0.001;
/** Minimum share of the edge with the colour of a plain background. */
const PLAIN_EDGE = 0.6;
/** Minimum share of a connected part for a colour to be a separate object. */
const OWN_COLOUR = 0.15;

/** Finds the objects of an image. */
export function readPlainScene(raster: RgbRaster): PlainScene {
  const { ground, share } = groundOf(raster);
  const scene: PlainScene = { ground: colourName(...ground), objects: [] };
  if (share < PLAIN_EDGE) return scene;
  const { width, height, data } = raster;
  const foreground = new Uint8Array(width * height);
  for (let i = 0; i < foreground.length; i++) foreground[i] = Number(distance(data, 3 * i, ground) > FOREGROUND);
  const least = Math.max(9, LEAST_AREA * width * height);
  const parts = connectedParts(foreground, width).filter((part) => part.length >= least);
  for (const part of parts) {
    for (const { colour, pixels } of byColour(part, raster)) {
      if (pixels.length >= least) scene.objects.push(objectOf(pixels, colour, width));
    }
  }
  const row = (object: FoundObject) => Math.floor(3 * object.centre[1] / height);
  scene.objects.sort((a, b) => row(a) - row(b) || a.centre[0] - b.centre[0] || a.centre[1] - b.centre[1]);
  return scene;
}

type Rgb = [number, number, number];

function distance(data: ArrayLike<number>, at: number, [red, green, blue]: Rgb): number {
  return Math.hypot(data[at] - red, data[at + 1] - green, data[at + 2] - blue);
}

/** The commonest colour of the edge in steps of 32, as the mean of its pixels, and the share of the edge near it. */
function groundOf({ width, height, data }: RgbRaster): { ground: Rgb; share: number } {
  const edge: number[] = [];
  for (let x = 0; x < width; x++) edge.push(x, (height - 1) * width + x);
  for (let y = 1; y + 1 < height; y++) edge.push(y * width, y * width + width - 1);
  const bins = new Map<number, number[]>();
  for (const pixel of edge) {
    const at = 3 * pixel;
    const key = ((data[at] >> 5) << 6) | ((data[at + 1] >> 5) << 3) | (data[at + 2] >> 5);
    const bin = bins.get(key);
    if (bin === undefined) bins.set(key, [at]);
    else bin.push(at);
  }
  const [commonest] = [...bins.values()].sort((a, b) => b.length - a.length || a[0] - b[0]);
  const ground = [0, 1, 2].map((channel) =>
    commonest.reduce((sum, at) => sum + data[at + channel], 0) / commonest.length
  ) as Rgb;
  const like = edge.filter((pixel) => distance(data, 3 * pixel, ground) <= FOREGROUND).length;
  return { ground, share: like / edge.length };
}

/** Pixel lists of the connected parts of a mask, in reading order of their first pixels. */
function connectedParts(mask: Uint8Array, width: number): number[][] {
  const seen = new Uint8Array(mask.length), parts: number[][] = [];
  for (let start = 0; start < mask.length; start++) {
    if (mask[start] === 0 || seen[start] === 1) continue;
    const part = [start];
    seen[start] = 1;
    for (let next = 0; next < part.length; next++) {
      const pixel = part[next], x = pixel % width;
      const neighbours = [
        x > 0 ? pixel - 1 : -1,
        x + 1 < width ? pixel + 1 : -1,
        pixel - width,
        pixel + width,
      ];
      for (const neighbour of neighbours) {
        if (neighbour < 0 || neighbour >= mask.length || mask[neighbour] === 0 || seen[neighbour] === 1) continue;
        seen[neighbour] = 1;
        part.push(neighbour);
      }
    }
    parts.push(part);
  }
  return parts;
}

/** Splits a part into its main colours; pixels of other names, such as mixed ones of soft edges, go to the nearest. */
function byColour(part: readonly number[], { data }: RgbRaster): { colour: ColourName; pixels: number[] }[] {
  const named = new Map<ColourName, number[]>();
  for (const pixel of part) {
    const colour = colourName(data[3 * pixel], data[3 * pixel + 1], data[3 * pixel + 2]);
    const pixels = named.get(colour);
    if (pixels === undefined) named.set(colour, [pixel]);
    else pixels.push(pixel);
  }
  const ranked = [...named].sort(([, a], [, b]) => b.length - a.length || a[0] - b[0]);
  const main = ranked.filter(([, pixels], rank) => rank === 0 || pixels.length >= OWN_COLOUR * part.length)
    .map(([colour, pixels]) => ({ colour, mean: meanColour(pixels, data), pixels: [...pixels] }));
  for (const [, pixels] of ranked.slice(main.length)) {
    for (const pixel of pixels) {
      const distances = main.map(({ mean }) => distance(data, 3 * pixel, mean));
      main[distances.indexOf(Math.min(...distances))].pixels.push(pixel);
    }
  }
  return main;
}

function meanColour(pixels: readonly number[], data: ArrayLike<number>): Rgb {
  const sum: Rgb = [0, 0, 0];
  for (const pixel of pixels) {
    for (let channel = 0; channel < 3; channel++) sum[channel] += data[3 * pixel + channel];
  }
  return sum.map((value) => value / pixels.length) as Rgb;
}

function objectOf(pixels: readonly number[], colour: ColourName, width: number): FoundObject {
  const box: FoundObject["box"] = [Infinity, Infinity, 0, 0];
  let sumX = 0, sumY = 0;
  for (const pixel of pixels) {
    const x = pixel % width, y = Math.floor(pixel / width);
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x + 1);
    box[3] = Math.max(box[3], y + 1);
    sumX += x + 0.5;
    sumY += y + 0.5;
  }
  const area = pixels.length, centre: [number, number] = [sumX / area, sumY / area];
  const reaches: number[] = [];
  for (const pixel of pixels) {
    const x = pixel % width + 0.5 - centre[0], y = Math.floor(pixel / width) + 0.5 - centre[1];
    reaches.push(x * x + y * y);
  }
  const reach = reaches.sort((a, b) => a - b)[Math.ceil(RIM * area) - 1];
  const roundness = area / (Math.PI * Math.max(reach, 0.25));
  const filled = area / ((box[2] - box[0]) * (box[3] - box[1]));
  const round = roundness > 0.94 && filled < 0.9;
  const shape: Shape = round ? "circle" : roundness > 0.75 ? "square" : "triangle";
  return { colour, shape, box, area, roundness, centre };
}
