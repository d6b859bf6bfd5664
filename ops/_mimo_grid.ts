/** Kinds of MIMO grids and channel states. */
import { artifactKind } from "../lib/contract/kinds.ts";

export const MIMO_RX_GRID = artifactKind("channel.mimo_rx_grid.numpy", {
  noise_variance: "number",
  layers: "count",
  rx_antennas: "count",
  symbol_count: "count",
  ofdm_fft_size: "count",
  num_ofdm_symbols: "count",
});
export const MIMO_STATE = artifactKind("channel.mimo_channel_state.numpy", {
  noise_variance: "number",
  layers: "count",
  rx_antennas: "count",
});
