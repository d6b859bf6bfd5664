/**
 * Artifacts of the operations on reflecting surfaces. A problem holds the direct channel h_d complex64 [example, tx] as its
 * main array, the companions h_r complex64 [example, element] from the surface to the receiver and g complex64 [example,
 * element, tx] from the transmitter to the surface, and noise_variance as metadata; a decision holds the phases of the
 * elements float64 [example, element] in radians. Model: lib/numeric/antenna/reflecting_surface.ts.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import type { InputArtifact } from "./api.ts";
import type { SurfaceChannel } from "../lib/numeric/antenna/reflecting_surface.ts";

export const RIS_CHANNEL = artifactKind("ris.channel.numpy", { noise_variance: "positive", example_count: "count" });
export const RIS_PHASES = artifactKind("ris.phases.numpy", { example_count: "count", unit: "text", optimizer: "text" });

/** @throws SvcError with a boundary code for an artifact of another form */
export function risProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input), direct = arrays.read("complex64", ["example", "tx"]);
  const reflected = arrays.read("complex64", ["example", "element"], "h_r");
  const incident = arrays.read("complex64", ["example", "element", "tx"], "g");
  const elements = arrays.size("element"), antennas = arrays.size("tx");
  const own = (data: Float32Array, size: number, example: number) =>
    data.subarray(2 * size * example, 2 * size * (example + 1));
  return {
    arrays,
    examples: arrays.size("example"),
    elements,
    antennas,
    channel: (example: number): SurfaceChannel => ({
      direct: own(direct, antennas, example),
      reflected: own(reflected, elements, example),
      incident: own(incident, elements * antennas, example),
    }),
    noiseVariance: metadataOf(input, RIS_CHANNEL, ["noise_variance"]).noise_variance,
  };
}
