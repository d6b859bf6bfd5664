/** Conformance cases of the linear analog image code. */
import { symbolsInput } from "../inputs.ts";
import { pictures } from "./deepjscc.ts";
import { casesOf } from "./cases.ts";

const sent = {
  image_count: 2,
  image_height: 13,
  image_width: 17,
  image_channels: 1,
  image_dtype: "uint8",
  analog_block_size: 8,
  analog_pilot_count: 2,
  analog_pixel_correlation: 0.95,
  noise_variance: 0.1,
  source_item_counts: [12, 12],
};
const received = (more = {}) => symbolsInput(24, { ...sent, ...more }, { kind: "channel.rx_symbols.complex_numpy" });

export const LINEAR_ANALOG_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    images: () => ({ images: pictures() }),
    "grey images": () => ({ images: pictures(1, "float32") }),
    symbols: () => ({ symbols: received() }),
    "symbols in colour": () => ({
      symbols: received({ image_channels: 3, image_dtype: "float32" }),
    }),
  },
});
