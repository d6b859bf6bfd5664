/** Terminals and anchors, and their ranges. Artifacts: ../_localization.ts. */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { perimeterAnchors } from "../../lib/numeric/antenna/localization.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { boundRmse, LOCALIZATION_PROBLEM, LOCALIZATION_SCENE, repeatedAnchors, trueRanges } from "../_localization.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { executed, exported } from "../_backends.ts";

const FIXED = { ...shownIn("m"), "x-svc-used-when": { position_mode: "fixed" } };

/**
 * Anchors on the outline of a square and terminals inside it.
 *
 * Anchors are at equal steps of the perimeter, from the corner (0, 0) counter-clockwise; four anchors are the corners.
 * Positions are uniform over the square, or one fixed point for all examples.
 *
 * Shapes: scene float64 [example, 2], terminal positions in metres; companion anchors float64 [anchor, 2]. Draws: uniform
 * positions [example, 2].
 */
const localizationGeometry = defineOperation({
  id: "source.localization_geometry",
  name: "Anchor and target geometry",
  description: "Places anchors around a square and terminals in it",
  outputs: { scene: LOCALIZATION_SCENE },
  params: z.strictObject({
    example_count: z.int().positive().default(16).describe("number of positions"),
    anchor_count: z.int().positive().default(4).describe("anchors around the area"),
    area_m: z.number().positive().default(20).describe("side of the square").meta(shownIn("m")),
    position_mode: z.enum(["random_uniform", "fixed"]).default("random_uniform")
      .describe("positions drawn uniformly, or given"),
    target_x_m: z.number().default(10).describe("x of every target").meta(FIXED),
    target_y_m: z.number().default(10).describe("y of every target").meta(FIXED),
    seed: seedParameter(0, { position_mode: "random_uniform" }),
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

const ANCHORS = 4;

/**
 * Range measurements in one step: terminals in a square with an anchor on each corner, all links with line of sight.
 *
 *     r = |p - a| + σ·n,   σ² = range_noise_m² + 10^(-snr_db/10)  (m²)
 *
 * Draws: uniform positions [example, 2], then normal [example, anchor].
 *
 * Shapes: problem float64 [example, 4] (see ../_localization.ts).
 */
const localizationSensingScenario = defineOperation({
  id: "source.localization_sensing_scenario",
  name: "Noisy range measurement scenario",
  description: "Draws terminals in a square and measures their ranges to its corners",
  outputs: { problem: LOCALIZATION_PROBLEM },
  params: z.strictObject({
    example_count: z.int().positive().default(16).describe("number of positions"),
    area_m: z.number().positive().default(20).describe("side of the square").meta(shownIn("m")),
    snr_db: z.number().default(20).describe("Es/N0 in dB of the ranging signal; sets the variance of the range error")
      .meta(shownIn("dB")),
    range_noise_m: z.number().nonnegative().default(0.25).describe("range noise floor, independent of snr_db")
      .meta(shownIn("m")),
    seed: seedParameter(0),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch"] },
  materializations: [
    ...executed("numpy", "geometric_range_measurements"),
    exported("torch", "torch_range_geometry"),
    exported("phylib", "phylib_rt_scene_endpoint"),
  ],
  estimate: ({ example_count: n }) => ({
    problem: [["float64", n, ANCHORS], ["float64", n, ANCHORS, 2], ["float64", n, 2]],
  }),
  run({ params, generator }) {
    const { example_count: examples, area_m: area } = params;
    const positions = (generator.random(2 * examples) as Float64Array<ArrayBuffer>).map((value) => area * value);
    const anchors = repeatedAnchors(perimeterAnchors(ANCHORS, area), examples);
    const sigma = Math.sqrt(params.range_noise_m ** 2 + dbToLinear(-params.snr_db));
    const noise = generator.standardNormal(examples * ANCHORS) as Float64Array;
    const ranges = trueRanges(positions, anchors, ANCHORS).map((range, i) => range + sigma * noise[i]);
    const bound = boundRmse(anchors, positions, sigma);
    return {
      outputs: {
        problem: {
          array: ndarray("float64", ranges, [examples, ANCHORS]),
          companions: {
            anchors: ndarray("float64", anchors, [examples, ANCHORS, 2]),
            positions: ndarray("float64", positions, [examples, 2]),
          },
          metadata: {
            example_count: examples,
            anchor_count: ANCHORS,
            area_m: float(area),
            range_noise_std_m: float(sigma),
            snr_db: float(params.snr_db),
            unit: "m",
          },
        },
      },
      metrics: {
        "localization.range_noise_std_m": sigma,
        ...pooledMetrics(bound),
      },
      metadata: pooledMetadata(bound),
    };
  },
});

export default [localizationGeometry, localizationSensingScenario];
