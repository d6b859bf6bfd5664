/** Conformance cases of the operations on images and texts, and of noise on sources and representations. */
import type { FileAccess } from "../../../lib/contract/operation.ts";
import { readBundledFile } from "../../../lib/artifact/bundled.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { bitsArtifact, imagesArtifact } from "../../../lib/artifact/values.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { arrayInput, payloadInput, textsInput } from "../inputs.ts";

const texts = (metadata: JsonObject = {}) => textsInput({ a: "one two three four", b: "fünf 6 seven" }, metadata);

function images(dtype: "uint8" | "float32" = "uint8", metadata: JsonObject = {}) {
  const shape = { count: 2, height: 13, width: 17, channels: 3 };
  const samples = Array.from({ length: 2 * 13 * 17 * 3 }, (_, i) => (i * 31 + (i >> 3)) % 256);
  const data = dtype === "uint8" ? Uint8Array.from(samples) : Float32Array.from(samples, (value) => value / 255);
  return { kind: "image.batch.numpy", ...imagesArtifact({ ...shape, dtype, data }, metadata) };
}

function textPayload() {
  const items = [{ id: "a", text: "one two three four" }];
  const bytes = new TextEncoder().encode(canonicalJson({ kind: "text.batch", schema_version: 1, items }));
  const bits = unpackBits(bytes);
  return payloadInput(bits, { text_ids: ["a"], source_item_counts: [bits.length] });
}

function entropyPayload() {
  // "one two three four" and "rain".
  const messages = [[234, 178, 78, 220, 241, 143, 79, 236], [238, 92, 135, 40]];
  const bits = unpackBits(Uint8Array.from(messages.flat()));
  return payloadInput(bits, {
    text_ids: ["a", "b"],
    payload_format: "text_entropy_svc-english-v1_order_3",
    source_item_counts: messages.map((message) => 8 * message.length),
  });
}

const indices = () =>
  arrayInput("semantic.indices.numpy", "int32", Int32Array.from({ length: 30 }, (_, i) => i % 10), [5, 6], {
    codebook_size: 10,
  });

/** Indices as the toy encoder describes them: two grey pictures of 13 x 17 pixels in patches of 8. */
const patchIndices = (metadata: JsonObject = {}) =>
  arrayInput("semantic.indices.numpy", "int32", Int32Array.from({ length: 12 }, (_, i) => i), [2, 2, 3], {
    codebook_size: 16,
    patch_size: 8,
    image_count: 2,
    image_height: 13,
    image_width: 17,
    image_channels: 1,
    ...metadata,
  });

const latents = () =>
  arrayInput("semantic.latents.numpy", "float32", Float32Array.from({ length: 24 }, (_, i) => Math.sin(i)), [2, 3, 4]);

const bundled: FileAccess = {
  read: (path) => Promise.reject(new Error(`unexpected read of ${path}`)),
  list: (path) => Promise.reject(new Error(`unexpected listing of ${path}`)),
  bundled: (dataset, path) => readBundledFile(dataset, path, { stateDir: "/nonexistent" }),
};

const npz = () => ({
  "a.npz": writeNpz({ images: { dtype: "uint8", shape: [1, 3, 4, 1], data: new Uint8Array(12).fill(9) } }).slice(),
});

/** Modes that draw nothing give equal bytes for every seed. */
const quiet = { stochastic: false };

export const MEDIA_FIXTURES = {
  "source.text_dataset": [{ params: { repeat_count: 2 } }],
  "source.image_dataset": [
    { params: { dataset: "svc_sample_images", image_ids: "", split: "train", crop_size: 40 }, files: () => bundled },
  ],
  "source.local_npz_images": [{ params: { path: "a.npz" }, files: npz }],
  "model.toy_vqvae_encode": [
    { inputs: () => ({ images: images() }) },
    { inputs: () => ({ images: images("float32") }), params: { codebook_size: 256, patch_size: 5 } },
  ],
  "model.toy_vqvae_decode": [
    { inputs: () => ({ indices: patchIndices() }) },
    { inputs: () => ({ indices: patchIndices({ image_dtype: "float32" }) }) },
  ],
  "model.text_utf8_encode": [{ inputs: () => ({ texts: texts() }) }],
  "model.text_utf8_decode": [
    { inputs: () => ({ bits: textPayload() }), params: { on_error: "fail" } },
    {
      name: "unreadable payload",
      inputs: () => ({ bits: { ...bitsArtifact(new Uint8Array(64), { text_ids: ["a", "b"] }) } }),
    },
  ],
  "model.text_entropy_encode": [{ inputs: () => ({ texts: texts() }) }],
  "model.text_entropy_decode": [{ inputs: () => ({ bits: entropyPayload() }), params: { on_error: "fail" } }],
  "noise.source_text_perturbation": [
    { inputs: () => ({ texts: texts() }), params: { mode: "mask_words", probability: 0.5 } },
    { inputs: () => ({ texts: texts() }), params: { mode: "drop_words", probability: 0.5 } },
    { inputs: () => ({ texts: texts() }), params: { mode: "shuffle_words" } },
    { inputs: () => ({ texts: texts() }), ...quiet },
  ],
  "noise.representation_indices": [
    { inputs: () => ({ indices: indices() }), params: { mode: "dropout", probability: 0.5 } },
    { inputs: () => ({ indices: indices() }), params: { mode: "random_replace", probability: 0.5 } },
    { inputs: () => ({ indices: indices() }), params: { mode: "burst", probability: 0.1, burst_length: 4 } },
    { inputs: () => ({ indices: indices() }), ...quiet },
  ],
  "noise.representation_latents": [
    { inputs: () => ({ latents: latents() }), params: { mode: "gaussian" } },
    { inputs: () => ({ latents: latents() }), params: { mode: "dropout", probability: 0.5 } },
    { inputs: () => ({ latents: latents() }), ...quiet },
  ],
  "noise.source_image_perturbation": [
    { inputs: () => ({ images: images() }), params: { mode: "gaussian" } },
    { inputs: () => ({ images: images("float32") }), params: { mode: "salt_pepper", probability: 0.5 } },
    { inputs: () => ({ images: images() }), params: { mode: "patch_mask", patch_size: 5 } },
    { inputs: () => ({ images: images() }), params: { mode: "blur" }, ...quiet },
    { inputs: () => ({ images: images() }), ...quiet },
  ],
  "metrics.image_reconstruction": [
    {
      inputs: () => ({ reconstruction: images(), reference: images() }),
      params: { preview_count: 2, preview_size: 8 },
    },
    { inputs: () => ({ reconstruction: images("float32"), reference: images("float32") }) },
  ],
  "metrics.image_delivery_status": [{ inputs: () => ({ images: images("uint8", { failed_item_indices: [1] }) }) }],
  "metrics.text_semantic_similarity": [{ inputs: () => ({ candidate: texts(), reference: texts() }) }],
};
