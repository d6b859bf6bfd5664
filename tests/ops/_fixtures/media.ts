/** Conformance cases of the operations on images and texts, and of noise on sources and representations. */
import assert from "node:assert/strict";
import type { FileAccess } from "../../../lib/contract/operation.ts";
import { readBundledFile } from "../../../lib/artifact/bundled.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { bitsArtifact, imagesArtifact } from "../../../lib/artifact/values.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { arrayInput, payloadInput, textsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

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
  blocks: (path) => assert.fail(`unexpected read of ${path}`),
  list: (path) => Promise.reject(new Error(`unexpected listing of ${path}`)),
  bundled: (dataset, path) => readBundledFile(dataset, path, { stateDir: "/nonexistent" }),
};

const npz = () => ({
  "a.npz": writeNpz({ images: { dtype: "uint8", shape: [1, 3, 4, 1], data: new Uint8Array(12).fill(9) } }).slice(),
});

const ANSWERS = canonicalJson({
  schema_version: 1,
  kind: "svc.answers",
  captions: [{ id: "a", candidate: "a cat", references: ["a cat sits", "one cat"] }],
  labels: [{ id: "a", candidate: "cat", reference: "dog" }],
});

export const MEDIA_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    images: () => ({ images: images() }),
    "images, float32": () => ({ images: images("float32") }),
    patches: () => ({ indices: patchIndices() }),
    "patches, float32": () => ({ indices: patchIndices({ image_dtype: "float32" }) }),
    texts: () => ({ texts: texts() }),
    "texts, corpus": () => ({ texts: texts(), corpus: texts() }),
    "text payload": () => ({ bits: textPayload() }),
    zeros: () => ({
      bits: { ...bitsArtifact(new Uint8Array(64), { text_ids: ["a", "b"] }) },
    }),
    "entropy payload": () => ({ bits: entropyPayload() }),
    indices: () => ({ indices: indices() }),
    latents: () => ({ latents: latents() }),
    "equal images": () => ({ reconstruction: images(), reference: images() }),
    "equal images, float32": () => ({
      reconstruction: images("float32"),
      reference: images("float32"),
    }),
    "images, one failed": () => ({ images: images("uint8", { failed_item_indices: [1] }) }),
    "equal texts": () => ({ candidate: texts(), reference: texts() }),
  },
  files: {
    bundled: () => bundled,
    npz,
    channels: () => ({
      "c.npz": writeNpz({
        a: { dtype: "complex64", shape: [3, 2], data: Float32Array.of(1, 0, 0.5, 0.5, 0, 1, 0.2, 0, -1, 0, 0, 0.3) },
        tau: { dtype: "float32", shape: [3, 2], data: Float32Array.of(0, 1e-6, 1e-7, 2e-6, 0, 3e-6) },
        phi_r: { dtype: "float32", shape: [3, 2], data: Float32Array.of(0, 1, 2, 3, 4, 5) },
      }).slice(),
    }),
    answers: () => ({ "answers.json": ANSWERS }),
    recording: () => ({ "r.ci16": Uint8Array.from({ length: 64 }, (_, at) => (at * 37) % 256) }),
  },
});
