/**
 * Range measurements in one step: terminals in a square with an anchor on each corner, all links with line of sight.
 *
 *     r = |p - a| + σ·n,   σ² = range_noise_m² + 10^(-snr_db/10)  (m²)
 *
 * Draws: uniform positions [example, 2], then normal [example, anchor].
 *
 * Shapes: problem float64 [example, 4] (see ../_localization.ts).
 */
import { defineOperation, float, seedParameter, z } from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { perimeterAnchors } from "../../lib/numeric/antenna/localization.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { executed, exported } from "../_backends.ts";
import { boundRmse, LOCALIZATION_PROBLEM, repeatedAnchors, trueRanges } from "../_localization.ts";

const METRES = { "x-svc-ui": { unit: "m" } };
const ANCHORS = 4;

export default defineOperation({
  id: "source.localization_sensing_scenario",
  name: "Noisy range measurement scenario",
  description: "Draws terminals in a square and measures their ranges to its corners",
  outputs: { problem: LOCALIZATION_PROBLEM },
  params: z.strictObject({
    example_count: z.int().positive().default(16).describe("number of positions"),
    area_m: z.number().positive().default(20).describe("side of the square").meta(METRES),
    snr_db: z.number().default(20).describe("Es/N0 in dB of the ranging signal; sets the variance of the range error")
      .meta({ "x-svc-ui": { unit: "dB" } }),
    range_noise_m: z.number().nonnegative().default(0.25).describe("range noise floor, independent of snr_db").meta(
      METRES,
    ),
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
