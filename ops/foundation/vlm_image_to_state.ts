/**
 * Images as semantic states by statistics of their pixels, without a vision or language model.
 *
 * An image of coloured shapes on a plain background (lib/numeric/image/plain_scene.ts) gives its objects as entities, their
 * colours and shapes as concepts, and the facts of _scene_facts.ts, from which foundation.local_state_to_image draws it
 * again. Any other image gives measured properties: the names of the colours that cover at least a tenth of it, the
 * commonest first, and luma Y = 0.299 R + 0.587 G + 0.114 B in 0 … 255 its brightness (mean below 85 dark, from 170 on
 * bright) and contrast (standard deviation below 30 low, from 70 on high).
 */
import { IMAGES, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { imagesOf, travel } from "../../lib/artifact/values.ts";
import { colourName } from "../../lib/numeric/image/colour_name.ts";
import { readPlainScene, type RgbRaster } from "../../lib/numeric/image/plain_scene.ts";
import { mean, standardDeviation } from "../../lib/numeric/scores/statistics.ts";
import { idsOfImages } from "../_image_ids.ts";
import { type SemanticState, statesArtifact } from "../_semantic_state.ts";
import { rgbAt } from "./_rgb_images.ts";
import { fieldOf, sceneFacts } from "./_scene_facts.ts";

const LEAST_SHARE = 0.1;

export default defineOperation({
  id: "foundation.vlm_image_to_state",
  name: "Image to semantic state",
  description: "Describes images as semantic states by local image statistics",
  inputs: { images: [IMAGES] },
  outputs: { state: SEMANTIC_STATE },
  params: z.strictObject({
    backend: z.enum(["local_image_stats"]).default("local_image_stats").describe(
      "description method; local_image_stats needs no model",
    ),
    model_id: z.string().default("").describe("accepted without effect: local_image_stats uses no model"),
  }),
  outputMetadataGuarantees: { state: { from: "images", keys: ["state_ids", "extractor"] } },
  timingMetric: "encoder.inference",
  run({ inputs, params, progress }) {
    const batch = imagesOf(inputs.images);
    const ids = idsOfImages(inputs.images.metadata, batch.count);
    const states = Array.from({ length: batch.count }, (_, index) => {
      progress(index, batch.count, { phase: "describing", unit: "images" });
      return { id: ids?.[index] ?? `image_${index}`, ...described(rgbAt(batch, index)) };
    });
    const metadata = travel(inputs.images.metadata, { extractor: params.backend });
    return { outputs: { state: statesArtifact(states, "image", metadata) } };
  },
});

type Description = Omit<SemanticState, "id">;

function described(raster: RgbRaster): Description {
  const { ground, objects } = readPlainScene(raster);
  if (objects.length === 0) return measured(raster);
  const facts = sceneFacts({
    ground,
    objects: objects.map(({ colour, shape, box: [left, top, right, bottom] }) => ({
      colour,
      shape,
      place: fieldOf([(left + right) / 2, (top + bottom) / 2], raster),
    })),
  });
  return {
    concepts: [...new Set(objects.flatMap(({ colour, shape }) => [colour, shape]))],
    entities: [...new Set(objects.map(({ colour, shape }) => `${colour} ${shape}`))],
    facts,
  };
}

function measured({ width, height, data }: RgbRaster): Description {
  const counts = new Map<string, number>(), luma: number[] = [];
  for (let at = 0; at < 3 * width * height; at += 3) {
    const name = colourName(data[at], data[at + 1], data[at + 2]);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    luma.push(0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2]);
  }
  const colours = [...counts].filter(([, count]) => count >= LEAST_SHARE * width * height)
    .sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const brightness = grade(mean(luma), 85, 170, ["dark", "medium", "bright"]);
  const contrast = grade(standardDeviation(luma, 0), 30, 70, ["low", "medium", "high"]);
  const fact = (predicate: string, object: string) => ({ subject: "picture", predicate, object });
  return {
    concepts: [...colours, ...(brightness === "medium" ? [] : [brightness])],
    entities: [],
    facts: [
      ...colours.slice(0, 1).map((colour) => fact("is mostly", colour)),
      fact("has brightness", brightness),
      fact("has contrast", contrast),
    ],
  };
}

const grade = (value: number, low: number, high: number, names: readonly [string, string, string]) =>
  names[value < low ? 0 : value < high ? 1 : 2];
