/**
 * Trainable estimator of MIMO-OFDM channels from pilots:
 *
 *     least_squares           y/x at the pilots, interpolated linearly
 *     linear_mmse_reference   R_kp·(R_pp + N0·I)⁻¹·h_LS with R of lmmse_assumed_tap_count taps of powers e^{-l}; the prior does
 *                             not depend on the channels
 *     learned_artifact        ls_estimate_ri and pilot_ls_ri [batch, rx, tx, subcarrier, 2], pilot_mask [batch, tx, subcarrier],
 *                             noise_variance [batch, 1] -> h_hat_ri [batch, rx, tx, subcarrier, 2]
 *
 * Formulas: lib/numeric/channel_estimation.ts. No mode receives the true channel. The metadata expected_mse of the
 * linear MMSE estimate is its mean error variance if the prior is true.
 *
 * Shapes: problem complex64 [example, rx, subcarrier] -> estimate complex64 [example, rx, tx, subcarrier].
 */
import { defineSlot } from "../../lib/contract/slot.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import {
  CHANNEL_ESTIMATE,
  CHANNEL_OBSERVATION,
  CHANNEL_PROBLEM,
  channelArtifact,
  leastSquaresOf,
  linearMmseOf,
  noisePerExample,
  pilotMask,
  pilotProblemOf,
} from "../_channel_estimation.ts";

const GRID_RI = ["batch", "rx_antenna", "tx_antenna", "subcarrier", 2] as const;

interface Estimate {
  estimate: Float32Array | Float64Array;
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
  twin: true,
  mode: { default: "linear_mmse_reference" },
  read: ({ inputs }) => pilotProblemOf(inputs.problem),
  modes: {
    least_squares: {
      implementation: "least_squares",
      run: (problem): Estimate => ({ estimate: leastSquaresOf(problem).full }),
    },
    linear_mmse_reference: {
      implementation: "linear_mmse_reference",
      run(problem, { params: { lmmse_assumed_tap_count } }) {
        const { estimate, errorVariance } = linearMmseOf(problem, lmmse_assumed_tap_count);
        return { estimate, facts: { lmmse_assumed_tap_count, expected_mse: float(errorVariance) } };
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
    outputs: { h_hat_ri: GRID_RI },
    meaning: {
      ls_estimate_ri: "least-squares estimate, interpolated between pilots, real and imaginary part",
      noise_variance: "N0 per receive antenna and subcarrier",
      pilot_ls_ri: "least-squares values at the pilots, 0 elsewhere",
      pilot_mask: "1 at the pilots of an antenna, else 0",
      h_hat_ri: "estimated channel, real and imaginary part",
    },
    rows: 256,
    async run(problem, call) {
      const { examples, rx, tx, subcarriers, positions, noiseVariance } = problem;
      const { sparse, full } = leastSquaresOf(problem);
      const grid = (values: Float64Array) =>
        ndarray("float32", Float32Array.from(values), [examples, rx, tx, subcarriers, 2]);
      const { h_hat_ri } = await call({
        ls_estimate_ri: grid(full),
        noise_variance: noisePerExample(noiseVariance, examples),
        pilot_ls_ri: grid(sparse),
        pilot_mask: pilotMask(positions, problem),
      });
      return { estimate: h_hat_ri.data };
    },
  },
  result: ({ estimate, facts }, problem, { label }) => ({
    outputs: { estimate: channelArtifact(estimate, problem, { estimator: label, ...facts }) },
  }),
});
