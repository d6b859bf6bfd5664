/** Conformance cases of the operations on files of conventional image codecs. */
import webpAvif from "../../../ops/codec/webp_avif.ts";
import jpeg from "../../../ops/codec/jpeg.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { runOperation } from "../harness.ts";
import { casesOf } from "./cases.ts";

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

export const JPEG_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    images: () => ({ images: images() }),
    payload: () => payload({}),
    "compact payload": () => payload({ wire_format: "compact_binary_v1" }),
    "small payload": () => payload({ ...STRONG, channel_uses_per_pixel: 4, fill_budget: true }),
    "WebP payload": () => payload({}, modelWebpEncode),
    "small WebP payload": () => payload({ ...STRONG, channel_uses_per_pixel: 4, fill_budget: true }, modelWebpEncode),
    "AVIF payload": () => payload({}, modelAvifEncode),
    "small AVIF payload": () => payload({ ...STRONG, channel_uses_per_pixel: 4, fill_budget: true }, modelAvifEncode),
  },
});
