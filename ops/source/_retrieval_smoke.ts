/**
 * Twelve small images with a caption each, made for this project: coloured shapes on plain backgrounds, described in
 * other words than those of source.synthetic_scenes. Sides and positions are in sixteenths of the image, for any size.
 */
import type { Colour, Ground, Scene, Shape } from "../../lib/numeric/scenes.ts";

interface Sample {
  ground: Ground;
  /** Colour, shape, left, top and side in sixteenths. */
  objects: readonly (readonly [Colour, Shape, number, number, number])[];
  caption: string;
}

export const RETRIEVAL_SMOKE: Readonly<Record<string, Sample>> = {
  red_disc: { ground: "white", objects: [["red", "circle", 1, 1, 5]], caption: "A red disc in the upper left corner" },
  blue_square: {
    ground: "white",
    objects: [["blue", "square", 6, 6, 4]],
    caption: "One blue square in the middle of a white background",
  },
  green_triangle: {
    ground: "black",
    objects: [["green", "triangle", 10, 10, 5]],
    caption: "A green triangle in the lower right on a black background",
  },
  yellow_disc: {
    ground: "black",
    objects: [["yellow", "circle", 10, 1, 4]],
    caption: "On black background, a yellow disc in the upper right",
  },
  magenta_square: {
    ground: "grey",
    objects: [["magenta", "square", 1, 10, 5]],
    caption: "A magenta square in the lower left corner of a gray picture",
  },
  cyan_triangle: {
    ground: "silver",
    objects: [["cyan", "triangle", 6, 6, 5]],
    caption: "A turquoise triangle right in the center",
  },
  red_square_blue_disc: {
    ground: "white",
    objects: [["red", "square", 1, 6, 4], ["blue", "circle", 11, 6, 4]],
    caption: "A red square on the left and a blue disc on the right",
  },
  blue_square_red_disc: {
    ground: "white",
    objects: [["blue", "square", 1, 6, 4], ["red", "circle", 11, 6, 4]],
    caption: "A blue square on the left and a red disc on the right",
  },
  two_green_discs: {
    ground: "grey",
    objects: [["green", "circle", 1, 6, 4], ["green", "circle", 11, 6, 4]],
    caption: "Two green circles side by side",
  },
  traffic_light: {
    ground: "black",
    objects: [["red", "circle", 6, 1, 4], ["yellow", "circle", 6, 6, 4], ["green", "circle", 6, 11, 4]],
    caption: "Three circles like a traffic light: red above, yellow in the middle, green below",
  },
  roof: {
    ground: "silver",
    objects: [["magenta", "triangle", 5, 2, 6], ["yellow", "square", 5, 9, 6]],
    caption: "A house: a magenta triangle as the roof above a yellow square",
  },
  cyan_square_green_triangle: {
    ground: "grey",
    objects: [["cyan", "square", 10, 1, 5], ["green", "triangle", 1, 10, 5]],
    caption: "A cyan square in the upper right and a green triangle in the lower left",
  },
};

/** A sample as a scene of `size` pixels. */
export function smokeScene({ ground, objects }: Sample, size: number): Scene {
  const pixels = (sixteenths: number) => Math.round(sixteenths * size / 16);
  return {
    size,
    ground,
    objects: objects.map(([colour, shape, x, y, side]) => ({
      colour,
      shape,
      x: pixels(x),
      y: pixels(y),
      side: pixels(side),
    })),
  };
}
