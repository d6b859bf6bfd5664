/**
 * Least-squares estimate of the channels: y/x at the pilots, an error of variance N0, and linear interpolation between them.
 *
 * Shapes: problem complex64 [example, rx, subcarrier] -> estimate complex64 [example, rx, tx, subcarrier].
 */
import { defineOperation, z } from "../api.ts";
import {
  CHANNEL_ESTIMATE,
  CHANNEL_OBSERVATION,
  CHANNEL_PROBLEM,
  channelArtifact,
  leastSquaresOf,
  ofOneSymbol,
  pilotProblemOf,
} from "../_channel_estimation.ts";

export default defineOperation({
  id: "model.ls_channel_estimator",
  name: "Least-squares channel estimate baseline",
  description: "Divides received pilots by sent ones and interpolates",
  inputs: { problem: [CHANNEL_PROBLEM, CHANNEL_OBSERVATION] },
  outputs: { estimate: CHANNEL_ESTIMATE },
  params: z.strictObject({}),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-7, rtol: 1e-6 } },
  formats: { artifact: "npz", tensor: "none" },
  inputMetadataRequirements: { problem: { all_of: ["noise_variance"] } },
  twin: true,
  run({ inputs }) {
    const problem = ofOneSymbol(pilotProblemOf(inputs.problem));
    const estimate = channelArtifact(leastSquaresOf(problem).full, problem, { estimator: "least_squares" });
    return { outputs: { estimate } };
  },
});
