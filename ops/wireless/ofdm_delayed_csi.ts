/**
 * Delayed channel knowledge of a transmitter. Each grid of the state is one trajectory of OFDM symbols: the first H are
 * reported, with estimation error, and the channel used begins D symbols after the last report,
 *
 *     transmitter_csi = h[0 … H-1] + e, e ~ CN(0, mean|h|²·10^(-csi_estimation_snr_db/10))
 *     actual_state    = h[H-1+D … H-2+D+A]
 *
 * with H = csi_history_length, D = feedback_delay_ofdm_symbols, A = allocation_ofdm_symbols and the mean over the
 * reported symbols of the grid. capture_temporal_stride is recorded for dataset capture, which keeps every n-th symbol
 * of the actual state; a run keeps all.
 *
 * Shapes: state complex64 [grid, symbol, F] -> transmitter_csi [grid, H, F], actual_state [grid, A, F].
 * Draws: the error [grid, history, subcarrier].
 */
import { OFDM_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation, float, seedParameter, SvcError, usedWhen, z } from "../api.ts";
import { type OfdmState, ofdmStateArtifact, ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { meanPower } from "../../lib/numeric/linalg/complex.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";

const KEYS = [
  "noise_variance",
  "average_power_budget",
  "csi_role",
  "csi_history_length",
  "feedback_delay_ofdm_symbols",
  "allocation_ofdm_symbols",
];

const WITH_ERROR = { add_estimation_noise: true };

export default defineOperation({
  id: "wireless.ofdm_delayed_csi",
  name: "Aged and noisy transmitter CSI",
  description: "Splits a channel trajectory into reported CSI and the later channel of the transmission",
  inputs: { state: [OFDM_STATE] },
  outputs: { transmitter_csi: OFDM_STATE, actual_state: OFDM_STATE },
  params: z.strictObject({
    csi_history_length: z.int().positive().default(1).describe("number of reported OFDM symbols"),
    feedback_delay_ofdm_symbols: z.int().nonnegative().default(8)
      .describe("delay from the last report to its first use"),
    allocation_ofdm_symbols: z.int().positive().default(24).describe("number of OFDM symbols per report"),
    add_estimation_noise: z.boolean().default(true)
      .describe("whether the reported channel has an error of csi_estimation_snr_db"),
    csi_estimation_snr_db: z.number().default(20).describe("ratio of channel power to estimation error power")
      .meta(usedWhen(WITH_ERROR, { unit: "dB" })),
    capture_temporal_stride: z.int().positive().default(1).describe("interval of symbols in dataset capture"),
    seed: seedParameter(undefined, WITH_ERROR),
  }),
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [
    { runner: "benchmark_run", backend: "numpy", implementation: "causal_same_trajectory_csi_aging" },
    { runner: "dataset_capture", backend: "numpy", implementation: "causal_same_trajectory_csi_aging_capture" },
  ],
  outputMetadataGuarantees: {
    transmitter_csi: { from: "state", keys: KEYS },
    actual_state: { from: "state", keys: KEYS },
  },
  estimate({ csi_history_length, allocation_ofdm_symbols }, { state: { shape } }) {
    if (shape === undefined) return {};
    const [grids, , subcarriers] = shape;
    return {
      transmitter_csi: [["complex64", grids, csi_history_length, subcarriers]],
      actual_state: [["complex64", grids, allocation_ofdm_symbols, subcarriers]],
    };
  },
  run({ inputs, params, generator }) {
    const state = ofdmStateOf(inputs.state);
    const { csi_history_length: history, feedback_delay_ofdm_symbols: delay, allocation_ofdm_symbols: used } = params;
    const needed = history - 1 + delay + used;
    if (state.symbols < needed) {
      throw new SvcError(
        "boundary_count_mismatch",
        `Cannot cut ${history} reports, a delay of ${delay} and ${used} OFDM symbols from a trajectory of ${state.symbols}`,
        { hint: `Set num_ofdm_symbols to at least ${needed}, or allocation_ofdm_symbols lower` },
      );
    }
    const reported = cut(state, 0, history);
    if (params.add_estimation_noise) addError(reported, dbToLinear(-params.csi_estimation_snr_db), generator);
    const facts = {
      ...inputs.state.metadata,
      csi_history_length: history,
      feedback_delay_ofdm_symbols: delay,
      allocation_ofdm_symbols: used,
      csi_estimation_snr_db: params.add_estimation_noise ? float(params.csi_estimation_snr_db) : null,
      capture_temporal_stride: params.capture_temporal_stride,
    };
    return {
      outputs: {
        transmitter_csi: ofdmStateArtifact(reported, { ...facts, csi_role: "transmitter" }),
        actual_state: ofdmStateArtifact(cut(state, history - 1 + delay, used), { ...facts, csi_role: "actual" }),
      },
    };
  },
});

/** Consecutive OFDM symbols of every grid. */
function cut(state: OfdmState, first: number, symbols: number): OfdmState {
  const row = 2 * state.subcarriers;
  const h = new Float32Array(state.grids * symbols * row);
  for (let grid = 0; grid < state.grids; grid++) {
    const from = (grid * state.symbols + first) * row;
    h.set(state.h.subarray(from, from + symbols * row), grid * symbols * row);
  }
  return { ...state, symbols, h };
}

/** Adds the error to each grid, with a variance relative to its mean power. */
function addError({ grids, h }: OfdmState, relative: number, generator: Generator): void {
  const size = h.length / grids;
  // Variance 2 gives parts of variance 1, which are scaled grid by grid.
  const drawn = generator.complexNormal64(h.length / 2, 2);
  for (let grid = 0; grid < grids; grid++) {
    const own = h.subarray(grid * size, (grid + 1) * size);
    const scale = Math.sqrt(meanPower(own) * relative / 2);
    for (let i = 0; i < size; i++) own[i] += scale * drawn[grid * size + i];
  }
}
