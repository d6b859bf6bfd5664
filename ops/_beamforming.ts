/**
 * Artifacts of the beamforming operations. A problem holds channels h complex64 [example, tx] as its main array, and
 * noise_variance as metadata; a decision holds weights w complex64 of the same shape and norm 1. The receiver gets y =
 * hᴴw·x + n.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import type { InputArtifact } from "./api.ts";
import { maximumRatio } from "../lib/numeric/antenna/beamforming.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";

export const BEAMFORMING_PROBLEM = artifactKind("ai_phy.beamforming_problem.numpy", {
  noise_variance: "positive",
  channel_model: "text",
});
export const BEAMFORMING_DECISION = artifactKind("ai_phy.beamforming_decision.numpy", {
  example_count: "count",
  beamformer: "text",
});

/** @throws SvcError with a boundary code for an artifact of another form */
export function beamformingProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input), channels = arrays.read("complex64", ["example", "tx"]);
  const { noise_variance: noiseVariance } = metadataOf(input, BEAMFORMING_PROBLEM, ["noise_variance"]);
  return { arrays, examples: arrays.size("example"), antennas: arrays.size("tx"), channels, noiseVariance };
}

type BeamformingProblem = ReturnType<typeof beamformingProblemOf>;

/** Weights of every example, scaled to norm 1; zero weights become equal ones. */
export function weightsArtifact(
  weights: Float32Array | Float64Array,
  { examples, antennas }: BeamformingProblem,
  beamformer: string,
) {
  const unit = new Float32Array(weights.length), size = 2 * antennas;
  for (let at = 0; at < weights.length; at += size) unit.set(maximumRatio(weights.subarray(at, at + size)), at);
  return {
    array: ndarray("complex64", unit, [examples, antennas]),
    metadata: { example_count: examples, tx_antennas: antennas, beamformer },
  };
}

/** Weights of each example from its channel. */
export function beamEach(
  { channels, antennas }: BeamformingProblem,
  weigh: (channel: Float32Array) => Float64Array,
): Float64Array {
  const weights = new Float64Array(channels.length), size = 2 * antennas;
  for (let at = 0; at < channels.length; at += size) weights.set(weigh(channels.subarray(at, at + size)), at);
  return weights;
}
