/** Detections and segmentations of a run, drawn on its images. By hand: the reply is an image. */
import { DETECTIONS, SEGMENTATION } from "../../artifact/vision.ts";
import { z } from "../../contract/zod.ts";
import type { Session } from "../../api/session.ts";
import { findLayers, type Side } from "../overlay_layers.ts";
import { Answer, get } from "../route.ts";
import { refusals } from "../schemas.ts";

const INDEX = z.int().min(0).default(0).describe("of the image in its batch");
const STEP = z.string().optional().describe("id of the step that compares; the first one when left out");
const REPLIES = { 200: { description: "The image", media: "image/png" }, ...refusals(400, 404, 422) } as const;

interface Drawing {
  run: string;
  /** The side to draw, or the name of both. */
  kind: string;
  index: number;
  step?: string;
}

async function overlay(session: Session, task: "detection" | "segmentation", { run, kind, index, step }: Drawing) {
  const detection = task === "detection";
  const both = kind === "both" || kind === "difference";
  const sides: Side[] = both ? ["candidate", "reference"] : [kind as Side];
  const options = { metrics: `metrics.${task}`, step, sides };
  const layers = await findLayers(session, run, detection ? DETECTIONS : SEGMENTATION, options);
  // Fonts and the rasteriser are loaded with it.
  const { drawDetections, drawSegmentation } = await import("../overlay_image.ts");
  const png = await (detection ? drawDetections : drawSegmentation)(layers, index);
  return new Answer(new Uint8Array(png), { headers: { "content-type": "image/png" } });
}

export const overlayRoutes = [
  get("/api/runs/:run_id/detection-overlay", "Boxes of a run on one of its images, as PNG", {
    description: "Both sides are drawn on the input image of the model; the reference alone is drawn on its own image.",
    stable: true,
    query: z.strictObject({
      kind: z.enum(["both", "candidate", "reference"]).default("both").describe("boxes to draw"),
      index: INDEX,
      step: STEP,
    }),
    replies: REPLIES,
    thread: ({ params, query, session }) => overlay(session, "detection", { run: params.run_id, ...query }),
  }),
  get("/api/runs/:run_id/segmentation-overlay", "Classes of the pixels of a run on one of its images, as PNG", {
    description: "`difference` shows where the candidate differs from the reference.",
    stable: true,
    query: z.strictObject({
      kind: z.enum(["candidate", "reference", "difference"]).default("candidate").describe("classes to draw"),
      index: INDEX,
      step: STEP,
    }),
    replies: REPLIES,
    thread: ({ params, query, session }) => overlay(session, "segmentation", { run: params.run_id, ...query }),
  }),
] as const;
