/**
 * OFDM channel states: `h` complex64 [grid, OFDM symbol, subcarrier] as main array; noise_variance (N0 of a resource
 * element) and average_power_budget (mean power of a resource element) in the metadata. A state is one (grid, OFDM
 * symbol) row. Resource elements are in array order: subcarrier fastest, then OFDM symbol, then grid.
 */
import { SvcError } from "../contract/error.ts";
import type { InputArtifact, OutputArtifact } from "../contract/operation.ts";
import { float, type JsonObject } from "../contract/value.ts";
import { ndarray } from "../numeric/array/ndarray.ts";
import { metadataNumber, travel } from "./values.ts";

/** Keys with item boundaries of symbols, which a state does not have. */
const ITEM_KEYS = ["source_item_counts"];

export interface OfdmState {
  readonly grids: number;
  /** OFDM symbols of a grid. */
  readonly symbols: number;
  readonly subcarriers: number;
  /** Receive and transmit antennas, the last axes of a state of matrices. */
  readonly antennas?: readonly [number, number];
  /** Interleaved gains. */
  readonly h: Float32Array;
  readonly noiseVariance: number;
  readonly averagePowerBudget: number;
}

/**
 * Reads a channel state.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_non_finite`, `boundary_value_invalid`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ndarray } from "../numeric/array/ndarray.ts";
 * import { ofdmStateOf } from "./ofdm_state.ts";
 *
 * const array = ndarray("complex64", new Float32Array(2 * 14 * 64).fill(Math.SQRT1_2), [1, 14, 64]);
 * const metadata = { noise_variance: 0.1, average_power_budget: 1 };
 * const kind = "channel.ofdm_channel_state.numpy";
 * const input = { kind, metadata, arrayNames: ["h"], array: () => array, json: () => ({}) };
 * const { symbols, subcarriers, h, noiseVariance } = ofdmStateOf(input);
 * assert.deepEqual([symbols, subcarriers], [14, 64]);
 * const snr = (h[0] ** 2 + h[1] ** 2) / noiseVariance;
 * assert.ok(Math.abs(snr - 10) < 1e-5);
 * ```
 */
export function ofdmStateOf(input: InputArtifact): OfdmState {
  const { dtype, shape, data } = input.array(input.arrayNames.includes("h") ? "h" : undefined);
  const attempt = `Cannot use ${dtype} [${shape.join(", ")}] as an OFDM channel state`;
  if (dtype !== "complex64") throw new SvcError("boundary_dtype_invalid", `${attempt}: its gains are complex64`);
  if (shape.length !== 3) {
    throw new SvcError("boundary_rank_invalid", `${attempt}: its axes are grid, OFDM symbol and subcarrier`);
  }
  const h = data as Float32Array;
  if (!h.every(Number.isFinite)) {
    throw new SvcError("boundary_non_finite", `${attempt}: it has gains that are not finite`);
  }
  const [grids, symbols, subcarriers] = shape;
  const noiseVariance = positive(input.metadata, "noise_variance", attempt);
  return {
    grids,
    symbols,
    subcarriers,
    h,
    noiseVariance,
    averagePowerBudget: positive(input.metadata, "average_power_budget", attempt),
  };
}

function positive(metadata: JsonObject, key: string, attempt: string): number {
  const value = metadataNumber(metadata, key);
  if (value !== undefined && value > 0 && Number.isFinite(value)) return value;
  throw new SvcError("boundary_value_invalid", `${attempt}: its metadata have no positive ${key}`);
}

/**
 * A channel state as an output.
 * @param metadata metadata to keep; array keys and the state's own keys are set here
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ofdmStateArtifact } from "./ofdm_state.ts";
 *
 * const h = new Float32Array(2 * 14 * 64).fill(Math.SQRT1_2);
 * const state = { grids: 1, symbols: 14, subcarriers: 64, h, noiseVariance: 0.1, averagePowerBudget: 1 };
 * const { array, metadata } = ofdmStateArtifact(state, { csi_role: "actual" });
 * assert.deepEqual(array?.shape, [1, 14, 64]);
 * assert.deepEqual([metadata?.noise_variance, metadata?.csi_role], [0.1, "actual"]);
 * ```
 */
export function ofdmStateArtifact(state: OfdmState, metadata: JsonObject = {}): OutputArtifact {
  return {
    array: ndarray("complex64", state.h, [state.grids, state.symbols, state.subcarriers, ...state.antennas ?? []]),
    metadata: ofdmStateMetadata(state, metadata),
  };
}

/** The metadata of {@link ofdmStateArtifact}. */
export function ofdmStateMetadata(state: Omit<OfdmState, "h">, metadata: JsonObject = {}) {
  return travel(metadata, {
    noise_variance: float(state.noiseVariance),
    average_power_budget: float(state.averagePowerBudget),
    grid_count: state.grids,
    num_ofdm_symbols: state.symbols,
    ofdm_fft_size: state.subcarriers,
  }, ITEM_KEYS);
}

/**
 * Checks that the number of symbols does not exceed the resource elements of a state.
 * @throws SvcError `boundary_count_mismatch`
 */
export function checkResourceElements(
  state: Pick<OfdmState, "grids" | "symbols" | "subcarriers">,
  count: number,
): void {
  const elements = state.grids * state.symbols * state.subcarriers;
  if (elements >= count) return;
  throw new SvcError("boundary_count_mismatch", `Cannot place ${count} symbols on ${elements} resource elements`, {
    hint: "Raise num_ofdm_symbols, allocation_ofdm_symbols or capacity_multiplier",
  });
}
