/**
 * Trainable beam policy:
 *
 *     mrt                       w = h/‖h‖
 *     codebook_sweep_reference  the DFT beam of the largest gain
 *     learned_artifact          channels_ri [batch, tx_antenna, 2] -> weights_ri of the same shape, scaled to
 *                               norm 1, so all policies send the same power
 *
 * Formulas: lib/numeric/antenna/beamforming.ts.
 *
 * Shapes: problem complex64 [example, tx] -> decision complex64 [example, tx].
 */
import { defineSlot } from "../api.ts";
import { dftCodebook, maximumRatio, sweepCodebook } from "../../lib/numeric/antenna/beamforming.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  beamEach,
  BEAMFORMING_DECISION,
  BEAMFORMING_PROBLEM,
  beamformingProblemOf,
  weightsArtifact,
} from "../_beamforming.ts";

export default defineSlot({
  id: "model.beamforming_adapter",
  name: "Beam policy slot",
  description: "Forms beams by maximum ratio, a codebook or a trained artifact",
  inputs: { problem: [BEAMFORMING_PROBLEM] },
  outputs: { decision: BEAMFORMING_DECISION },
  gradient: "surrogate",
  exports: { torch: "trainable_beam_policy_endpoint", phylib: "phylib_precoder_training_endpoint" },
  twin: true,
  mode: { default: "codebook_sweep_reference" },
  read: ({ inputs }) => beamformingProblemOf(inputs.problem),
  modes: {
    mrt: { implementation: "maximum_ratio_transmission", run: (problem) => beamEach(problem, maximumRatio) },
    codebook_sweep_reference: {
      implementation: "codebook_sweep_reference",
      label: "dft_codebook",
      run(problem) {
        const codebook = dftCodebook(problem.antennas);
        return beamEach(problem, (channel) => sweepCodebook(channel, codebook));
      },
    },
  },
  learned: {
    component: { id: "beam_policy", role: "single_user_miso_beam_policy", entrypoint: "beam_policy" },
    inputs: { channels_ri: ["batch", "tx_antenna", 2] },
    outputs: { weights_ri: ["batch", "tx_antenna", 2] },
    meaning: {
      channels_ri: "channel h of each transmit antenna, real and imaginary part; the receiver gets h^H w x",
      weights_ri: "weights w, real and imaginary part; scaled to norm 1 afterwards",
    },
    rows: 65536,
    async run({ examples, antennas, channels }, call) {
      const { weights_ri } = await call({ channels_ri: ndarray("float32", channels, [examples, antennas, 2]) });
      return Float64Array.from(weights_ri.data);
    },
  },
  result: (weights, problem, { label }) => ({ outputs: { decision: weightsArtifact(weights, problem, label) } }),
});
