/** Cases of twins besides those of the conformance suite: larger counts, per-symbol noise, sizes with an image measure. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput, bitsInput, someBits, symbolsInput } from "../../ops/inputs.ts";

const RX = "channel.rx_symbols.complex_numpy";
/** Values without a pattern, in -scale ... scale. */
const values = (count: number, scale = 1) =>
  Float32Array.from({ length: count }, (_, i) => scale * Math.sin(12.9898 * (i + 1) + (i % 7)));

/** Noisy symbols with a noise variance each. */
const noisy = (metadata: JsonObject = {}) => ({
  rx_symbols: symbolsInput(values(80, 1.2), { modulation_padding_bits: 1, ...metadata }, {
    kind: RX,
    companions: { noise_variance: ndarray("float32", values(40).map((value) => 0.05 + value * value)) },
  }),
});
const pictures = (size: number) => (salt: number) =>
  arrayInput(
    "image.batch.numpy",
    "uint8",
    Uint8Array.from({ length: size * size * 3 }, (_, i) => 128 + 60 * Math.sin(i / 9) + 40 * someBits(1, i + salt)[0]),
    [1, size, size, 3],
    { image_dtype: "uint8" },
  );

const realPictures = (salt: number) =>
  arrayInput(
    "image.batch.numpy",
    "float32",
    values(2 * 24 * 24, 0.4).map((value, i) => 0.5 + value * (1 - 0.1 * ((i * salt) % 5))),
    [2, 24, 24, 1],
    { image_dtype: "float32" },
  );

export const TWIN_CASES: { [operation: string]: ConformanceCase[] } = {
  "demodulation.digital_demodulate": ["bpsk", "qpsk", "qam16", "qam64", "qam256"].flatMap((modulation) =>
    ["max_log", "exact"].map((llr_method) => ({
      name: `${modulation}, ${llr_method}, noise per symbol`,
      inputs: () => noisy(),
      params: { modulation, llr_method },
    }))
  ),
  "modulation.digital_modulate": ["qam64", "qam256"].map((modulation) => ({
    name: `${modulation}, padded`,
    inputs: () => ({ bits: bitsInput(someBits(131)) }),
    params: { modulation },
  })),
  "metrics.image_reconstruction": [24, 176].map((size) => ({
    name: `${size} pixels`,
    inputs: () => ({ reference: pictures(size)(1), reconstruction: pictures(size)(2) }),
  })).concat({
    name: "24 pixels, binary32",
    inputs: () => ({ reference: realPictures(1), reconstruction: realPictures(2) }),
  }),
};
