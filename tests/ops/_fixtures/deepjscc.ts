/** Conformance cases of the joint source-channel coder, with a stand-in for its networks. */
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { Model } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

export const LEARNED = { runtime: "learned_artifact", artifact_package_sha256: "0".repeat(64) };

/** Symbols at every eighth row and column: red and green as real parts, blue and 1 as imaginary parts. */
export const sampleModel: Model = ({ images }) => {
  const [count, , height, width] = images.shape, rows = Math.ceil(height / 8), columns = Math.ceil(width / 8);
  const data = new Float32Array(count * 4 * rows * columns).fill(1);
  for (let image = 0; image < count; image++) {
    for (let channel = 0; channel < 3; channel++) {
      for (let i = 0; i < rows * columns; i++) {
        const y = 8 * Math.floor(i / columns), x = 8 * (i % columns);
        data[(image * 4 + channel) * rows * columns + i] = Number(
          images.data[((image * 3 + channel) * height + y) * width + x],
        );
      }
    }
  }
  return { symbols_ri: ndarray("float32", data, [count, 4, rows, columns]) };
};

/** The inverse: every symbol as 8 x 8 pixels. */
export const blockModel: Model = ({ symbols_ri }) => {
  const [count, , rows, columns] = symbols_ri.shape, height = 8 * rows, width = 8 * columns;
  const data = Float32Array.from({ length: count * 3 * height * width }, (_, at) => {
    const x = at % width, y = Math.floor(at / width) % height, plane = Math.floor(at / width / height);
    const channel = 4 * Math.floor(plane / 3) + plane % 3;
    return Number(symbols_ri.data[(channel * rows + (y >> 3)) * columns + (x >> 3)]);
  });
  return { reconstruction: ndarray("float32", data, [count, 3, height, width]) as NdArray };
};

export function pictures(channels: 1 | 3 = 3, dtype: "uint8" | "float32" = "uint8") {
  const samples = Array.from({ length: 2 * 13 * 17 * channels }, (_, i) => (i * 31 + (i >> 3)) % 256);
  const data = dtype === "uint8" ? Uint8Array.from(samples) : Float32Array.from(samples, (value) => value / 255);
  return {
    kind: "image.batch.numpy",
    ...imagesArtifact({ count: 2, height: 13, width: 17, channels, dtype, data }),
  };
}

const received = (more = {}) =>
  symbolsInput(24, { symbol_shape: [2, 2, 2, 3], ...more }, { kind: "channel.rx_symbols.complex_numpy" });
const size = { image_count: 2, image_height: 13, image_width: 17, image_channels: 1, image_dtype: "uint8" };

const SCENE = { image_count: 2, image_height: 64, image_width: 64, image_channels: 3 };

export const DEEPJSCC_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    images: () => ({ images: pictures() }),
    "grey images": () => ({ images: pictures(1, "float32") }),
    "symbols with a size": () => ({ symbols: received(size) }),
    symbols: () => ({ symbols: received() }),
    "object features": () => ({
      symbols: symbolsInput(512, { ...SCENE, source_item_counts: [256, 256] }),
    }),
    features: () => ({ symbols: symbolsInput(16, { source_item_counts: [8, 8] }) }),
  },
  models: {
    classifier: { classifier: new URL("../../../recipes/models/svc-tiny-scene-features-v1", import.meta.url).pathname },
    detector: { detector: new URL("../../../recipes/models/svc-tiny-scene-objects-v1", import.meta.url).pathname },
  },
  model: {
    sampleModel,
    blockModel,
  },
});
