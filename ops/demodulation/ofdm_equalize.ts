/**
 * One-tap equaliser of OFDM grids, with an estimated or true channel h and the variance of its error e:
 *
 *     σ² = N0 + e        x̂ = y/h        ν = σ²/|h|²
 *
 * at unit symbol power; e counts when include_estimation_error is true. The unbiased MMSE estimate over one tap has the same
 * x̂ and ν, so that both methods agree. Elements with |h|² below 1e-12 give x̂ = 0 and ν = 1e12. With pilot_context only data
 * symbols leave, without padding. The demapper takes ν from the companion noise_variance.
 *
 * phase_compensation: pilots turns each OFDM symbol back by its common phase (_common_phase.ts).
 *
 * Shapes: rx_symbols complex64 [grid · symbol · subcarrier], estimate complex64 [grid, symbol, subcarrier, 1, 1] or a state
 * [grid, symbol, subcarrier] -> rx_symbols complex64 [n], noise_variance float32 [n].
 */
import { OFDM_STATE, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, type InputArtifact, SvcError, z } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { symbolMetadata, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { resultArray } from "../../lib/numeric/array/shared_array.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { numpyWithTwin } from "../_backends.ts";
import {
  CHANNEL_ESTIMATE,
  checkGridLength,
  GRID_KEY,
  isComplex,
  noiseOf,
  PILOT_CONTEXT,
  type PilotContext,
  readContext,
} from "../_ofdm_grid.ts";
import { commonPhases, turnBack } from "./_common_phase.ts";

const LEAST_GAIN = 1e-12, ERASED_VARIANCE = 1e12;

export default defineOperation({
  id: "demodulation.ofdm_equalize",
  name: "OFDM equaliser",
  description: "Divides received grids by an estimated channel and gives the demapper the noise after it",
  inputs: { rx_symbols: [RX_SYMBOLS], estimate: [CHANNEL_ESTIMATE, OFDM_STATE] },
  optionalInputs: { pilot_context: [PILOT_CONTEXT] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({
    method: z.enum(["zf", "mmse"]).default("mmse").describe("over one tap both give the same symbols and variances"),
    include_estimation_error: z.boolean().default(true)
      .describe("add the error variance of the estimate to the noise variance"),
    phase_compensation: z.enum(["none", "pilots"]).optional()
      .describe("pilots turns each OFDM symbol back by its common phase; needs pilot_context; default none"),
  }),
  ...numpyWithTwin("full", "Smooth in symbols and estimate"),
  outputMetadataGuarantees: { rx_symbols: { from: "rx_symbols", keys: ["boundary_contract", "symbol_count"] } },
  estimate: (_params, { rx_symbols: { bytes } }) => ({ rx_symbols: 1.5 * bytes }),
  check: ({ phase_compensation }, connected) =>
    phase_compensation === "pilots" && !connected.has("pilot_context")
      ? [{
        input: "pilot_context",
        message: "Cannot compensate the common phase without pilots",
        hint: "Wire pilot_context, or set phase_compensation to none",
      }]
      : [],
  streaming: {
    allows: ({ phase_compensation }) => phase_compensation !== "pilots",
    whole: ["pilot_context"],
    companions: ["channel_gain", "noise_variance", "error_variance"],
    open({ inputs: { rx_symbols, estimate, pilot_context }, params }) {
      const noise = noiseOf(rx_symbols), context = pilot_context && contextOf(pilot_context, rx_symbols.length);
      const estimated = estimate.kind === CHANNEL_ESTIMATE.id, counts = params.include_estimation_error && estimated;
      if (
        !isComplex(rx_symbols) || !isComplex(estimate) || estimate.length !== rx_symbols.length ||
        estimated && estimate.shape.slice(3).join() !== "1,1"
      ) return null;
      const length = context?.layout.dataCount ?? rx_symbols.length;
      const metadata = travel(rx_symbols.metadata, {}, context === undefined ? [] : [GRID_KEY]);
      let left = length;
      return {
        arrays: {
          rx_symbols: {
            dtype: "complex64",
            length,
            metadata: symbolMetadata(length, metadata),
            companions: { noise_variance: { dtype: "float32", shape: [length] } },
          },
        },
        ...context && { unit: { rx_symbols: perGrid(context), estimate: perGrid(context) } },
        next({ rx_symbols: { data: y }, estimate: { data: h }, "estimate.error_variance": error }) {
          const used = counts ? error.data as Float32Array : undefined;
          const part = { y: y as Float32Array, h: h as Float32Array, noise, used };
          const all = context === undefined
            ? y.length / 2
            : y.length / 2 / perGrid(context) * context.dataPositions.length;
          const { symbols, variance } = equalised(part, Math.min(left, all), context);
          left -= variance.length;
          return { rx_symbols: symbols, "rx_symbols.noise_variance": variance };
        },
      };
    },
  },
  run({ inputs, params }) {
    const y = symbolsOf(inputs.rx_symbols), noise = noiseOf(inputs.rx_symbols);
    const { h, error } = gainsOf(inputs.estimate, y.length / 2);
    const context = inputs.pilot_context && contextOf(inputs.pilot_context, y.length / 2);
    const used = params.include_estimation_error ? error : undefined;
    const least = noise > 0 ? noise : 1;
    const turns = context && params.phase_compensation === "pilots"
      ? commonPhases(onePortPhase(context), {
        ...{ y, rx: 1, gains: h, matrixAt: (element) => element },
        noiseAt: (element) => least + (used?.[element] ?? 0),
      })
      : [];
    const count = context?.layout.dataCount ?? y.length / 2;
    const { symbols, variance } = equalised({ y, h, noise, used, turns }, count, context);
    const metadata = travel(inputs.rx_symbols.metadata, {}, context === undefined ? [] : [GRID_KEY]);
    return {
      outputs: { rx_symbols: symbolsArtifact(symbols, metadata, { noise_variance: ndarray("float32", variance) }) },
    };
  },
});

const perGrid = ({ layout: { symbols, subcarriers } }: PilotContext): number => symbols * subcarriers;

interface EqualiserInputs {
  y: Float32Array;
  h: Float32Array;
  noise: number;
  /** Error variances that count. */
  used: Float32Array | undefined;
  /** Phasors of OFDM symbols. */
  turns?: ReturnType<typeof commonPhases>;
}

/** Data symbols of grids and their variances. @param count of them */
function equalised({ y, h, noise, used, turns = [] }: EqualiserInputs, count: number, context?: PilotContext) {
  const { subcarriers } = context?.layout ?? { subcarriers: 1 }, positions = context?.dataPositions;
  const size = context ? perGrid(context) : count, perPart = positions?.length ?? count;
  const symbols = resultArray<Float32Array>(Float32Array, 2 * count),
    variance = resultArray<Float32Array>(Float32Array, count);
  for (let first = 0, base = 0; first < count; first += perPart, base += size) {
    const end = Math.min(first + perPart, count);
    for (let i = first; i < end; i++) {
      const at = base + (positions === undefined ? i : positions[i - first]);
      const hr = h[2 * at], hi = h[2 * at + 1], power = hr * hr + hi * hi;
      if (power < LEAST_GAIN) {
        variance[i] = ERASED_VARIANCE;
        continue;
      }
      const yr = y[2 * at], yi = y[2 * at + 1];
      symbols[2 * i] = (yr * hr + yi * hi) / power;
      symbols[2 * i + 1] = (yi * hr - yr * hi) / power;
      variance[i] = (used === undefined ? noise : noise + used[at]) / power;
      if (turns.length > 0) turnBack(symbols, i, turns[Math.floor(at / subcarriers)]);
    }
  }
  return { symbols, variance };
}

/** Gains and error variances of all elements. @throws SvcError for several antennas or another number of elements */
function gainsOf(input: InputArtifact, elements: number): { h: Float32Array; error?: Float32Array } {
  const arrays = arraysOf(input), estimated = input.kind === CHANNEL_ESTIMATE.id;
  const h = arrays.read(
    "complex64",
    estimated ? ["grid", "symbol", "subcarrier", 1, 1] : ["grid", "symbol", "subcarrier"],
  );
  if (h.length !== 2 * elements) {
    throw new SvcError("shape_mismatch", `Cannot equalise ${elements} symbols with ${h.length / 2} gains`, {
      hint: "Wire the symbols whose channel was estimated",
    });
  }
  const shape = ["grid", "symbol", "subcarrier", 1];
  return { h, ...(estimated ? { error: arrays.read("float32", shape, "error_variance") } : {}) };
}

/** The pilots and data of the grids. @throws SvcError `boundary_count_mismatch` for another number of elements */
function contextOf(input: InputArtifact, count: number): PilotContext {
  const context = readContext(input);
  checkGridLength(count, context.layout);
  return context;
}

/** @throws SvcError `params_conflict` for pilots of several ports */
function onePortPhase(context: PilotContext): PilotContext {
  if (context.ports === 1) return context;
  throw new SvcError("params_conflict", `Cannot compensate a common phase from pilots of ${context.ports} ports`, {
    hint: "Set port_count of modulation.ofdm_pilot_insert to 1, or use demodulation.mimo_detect",
  });
}
