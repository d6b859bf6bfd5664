/**
 * Twelve small images with a caption each, made for this project: coloured shapes on plain backgrounds, described in
 * other words than those of source.synthetic_scenes. Sides and positions are in sixteenths of the image, for any size.
 */
import samples from "./_retrieval_smoke.json" with { type: "json" };
import type { Colour, Ground, Scene, Shape } from "../../lib/numeric/image/scenes.ts";

interface Sample {
  ground: Ground;
  /** Colour, shape, left, top and side in sixteenths. */
  objects: readonly (readonly [Colour, Shape, number, number, number])[];
  caption: string;
}

export const RETRIEVAL_SMOKE = samples as object as Readonly<Record<string, Sample>>;

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
