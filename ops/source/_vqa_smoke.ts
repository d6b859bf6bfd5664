/** Small images with questions, made for this project: coloured shapes, each with two or three questions. */
import type { Scene } from "../../lib/numeric/scenes.ts";

interface Sample {
  scene: Scene;
  /** Question and answer. */
  asked: readonly (readonly [string, string])[];
}

const SIZE = 96;

export const VQA_SMOKE: Readonly<Record<string, Sample>> = {
  ball_and_box: {
    scene: {
      size: SIZE,
      ground: "white",
      objects: [
        { colour: "red", shape: "circle", x: 8, y: 10, side: 28 },
        { colour: "blue", shape: "square", x: 58, y: 56, side: 30 },
      ],
    },
    asked: [["What color is the square?", "blue"], ["Where is the red circle?", "top left"], [
      "Is there a triangle?",
      "no",
    ]],
  },
  three_flags: {
    scene: {
      size: SIZE,
      ground: "grey",
      objects: [
        { colour: "yellow", shape: "triangle", x: 6, y: 34, side: 24 },
        { colour: "yellow", shape: "triangle", x: 36, y: 34, side: 24 },
        { colour: "green", shape: "triangle", x: 66, y: 34, side: 24 },
      ],
    },
    asked: [["How many yellow triangles are there?", "2"], ["What shape is the green object?", "triangle"]],
  },
  lamp: {
    scene: {
      size: SIZE,
      ground: "black",
      objects: [{ colour: "cyan", shape: "circle", x: 34, y: 34, side: 28 }],
    },
    asked: [["How many objects are there?", "1"], ["What color is the background?", "black"]],
  },
  tower: {
    scene: {
      size: SIZE,
      ground: "silver",
      objects: [
        { colour: "magenta", shape: "triangle", x: 34, y: 6, side: 28 },
        { colour: "magenta", shape: "square", x: 34, y: 62, side: 28 },
      ],
    },
    asked: [["Where is the square?", "bottom"], ["Are there any magenta triangles?", "yes"]],
  },
};
