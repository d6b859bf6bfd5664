/**
 * Two small scenes and the output of an imagined system: correct for the first one; in the second one object moved and
 * one is missing. All built-in semantic artifacts describe these scenes.
 */
import type { Scene } from "../../lib/numeric/scenes.ts";

export interface SmokeScene {
  id: string;
  truth: Scene;
  guess: Scene;
  captions: [reference: string[], candidate: string];
  question: { answer: string; guess: string };
}

const SIZE = 64;

export const SMOKE_SCENES: readonly SmokeScene[] = [
  {
    id: "smoke_1",
    truth: { size: SIZE, ground: "white", objects: [{ shape: "circle", colour: "red", x: 8, y: 8, side: 20 }] },
    guess: { size: SIZE, ground: "white", objects: [{ shape: "circle", colour: "red", x: 8, y: 8, side: 20 }] },
    captions: [
      ["A red circle at the top left.", "One red disc in the upper left corner."],
      "A red circle at the top left.",
    ],
    question: { answer: "red", guess: "red" },
  },
  {
    id: "smoke_2",
    truth: {
      size: SIZE,
      ground: "black",
      objects: [
        { shape: "square", colour: "blue", x: 6, y: 24, side: 16 },
        { shape: "triangle", colour: "green", x: 38, y: 36, side: 20 },
      ],
    },
    guess: { size: SIZE, ground: "black", objects: [{ shape: "square", colour: "blue", x: 9, y: 26, side: 16 }] },
    captions: [["A blue square on the left and a green triangle on the right."], "A blue square on the left."],
    question: { answer: "2", guess: "1" },
  },
];
