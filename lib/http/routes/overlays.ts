/** What models saw in the pictures of a run, drawn on them. */
import { DETECTIONS, SEGMENTATION } from "../../artifact/vision.ts";
import { z } from "../../contract/zod.ts";
import { findLayers, type Side } from "../overlay_layers.ts";
import { Answer, threadRoute } from "../route.ts";
import { problem } from "../schemas.ts";

const INDEX = z.int().min(0).default(0).describe("of the picture in its batch");
const STEP = z.string().optional().describe("id of the step that compares; the first one when left out");
const REPLIES = {
  200: { description: "The picture", media: "image/png" },
  400: problem("The query cannot be used"),
  404: problem("There is no such run, or nothing of this kind in it"),
  422: problem("What is there cannot be drawn"),
} as const;

/** The sides that are drawn. */
const sidesOf = (kind: string, both: string): Side[] => kind === both ? ["candidate", "reference"] : [kind as Side];

const picture = (png: Uint8Array) => new Answer(new Uint8Array(png), { headers: { "content-type": "image/png" } });

export const overlayRoutes = [
  threadRoute({
    method: "get",
    path: "/api/runs/:run_id/detection-overlay",
    summary: "Boxes of a run on one of its pictures, as PNG",
    description: "Both sides lie on the picture that the model saw; the reference alone lies on its own.",
    stable: true,
    query: z.strictObject({
      kind: z.enum(["both", "candidate", "reference"]).default("both").describe("whose boxes"),
      index: INDEX,
      step: STEP,
    }),
    replies: REPLIES,
    async handle({ params, query, service }) {
      const sides = sidesOf(query.kind, "both");
      const options = { metrics: "metrics.detection", step: query.step, sides };
      const layers = findLayers(service.workspace, params.run_id, DETECTIONS, options);
      // Fonts and the rasteriser are loaded with it.
      const { drawDetections } = await import("../overlay_picture.ts");
      return picture(await drawDetections(layers, query.index));
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/runs/:run_id/segmentation-overlay",
    summary: "Classes of pixels of a run over one of its pictures, as PNG",
    description: "`difference` shows where the candidate differs from the reference.",
    stable: true,
    query: z.strictObject({
      kind: z.enum(["candidate", "reference", "difference"]).default("candidate").describe("whose classes"),
      index: INDEX,
      step: STEP,
    }),
    replies: REPLIES,
    async handle({ params, query, service }) {
      const sides = sidesOf(query.kind, "difference");
      const options = { metrics: "metrics.segmentation", step: query.step, sides };
      const layers = findLayers(service.workspace, params.run_id, SEGMENTATION, options);
      const { drawSegmentation } = await import("../overlay_picture.ts");
      return picture(await drawSegmentation(layers, query.index));
    },
  }),
] as const;
