/** Conformance cases of the operations on files of conventional image codecs. */
import webpAvif from "../../../ops/codec/webp_avif.ts";
import jpeg from "../../../ops/codec/jpeg.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { runOperation } from "../harness.ts";

const [modelWebpEncode, , modelAvifEncode] = webpAvif;

const [modelJpegEncode] = jpeg;

function images() {
  const shape = { count: 2, height: 17, width: 23, channels: 3, dtype: "uint8" as const };
  const data = Uint8Array.from({ length: 2 * 17 * 23 * 3 }, (_, i) => (i * 7 + (i >> 4) * 5) % 251);
  return { kind: "image.batch.numpy", ...imagesArtifact({ ...shape, data }) };
}

const payload = async (params: JsonObject, encode = modelJpegEncode) => {
  const { outputs } = await runOperation(encode, { inputs: { images: images() }, params });
  return { bits: outputs.bits };
};

const STRONG = { wire_format: "compact_binary_v1", stream: "abbreviated", half_size: true };

export const JPEG_FIXTURES = {
  "channel.jpeg_capacity_oracle": [
    // The images do not fit, or do: what arrives depends on the gain of each.
    { inputs: () => ({ images: images() }), params: { channel_uses_per_pixel: 4 }, stochastic: false },
    {
      inputs: () => ({ images: images() }),
      params: { channel_model: "slow_rayleigh", channel_uses_per_pixel: 4 },
    },
    { inputs: () => ({ images: images() }), params: { stream: "abbreviated", half_size: true }, stochastic: false },
  ],
  "model.jpeg_encode": [
    { inputs: () => ({ images: images() }) },
    { inputs: () => ({ images: images() }), params: { wire_format: "compact_binary_v1", progressive: true } },
    { inputs: () => ({ images: images() }), params: { ...STRONG, target_bpp: 8 } },
  ],
  "model.jpeg_decode": [
    { inputs: () => payload({}) },
    { inputs: () => payload({ wire_format: "compact_binary_v1" }) },
    { inputs: () => payload({ ...STRONG, channel_uses_per_pixel: 4, fill_budget: true }) },
  ],
  "model.webp_encode": [
    { inputs: () => ({ images: images() }) },
    { inputs: () => ({ images: images() }), params: { ...STRONG, target_bpp: 4 } },
  ],
  "model.webp_decode": [
    { inputs: () => payload({}, modelWebpEncode) },
    { inputs: () => payload({ ...STRONG, channel_uses_per_pixel: 4, fill_budget: true }, modelWebpEncode) },
  ],
  "model.avif_encode": [
    { inputs: () => ({ images: images() }) },
    { inputs: () => ({ images: images() }), params: { ...STRONG, target_bpp: 4 } },
  ],
  "model.avif_decode": [
    { inputs: () => payload({}, modelAvifEncode) },
    { inputs: () => payload({ ...STRONG, channel_uses_per_pixel: 4, fill_budget: true }, modelAvifEncode) },
  ],
};
