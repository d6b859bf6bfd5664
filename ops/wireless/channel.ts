/**
 * Wireless channel on complex symbols, by preset; formulas and draw order: _presets.ts.
 *
 * Shapes: symbols complex64 [n] -> rx_symbols complex64 [n]. Reference power per symbol is 1. After equalisation the
 * companion array noise_variance float32 [n] holds N0 / |h|²; without it channel_gain complex64 [n] holds h.
 */
import { OFDM_STATE, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { SvcError } from "../../lib/contract/error.ts";
import type { ParameterProblem } from "../../lib/contract/operation.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { companionsOf, sourceItemCounts, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { CHANNEL_MATERIALIZATIONS } from "./_materializations.ts";
import { checkCommon, COMMON_PARAMS, noiseVariance } from "./_params.ts";
import { transmit } from "./_presets.ts";
import { channelRecord } from "./_record.ts";

export default defineOperation({
  id: "wireless.channel",
  name: "Wireless channel on complex symbols",
  description: "Sends symbols through a preset channel and, unless told otherwise, its perfect-knowledge receiver",
  inputs: { symbols: [SYMBOLS] },
  optionalInputs: { channel_state: [OFDM_STATE] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({
    ...COMMON_PARAMS,
    channel_state_mode: z.enum(["none", "explicit"]).default("none")
      .describe("explicit takes the realisation from a wired channel state"),
    fading_scope: z.enum(["symbol", "source_item"]).default("symbol")
      .describe("a gain per symbol, or one per source item"),
    tdl_model: z.enum(["A", "B", "C", "D", "E"]).default("A").describe("profile of TR 38.901 7.7.2"),
    delay_spread_ns: z.number().nonnegative().default(100),
    normalize_channel: z.boolean().default(true).describe("scale the power-delay profile to mean power 1"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: {
    benchmark_run: ["numpy", "phylib"],
    dataset_capture: ["numpy", "phylib"],
    differentiable_export: ["torch", "phylib"],
  },
  equivalence: { type: "statistical", reason: "Only for equal preset, receiver processing and channel-state mode" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: CHANNEL_MATERIALIZATIONS,
  outputMetadataGuarantees: {
    rx_symbols: {
      from: "symbols",
      keys: ["boundary_contract", "symbol_count", "noise_variance", "wireless_channel"],
    },
  },
  check(params, connected) {
    const problems = checkCommon(params);
    const wired = connected.has("channel_state"), explicit = params.channel_state_mode === "explicit";
    if (wired !== explicit) problems.push(stateProblem(wired));
    if (explicit && (params.channel !== "ofdm_tdl" || params.wireless_backend === "numpy")) {
      problems.push({
        message: `Cannot run ${params.channel} on ${params.wireless_backend} with an explicit channel state`,
        place: ["channel_state_mode"],
        hint: "An explicit state needs channel ofdm_tdl and wireless_backend phylib or auto",
      });
    }
    return problems;
  },
  threadSafe: true,
  run({ inputs, params, generator, backend }) {
    const symbols = symbolsOf(inputs.symbols);
    const { metadata } = inputs.symbols;
    const perItem = params.fading_scope === "source_item" && params.channel === "flat_rayleigh";
    const received = transmit(symbols, {
      channel: params.channel,
      noiseVariance: noiseVariance(params),
      equalise: params.receiver_processing === "matched",
      interferers: params.interferers,
      interferenceSirDb: params.interference_sir_db,
      fadingItems: perItem ? itemsFor(metadata, symbols.length / 2) : undefined,
    }, generator);

    const { noise_variance: _noise, channel_gain: _gain, ...companions } = companionsOf(inputs.symbols);
    if (received.effectiveVariance) companions.noise_variance = ndarray("float32", received.effectiveVariance);
    if (received.gains) companions.channel_gain = ndarray("complex64", received.gains);
    const record = channelRecord(params, backend, received.noiseVariance);
    return {
      outputs: { rx_symbols: symbolsArtifact(received.symbols, travel(metadata, record), companions) },
      metrics: {
        "channel.noise_variance": received.noiseVariance,
        ...(params.noise_mode === "snr_at_unit_power" ? { "channel.snr_db": params.snr_db } : {}),
      },
    };
  },
});

function stateProblem(wired: boolean): ParameterProblem {
  return wired
    ? {
      message: "Cannot use the wired channel state with channel_state_mode none",
      place: ["channel_state_mode"],
      hint: "Set channel_state_mode to explicit, or remove the edge",
    }
    : {
      message: "Cannot take the channel from a state that is not wired",
      place: ["channel_state_mode"],
      hint: "Wire channel_state, or set channel_state_mode to none",
    };
}

function itemsFor(metadata: JsonObject, count: number): number[] {
  const items = sourceItemCounts(metadata, count);
  if (items !== undefined) return items;
  throw new SvcError("boundary_count_mismatch", "Cannot fade per source item: the symbols declare no items", {
    hint: "Items end where symbols end only if each fills whole symbols; fading_scope symbol needs none",
  });
}
