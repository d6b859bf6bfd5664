/**
 * Anchors on the outline of a square and terminals inside it.
 *
 * Anchors are at equal steps of the perimeter, from the corner (0, 0) counter-clockwise; four anchors are the corners.
 * Positions are uniform over the square, or one fixed point for all examples.
 *
 * Shapes: scene float64 [example, 2], terminal positions in metres; companion anchors float64 [anchor, 2]. Draws: uniform
 * positions [example, 2].
 */
import { defineOperation, float, seedParameter, z } from "../api.ts";
import { perimeterAnchors } from "../../lib/numeric/antenna/localization.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { LOCALIZATION_SCENE } from "../_localization.ts";

const METRES = { "x-svc-ui": { unit: "m" } };
const FIXED = { ...METRES, "x-svc-used-when": { position_mode: "fixed" } };

export default defineOperation({
  id: "source.localization_geometry",
  name: "Anchor and target geometry",
  description: "Places anchors around a square and terminals in it",
  outputs: { scene: LOCALIZATION_SCENE },
  params: z.strictObject({
    example_count: z.int().positive().default(16).describe("number of positions"),
    anchor_count: z.int().positive().default(4).describe("anchors around the area"),
    area_m: z.number().positive().default(20).describe("side of the square").meta(METRES),
    position_mode: z.enum(["random_uniform", "fixed"]).default("random_uniform").describe(
      "positions drawn uniformly, or given",
    ),
    target_x_m: z.number().default(10).describe("x of every target").meta(FIXED),
    target_y_m: z.number().default(10).describe("y of every target").meta(FIXED),
    seed: seedParameter(0),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  estimate: ({ example_count, anchor_count }) => ({
    scene: [["float64", example_count, 2], ["float64", anchor_count, 2]],
  }),
  check({ position_mode, target_x_m, target_y_m, area_m }) {
    if (position_mode !== "fixed") return [];
    return [{ name: "target_x_m", value: target_x_m }, { name: "target_y_m", value: target_y_m }]
      .filter(({ value }) => value < 0 || value > area_m)
      .map(({ name, value }) => ({
        message: `Cannot place the target at ${value} m: the square ends at ${area_m} m`,
        place: [name],
        hint: "Move the target into the square, or enlarge area_m",
      }));
  },
  run({ params, generator }) {
    const { example_count: examples, anchor_count: anchorCount, area_m: area } = params;
    const positions = params.position_mode === "fixed"
      ? Float64Array.from({ length: 2 * examples }, (_, i) => i % 2 === 0 ? params.target_x_m : params.target_y_m)
      : (generator.random(2 * examples) as Float64Array).map((value) => area * value);
    return {
      outputs: {
        scene: {
          array: ndarray("float64", positions, [examples, 2]),
          companions: { anchors: ndarray("float64", perimeterAnchors(anchorCount, area), [anchorCount, 2]) },
          metadata: {
            example_count: examples,
            anchor_count: anchorCount,
            area_m: float(area),
            position_mode: params.position_mode,
            unit: "m",
          },
        },
      },
    };
  },
});
