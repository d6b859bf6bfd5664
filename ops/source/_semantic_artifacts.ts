/**
 * Two small scenes and the output of an imagined system: correct for the first one; in the second one object moved and
 * one is missing. All built-in semantic artifacts describe these scenes.
 */
import scenes from "./_semantic_artifacts.json" with { type: "json" };
import type { Scene } from "../../lib/numeric/image/scenes.ts";

export interface SmokeScene {
  id: string;
  truth: Scene;
  guess: Scene;
  captions: [reference: string[], candidate: string];
  question: { answer: string; guess: string };
}

export const SMOKE_SCENES = scenes as object as readonly SmokeScene[];
