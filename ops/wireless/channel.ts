/**
 * Wireless channel on complex symbols, by preset; formulas and draw order: _presets.ts. With an explicit channel state
 * the realisation is that of the state. phylib draws its presets like numpy.
 *
 * Shapes: symbols complex64 [n] -> rx_symbols complex64 [n]. Reference power per symbol is 1. After equalisation the
 * companion array noise_variance float32 [n] holds the variance per symbol, N0 / |h|² with one gain; without equalisation
 * channel_gain complex64 [n] holds h.
 *
 * ofdm_tdl with an explicit channel state: symbol i has the gain h of resource element i,
 *
 *     y = h·x + n        x̂ = y/h        variance N0/|h|²
 *
 * Draws: noise, one complex value per symbol.
 *
 * importance_scale s draws the noise of awgn with s times its standard deviation, and stores the weights that make rates unbiased
 * (lib/contract/importance.ts). The noise variance in metadata and metrics stays N0.
 */
import { checkResourceElements, ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { defineOperation, float, type InputArtifact, type JsonObject, SvcError, usedWhen, z } from "../api.ts";
import { importanceWeights, SAMPLING, scalesNoise, WEIGHTS } from "../../lib/contract/importance.ts";
import { complexNormal64Parallel } from "../../lib/numeric/parallel/draws.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { oneTap } from "./_ofdm.ts";
import {
  CHANNEL_DEFAULTS,
  checkCommon,
  noiseMetrics,
  OFDM_PRESETS,
  type Preset,
  PRESET_PARAMS,
  type PresetSettings,
  presetSettings,
  type Received,
  stateProblem,
  UNPROCESSED,
  usedBy,
} from "./_params.ts";
import { OFDM_STATE, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import {
  companionsOf,
  sourceItemCounts,
  symbolMetadata,
  symbolsArtifact,
  symbolsOf,
  travel,
} from "../../lib/artifact/values.ts";
import { PROFILE_MODELS, TDL_MODELS } from "../../lib/numeric/channel/delay_profile.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
import { CHANNEL_MATERIALIZATIONS, checkBackend } from "./_materializations.ts";
import { isMoving, MOTION_PARAMS, profileProblems } from "./_motion.ts";
import { BLOCK_PRESETS, type BlockPreset, transmit, transmitBlocks } from "./_presets.ts";
import { channelRecord, fadingUnit } from "./_record.ts";
import { gridLayout } from "../_ofdm_grid.ts";
import { sizeOfInput } from "../_same_shape.ts";

/** Relative tolerance between the two noise variances, which may come from separate Es/N0 parameters. */
const RELATIVE_TOLERANCE = 1e-9;

/**
 * Sends symbols through the realisation of a state.
 * @throws SvcError `boundary_count_mismatch` for a state with fewer elements than symbols, `ofdm_scenario_conflict` for
 *   a state with another noise variance
 */
function transmitExplicit(
  symbols: Float32Array,
  channelState: InputArtifact,
  { noiseVariance, threads }: Pick<PresetSettings, "noiseVariance" | "threads">,
  generator: Generator,
): Received {
  const state = ofdmStateOf(channelState);
  checkResourceElements(state, symbols.length / 2);
  if (Math.abs(state.noiseVariance - noiseVariance) > RELATIVE_TOLERANCE * noiseVariance) {
    throw new SvcError(
      "ofdm_scenario_conflict",
      `Cannot send with noise variance ${noiseVariance} over a state of noise variance ${state.noiseVariance}`,
      { hint: "Remove noise_variance of the channel state; its default is that of the wired channel" },
    );
  }
  const noise = complexNormal64Parallel(generator, symbols.length / 2, noiseVariance, { threads });
  return oneTap(symbols, noise, noiseVariance, { response: state.h, gainOf: (i) => i });
}

export default defineOperation({
  id: "wireless.channel",
  name: "Wireless channel on complex symbols",
  description: "Sends symbols through a preset channel and, by default, its receiver with perfect channel knowledge",
  inputs: { symbols: [SYMBOLS] },
  optionalInputs: { channel_state: [OFDM_STATE] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({
    ...PRESET_PARAMS,
    channel_state_mode: z.enum(["none", "explicit"]).default("none").meta(usedBy("ofdm_tdl"))
      .describe("explicit uses the realisation of a wired channel state"),
    fading_scope: z.enum(["symbol", "source_item"]).default(CHANNEL_DEFAULTS.fading_scope)
      .meta(usedBy("flat_rayleigh", "mimo_flat"))
      .describe("a gain (mimo_flat: matrix) per symbol (vector), or one per source item"),
    tdl_model: z.enum(TDL_MODELS).default(CHANNEL_DEFAULTS.tdl_model).meta(usedBy("ofdm_tdl", "ofdm_cdl"))
      .describe(
        "profile of TR 38.901, 7.7.2 for ofdm_tdl and 7.7.1 for ofdm_cdl, or of TS 38.101-4 with its own delays, or HST",
      ),
    ...MOTION_PARAMS,
    doppler_spectrum: MOTION_PARAMS.doppler_spectrum.meta(usedBy("ofdm_tdl", "urban_micro")),
    time_variation: MOTION_PARAMS.time_variation.meta(usedBy(...OFDM_PRESETS)),
    delay_spread_ns: z.number().nonnegative().default(CHANNEL_DEFAULTS.delay_spread_ns)
      .meta(usedWhen({ channel: ["ofdm_tdl", "ofdm_cdl"], tdl_model: [...PROFILE_MODELS] }))
      .describe("root mean square delay spread in ns, of ofdm_tdl and ofdm_cdl"),
    importance_scale: z.number().min(1).max(100).optional().meta(usedBy("awgn"))
      .describe("factor of the standard deviation of the noise of awgn for importance sampling; default 1, without"),
    importance_block_symbols: z.int().min(1).max(64).optional().meta(usedBy("awgn"))
      .describe(
        "symbols that share a weight of importance sampling: 1 (default) without a code, else those of a code word",
      ),
    normalize_channel: z.boolean().default(CHANNEL_DEFAULTS.normalize_channel)
      .meta(usedBy(...OFDM_PRESETS))
      .describe("scale the power-delay profile to mean power 1"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
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
    const problems = checkCommon(params, [...UNPROCESSED, ...OFDM_PRESETS]);
    const wired = connected.has("channel_state"), explicit = params.channel_state_mode === "explicit";
    if (wired !== explicit) problems.push(stateProblem(wired));
    if (explicit && params.receiver_processing === "none") {
      problems.push({
        message: "Cannot use an explicit channel state without its receiver",
        place: ["receiver_processing"],
        hint: "Set receiver_processing to matched, or channel_state_mode to none",
      });
    }
    if (explicit && (params.channel !== "ofdm_tdl" || params.wireless_backend === "numpy")) {
      problems.push({
        message: `Cannot run ${params.channel} on ${params.wireless_backend} with an explicit channel state`,
        place: ["channel_state_mode"],
        hint: "An explicit state needs channel ofdm_tdl and wireless_backend phylib or auto",
      });
    }
    if (["ofdm_tdl", "ofdm_cdl"].includes(params.channel) && !explicit) {
      problems.push(...profileProblems(params, params.channel === "ofdm_cdl"));
    }
    if (isMoving(params) && (explicit || !OFDM_PRESETS.includes(params.channel))) {
      problems.push({
        message: explicit
          ? "Cannot move an explicit channel state: it has its own motion"
          : `Cannot move ${params.channel}: it has no grid of OFDM symbols`,
        place: ["time_variation"],
        hint: explicit
          ? "Remove time_variation, and set mobility_kmh of the state"
          : `Set channel to ${OFDM_PRESETS.join(", ")}; ofdm_tdl with delay_spread_ns 0 fades flat`,
      });
    }
    if (scalesNoise(params) && params.channel !== "awgn") {
      problems.push({
        message: `Cannot scale the noise of ${params.channel}: importance sampling is for awgn`,
        place: ["importance_scale"],
        hint: "Set channel to awgn, or importance_scale to 1",
      });
    }
    return problems;
  },
  nativeKernels: (params) => params.channel === "awgn",
  // Other presets give a noise variance for every symbol.
  estimate({ channel, receiver_processing, channel_state_mode }, { symbols }) {
    const { shape } = symbols;
    if (channel_state_mode === "explicit" || shape === undefined) return {};
    if (channel === "awgn" || channel === "interference_awgn") return { rx_symbols: sizeOfInput(symbols, "complex64") };
    // Matched reception leaves the noise variance of each symbol; otherwise the gains are kept.
    return {
      rx_symbols: [["complex64", ...shape], [receiver_processing === "matched" ? "float32" : "complex64", ...shape]],
    };
  },
  twin: true,
  streaming: {
    allows: (params) =>
      params.channel === "awgn"
        ? portableOnly(params) && !scalesNoise(params)
        : inBlocks(params) && !isMoving(params) && params.channel_state_mode === "none",
    open({ inputs: { symbols: { metadata, length } }, params, generator, backend }) {
      checkBackend(params.channel, backend);
      if (metadata.dtype !== "complex64" || !inBlocks(params)) return null;
      const settings: PresetSettings = presetSettings(params, 1), { noiseVariance, equalise } = settings;
      if (OFDM_PRESETS.includes(params.channel)) checkGrid(metadata, settings);
      if (params.channel === "flat_rayleigh" && params.fading_scope === "source_item") {
        settings.fadingItems = sourceItemCounts(metadata, length) ?? itemsMissing();
      }
      const record = { ...channelRecord(params, backend, noiseVariance), ...fadingUnit(metadata, length, settings) };
      const form = { dtype: "complex64" as const, length, metadata: symbolMetadata(length, travel(metadata, record)) };
      // Symbols are finite: they are checked block by block when they are made.
      const { unit = 1, send } = transmitBlocks(length, params.channel, settings, generator);
      const beside = equalise ? "noise_variance" : "channel_gain", dtype = equalise ? "float32" : "complex64";
      const companions = params.channel === "awgn" ? {} : { [beside]: { dtype, shape: [length] } as const };
      return {
        arrays: { rx_symbols: { ...form, companions } },
        unit: { symbols: unit },
        next({ symbols: { data } }) {
          const { symbols, gains = null, effectiveVariance = gains } = send(data as Float32Array);
          return { rx_symbols: symbols, ...(effectiveVariance && { [`rx_symbols.${beside}`]: effectiveVariance }) };
        },
        end: () => ({ metrics: noiseMetrics(params, noiseVariance) }),
      };
    },
  },
  async run(context) {
    const { inputs, params, generator, backend, threads } = context;
    checkBackend(params.channel, backend, inputs.channel_state !== undefined);
    const symbols = symbolsOf(inputs.symbols);
    const { metadata } = inputs.symbols;
    const settings: PresetSettings = presetSettings(params, threads);
    if (OFDM_PRESETS.includes(params.channel)) checkGrid(metadata, settings);
    const perItem = params.fading_scope === "source_item" && ["flat_rayleigh", "mimo_flat"].includes(params.channel);
    if (perItem || params.channel === "urban_micro") {
      settings.sourceItems = sourceItemCounts(metadata, symbols.length / 2);
      if (perItem) settings.fadingItems = settings.sourceItems ?? itemsMissing();
    }
    const received = inputs.channel_state
      ? transmitExplicit(symbols, inputs.channel_state, settings, generator)
      : transmit(symbols, scaledNoise(params, settings), generator, await dataPlane(context));

    const { noise_variance: _noise, channel_gain: _gain, ...companions } = companionsOf(inputs.symbols);
    if (received.effectiveVariance) companions.noise_variance = ndarray("float32", received.effectiveVariance);
    if (received.gains) companions.channel_gain = ndarray("complex64", received.gains);
    const sampling = weigh(params, symbols, received, settings);
    if (sampling !== null) companions[WEIGHTS] = ndarray("float64", sampling.weights);
    const motion = inputs.channel_state ? "sum_of_sinusoids" : "block_static";
    if (inputs.channel_state) {
      const { symbols: ofdmSymbols, subcarriers } = ofdmStateOf(inputs.channel_state);
      settings.ofdm = { ...settings.ofdm, symbols: ofdmSymbols, subcarriers };
    }
    const record = {
      ...channelRecord(params, backend, sampling === null ? received.noiseVariance : settings.noiseVariance, motion),
      ...fadingUnit(metadata, symbols.length / 2, settings),
      ...sampling?.record,
    };
    return {
      outputs: { rx_symbols: symbolsArtifact(received.symbols, travel(metadata, record), companions) },
      metrics: noiseMetrics(params, sampling === null ? received.noiseVariance : settings.noiseVariance),
    };
  },
});

/** Whether the preset can send in blocks. */
const inBlocks = <P extends { channel: Preset }>(params: P): params is P & { channel: BlockPreset } =>
  BLOCK_PRESETS.some((preset) => preset === params.channel);

/** Settings whose noise has the variance that is drawn: N0·scale². */
function scaledNoise({ importance_scale: scale = 1 }: Sampling, settings: PresetSettings): PresetSettings {
  return scale === 1 ? settings : { ...settings, noiseVariance: settings.noiseVariance * scale ** 2 };
}

/** The weights of received symbols whose noise was scaled, with their record; null without scaling. */
function weigh(
  { importance_scale: scale = 1, importance_block_symbols: size = 1 }: Sampling,
  sent: Float32Array,
  { symbols: received }: Received,
  { noiseVariance: variance }: PresetSettings,
): { weights: Float64Array; record: JsonObject } | null {
  if (scale === 1) return null;
  if (sent.length / 2 % size !== 0) {
    throw new SvcError(
      "importance_block_mismatch",
      `Cannot cut ${sent.length / 2} symbols into blocks of ${size} symbols`,
      {
        hint: "Set importance_block_symbols to the symbols of a code word",
      },
    );
  }
  const noise = Float64Array.from(received, (value, i) => value - sent[i]);
  const weights = importanceWeights(noise, { variance, scale, symbols: size });
  return { weights, record: { [SAMPLING]: { scale: float(scale), units: weights.length, symbols: size } } };
}

interface Sampling {
  importance_scale?: number;
  importance_block_symbols?: number;
}

/** Symbols with pilots lie on grids of their own size. */
function checkGrid(metadata: JsonObject, { ofdm: { subcarriers, symbols } }: PresetSettings): void {
  const layout = gridLayout(metadata);
  if (layout === undefined) return;
  if (layout.ports > 1) {
    throw new SvcError("params_conflict", `Cannot send ${layout.ports} layers over a channel of one antenna`, {
      hint: "Use wireless.mimo_ofdm_channel, or set port_count to 1",
    });
  }
  if (layout.subcarriers === subcarriers && layout.symbols === symbols) return;
  const grid = `${layout.subcarriers} subcarriers and ${layout.symbols} OFDM symbols`;
  throw new SvcError("params_conflict", `Cannot send grids of ${grid} over grids of ${subcarriers} and ${symbols}`, {
    hint: `Set ofdm_fft_size to ${layout.subcarriers} and num_ofdm_symbols to ${layout.symbols}`,
  });
}

function itemsMissing(): never {
  throw new SvcError("boundary_count_mismatch", "Cannot fade per source item: the symbols declare no items", {
    hint: "Each source item must fill whole symbols; or set fading_scope to symbol",
  });
}
