/**
 * Errors of estimated ranges and velocities. In each example estimates are assigned to targets one to one with the least sum of
 * squared errors in resolution cells c/(2FΔf) and c/(2f_c·MT) (lib/numeric/linalg/assignment.ts); rows of the power 0 are no estimates.
 *
 *     isac.range_rmse_m, isac.velocity_rmse_mps   over the assigned pairs; left out without any
 *     isac.detection_rate                         targets whose estimate is within one cell on both axes, over all targets
 *
 * Facts crb_range_m and crb_velocity_mps: Cramér-Rao bounds of single targets of the same power, the root of the mean variance
 * over targets. Frame and noise are read from the metadata of the estimate, else of the truth; without them detection rate and
 * bounds are left out, and errors are assigned in metres and metres per second.
 */
import { float } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { assign } from "../../lib/numeric/linalg/assignment.ts";
import { successes } from "../../lib/artifact/statistical_unit.ts";
import { countRate } from "../../lib/numeric/scores/rate_interval.ts";
import { cramerRao, resolutionCell } from "../../lib/numeric/antenna/range_doppler.ts";
import { type PooledMetric, ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { ECHO_ESTIMATE, ECHO_TRUTH, recordedFrame } from "../_range_doppler.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.range_doppler",
  name: "Range and velocity scores",
  description: "Measures the errors of estimated ranges and velocities, and the rate of detected targets",
  inputs: { estimate: [ECHO_ESTIMATE], truth: [ECHO_TRUTH] },
  formats: { artifact: "json", tensor: "none" },
  run({ inputs }) {
    const estimates = arraysOf(inputs.estimate), found = estimates.read("float64", ["example", "estimate", 2]);
    const strength = estimates.read("float64", ["example", "estimate"], "power");
    const truths = estimates.beside(inputs.truth), real = truths.read("float64", ["example", "target", 2]);
    const power = truths.read("float64", ["example", "target"], "power");
    const examples = truths.size("example"), targets = truths.size("target"), rows = truths.size("estimate");
    const recorded = recordedFrame(inputs.estimate) ?? recordedFrame(inputs.truth);
    const cell = recorded === undefined ? undefined : resolutionCell(recorded.frame);
    const unit = cell ?? { range: 1, velocity: 1 };
    // Of each example: squared errors, and the number of assigned targets.
    const squares = { range: new Float64Array(examples), velocity: new Float64Array(examples) };
    const assigned = new Float64Array(examples);
    const ranges: number[] = [], velocities: number[] = [], missed = new Uint8Array(examples * targets).fill(1);
    for (let example = 0; example < examples; example++) {
      const own = Array.from({ length: rows }, (_, i) => example * rows + i).filter((row) => strength[row] > 0);
      const error = (target: number, row: number) => {
        const at = 2 * (example * targets + target);
        return [found[2 * row] - real[at], found[2 * row + 1] - real[at + 1]] as const;
      };
      const cost = Float64Array.from({ length: targets * own.length }, (_, i) => {
        const [range, velocity] = error(Math.floor(i / own.length), own[i % own.length]);
        return (range / unit.range) ** 2 + (velocity / unit.velocity) ** 2;
      });
      assign(cost, targets, own.length).forEach((column, target) => {
        if (column < 0) return;
        const [range, velocity] = error(target, own[column]);
        ranges.push(range);
        velocities.push(velocity);
        squares.range[example] += range * range;
        squares.velocity[example] += velocity * velocity;
        assigned[example]++;
        const near = Math.abs(range) <= unit.range && Math.abs(velocity) <= unit.velocity;
        missed[example * targets + target] = Number(!near);
      });
    }
    // An interval counts failures: detected targets are the complement of missed ones.
    const rate = countRate(missed, "source_item", Array.from({ length: examples }, (_, i) => (i + 1) * targets));
    const counted = cell !== undefined && rate.trials > 0;
    const rms = (sums: Float64Array): PooledMetric => ({
      reduction: "root_mean_square",
      sums: ratioSums(sums, assigned),
    });
    return {
      pooled: { "isac.range_rmse_m": rms(squares.range), "isac.velocity_rmse_mps": rms(squares.velocity) },
      metrics: {
        ...(counted ? { "isac.detection_rate": 1 - rate.events / rate.trials } : {}),
      },
      facts: {
        example_count: examples,
        target_count: missed.length,
        estimate_count: strength.reduce((sum, one) => sum + Number(one > 0), 0),
        range_errors_m: ranges.map(float),
        velocity_errors_mps: velocities.map(float),
        ...bounds(recorded, power),
      },
      ...(counted ? { rates: { "isac.detection_rate": successes(rate) } } : {}),
    };
  },
});

/** Bounds that are finite: an axis of one element, a target without power and a missing frame have none. */
function bounds(recorded: ReturnType<typeof recordedFrame>, power: Float64Array) {
  if (recorded === undefined) return {};
  const variances = Array.from(power, (one) => cramerRao(recorded.frame, one / recorded.noise));
  const facts = {
    crb_range_m: Math.sqrt(mean(variances.map(({ range }) => range))),
    crb_velocity_mps: Math.sqrt(mean(variances.map(({ velocity }) => velocity))),
  };
  return Object.fromEntries(
    Object.entries(facts).filter(([, bound]) => Number.isFinite(bound)).map(([key, bound]) => [key, float(bound)]),
  );
}
