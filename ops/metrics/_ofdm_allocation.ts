/** An allocation with its channel state, for scoring, and delivered payload blocks. */
import { checkResourceElements, type OfdmState, ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { type InputArtifact, SvcError } from "../api.ts";
import { powers } from "../../lib/numeric/linalg/complex.ts";

/** Powers and gains of the elements of some states, each with the same budget and noise. */
export interface Allocated {
  readonly state: Pick<OfdmState, "noiseVariance" | "averagePowerBudget">;
  /** (grid, OFDM symbol) rows. */
  readonly states: number;
  readonly subcarriers: number;
  /** Power of each element, [state, subcarrier]. */
  readonly power: Float64Array;
  /** |h|² of each element. */
  readonly gain: Float64Array;
}

export interface AllocatedState extends Allocated {
  readonly state: OfdmState;
  /** Bits of each element under bit loading. */
  readonly loading?: Uint8Array;
}

/**
 * Reads allocation and state.
 * @throws SvcError `boundary_count_mismatch` unless there is one power per resource element, `boundary_value_invalid`
 *   for a power that is not finite, and the errors of reading a state
 */
export function allocatedState(stateInput: InputArtifact, allocation: InputArtifact): AllocatedState {
  const state = ofdmStateOf(stateInput);
  const states = state.grids * state.symbols, { subcarriers } = state;
  const { shape, data } = allocation.array(allocation.arrayNames.includes("power") ? "power" : undefined);
  if (shape.length !== 2 || shape[0] !== states || shape[1] !== subcarriers) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot score an allocation [${
        shape.join(", ")
      }] on a state of ${states} OFDM symbols × ${subcarriers} subcarriers`,
      { hint: "Wire the state of the transmission, and the allocation made for it" },
    );
  }
  const power = Float64Array.from(data as Float64Array);
  if (!power.every(Number.isFinite)) {
    throw new SvcError("boundary_value_invalid", "Cannot score an allocation with powers that are not finite");
  }
  const loading = allocation.arrayNames.includes("bits_per_symbol")
    ? Uint8Array.from(allocation.array("bits_per_symbol").data as Uint8Array)
    : undefined;
  return { state, states, subcarriers, power, gain: powers(state.h), loading };
}

/** The elements of one state, without a copy. */
export const rowOf = <T extends Float64Array | Uint8Array>(
  values: T,
  row: number,
  { subcarriers }: Allocated,
): T => values.subarray(row * subcarriers, (row + 1) * subcarriers) as T;

/** Checks that there are as many elements as symbols. @throws SvcError `boundary_count_mismatch` */
export function checkPlaced({ state }: AllocatedState, symbolCount: number): void {
  checkResourceElements(state, symbolCount);
}

/** log2(1 + p·g/N0) of each element; a negative power, which is not physical, counts as 0. */
export function shannonRates({ power, gain, state }: Allocated): Float64Array<ArrayBuffer> {
  return Float64Array.from(power, (p, i) => Math.log1p(Math.max(p, 0) * gain[i] / state.noiseVariance) * Math.LOG2E);
}
