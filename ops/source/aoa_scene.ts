/**
 * Angles of far-field sources, in degrees from the broadside of an array: uniform between two limits, or one fixed
 * angle.
 *
 * Shapes: scene float64 [example]. Draws: uniform angles [example].
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { seedParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { AOA_SCENE } from "../_aoa.ts";

const bearing = (fallback: number, angle_mode: string) =>
  z.number().min(-90).max(90).default(fallback).meta({
    "x-svc-ui": { unit: "degree" },
    "x-svc-used-when": { angle_mode },
  });

export default defineOperation({
  id: "source.aoa_scene",
  name: "Far-field direction-of-arrival scenes",
  description: "Draws directions of arrival of single sources",
  outputs: { scene: AOA_SCENE },
  params: z.strictObject({
    example_count: z.int().positive().default(16).describe("number of examples"),
    angle_mode: z.enum(["random_uniform", "fixed"]).default("random_uniform").describe(
      "angles drawn uniformly, or given",
    ),
    angle_min_deg: bearing(-60, "random_uniform").describe("least angle from broadside in degrees"),
    angle_max_deg: bearing(60, "random_uniform").describe("largest angle from broadside in degrees"),
    source_angle_deg: bearing(0, "fixed").describe("angle in degrees; 0 is broadside"),
    seed: seedParameter(0),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  check: ({ angle_min_deg: low, angle_max_deg: high }) =>
    low <= high ? [] : [{
      message: `Cannot draw angles from ${low} to ${high} degrees`,
      place: ["angle_min_deg"],
      hint: "Set angle_min_deg to at most angle_max_deg",
    }],
  estimate: ({ example_count }) => ({ scene: [["float64", example_count]] }),
  threadSafe: true,
  run({ params, generator }) {
    const { example_count: examples, angle_min_deg: low, angle_max_deg: high } = params;
    const angles = params.angle_mode === "fixed"
      ? new Float64Array(examples).fill(params.source_angle_deg)
      : (generator.random(examples) as Float64Array).map((u) => low + (high - low) * u);
    return {
      outputs: {
        scene: {
          array: ndarray("float64", angles, [examples]),
          metadata: { example_count: examples, angle_mode: params.angle_mode, unit: "degree" },
        },
      },
    };
  },
});
