/**
 * Linear precoders of a multi-user downlink: maximum ratio, zero forcing, regularised zero forcing, block diagonalisation and
 * weighted MMSE. Formulas: lib/numeric/antenna/mu_mimo.ts. They use the channel that the transmitter knows. A user with several
 * antennas has one stream for each; zf and wmmse take users with one antenna.
 *
 * Shapes: problem complex64 [example, user, rx, tx] -> decision complex64 [example, tx, user·rx], ‖W‖_F² <= total_power.
 */
import { defineOperation, float, type JsonObject, SvcError, z } from "../api.ts";
import {
  blockDiagonalPrecoder,
  type Downlink,
  maximumRatioPrecoder,
  regularizedPrecoder,
  weightedMmsePrecoder,
  zeroForcingPrecoder,
} from "../../lib/numeric/antenna/mu_mimo.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { exportable } from "../_backends.ts";
import { MU_MIMO_PRECODER, MU_MIMO_PROBLEM, type MuMimoProblem, muMimoProblemOf } from "../_mu_mimo.ts";

const MODES = ["mrt", "zf", "rzf", "block_diagonalization", "wmmse"] as const;

const PARAMS = z.strictObject({
  mode: z.enum(MODES).default("rzf").describe("precoder"),
  regularization: z.number().nonnegative().optional().meta({ "x-svc-used-when": { mode: "rzf" } })
    .describe("regularisation of rzf, linear; omitted: streams times noise power over total power"),
  wmmse_iterations: z.int().min(1).max(100000).default(100).meta({ "x-svc-used-when": { mode: "wmmse" } })
    .describe("iterations of wmmse"),
  power: z.enum(["equal", "water_filling"]).default("equal")
    .meta({ "x-svc-used-when": { mode: ["zf", "block_diagonalization"] } }).describe("powers of the streams"),
  user_weights: z.array(z.number().positive().max(1e6)).default([]).meta({ "x-svc-used-when": { mode: "wmmse" } })
    .describe("weights of the users' rates for wmmse, linear; empty: equal"),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "model.mu_mimo_precoder",
  name: "Multi-user precoder",
  description: "Computes the transmit weights of the streams of several users",
  inputs: { problem: [MU_MIMO_PROBLEM] },
  outputs: { decision: MU_MIMO_PRECODER },
  params: PARAMS,
  differentiability: exportable("torch", "full", "Smooth in the channel"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch"] },
  twin: true,
  equivalence: { type: "numerical", tolerance: { atol: 1e-5, rtol: 1e-4 } },
  formats: { artifact: "npz", tensor: "none" },
  estimate: (_params, { problem: { shape } }) =>
    shape === undefined ? {} : { decision: [["complex64", shape[0], shape[3], shape[1] * shape[2]]] },
  run({ inputs, params, progress }) {
    const problem = muMimoProblemOf(inputs.problem), { examples, users, rx, tx, noise, power } = problem;
    checkSizes(problem, params);
    const streams = users * rx, weights = new Float32Array(2 * examples * tx * streams);
    for (let example = 0; example < examples; example++) {
      weights.set(precode(problem.link(example), params), 2 * example * tx * streams);
      progress(example + 1, examples, { unit: "examples" });
    }
    const metadata: JsonObject & { example_count: number; precoder: string } = {
      example_count: examples,
      users,
      rx_antennas: rx,
      tx_antennas: tx,
      precoder: params.mode,
    };
    return {
      outputs: {
        decision: {
          array: ndarray("complex64", weights, [examples, tx, streams]),
          metadata: { ...metadata, noise_variance: float(noise), total_power: float(power) },
        },
      },
    };
  },
});

function precode(
  link: Downlink,
  { mode, power, regularization, user_weights, wmmse_iterations }: Params,
): Float64Array {
  const { users, rx } = link;
  switch (mode) {
    case "mrt":
      return maximumRatioPrecoder(link);
    case "zf":
      return zeroForcingPrecoder(link, power);
    case "rzf":
      return regularizedPrecoder(link, regularization ?? users * rx * link.noise / link.power);
    case "block_diagonalization":
      return blockDiagonalPrecoder(link, power).w;
    case "wmmse":
      return weightedMmsePrecoder(
        link,
        user_weights.length > 0 ? user_weights : new Float64Array(users).fill(1),
        wmmse_iterations,
      );
  }
}

function checkSizes({ users, rx, tx }: MuMimoProblem, { mode, user_weights }: Params): void {
  const refuse = (message: string, hint: string) => {
    throw new SvcError("params_conflict", message, { hint });
  };
  if (rx > 1 && (mode === "zf" || mode === "wmmse")) {
    refuse(`Cannot precode for users with ${rx} antennas by ${mode}`, "Set mode to block_diagonalization");
  }
  if (users * rx > tx && (mode === "zf" || mode === "block_diagonalization")) {
    refuse(
      `Cannot remove the interference of ${users * rx} receive antennas with ${tx} transmit antennas`,
      "Set mode to rzf, or use more tx_antennas",
    );
  }
  if (mode === "wmmse" && user_weights.length > 0 && user_weights.length !== users) {
    refuse(`Cannot use ${user_weights.length} weights for ${users} users`, "Give one weight per user in user_weights");
  }
}
