/**
 * Artifacts of the resource allocation operations. A problem holds the frequency response h complex64 [snapshot,
 * subcarrier] as its main array, and total_power and noise_variance as metadata; a decision holds powers float64 of the
 * same shape that sum to total_power in every snapshot.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { float, type InputArtifact, type JsonObject } from "./api.ts";
import { powers } from "../lib/numeric/linalg/complex.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";

export const RESOURCE_PROBLEM = artifactKind("ai_phy.resource_allocation_problem.numpy", {
  total_power: "positive",
  noise_variance: "positive",
});
export const RESOURCE_DECISION = artifactKind("ai_phy.resource_allocation_decision.numpy", {
  allocator: "text",
  total_power: "number",
});

/** @throws SvcError with a boundary code for an artifact of another form */
export function resourceProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input), h = arrays.read("complex64", ["snapshot", "subcarrier"]);
  const { total_power: totalPower, noise_variance: noiseVariance } = metadataOf(input, RESOURCE_PROBLEM);
  return {
    arrays,
    snapshots: arrays.size("snapshot"),
    subcarriers: arrays.size("subcarrier"),
    /** |h|², [snapshot, subcarrier] */
    gains: Float64Array.from(powers(Float64Array.from(h))),
    totalPower,
    noiseVariance,
  };
}

type ResourceProblem = ReturnType<typeof resourceProblemOf>;

/** A decision for each snapshot separately, from its gains. */
export function allocateEach(
  { snapshots, subcarriers, gains, totalPower }: ResourceProblem,
  allocator: string,
  allocate: (gains: Float64Array) => ArrayLike<number>,
  facts: JsonObject = {},
) {
  const power = new Float64Array(gains.length);
  for (let snapshot = 0; snapshot < snapshots; snapshot++) {
    power.set(allocate(gains.subarray(snapshot * subcarriers, (snapshot + 1) * subcarriers)), snapshot * subcarriers);
  }
  return {
    array: ndarray("float64", power, [snapshots, subcarriers]),
    metadata: { allocator, total_power: float(totalPower), ...facts },
  };
}
