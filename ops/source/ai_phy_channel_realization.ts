/**
 * Channels for estimation, of mean power 1 per antenna pair, independent between examples and pairs:
 *
 *     pilot_awgn, flat_siso         one tap, the same on every subcarrier; flat_siso has one antenna at each end
 *     mimo_ofdm_pilot, mimo_ofdm    channel_tap_count taps of powers e^{-l} (of sum 1), H_k = Σ_l h_l·exp(-j2πkl/F)
 *     mimo_ofdm_3gpp_tdl            static taps of TDL-A … TDL-E of TR 38.901, subcarriers centred on the carrier
 *     mimo_ofdm on phylib           the same profiles, taps as sums of sinusoids at t = 0: lib/numeric/channel/delay_profile.ts
 *
 * An example is one OFDM symbol, so mobility only determines maximum_doppler_hz in the metadata.
 *
 * Shapes: channel complex64 [example, rx, tx, subcarrier]. Draws: complex taps [example, rx, tx, tap]; on phylib random() for the
 * angles [example, rx, tx, tap, 20], then for the phases.
 */
import { defineOperation, float, seedParameter, z } from "../api.ts";
import {
  frequencyResponse,
  maximumDopplerHz,
  movingTaps,
  ofdmSymbolInterval,
  PROFILE_MODELS,
  staticTaps,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import { executed } from "../_backends.ts";
import { CHANNEL_REALIZATION, channelArtifact, syntheticChannel } from "../_channel_estimation.ts";

const FLAT: readonly string[] = ["pilot_awgn", "flat_siso"];

export default defineOperation({
  id: "source.ai_phy_channel_realization",
  name: "Channel truth generator",
  description: "Draws channels for estimation",
  outputs: { channel: CHANNEL_REALIZATION },
  params: z.strictObject({
    scenario: z.enum(["pilot_awgn", "flat_siso", "mimo_ofdm_pilot", "mimo_ofdm", "mimo_ofdm_3gpp_tdl"])
      .default("pilot_awgn").describe("channel model of the examples"),
    example_count: z.int().positive().default(32).describe("number of channel realisations"),
    rx_antennas: z.int().positive().default(1).describe("receive antennas"),
    tx_antennas: z.int().positive().default(1).describe("transmit antennas"),
    subcarriers: z.int().positive().default(1).describe("subcarriers of a realisation"),
    channel_tap_count: z.int().positive().default(4).describe("taps of the synthetic profile of mimo_ofdm"),
    tdl_model: z.enum(PROFILE_MODELS).default("C").describe("profile of TR 38.901 7.7.2"),
    delay_spread_ns: z.number().nonnegative().default(300).describe(
      "root mean square delay spread in ns, of the TDL profiles",
    ),
    normalize_channel: z.boolean().default(true).describe("scale the TDL profile to mean power 1"),
    subcarrier_spacing_khz: z.number().positive().default(30).describe("subcarrier spacing in kHz"),
    carrier_frequency_ghz: z.number().positive().default(3.5).describe("carrier frequency in GHz"),
    mobility_kmh: z.number().nonnegative().default(30).describe("speed of the receiver in km/h"),
    wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto").describe(
      "auto is numpy, the portable backend",
    ),
    seed: seedParameter(0),
  }),
  backends: {
    benchmark_run: ["numpy", "phylib"],
    dataset_capture: ["numpy", "phylib"],
    differentiable_export: ["torch", "phylib"],
  },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [
    ...executed("numpy", "numpy_channel_realization"),
    ...executed("phylib", "phylib_3gpp_tdl_ofdm_channel", { scenario: "mimo_ofdm" }),
  ],
  check: ({ scenario, rx_antennas: rx, tx_antennas: tx }) =>
    scenario !== "flat_siso" || (rx === 1 && tx === 1) ? [] : [{
      code: "params_conflict",
      message: `Cannot draw a single-antenna channel with ${tx} transmit and ${rx} receive antennas`,
      place: ["scenario"],
      hint: "Use the scenario mimo_ofdm for several antennas",
    }],
  estimate: ({ example_count: n, rx_antennas: rx, tx_antennas: tx, subcarriers: k }) => ({
    channel: [["complex64", n, rx, tx, k]],
  }),
  run({ params, generator, backend }) {
    const { scenario, subcarriers, rx_antennas: rx, tx_antennas: tx, example_count: examples } = params;
    const sizes = { examples, rx, tx, subcarriers };
    const dopplerHz = maximumDopplerHz(params.mobility_kmh, params.carrier_frequency_ghz);
    const tdl = backend === "phylib" || scenario === "mimo_ofdm_3gpp_tdl";
    const tapCount = FLAT.includes(scenario) ? 1 : params.channel_tap_count;
    return {
      outputs: {
        channel: channelArtifact(tdl ? profiled() : syntheticChannel(sizes, tapCount, generator), sizes, {
          scenario,
          channel_model: tdl ? `TDL-${params.tdl_model}` : tapCount === 1 ? "flat" : "exponential",
          subcarrier_spacing_khz: float(params.subcarrier_spacing_khz),
          maximum_doppler_hz: float(tdl ? dopplerHz : 0),
          ...(tdl ? { delay_spread_ns: float(params.delay_spread_ns) } : { channel_tap_count: tapCount }),
        }),
      },
    };

    function profiled(): Float64Array {
      const delaySpread = params.delay_spread_ns * 1e-9, pairs = examples * rx * tx;
      const profile = tdlProfile(params.tdl_model, { delaySpread, normalise: params.normalize_channel });
      const motion = { dopplerHz, interval: ofdmSymbolInterval(params.subcarrier_spacing_khz), samples: 1 };
      const taps = backend === "phylib"
        ? movingTaps(profile, pairs, motion, generator)
        : staticTaps(profile, pairs, generator);
      return frequencyResponse(taps, profile, { count: subcarriers, spacing: params.subcarrier_spacing_khz * 1e3 });
    }
  },
});
