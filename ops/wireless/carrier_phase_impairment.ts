/**
 * Residual carrier phase: symbol k of a block is rotated. A block is a source item (or all symbols without declared items);
 * with phase_scope symbol it is one symbol, whose phase is independent of the others,
 *
 *     y_k = x_k·exp(jθ_k),  θ_k = θ_0 + 2π·f·k + Σ_{i=0…k} w_i,
 *
 * with θ_0 and the frequency offset f (cycles per symbol) uniform per block and w_i ~ N(0, std²), a random walk.
 *
 * Shapes: rx_symbols complex64 [n] -> rx_symbols complex64 [n], phase_truth float64 [n], θ in radians, not wrapped.
 * Draws: phases, offsets (per block), then increments (per symbol).
 *
 * Source: Meyr, Moeneclaey and Fechtel, Digital Communication Receivers, 1998, ch. 5.
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type JsonObject, type ParameterProblem, seedParameter, z } from "../api.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import {
  companionsOf,
  sourceItemCounts,
  symbolMetadata,
  symbolsArtifact,
  symbolsOf,
  travel,
} from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { alteredInBlocks, SIGNAL_COMPANIONS } from "../_altered_blocks.ts";
import { sizeOfInput } from "../_same_shape.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";

const PARAMS = z.strictObject({
  initial_phase_min_rad: z.number().default(-Math.PI).describe("least phase at the start of an item in rad"),
  initial_phase_max_rad: z.number().default(Math.PI).describe("largest phase at the start of an item in rad"),
  cfo_min_cycles_per_symbol: z.number().default(-0.01).describe("smallest frequency offset"),
  cfo_max_cycles_per_symbol: z.number().default(0.01).describe("largest frequency offset"),
  phase_noise_increment_std_rad: z.number().nonnegative().default(0.04)
    .describe("standard deviation of the random walk in rad per symbol"),
  phase_scope: z.enum(["source_item", "symbol"]).optional()
    .describe("block with one initial phase, frequency offset and random walk; source_item (default) or symbol"),
  seed: seedParameter(0),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "wireless.carrier_phase_impairment",
  name: "Residual carrier phase distortion",
  description: "Rotates received symbols by initial phase, frequency offset and phase noise",
  inputs: { rx_symbols: [RX_SYMBOLS] },
  outputs: { rx_symbols: RX_SYMBOLS, phase_truth: "channel.carrier_phase_truth.numpy" },
  params: PARAMS,
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: {
    rx_symbols: { from: "rx_symbols", keys: ["boundary_contract", "symbol_count", "carrier_phase_impairment"] },
  },
  check(params) {
    return [
      ...ordered(params, "initial_phase_min_rad", "initial_phase_max_rad"),
      ...ordered(params, "cfo_min_cycles_per_symbol", "cfo_max_cycles_per_symbol"),
    ];
  },
  twin: true,
  estimate: (_params, { rx_symbols }) => ({
    rx_symbols: sizeOfInput(rx_symbols, "complex64"),
    phase_truth: rx_symbols.bytes,
  }),
  streaming: {
    companions: SIGNAL_COMPANIONS,
    // Phases of single symbols are drawn before all increments.
    allows: ({ phase_scope }) => phase_scope !== "symbol",
    open({ inputs: { rx_symbols: input }, params, generator }) {
      const { length } = input,
        { metadata, truth, metrics, next } = rotation(input.metadata, length, params, generator);
      let phases: Float64Array;
      const stream = alteredInBlocks("rx_symbols", input, {
        metadata: symbolMetadata(length, metadata),
        alter(symbols) {
          const made = next(symbols);
          phases = made.phases;
          return made.turned;
        },
      });
      return stream && {
        ...stream,
        arrays: { ...stream.arrays, phase_truth: { dtype: "float64", length, metadata: truth } },
        next: (...about) => ({ ...stream.next!(...about), phase_truth: phases }),
        end: () => ({ metrics }),
      };
    },
  },
  run({ inputs: { rx_symbols: input }, params, generator }) {
    const symbols = symbolsOf(input), count = symbols.length / 2;
    const { metadata, truth, metrics, next } = rotation(input.metadata, count, params, generator);
    const { turned, phases } = next(symbols);
    return {
      outputs: {
        rx_symbols: symbolsArtifact(turned, metadata, companionsOf(input)),
        phase_truth: { array: ndarray("float64", phases), metadata: truth },
      },
      metrics,
    };
  },
});

/** The rotation of `count` symbols: metadata of the outputs, metrics, and what turns the next symbols. */
function rotation(metadata: JsonObject, count: number, params: Params, generator: Generator) {
  const declared = sourceItemCounts(metadata, count), single = params.phase_scope === "symbol";
  const items = single ? Array<number>(count).fill(1) : declared ?? [count];
  const starts = generator.uniform(params.initial_phase_min_rad, params.initial_phase_max_rad, items.length);
  const offsets = generator.uniform(params.cfo_min_cycles_per_symbol, params.cfo_max_cycles_per_symbol, items.length);
  const { seed: _seed, phase_scope: _scope, ...scenario } = params;
  const settings = Object.fromEntries(Object.entries(scenario).map(([key, value]) => [key, float(value)]));
  const unit = single ? {} : declareUnit(metadata, "fading_block", { counts: items });
  let item = 0, k = 0, walk = 0;
  return {
    metadata: travel(metadata, { carrier_phase_impairment: settings, ...unit }),
    truth: { unit: "rad", ...(declared === undefined ? {} : { source_item_counts: declared }) },
    metrics: {
      "channel.carrier.cfo_abs_mean_cycles_per_symbol": items.length === 0 ? 0 : mean(offsets.map(Math.abs)),
    },
    next(symbols: Float32Array) {
      const phases = generator.normal(0, params.phase_noise_increment_std_rad, symbols.length / 2);
      const turned = new Float32Array(symbols.length);
      for (let at = 0; at < phases.length; at++, k++) {
        for (; k === items[item]; item++) k = walk = 0;
        walk += phases[at];
        const phase = starts[item] + 2 * Math.PI * offsets[item] * k + walk;
        const real = Math.cos(phase), imaginary = Math.sin(phase);
        phases[at] = phase;
        turned[2 * at] = symbols[2 * at] * real - symbols[2 * at + 1] * imaginary;
        turned[2 * at + 1] = symbols[2 * at] * imaginary + symbols[2 * at + 1] * real;
      }
      return { turned, phases };
    },
  };
}

function ordered<Key extends string>(params: Record<Key, number>, least: Key, most: Key): ParameterProblem[] {
  if (params[least] <= params[most]) return [];
  return [{
    message: `Cannot draw between ${params[least]} and ${params[most]}: the smallest value is above the largest`,
    place: [least],
    hint: `Set ${least} to at most ${most}`,
  }];
}
