/** Conformance cases of importance maps and unequal error protection. */
import importanceMap from "../../../ops/foundation/importance_map.ts";
import unequal from "../../../ops/channel/unequal_error_protection.ts";
import { detectionsArtifact } from "../../../lib/artifact/vision.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { paintScene } from "../../../lib/numeric/image/scenes.ts";
import { type GivenInput, outputOf, runOperation } from "../harness.ts";
import { arrayInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

/** Importance of two images of 4 x 4 blocks of 8 pixels: a ramp, and its reverse. */
export const ramps = () => {
  const data = Float32Array.from({ length: 2 * 32 * 32 }, (_, i) => i < 1024 ? i / 1024 : (2048 - i) / 1024);
  return arrayInput("semantic.importance_map.numpy", "float32", data, [2, 32, 32]);
};

/** Ten bits for each block. */
export const payload = () => payloadInput(someBits(2 * 16 * 10), { source_item_counts: [160, 160] });

export const SMALL_LDPC: JsonObject = { protection: "nr_ldpc", transport_block_size_bits: 80, num_bp_iter: 5 };

/** What a receiver gets of the fixture, as bits or log-likelihood ratios; bits of `wrong` are turned over. */
export async function received(params: JsonObject, wrong: readonly number[] = [], soft = true) {
  const classes: Record<string, GivenInput> = params.bit_classes === undefined ? { importance_map: ramps() } : {};
  const sent = await runOperation(unequal, { inputs: { bits: payload(), ...classes }, params });
  const { coded_bits } = sent.outputs;
  const bits = Uint8Array.from(coded_bits.array().data as Uint8Array, (bit, at) => wrong.includes(at) ? 1 - bit : bit);
  const { metadata } = coded_bits;
  return soft
    ? { kind: "channel.llr.numpy", array: ndarray("float32", Float32Array.from(bits, (bit) => 4 - 8 * bit)), metadata }
    : { kind: "channel.demod_bits.numpy", array: ndarray("uint8", bits), metadata };
}

const scene = () => {
  const { pixels: data } = paintScene({
    size: 64,
    ground: "white",
    objects: [{ shape: "circle", colour: "blue", x: 20, y: 20, side: 16 }],
  });
  const batch = { count: 1, height: 64, width: 64, channels: 3, dtype: "uint8", data } as const;
  return { kind: "image.batch.numpy", ...imagesArtifact(batch, { image_ids: ["a"] }) };
};
const boxes = () => ({
  kind: "vision.detections.json",
  ...detectionsArtifact([
    { id: "a", detections: [{ label: "circle", label_id: 0, confidence: 0.75, box: [20, 20, 36, 36] }] },
  ]),
});
const network = new URL("../../../recipes/models/svc-tiny-detector-v1", import.meta.url).pathname;

export const IMPORTANCE_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    scene: () => ({ images: scene() }),
    "scene and boxes": () => ({ images: scene(), detections: boxes() }),
    "scene and map": async () => {
      const images = scene(), { outputs } = await runOperation(importanceMap, { inputs: { images } });
      return { reference: images, reconstruction: images, importance_map: outputOf(outputs.importance_map) };
    },
    "symbols and allocation": () => ({
      symbols: symbolsInput(4),
      allocation: {
        kind: "channel.power_allocation.numpy",
        array: ndarray("float64", Float64Array.of(0.5, 1.5, 1, 0), [4]),
        metadata: {},
      },
    }),
    "payload and map": () => ({ bits: payload(), importance_map: ramps() }),
    "soft values": async () => ({ received: await received({}) }),
    "hard bits": async () => ({ received: await received({}, [], false) }),
    words: () => ({ bits: payload() }),
    "soft words": async () => ({ received: await received({ ...SMALL_LDPC, bit_classes: [0, 1] }) }),
    "LDPC values": async () => ({ received: await received(SMALL_LDPC) }),
  },
  models: {
    detector: { network },
  },
});
