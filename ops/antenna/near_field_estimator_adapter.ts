/**
 * Trainable estimator of range and angle from one snapshot of a large array:
 *
 *     far_field_steering  the plane wave of the largest |Σ y_m·conj(a_m)|², angles 0.25° apart; it has no range, so
 *                         the range is the geometric mean of the limits
 *     polar_codebook      the spherical wave of the largest |Σ y_m·conj(ĥ_m)|², the same angles and 40 ranges uniform in 1/r
 *     oracle_focus        truth, an input of this mode only
 *     learned_artifact    array_ri [batch, antenna, 2] -> range_angle [batch, 2], metres and degrees
 *
 * Searches stay within the limits of the scene; of equal codewords the first one counts, angles and then ranges
 * ascending, so a zero observation gives the smallest angle. Geometry: lib/numeric/antenna/near_field.ts.
 *
 * Shapes: problem complex64 [example, antenna] -> estimate float64 [example, 2].
 */
import { defineSlot } from "../api.ts";
import {
  angleGrid,
  matchCodewords,
  planeWave,
  reciprocalRanges,
  sphericalWave,
} from "../../lib/numeric/antenna/near_field.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  fociArtifact,
  NEAR_FIELD_ESTIMATE,
  NEAR_FIELD_PROBLEM,
  NEAR_FIELD_TRUTH,
  type NearFieldProblem,
  nearFieldProblemOf,
} from "../_near_field.ts";

/** Degrees between codewords. */
const ANGLE_STEP = 0.25;
/** Ranges of a codebook. */
const RANGES = 40;

export default defineSlot({
  id: "model.near_field_estimator_adapter",
  name: "Near-field estimator slot",
  description: "Estimates range and angle of a near source, by a codebook or by a trained artifact",
  inputs: { problem: [NEAR_FIELD_PROBLEM] },
  optionalInputs: { truth: { kinds: [NEAR_FIELD_TRUTH], secret: true } },
  outputs: { estimate: NEAR_FIELD_ESTIMATE },
  inputMetadataRequirements: { problem: { all_of: Object.keys(NEAR_FIELD_PROBLEM.metadata) } },
  gradient: "surrogate",
  exports: { torch: "supervised_range_angle_estimation" },
  twin: true,
  mode: { default: "polar_codebook" },
  read: ({ inputs }) => nearFieldProblemOf(inputs.problem),
  modes: {
    far_field_steering: { implementation: "far_field_angle_grid", run: (problem) => searched(problem, false) },
    polar_codebook: { implementation: "polar_range_angle_codebook", run: (problem) => searched(problem, true) },
    oracle_focus: {
      implementation: "simulation_truth",
      reveals: "truth",
      run: ({ arrays }, { inputs }) => arrays.beside(inputs.truth!).read("float64", ["example", 2]).slice(),
    },
  },
  learned: {
    component: { id: "estimator", role: "near_field_range_angle_estimator", entrypoint: "near_field_estimator" },
    inputs: { array_ri: ["batch", "antenna", 2] },
    outputs: { range_angle: ["batch", 2] },
    meaning: {
      array_ri: "received value of each antenna, real and imaginary part",
      range_angle: "range in metres and angle in degrees from broadside",
    },
    rows: 4096,
    async run({ received, examples, array: { antennas } }, call) {
      const { range_angle } = await call({ array_ri: ndarray("float32", received, [examples, antennas, 2]) });
      return Float64Array.from(range_angle.data);
    },
  },
  result: (foci, _, { label }) => ({ outputs: { estimate: fociArtifact(foci, { estimator: label }) } }),
});

function searched({ received, examples, array, angles, ranges }: NearFieldProblem, spherical: boolean) {
  const grid = angleGrid(angles.low, angles.high, ANGLE_STEP), { near, far } = ranges;
  const distances = spherical ? reciprocalRanges(near, far, RANGES) : Float64Array.of(Math.sqrt(near * far));
  const focus = (k: number) => ({
    angle: grid[Math.floor(k / distances.length)],
    range: distances[k % distances.length],
  });
  const best = matchCodewords(
    received,
    array.antennas,
    grid.length * distances.length,
    (k) => spherical ? sphericalWave(array, focus(k)) : planeWave(array, focus(k).angle),
  );
  const foci = new Float64Array(2 * examples);
  best.forEach((k, example) => foci.set([focus(k).range, focus(k).angle], 2 * example));
  return foci;
}
