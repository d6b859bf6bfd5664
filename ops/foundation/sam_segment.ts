/**
 * Splits each image into grid_size x grid_size regions with the commonest colour of each, without a model: a
 * placeholder for segmentation models with the same type of output.
 *
 * Region row r, column c covers the pixels x in [floor(c·W/g), floor((c+1)·W/g)), y likewise. Each is an entity with
 * two facts: its colour and its box [x_min, y_min, x_max, y_max].
 */
import { IMAGES, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation, SvcError, z } from "../api.ts";
import { imagesOf, sizeAt, travel } from "../../lib/artifact/values.ts";
import { colourName } from "../../lib/numeric/image/colour_name.ts";
import type { RgbRaster } from "../../lib/numeric/image/plain_scene.ts";
import { idsOfImages } from "../_image_ids.ts";
import { type SemanticState, statesArtifact } from "../_semantic_state.ts";
import { rgbAt } from "./_rgb_images.ts";

export default defineOperation({
  id: "foundation.sam_segment",
  name: "Grid image segmentation",
  description: "Splits each image into grid regions and records them as semantic state",
  inputs: { images: [IMAGES] },
  outputs: { state: SEMANTIC_STATE },
  params: z.strictObject({
    backend: z.enum(["local_grid"]).default("local_grid").describe("segmentation method; local_grid needs no model"),
    grid_size: z.int().min(1).max(64).default(2).describe("regions per row and column"),
  }),
  outputMetadataGuarantees: { state: { from: "images", keys: ["state_ids", "extractor", "grid_size"] } },
  timingMetric: "encoder.inference",
  run({ inputs, params: { backend, grid_size } }) {
    const batch = imagesOf(inputs.images);
    const sizes = Array.from({ length: batch.count }, (_, index) => sizeAt(batch, index));
    const small = sizes.find(({ width, height }) => grid_size > Math.min(width, height));
    if (small !== undefined) {
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot cut images of ${small.width} x ${small.height} pixels into ${grid_size} x ${grid_size} regions`,
        { hint: "Lower grid_size" },
      );
    }
    const ids = idsOfImages(inputs.images.metadata, batch.count);
    const states = Array.from({ length: batch.count }, (_, index): SemanticState => {
      const regions = regionsOf(rgbAt(batch, index), grid_size);
      return {
        id: ids?.[index] ?? `image_${index}`,
        concepts: [...new Set(regions.map(({ colour }) => colour))],
        entities: regions.map(({ name }) => name),
        facts: regions.flatMap(({ name, colour, box }) => [
          { subject: name, predicate: "is", object: colour },
          { subject: name, predicate: "covers", object: JSON.stringify(box) },
        ]),
      };
    });
    const metadata = travel(inputs.images.metadata, { extractor: backend, grid_size });
    return { outputs: { state: statesArtifact(states, "image", metadata) } };
  },
});

interface Region {
  name: string;
  colour: string;
  /** x_min, y_min, x_max, y_max in pixels; the upper ends are exclusive. */
  box: [number, number, number, number];
}

function regionsOf(raster: RgbRaster, grid: number): Region[] {
  const edge = (index: number, length: number) => Math.floor(index * length / grid);
  return Array.from({ length: grid * grid }, (_, index): Region => {
    const row = Math.floor(index / grid), column = index % grid;
    const box: Region["box"] = [
      edge(column, raster.width),
      edge(row, raster.height),
      edge(column + 1, raster.width),
      edge(row + 1, raster.height),
    ];
    return { name: `region ${row + 1}.${column + 1}`, colour: commonestColour(raster, box), box };
  });
}

/** The colour name of most pixels; of equal counts the first in reading order. */
function commonestColour({ width, data }: RgbRaster, [left, top, right, bottom]: Region["box"]): string {
  const counts = new Map<string, number>();
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const at = 3 * (y * width + x), name = colourName(data[at], data[at + 1], data[at + 2]);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].reduce((best, entry) => entry[1] > best[1] ? entry : best)[0];
}
