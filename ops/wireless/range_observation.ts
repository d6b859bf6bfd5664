/**
 * Ranges from every anchor to the terminal, with noise and, on some links, the bias of a blocked line of sight:
 *
 *     r = |p - a| + [u < nlos_probability]·nlos_bias_m + σ·n,   σ² = range_noise_floor_m² + 10^(-snr_db/10)  (m²)
 *
 * Draws: random [example, anchor] for the bias, then normal [example, anchor]. The root of the mean Cramér-Rao bound
 * for ranges without bias is the step metric localization.cramer_rao_rmse_m.
 *
 * Shapes: scene [example, 2] -> observation, problem float64 [example, anchor] (see ../_localization.ts), truth [example, 2].
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { metadataOf } from "../../lib/artifact/values.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  boundRmse,
  LOCALIZATION_OBSERVATION,
  LOCALIZATION_PROBLEM,
  LOCALIZATION_SCENE,
  LOCALIZATION_TRUTH,
  repeatedAnchors,
  trueRanges,
} from "../_localization.ts";

export default defineOperation({
  id: "wireless.range_observation",
  name: "Noisy range reception",
  description: "Measures the ranges between anchors and terminals",
  inputs: { scene: [LOCALIZATION_SCENE] },
  outputs: {
    observation: LOCALIZATION_OBSERVATION,
    problem: LOCALIZATION_PROBLEM,
    truth: LOCALIZATION_TRUTH,
  },
  params: z.strictObject({
    snr_db: z.number().default(20).describe("Es/N0 in dB of the ranging signal; sets the variance of the range error")
      .meta(shownIn("dB")),
    range_noise_floor_m: z.number().nonnegative().default(0.05).describe("range noise floor, independent of snr_db")
      .meta(shownIn("m")),
    nlos_probability: z.number().min(0).max(1).default(0).describe("probability of a blocked line of sight per link"),
    nlos_bias_m: z.number().nonnegative().default(1.5).describe("excess length of a blocked link").meta(shownIn("m")),
    seed: seedParameter(0),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  twin: true,
  estimate(_params, { scene: { bytes, shape } }) {
    if (shape === undefined) return {};
    // The scene is the positions and the anchors, two coordinates in binary64 each.
    const [examples] = shape, anchors = bytes / 16 - examples;
    const ranges = [["float64", examples, anchors], ["float64", examples, anchors, 2]] as const;
    const positions = ["float64", examples, 2] as const;
    return {
      observation: ranges,
      problem: [...ranges, positions],
      truth: [positions, ["uint8", examples, anchors]],
    };
  },
  run({ inputs, params, generator }) {
    const scene = arraysOf(inputs.scene);
    const positions = scene.read("float64", ["example", 2]);
    const placed = scene.read("float64", ["anchor", 2], "anchors");
    const examples = scene.size("example"), anchorCount = scene.size("anchor");
    const anchors = repeatedAnchors(placed, examples);
    const sigma = Math.sqrt(params.range_noise_floor_m ** 2 + dbToLinear(-params.snr_db));

    const blocked = (generator.random(examples * anchorCount) as Float64Array).map((u) =>
      u < params.nlos_probability ? 1 : 0
    );
    const noise = generator.standardNormal(examples * anchorCount) as Float64Array;
    const ranges = trueRanges(positions, anchors, anchorCount).map((range, i) =>
      range + params.nlos_bias_m * blocked[i] + sigma * noise[i]
    );

    const metadata = {
      example_count: examples,
      anchor_count: anchorCount,
      area_m: float(metadataOf(inputs.scene, LOCALIZATION_SCENE, ["area_m"]).area_m),
      range_noise_std_m: float(sigma),
      snr_db: float(params.snr_db),
      unit: "m",
    };
    const measured = {
      array: ndarray("float64", ranges, [examples, anchorCount]),
      companions: { anchors: ndarray("float64", anchors, [examples, anchorCount, 2]) },
      metadata,
    };
    const truth = ndarray("float64", positions.slice(), [examples, 2]);
    const bound = boundRmse(anchors, positions, sigma);
    return {
      outputs: {
        observation: measured,
        problem: { ...measured, companions: { ...measured.companions, positions: truth } },
        truth: {
          array: truth,
          companions: { blocked: ndarray("uint8", Uint8Array.from(blocked), [examples, anchorCount]) },
          metadata: { example_count: examples, unit: "m" },
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
