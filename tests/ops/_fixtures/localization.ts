/** Conformance cases of localisation. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { perimeterAnchors } from "../../../lib/numeric/antenna/localization.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const CORNERS = perimeterAnchors(4, 20), EXAMPLES = 3;
const POSITIONS = Float64Array.of(3, 17, 10, 10, 15, 1);
const RANGES = Float64Array.from({ length: 4 * EXAMPLES }, (_, i) => {
  const example = i >> 2, anchor = i & 3;
  return Math.hypot(
    POSITIONS[2 * example] - CORNERS[2 * anchor],
    POSITIONS[2 * example + 1] - CORNERS[2 * anchor + 1],
  ) + 0.1 * Math.cos(3 * i);
});
const METADATA = { area_m: 20, range_noise_std_m: 0.1, unit: "m", example_count: EXAMPLES };

const anchors = ndarray("float64", Float64Array.from({ length: 8 * EXAMPLES }, (_, i) => CORNERS[i % 8]), [
  EXAMPLES,
  4,
  2,
]);
const positions = ndarray("float64", POSITIONS, [EXAMPLES, 2]);

/** A problem of three terminals between four corners; an observation has no true positions. */
export function rangeInput(kind: "problem" | "observation") {
  return {
    ...arrayInput(`ai_phy.localization_${kind}.numpy`, "float64", RANGES, [EXAMPLES, 4], METADATA),
    companions: { anchors, ...(kind === "problem" ? { positions } : {}) },
  };
}

const scene = () => ({
  scene: {
    ...arrayInput("ai_phy.localization_scene.numpy", "float64", POSITIONS, [EXAMPLES, 2], METADATA),
    companions: { anchors: ndarray("float64", CORNERS, [4, 2]) },
  },
});
const estimate = arrayInput(
  "ai_phy.localization_estimate.numpy",
  "float64",
  POSITIONS.map((value, i) => value + (i % 2 === 0 ? 0.3 : -0.4)),
  [EXAMPLES, 2],
  { unit: "m" },
);

export const LOCALIZATION_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    scene,
    problem: () => ({ problem: rangeInput("problem") }),
    observation: () => ({ problem: rangeInput("observation") }),
    "estimate and problem": () => ({ estimate, problem: rangeInput("problem") }),
    "estimate and truth": () => ({
      estimate,
      problem: arrayInput("ai_phy.localization_truth.numpy", "float64", POSITIONS, [EXAMPLES, 2], { unit: "m" }),
    }),
  },
  model: {
    positions: ({ anchors }) => ({
      positions: ndarray(
        "float32",
        Float32Array.from({ length: 2 * EXAMPLES }, (_, i) => Number(anchors.data[8 * (i >> 1) + i % 2])),
        [EXAMPLES, 2],
      ),
    }),
  },
});
