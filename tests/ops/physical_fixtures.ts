/** Conformance cases of the physical layer: channels, states and receivers. */
import { ndarray } from "../../lib/numeric/ndarray.ts";
import type { FixtureCase } from "./fixtures.ts";
import { arrayInput, payloadInput, someBits, symbolsInput } from "./inputs.ts";

const QPSK = { modulation: "qpsk", bits_per_symbol: 2, modulation_padding_bits: 0 };
const ITEMS = { source_item_counts: [12, 20] };
const symbols = () => ({ symbols: symbolsInput(32, { ...QPSK, ...ITEMS }) });
const bits = () => ({ bits: payloadInput(someBits(64), { source_item_counts: [24, 40] }) });

const UNPROCESSED = ["awgn", "flat_rayleigh", "interference_awgn"];
const PRESETS = [...UNPROCESSED, "mimo_flat", "ofdm_tdl", "ofdm_cdl", "urban_micro"];
const ANTENNAS = { tx_antennas: 2, rx_antennas: 2 };
const GRID = { ofdm_fft_size: 5, num_ofdm_symbols: 3 };

/** Two grids of 3 OFDM symbols on 6 subcarriers. */
function state() {
  const gains = Float32Array.from({ length: 2 * 36 }, (_, i) => Math.cos(5 * i));
  return arrayInput("channel.ofdm_channel_state.numpy", "complex64", gains, [2, 3, 6], {
    noise_variance: 0.1,
    average_power_budget: 1,
  });
}

export const PHYSICAL_FIXTURES: Record<string, FixtureCase[]> = {
  "wireless.channel": [
    ...PRESETS.map((channel) => ({
      name: `${channel} matched`,
      inputs: symbols,
      params: { channel, interferers: 2, ...ANTENNAS, ...GRID },
    })),
    ...UNPROCESSED.map((channel) => ({
      name: `${channel} unprocessed`,
      inputs: symbols,
      params: { channel, receiver_processing: "none", interferers: 2 },
    })),
    ...["flat_rayleigh", "mimo_flat"].map((channel) => ({
      name: `${channel}, a gain per item`,
      inputs: symbols,
      params: { channel, fading_scope: "source_item", ...ANTENNAS },
    })),
    {
      name: "fixed variance, companions",
      inputs: () => ({
        symbols: symbolsInput(4, {}, { companions: { layer: ndarray("uint8", Uint8Array.of(1)) } }),
      }),
      params: { noise_mode: "fixed_variance", noise_variance: 0.01, wireless_backend: "phylib" },
    },
    {
      name: "explicit state",
      inputs: () => ({ ...symbols(), channel_state: state() }),
      params: { channel: "ofdm_tdl", channel_state_mode: "explicit", snr_db: 10 },
    },
  ],
  "wireless.digital_link": PRESETS.map((channel) => ({
    name: channel,
    inputs: bits,
    params: { channel, snr_db: -8, ...ANTENNAS, ...GRID },
  })),
};
