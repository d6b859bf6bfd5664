/**
 * Artifacts of the joint sensing and communication operations. A problem holds the response to the receiver g_c
 * complex64 [example, subcarrier] as its main array and the companion `sensing` g_s of the same shape, the response of
 * the echo; metadata total_power, noise_variance and sensing_weight. A decision holds powers float64 of the same shape
 * that sum to total_power in every example. Formulas: lib/numeric/antenna/isac.ts.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { type InputArtifact, SvcError } from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { powers } from "../lib/numeric/linalg/complex.ts";
import type { IsacChannels } from "../lib/numeric/antenna/isac.ts";

export const ISAC_PROBLEM = artifactKind("isac.ofdm_allocation_problem.numpy", {
  total_power: "positive",
  noise_variance: "positive",
  sensing_weight: "number",
});
export const ISAC_DECISION = artifactKind("isac.ofdm_power_allocation.numpy", {
  allocator: "text",
  total_power: "number",
});

/** @throws SvcError with a boundary code for an artifact of another form */
export function isacProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input), shape = ["example", "subcarrier"];
  const received = arrays.read("complex64", shape), echoed = arrays.read("complex64", shape, "sensing");
  const { total_power: totalPower, noise_variance: noiseVariance, sensing_weight: sensingWeight } = metadataOf(
    input,
    ISAC_PROBLEM,
  );
  if (!(sensingWeight >= 0 && sensingWeight <= 1)) {
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot use the sensing weight ${sensingWeight}: it must be in [0, 1]`,
    );
  }
  const overNoise = (g: Float32Array) =>
    Float64Array.from(powers(Float64Array.from(g)), (gain) => gain / noiseVariance);
  const communication = overNoise(received), sensing = overNoise(echoed), subcarriers = arrays.size("subcarrier");
  return {
    arrays,
    examples: arrays.size("example"),
    subcarriers,
    totalPower,
    /** w, 0 … 1 */
    sensingWeight,
    /** |g_c|²/N0 and |g_s|²/N0, [example, subcarrier] */
    communication,
    sensing,
    /** Gains of one example. */
    channelsAt(example: number): IsacChannels {
      const [from, to] = [example * subcarriers, (example + 1) * subcarriers];
      return { communication: communication.subarray(from, to), sensing: sensing.subarray(from, to), totalPower };
    },
  };
}

export type IsacProblem = ReturnType<typeof isacProblemOf>;
