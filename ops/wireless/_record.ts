/** Channel metadata of received symbols. */
import { float, type JsonObject } from "../api.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import { maximumDopplerHz } from "../../lib/numeric/channel/delay_profile.ts";

import { type ChannelParams, OFDM_PRESETS, type Preset, type PresetSettings } from "./_params.ts";

/**
 * Metadata that declare the fading block: the symbols that share one gain, matrix, grid or shadowing. Noise alone has none.
 * @param count symbols of the stream
 */
export function fadingUnit(
  metadata: JsonObject,
  count: number,
  { channel, fadingItems, sourceItems, txAntennas, ofdm }: PresetSettings,
): JsonObject {
  if (channel === "awgn" || channel === "interference_awgn") return {};
  // The tap of a train does not fade.
  if (channel === "ofdm_tdl" && ofdm.moving?.passing) return {};
  // In motion neighbouring gains are correlated over the whole stream.
  const whole = ofdm.moving !== null && OFDM_PRESETS.includes(channel);
  const size = whole
    ? count
    : channel === "flat_rayleigh"
    ? 1
    : channel === "mimo_flat"
    ? txAntennas
    : ofdm.symbols * ofdm.subcarriers;
  const blocks = declareUnit(
    metadata,
    "fading_block",
    fadingItems === undefined ? { size, total: count } : { counts: fadingItems },
  );
  if (channel !== "urban_micro") return blocks;
  const shadowing = declareUnit({ ...metadata, ...blocks }, "fading_block", { counts: sourceItems ?? [count] });
  return { ...blocks, ...shadowing };
}

/**
 * The record of a transmission: preset and settings under `wireless_channel`, the noise variance before equalisation at
 * the top level, for demodulators.
 */
export function channelRecord(
  params: ChannelParams & { fading_scope: string },
  backend: string,
  noiseVariance: number,
  dopplerModel: "block_static" | "sum_of_sinusoids" = "block_static",
): JsonObject {
  const ofdm = OFDM_PRESETS.includes(params.channel as Preset);
  // The scenario determines the profile of urban_micro.
  const profile: JsonObject = ofdm && params.channel !== "urban_micro"
    ? { tdl_model: params.tdl_model, delay_spread_ns: float(params.delay_spread_ns) }
    : {};
  return {
    noise_variance: float(noiseVariance),
    wireless_channel: {
      preset: params.channel,
      backend,
      noise_mode: params.noise_mode,
      snr_db: params.noise_mode === "fixed_variance" ? null : float(params.snr_db!),
      noise_variance: float(noiseVariance),
      receiver_processing: params.receiver_processing,
      fading_scope: params.fading_scope,
      tx_antennas: params.tx_antennas,
      rx_antennas: params.rx_antennas,
      ofdm_fft_size: params.ofdm_fft_size,
      num_ofdm_symbols: params.num_ofdm_symbols,
      subcarrier_spacing_khz: float(params.subcarrier_spacing_khz),
      carrier_frequency_ghz: float(params.carrier_frequency_ghz),
      interferers: params.interferers,
      interference_sir_db: float(params.interference_sir_db),
      mobility_kmh: float(params.mobility_kmh),
      maximum_doppler_hz: float(maximumDopplerHz(params.mobility_kmh, params.carrier_frequency_ghz)),
      doppler_model: params.time_variation === "doppler" ? movingModel(params) : dopplerModel,
      ...(params.time_variation === "doppler" ? motionRecord(params) : {}),
      ...profile,
      ...(ofdm ? { normalize_channel: params.normalize_channel } : {}),
    },
  };
}

const isTrain = ({ channel, tdl_model }: ChannelParams): boolean => channel === "ofdm_tdl" && tdl_model === "HST";

const movingModel = (params: ChannelParams) => isTrain(params) ? "hst_single_tap" : "sum_of_sinusoids";

/** The record of a motion. */
function motionRecord(params: ChannelParams): JsonObject {
  const { doppler_spectrum, start_time_s = 0, stream, hst_site_distance_m, hst_track_distance_m } = params;
  return {
    ...(isTrain(params)
      ? { hst_site_distance_m: float(hst_site_distance_m!), hst_track_distance_m: float(hst_track_distance_m!) }
      : { doppler_spectrum: doppler_spectrum ?? "jakes" }),
    start_time_s: float(start_time_s),
    ...(stream === undefined ? {} : { stream }),
  };
}
