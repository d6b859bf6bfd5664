/** Small images with questions, made for this project: coloured shapes, each with two or three questions. */
import samples from "./_vqa_smoke.json" with { type: "json" };
import type { Scene } from "../../lib/numeric/image/scenes.ts";

interface Sample {
  scene: Scene;
  /** Question and answer. */
  asked: readonly (readonly [string, string])[];
}

export const VQA_SMOKE = samples as object as Readonly<Record<string, Sample>>;
