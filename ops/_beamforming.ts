/**
 * What the operations of beamforming hand each other. A problem holds channels h complex64 [example, tx] as its main array,
 * and noise_variance as metadata; a decision holds weights w complex64 of the same shape and norm 1. The receiver hears
 * y = hᴴw·x + n.
 */
import { arraysOf, type NamedArrays } from "../lib/artifact/arrays.ts";
import { metadataNumber } from "../lib/artifact/values.ts";
import { SvcError } from "../lib/contract/error.ts";
import type { InputArtifact, OutputArtifact } from "../lib/contract/operation.ts";
import { maximumRatio } from "../lib/numeric/beamforming.ts";
import { ndarray } from "../lib/numeric/ndarray.ts";

export const BEAMFORMING_PROBLEM = "ai_phy.beamforming_problem.numpy";
export const BEAMFORMING_DECISION = "ai_phy.beamforming_decision.numpy";

export interface BeamformingProblem {
  arrays: NamedArrays;
  examples: number;
  antennas: number;
  /** [example, tx], interleaved */
  channels: Float32Array;
  noiseVariance: number;
}

/** @throws SvcError with a boundary code where the artifact is not what it should be */
export function beamformingProblemOf(input: InputArtifact): BeamformingProblem {
  const arrays = arraysOf(input), channels = arrays.read("complex64", ["example", "tx"]);
  const noiseVariance = metadataNumber(input.metadata, "noise_variance");
  if (noiseVariance === undefined || !(noiseVariance > 0)) {
    throw new SvcError("input_metadata_missing", "Cannot form beams without a positive noise_variance in the metadata");
  }
  return { arrays, examples: arrays.size("example"), antennas: arrays.size("tx"), channels, noiseVariance };
}

/** Weights of every example, brought to norm 1; those that are zero become equal ones. */
export function weightsArtifact(
  weights: Float32Array | Float64Array,
  { examples, antennas }: BeamformingProblem,
  beamformer: string,
): OutputArtifact {
  const unit = new Float32Array(weights.length), size = 2 * antennas;
  for (let at = 0; at < weights.length; at += size) unit.set(maximumRatio(weights.subarray(at, at + size)), at);
  return {
    array: ndarray("complex64", unit, [examples, antennas]),
    metadata: { example_count: examples, tx_antennas: antennas, beamformer },
  };
}

/** Weights made for every example by itself, from its channel. */
export function beamEach(
  problem: BeamformingProblem,
  beamformer: string,
  weigh: (channel: Float32Array) => Float64Array,
): OutputArtifact {
  const { channels, antennas } = problem, weights = new Float64Array(channels.length), size = 2 * antennas;
  for (let at = 0; at < channels.length; at += size) weights.set(weigh(channels.subarray(at, at + size)), at);
  return weightsArtifact(weights, problem, beamformer);
}
