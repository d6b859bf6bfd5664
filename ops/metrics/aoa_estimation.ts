/**
 * Errors of angle estimates e = θ̂ - θ in degrees, plain differences: root of the mean square, mean modulus, median and
 * 90th percentile of the modulus (linear between order statistics), and task.score = 1/(1 + RMSE).
 *
 * With several sources estimates are paired with true angles so that the sum of squares is least, in each example. A true angle
 * left over has the error of the nearest estimate; estimates left over do not count. Then also
 *
 *     aoa.resolution_rate   share of examples with each error below half the least separation of their true angles
 *     aoa.order_accuracy    share of examples whose order, a companion of the estimate, is the number of sources
 *     aoa.crb_deg           fact: root of the mean stochastic Cramér-Rao bound, where the array is known
 *
 * Shapes: estimate, truth float64 [example] or [example, source]; the estimate may have the companions order and source_count
 * int32 [example], the second one the valid angles of a row.
 */
import { float, type InputArtifact, SvcError } from "../api.ts";
import { energy } from "../../lib/numeric/linalg/complex.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { metadataNumber } from "../../lib/artifact/values.ts";
import { type PooledMetric, pooledValue, ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { closestPairs, stochasticCramerRao } from "../../lib/numeric/antenna/several_directions.ts";
import { mean, median, quantile } from "../../lib/numeric/scores/statistics.ts";
import {
  AOA_ESTIMATE,
  AOA_PROBLEM,
  AOA_TRUTH,
  type Directions,
  directionsOf,
  sourcesOf,
  trueDirections,
} from "../_aoa.ts";
import { defineReport, type Report } from "../_report.ts";

export default defineReport({
  id: "metrics.aoa_estimation",
  name: "Angle-of-arrival scores",
  description: "Measures the errors of direction-of-arrival estimates",
  inputs: { estimate: [AOA_ESTIMATE], problem: [AOA_PROBLEM, AOA_TRUTH] },
  twin: true,
  run({ inputs }) {
    const estimate = directionsOf(inputs.estimate), truth = trueDirections(inputs.problem);
    if (estimate.examples !== truth.examples) {
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot compare the angles of ${estimate.examples} examples with those of ${truth.examples}`,
      );
    }
    if (estimate.shape.length === 2 || truth.shape.length === 2) return severalSources(estimate, truth, inputs);
    const errors = estimate.angles.map((angle, i) => angle - truth.angles[i]);
    return {
      ...errorScores(errors, 1),
      facts: { example_count: errors.length, errors_deg: Array.from(errors, float) },
    };
  },
});

/** @param sources errors of each example */
function errorScores(errors: Float64Array, sources: number): Pick<Report, "pooled" | "metrics"> {
  const moduli = errors.map(Math.abs), examples = errors.length / sources;
  const squares = Array.from({ length: examples }, (_, i) => energy(errors.subarray(i * sources, (i + 1) * sources)));
  const sums = ratioSums(squares, new Float64Array(examples).fill(sources));
  const rmse: PooledMetric = { reduction: "root_mean_square", sums };
  return {
    pooled: { "aoa.rmse_deg": rmse },
    metrics: {
      "aoa.mae_deg": mean(moduli),
      "aoa.median_error_deg": median(moduli),
      "aoa.p90_error_deg": quantile(moduli, 0.9),
      "task.score": 1 / (1 + pooledValue(rmse)!),
    },
  };
}

function severalSources(
  estimate: Directions,
  truth: Directions,
  inputs: { estimate: InputArtifact; problem: InputArtifact },
): Report {
  const { examples, sources } = truth, errors = new Float64Array(truth.angles.length);
  const valid = companion(inputs.estimate, "source_count"), orders = companion(inputs.estimate, "order");
  const unresolved = new Uint8Array(examples);
  for (let example = 0; example < examples; example++) {
    const start = example * estimate.sources, count = valid?.[example] ?? estimate.sources;
    if (!(count >= 1 && count <= estimate.sources)) {
      throw new SvcError("boundary_value_invalid", `Cannot read ${count} of ${estimate.sources} angles of an example`);
    }
    const given = estimate.angles.slice(start, start + count).sort();
    const wanted = truth.angles.slice(example * sources, (example + 1) * sources).sort();
    const pairs = closestPairs(wanted, given);
    const own = wanted.map((angle, i) => (pairs[i] < 0 ? nearest(given, angle) : given[pairs[i]]) - angle);
    const limit = leastGap(wanted) / 2;
    unresolved[example] = Number(pairs.includes(-1) || own.some((error) => !(Math.abs(error) < limit)));
    errors.set(own, example * sources);
  }
  const share = (failed: ArrayLike<number>) => successes(rateCounts(failed, inputs.problem.metadata, "source_item"));
  const rates = {
    ...(sources > 1 ? { "aoa.resolution_rate": share(unresolved) } : {}),
    ...(orders ? { "aoa.order_accuracy": share(orders.map((order) => Number(order !== sources))) } : {}),
  };
  const bound = boundOf(truth, inputs.problem);
  const { pooled, metrics } = errorScores(errors, sources);
  return {
    pooled,
    metrics: {
      ...metrics,
      ...Object.fromEntries(Object.entries(rates).map(([name, { events, trials }]) => [name, 1 - events / trials])),
    },
    rates,
    facts: {
      example_count: examples,
      source_count: sources,
      ...(bound === null ? {} : { "aoa.crb_deg": float(bound) }),
      errors_deg: Array.from(errors, float),
    },
  };
}

/** An int32 array [example] beside the estimate, or null. */
function companion(estimate: InputArtifact, name: string): Int32Array | null {
  return estimate.arrayNames.includes(name)
    ? arraysOf(estimate).read("int32", [estimate.array().shape[0]], name)
    : null;
}

const nearest = (given: Float64Array, angle: number): number =>
  given.reduce((best, one) => Math.abs(one - angle) < Math.abs(best - angle) ? one : best);

function leastGap(ascending: Float64Array): number {
  return ascending.reduce((least, angle, i) => i === 0 ? least : Math.min(least, angle - ascending[i - 1]), Infinity);
}

/** The root of the mean bound in degrees, or null where the array is unknown or the bound is infinite. */
function boundOf({ angles, examples, sources }: Directions, problem: InputArtifact): number | null {
  const snapshotShape = problem.kind === AOA_PROBLEM.id ? problem.array().shape : undefined;
  const antennas = snapshotShape?.[1] ?? metadataNumber(problem.metadata, "antenna_count");
  const snapshots = snapshotShape?.[2] ?? metadataNumber(problem.metadata, "snapshot_count");
  const spacing = metadataNumber(problem.metadata, "element_spacing_wavelengths");
  const noiseVariance = metadataNumber(problem.metadata, "noise_variance");
  if (antennas === undefined || snapshots === undefined || spacing === undefined || noiseVariance === undefined) {
    return null;
  }
  const array = { antennas, snapshots, spacing, noiseVariance, covariance: sourcesOf(problem, sources) };
  let sum = 0;
  for (let example = 0; example < examples; example++) {
    const own = angles.subarray(example * sources, (example + 1) * sources);
    stochasticCramerRao(own, array).forEach((variance) => sum += variance);
  }
  const bound = Math.sqrt(sum / angles.length);
  return Number.isFinite(bound) ? bound : null;
}
