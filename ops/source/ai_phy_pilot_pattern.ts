/**
 * Known pilots of the transmit antennas:
 *
 *     unit   1 on every subcarrier, for one antenna
 *     comb   QPSK pilots, antenna t on the subcarriers k = t mod pilot_spacing and silent elsewhere, so that no two antennas
 *            share one
 *
 * Shapes: pilots complex64 [tx, subcarrier]. Draws: comb integers(0, 4, [tx, subcarrier]), a label for every cell.
 */
import { defineOperation, seedParameter, z } from "../api.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { combPilots, combProblems, PILOT_PATTERN } from "../_channel_estimation.ts";

export default defineOperation({
  id: "source.ai_phy_pilot_pattern",
  name: "Pilot layout generator",
  description: "Assigns pilots to subcarriers and antennas",
  outputs: { pilots: PILOT_PATTERN },
  params: z.strictObject({
    scenario: z.enum(["unit", "comb"]).default("unit").describe(
      "unit: 1 on every subcarrier of one antenna; comb: QPSK pilots of one antenna per subcarrier",
    ),
    tx_antennas: z.int().positive().default(1).describe("transmit antennas"),
    subcarriers: z.int().positive().default(1).describe("subcarriers of the pattern"),
    pilot_spacing: z.int().positive().default(4).meta({ "x-svc-used-when": { scenario: "comb" } })
      .describe("spacing of an antenna's pilots in subcarriers"),
    seed: seedParameter(0),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  check(params) {
    if (params.scenario === "comb") return combProblems(params, params.pilot_spacing);
    if (params.tx_antennas === 1) return [];
    return [{
      code: "params_conflict",
      message: `Cannot separate ${params.tx_antennas} antennas with the same pilots`,
      place: ["scenario"],
      hint: "Use the scenario comb for several antennas",
    }];
  },
  estimate: ({ tx_antennas, subcarriers }) => ({ pilots: [["complex64", tx_antennas, subcarriers]] }),
  run(context) {
    const { scenario, tx_antennas: tx, subcarriers, pilot_spacing: spacing } = context.params;
    const pilots = scenario === "comb"
      ? combPilots(tx, subcarriers, spacing, context.generator)
      : Float32Array.from({ length: 2 * subcarriers }, (_, i) => 1 - i % 2);
    return {
      outputs: {
        pilots: {
          array: ndarray("complex64", pilots, [tx, subcarriers]),
          metadata: {
            pilot_pattern: scenario,
            tx_antennas: tx,
            subcarriers,
            pilot_spacing: scenario === "comb" ? spacing : 1,
          },
        },
      },
    };
  },
});
