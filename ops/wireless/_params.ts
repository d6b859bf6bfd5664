/** Shared parameters of wireless.channel and wireless.digital_link, and constraints between them. */
import { dataPlaneParameter, type ParameterProblem, seedParameter, z } from "../api.ts";
import { ofdmSymbolInterval } from "../../lib/numeric/channel/delay_profile.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import type { TdlModel } from "../../lib/numeric/channel/delay_profile.ts";
import { type MotionParams, movingOf } from "./_motion.ts";

export const PRESETS = [
  "awgn",
  "flat_rayleigh",
  "interference_awgn",
  "mimo_flat",
  "ofdm_tdl",
  "ofdm_cdl",
  "urban_micro",
] as const;
export type Preset = typeof PRESETS[number];

/** Presets that allow received symbols without equalisation. */
export const UNPROCESSED: readonly Preset[] = ["awgn", "interference_awgn", "flat_rayleigh"];
export const OFDM_PRESETS: readonly Preset[] = ["ofdm_tdl", "ofdm_cdl", "urban_micro"];

/** Parameters of wireless.channel only, with the values of wireless.digital_link. */
export const CHANNEL_DEFAULTS = {
  fading_scope: "symbol",
  tdl_model: "A",
  delay_spread_ns: 100,
  normalize_channel: true,
} as const;

export const COMMON_PARAMS = {
  channel: z.enum(PRESETS).default("awgn").describe("channel preset"),
  noise_mode: z.enum(["snr_at_unit_power", "fixed_variance"]).default("snr_at_unit_power")
    .describe("noise from Es/N0 at unit mean symbol energy, or given as a variance"),
  snr_db: z.number().default(12).describe("Es/N0 in dB at unit mean symbol energy; N0 = 10^(-snr_db/10)")
    .meta({ "x-svc-effective-when": { noise_mode: "snr_at_unit_power" }, "x-svc-ui": { unit: "dB" } }),
  noise_variance: z.number().min(1e-12).optional().describe("total complex noise variance N0 per symbol")
    .meta({ "x-svc-effective-when": { noise_mode: "fixed_variance" } }),
  receiver_processing: z.enum(["matched", "none"]).default("matched")
    .describe("matched is the preset's receiver with perfect channel knowledge"),
  interferers: z.int().nonnegative().default(0).describe("QPSK interferers of interference_awgn"),
  interference_sir_db: z.number().default(18).describe("signal-to-interference ratio over all interferers in dB"),
  tx_antennas: z.int().positive().default(1).describe("transmit antennas, of mimo_flat"),
  rx_antennas: z.int().positive().default(1).describe("receive antennas, of mimo_flat"),
  ofdm_fft_size: z.int().positive().default(64).describe("subcarriers of an OFDM grid"),
  num_ofdm_symbols: z.int().positive().default(14).describe("OFDM symbols of a grid"),
  subcarrier_spacing_khz: z.number().positive().default(15).describe("subcarrier spacing in kHz, of the OFDM presets"),
  carrier_frequency_ghz: z.number().positive().default(3.5).describe("carrier frequency in GHz"),
  mobility_kmh: z.number().nonnegative().default(3).describe("speed of the receiver in km/h"),
  wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto").describe("auto is numpy, the portable backend"),
  data_plane_backend: dataPlaneParameter(),
  seed: seedParameter(),
};

/** The presets that use a parameter: forms fold it away under the others, where the lint warns of a value. */
export const usedBy = (...channel: Preset[]) => ({ "x-svc-ui": { used_when: { channel } } });
const OF_INTERFERENCE = usedBy("interference_awgn"),
  OF_ANTENNAS = usedBy("mimo_flat"),
  OF_GRID = usedBy(...OFDM_PRESETS);

/** The same for an operation with a choice of presets: each parameter with those that use it. */
export const PRESET_PARAMS = {
  ...COMMON_PARAMS,
  interferers: COMMON_PARAMS.interferers.meta(OF_INTERFERENCE),
  interference_sir_db: COMMON_PARAMS.interference_sir_db.meta(OF_INTERFERENCE),
  tx_antennas: COMMON_PARAMS.tx_antennas.meta(OF_ANTENNAS),
  rx_antennas: COMMON_PARAMS.rx_antennas.meta(OF_ANTENNAS),
  ofdm_fft_size: COMMON_PARAMS.ofdm_fft_size.meta(OF_GRID),
  num_ofdm_symbols: COMMON_PARAMS.num_ofdm_symbols.meta(OF_GRID),
  subcarrier_spacing_khz: COMMON_PARAMS.subcarrier_spacing_khz.meta(OF_GRID),
  carrier_frequency_ghz: COMMON_PARAMS.carrier_frequency_ghz.meta(OF_GRID),
  mobility_kmh: COMMON_PARAMS.mobility_kmh.meta(OF_GRID),
};

export type CommonParams = z.output<z.ZodObject<typeof COMMON_PARAMS>>;

/**
 * Conflicts between parameters.
 * @param unprocessed presets without their receiver
 */
export function checkCommon(params: CommonParams, unprocessed = UNPROCESSED): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const { channel } = params;
  if (params.receiver_processing === "none" && !unprocessed.includes(channel)) {
    problems.push({
      message: `Cannot use ${channel} without its receiver`,
      place: ["receiver_processing"],
      hint: `receiver_processing none is for ${unprocessed.join(", ")}`,
    });
  }
  problems.push(...noiseProblems(params));
  if (channel === "mimo_flat" && params.rx_antennas < params.tx_antennas) {
    problems.push({
      message: `Cannot separate ${params.tx_antennas} streams with ${params.rx_antennas} receive antennas`,
      place: ["rx_antennas"],
      hint: `Set rx_antennas to at least ${params.tx_antennas}`,
    });
  }
  return problems;
}

type NoiseParams = Pick<CommonParams, "noise_mode" | "noise_variance" | "snr_db">;

/** A fixed variance that is missing. */
export function noiseProblems({ noise_mode, noise_variance }: NoiseParams): ParameterProblem[] {
  return noise_mode !== "fixed_variance" || noise_variance !== undefined ? [] : [{
    message: "Cannot use a fixed noise variance without noise_variance",
    place: ["noise_variance"],
    hint: "Set noise_variance, or noise_mode to snr_at_unit_power",
  }];
}

/** Total complex noise variance N0 per symbol. */
export function noiseVariance({ noise_mode, noise_variance, snr_db }: NoiseParams): number {
  return noise_mode === "fixed_variance" ? noise_variance! : dbToLinear(-snr_db);
}

/** Metrics of a channel: the variance of noise and interference, and Es/N0 where it was given. */
export function noiseMetrics({ noise_mode, snr_db }: NoiseParams, variance: number) {
  return {
    "channel.noise_variance": variance,
    ...(noise_mode === "fixed_variance" ? {} : { "channel.snr_db": snr_db }),
  };
}

export interface Received {
  symbols: Float32Array;
  /** N0 and interference, before equalisation. */
  noiseVariance: number;
  /** Variance per symbol after equalisation. */
  effectiveVariance?: Float32Array;
  /** Complex gain per symbol without equalisation. */
  gains?: Float32Array;
}

export interface ChannelParams extends CommonParams, Partial<MotionParams> {
  tdl_model: TdlModel;
  delay_spread_ns: number;
  normalize_channel: boolean;
}

/**
 * The parameters of a channel in SI units.
 * @param threads number for draws; results do not depend on it
 */
export function presetSettings(params: ChannelParams, threads: number) {
  return {
    channel: params.channel,
    /** N0 of the receiver's own noise. */
    noiseVariance: noiseVariance(params),
    equalise: params.receiver_processing === "matched",
    interferers: params.interferers,
    interferenceSirDb: params.interference_sir_db,
    threads,
    txAntennas: params.tx_antennas,
    rxAntennas: params.rx_antennas,
    ofdm: {
      model: params.tdl_model,
      delaySpread: params.delay_spread_ns * 1e-9,
      normalise: params.normalize_channel,
      subcarriers: params.ofdm_fft_size,
      symbols: params.num_ofdm_symbols,
      spacing: params.subcarrier_spacing_khz * 1e3,
      carrierFrequencyGhz: params.carrier_frequency_ghz,
      /** Null for gains that are constant within a grid. */
      moving: movingOf(params as ChannelParams & MotionParams, ofdmSymbolInterval(params.subcarrier_spacing_khz)),
    },
  };
}

export type PresetSettings = ReturnType<typeof presetSettings> & {
  /** Symbols per source item if the fading is constant over an item; undefined: a gain per symbol. */
  fadingItems?: readonly number[];
  /** Symbols per source item if declared; shadowing is constant over an item. */
  sourceItems?: readonly number[];
};
export type OfdmSettings = PresetSettings["ofdm"];

/** The problem of a channel state that is wired and not used, or used and not wired. */
export function stateProblem(wired: boolean): ParameterProblem {
  return wired
    ? {
      message: "Cannot use the wired channel state with channel_state_mode none",
      place: ["channel_state_mode"],
      hint: "Set channel_state_mode to explicit, or remove the edge",
    }
    : {
      message: "Cannot use an explicit channel state without the input channel_state",
      place: ["channel_state_mode"],
      hint: "Wire channel_state, or set channel_state_mode to none",
    };
}
