/**
 * ofdm_tdl with an explicit channel state: symbol i has the gain h of resource element i,
 *
 *     y = h·x + n        x̂ = y/h        variance N0/|h|²
 *
 * Draws: noise, one complex value per symbol.
 */
import { checkResourceElements, ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { type InputArtifact, SvcError } from "../api.ts";
import { complexNormal64Parallel } from "../../lib/numeric/parallel/draws.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { oneTap } from "./_ofdm.ts";
import type { PresetSettings, Received } from "./_params.ts";

/** Relative tolerance between the two noise variances, which may come from separate Es/N0 parameters. */
const RELATIVE_TOLERANCE = 1e-9;

/**
 * Sends symbols through the realisation of a state.
 * @throws SvcError `boundary_count_mismatch` for a state with fewer elements than symbols, `ofdm_scenario_conflict` for
 *   a state with another noise variance
 */
export function transmitExplicit(
  symbols: Float32Array,
  channelState: InputArtifact,
  { noiseVariance, threads }: Pick<PresetSettings, "noiseVariance" | "threads">,
  generator: Generator,
): Received {
  const state = ofdmStateOf(channelState);
  checkResourceElements(state, symbols.length / 2);
  if (Math.abs(state.noiseVariance - noiseVariance) > RELATIVE_TOLERANCE * noiseVariance) {
    throw new SvcError(
      "ofdm_scenario_conflict",
      `Cannot send with noise variance ${noiseVariance} over a state of noise variance ${state.noiseVariance}`,
      { hint: "Remove noise_variance of the channel state; its default is that of the wired channel" },
    );
  }
  const noise = complexNormal64Parallel(generator, symbols.length / 2, noiseVariance, { threads });
  return oneTap(symbols, noise, noiseVariance, { response: state.h, gainOf: (i) => i });
}
