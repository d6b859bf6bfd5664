/**
 * Trainable estimator of MIMO-OFDM channels from pilots:
 *
 *     least_squares           y/x at the pilots, interpolated linearly
 *     linear_mmse_reference   R_kp·(R_pp + N0·I)⁻¹·h_LS with R of lmmse_assumed_tap_count taps of powers e^{-l}; the prior does
 *                             not depend on the channels
 *     learned_artifact        ls_estimate_ri and pilot_ls_ri [batch, rx, tx, subcarrier, 2], pilot_mask [batch, tx, subcarrier],
 *                             noise_variance [batch, 1] -> h_hat_ri [batch, rx, tx, subcarrier, 2], and of artifacts that
 *                             know it error_variance [batch, rx, tx, subcarrier]
 *
 * Formulas: lib/numeric/channel/channel_estimation.ts. No mode receives the true channel. The error variance is N0/|x|² for least
 * squares, the posterior one for linear MMSE (metadata expected_mse: its mean), and that of the artifact, if it gives one.
 * demodulation.ofdm_pilot_observation makes the problem from a received OFDM link, and model.ofdm_channel_estimator takes the
 * estimate back. An example of whole grids has its OFDM symbols one after another on the axis of the subcarriers, for artifacts alone.
 *
 * Shapes: problem complex64 [example, rx, subcarrier] -> estimate complex64 [example, rx, tx, subcarrier], companion
 * error_variance float32 of the same shape.
 */
import { defineSlot, float, type JsonObject, SvcError, z } from "../api.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import {
  CHANNEL_ESTIMATE,
  CHANNEL_OBSERVATION,
  CHANNEL_PROBLEM,
  channelArtifact,
  leastSquaresOf,
  linearMmseOf,
  noisePerExample,
  ofOneSymbol,
  pilotMask,
  type PilotProblem,
  pilotProblemOf,
} from "../_channel_estimation.ts";

const GRID_RI = ["batch", "rx_antenna", "tx_antenna", "subcarrier", 2] as const;

interface Estimate {
  estimate: Float32Array | Float64Array;
  /** Error variances [tx, subcarrier] of every example and receive antenna, or [example, rx, tx, subcarrier]. */
  errors?: ArrayLike<number>;
  facts?: JsonObject;
}

export default defineSlot({
  id: "model.channel_estimator_adapter",
  name: "Channel estimator slot",
  description: "Estimates MIMO-OFDM channels from pilots, by a linear estimator or by a trained artifact",
  inputs: { problem: [CHANNEL_PROBLEM, CHANNEL_OBSERVATION] },
  outputs: { estimate: CHANNEL_ESTIMATE },
  params: {
    lmmse_assumed_tap_count: z.int().positive().default(4).meta({
      "x-svc-used-when": { mode: "linear_mmse_reference" },
    })
      .describe("taps of the prior"),
  },
  inputMetadataRequirements: { problem: { all_of: ["noise_variance"] } },
  gradient: "surrogate",
  exports: { torch: "trainable_channel_estimator_endpoint", phylib: "phylib_receiver_training_endpoint" },
  // The twin takes pilots from whatever made the channel, and so also those of phylib.
  twin: ["torch", "phylib"],
  mode: { default: "linear_mmse_reference" },
  read: ({ inputs }) => pilotProblemOf(inputs.problem),
  modes: {
    least_squares: {
      implementation: "least_squares",
      run: (problem): Estimate => ({
        estimate: leastSquaresOf(ofOneSymbol(problem)).full,
        errors: pilotErrors(problem),
      }),
    },
    linear_mmse_reference: {
      implementation: "linear_mmse_reference",
      run(problem, { params: { lmmse_assumed_tap_count } }) {
        const { estimate, errors } = linearMmseOf(ofOneSymbol(problem), lmmse_assumed_tap_count);
        return { estimate, errors, facts: { lmmse_assumed_tap_count, expected_mse: float(mean(errors)) } };
      },
    },
  },
  learned: {
    component: { id: "estimator", role: "mimo_ofdm_channel_estimator", entrypoint: "channel_estimator" },
    inputs: {
      ls_estimate_ri: GRID_RI,
      noise_variance: ["batch", 1],
      pilot_ls_ri: GRID_RI,
      pilot_mask: ["batch", "tx_antenna", "subcarrier"],
    },
    outputs: { h_hat_ri: GRID_RI, error_variance: ["batch", "rx_antenna", "tx_antenna", "subcarrier"] },
    optional: ["error_variance"],
    meaning: {
      ls_estimate_ri: "least-squares estimate, interpolated between pilots, real and imaginary part",
      noise_variance: "N0 per receive antenna and subcarrier",
      pilot_ls_ri: "least-squares values at the pilots, 0 elsewhere",
      pilot_mask: "1 at the pilots of an antenna, else 0",
      h_hat_ri: "estimated channel, real and imaginary part",
      error_variance: "variance of the error of h_hat_ri, at least 0",
    },
    rows: 256,
    async run(problem, call) {
      const { examples, rx, tx, subcarriers, positions, noiseVariance } = problem;
      const { sparse, full } = leastSquaresOf(problem);
      const grid = (values: Float64Array) =>
        ndarray("float32", Float32Array.from(values), [examples, rx, tx, subcarriers, 2]);
      const { h_hat_ri, error_variance } = await call({
        ls_estimate_ri: grid(full),
        noise_variance: noisePerExample(noiseVariance, examples),
        pilot_ls_ri: grid(sparse),
        pilot_mask: pilotMask(positions, problem),
      });
      if (error_variance?.data.some((value) => value < 0)) {
        throw new SvcError(
          "artifact_output_invalid",
          "Cannot use the output of the trained artifact: error_variance is below 0",
        );
      }
      return { estimate: h_hat_ri.data, errors: error_variance?.data };
    },
  },
  result({ estimate, errors, facts }, problem, { label }) {
    const variance = errors &&
      Float32Array.from({ length: estimate.length / 2 }, (_, i) => Math.max(0, errors[i % errors.length]));
    return { outputs: { estimate: channelArtifact(estimate, problem, { estimator: label, ...facts }, variance) } };
  },
});

/** N0/|x|² of each antenna by its first pilot, [tx, subcarrier]. */
function pilotErrors({ pilots, positions, subcarriers, noiseVariance }: PilotProblem): number[] {
  return positions.flatMap(([first], antenna) => {
    const at = 2 * (antenna * subcarriers + first);
    return new Array(subcarriers).fill(noiseVariance / (pilots[at] ** 2 + pilots[at + 1] ** 2));
  });
}
