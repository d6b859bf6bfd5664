import assert from "node:assert/strict";
import protection from "../../ops/channel/unequal_error_protection.ts";
import protectionDecode from "../../ops/channel/unequal_error_protection_decoder.ts";
import serial from "../../ops/channel/serial.ts";
import diffusers from "../../ops/codec/diffusers.ts";
import codeclib from "../../ops/codeclib/codeclib.ts";
import exportOnnx from "../../ops/codeclib/codeclib_export_onnx.ts";
import codecRuntimes from "../../ops/codeclib/codeclib_runtimes.ts";
import jpegCapacity from "../../ops/channel/jpeg_capacity_oracle.ts";
import jpeg from "../../ops/codec/jpeg.ts";
import toyVqvae from "../../ops/codec/toy_vqvae.ts";
import delivery from "../../ops/metrics/image_delivery_status.ts";
import weightedError from "../../ops/metrics/importance_weighted_error.ts";
import reconstruction from "../../ops/metrics/image_reconstruction.ts";
import deepjsccDecode from "../../ops/joint_coding/deepjscc_external_decode.ts";
import deepjsccEncode from "../../ops/joint_coding/deepjscc_external_encode.ts";
import linearAnalogDecode from "../../ops/joint_coding/linear_analog_decode.ts";
import linearAnalogEncode from "../../ops/joint_coding/linear_analog_encode.ts";
import perturbation from "../../ops/noise/source_image_perturbation.ts";
import importanceMap from "../../ops/foundation/importance_map.ts";
import imageStates from "../../ops/foundation/vlm_image_to_state.ts";
import type { InputArtifact, Operation, OutputArtifact } from "../../lib/contract/operation.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import {
  emptyImages,
  imageAt,
  imageForm,
  imagesArtifact,
  type ImageSize,
  imagesOf,
  oneImage,
  sizeAt,
} from "../../lib/artifact/values.ts";
import { holdsItems } from "../../lib/artifact/array_items.ts";
import { importanceMapsOf } from "../../lib/artifact/importance.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { tinyAutoencoder } from "../support/tiny_models.ts";
import type { ConformanceCase } from "../../lib/conformance/case.ts";
import { MODEL, models } from "./_fixtures/codeclib.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { blockModel, LEARNED, sampleModel } from "./_fixtures/deepjscc.ts";
import { payloadInput, someBits } from "./inputs.ts";
import { artifactOf, type GivenInput, type Model, refuses, runOperation } from "./harness.ts";

const IMAGES = "image.batch.numpy";
const SIZES = [{ height: 32, width: 48 }, { height: 48, width: 32 }, { height: 19, width: 23 }];

/** A landscape, a portrait, and odd sides. */
function mixedBatch(channels: 1 | 3 = 3, sizes: readonly ImageSize[] = SIZES) {
  const batch = emptyImages(imageForm(sizes, { channels, dtype: "uint8" }));
  for (let at = 0; at < batch.data.length; at++) batch.data[at] = 128 + 90 * Math.sin(at / 41) + (at * 7) % 23;
  return batch;
}

const input = (batch = mixedBatch(), metadata: JsonObject = {}) => ({
  kind: IMAGES,
  ...imagesArtifact(batch, { image_ids: ["a", "b", "c"].slice(0, batch.count), ...metadata }),
});

const alone = (index: number, batch = mixedBatch()) => {
  const { metadata, ...image } = imagesArtifact(oneImage(batch, index), { image_ids: [["a", "b", "c"][index]] });
  return { kind: IMAGES, ...image, metadata };
};

/** Passes an output on as the input of the next operation. */
const given = (artifact: InputArtifact) => {
  const [main] = artifact.arrayNames;
  return { kind: artifact.kind, array: artifact.array(main), metadata: artifact.metadata };
};

Deno.test("images of several sizes are one artifact of arrays item_000000 and on, and come back", () => {
  const batch = mixedBatch(),
    artifact = artifactOf("images", IMAGES, imagesArtifact(batch, { image_ids: ["a", "b", "c"] }));
  assert.deepEqual(artifact.arrayNames, ["item_000000", "item_000001", "item_000002"]);
  assert.deepEqual(artifact.metadata.item_shapes, [[32, 48, 3], [48, 32, 3], [19, 23, 3]]);
  assert.deepEqual(imagesOf(artifact), batch);
  assert.throws(() => artifact.array(), { code: "boundary_shape_invalid" });
  // Equal sizes are one array, as before.
  assert.deepEqual(imageForm([SIZES[0], SIZES[0]], { channels: 3 }), { channels: 3, count: 2, height: 32, width: 48 });
});

Deno.test("items of other names, types or channels are refused", () => {
  const item = (shape: number[], dtype: "uint8" | "float32" = "uint8") => ({
    dtype,
    shape,
    data: dtype === "uint8"
      ? new Uint8Array(shape.reduce((a, b) => a * b))
      : new Float32Array(shape.reduce((a, b) => a * b)),
  });
  const read = (output: OutputArtifact) => () => imagesOf(artifactOf("images", IMAGES, output));
  assert.throws(read({ items: [item([2, 3, 3]), item([2, 3, 1])] }), { code: "boundary_shape_invalid" });
  assert.throws(read({ items: [item([2, 3, 3]), item([2, 4, 3], "float32")] }), { code: "boundary_shape_invalid" });
  assert.throws(read({ items: [item([2, 3, 3]), item([2, 3])] }), { code: "boundary_shape_invalid" });
  assert.throws(read({ items: [item([2, 3, 3])], companions: { item_000002: item([2, 3, 3]) } }), {
    code: "boundary_shape_invalid",
  });
  assert.throws(read({ items: [] }), { code: "output_kind_mismatch" });
});

/** An encoder and its decoder give every image what they give it alone. */
async function codesItemByItem(
  encoder: Operation,
  decoder: Operation,
  [port, decoderPort]: [string, string],
  more: {
    params?: JsonObject;
    decoderParams?: JsonObject;
    models?: [Model, Model];
    named?: ConformanceCase["models"];
    sizes?: readonly ImageSize[];
    /** Inputs of both besides the images and the code. */
    shared?: Record<string, GivenInput>;
    /** Steps between encoder and decoder. */
    between?: (sent: InputArtifact) => Promise<InputArtifact>;
  } = {},
) {
  const { sizes = SIZES, shared, named: models, between } = more, batch = mixedBatch(3, sizes);
  const coded = async (images: GivenInput) => {
    const [sender, receiver] = more.models ?? [];
    const sent = await runOperation(encoder, {
      inputs: { images, ...shared },
      params: more.params,
      model: sender,
      models,
    });
    const wired = given(await between?.(sent.outputs[port]) ?? sent.outputs[port]);
    const options = {
      inputs: { [decoderPort]: wired, ...shared },
      params: more.decoderParams,
      model: receiver,
      models,
    };
    return { sent, images: imagesOf((await runOperation(decoder, options)).outputs.images) };
  };
  const all = await coded(input(batch));
  assert.deepEqual(all.images.sizes, sizes);
  const data = (sent: InputArtifact) => sent.arrayNames.length === 0 ? [] : [...sent.array().data as Float32Array];
  const parts: number[] = [];
  for (let index = 0; index < sizes.length; index++) {
    const single = await coded(alone(index, batch));
    assert.deepEqual(imageAt(all.images, index), imageAt(single.images, 0), `image ${index} of ${encoder.id}`);
    parts.push(...data(single.sent.outputs[port]));
  }
  return Object.assign(all.sent, { parts, whole: data(all.sent.outputs[port]) });
}

const [jpegEncode, jpegDecode] = jpeg, [vqEncode, vqDecode] = toyVqvae;

Deno.test("JPEG codes each image at its size, in both containers", async () => {
  for (const wire_format of ["safe_json_base64", "compact_binary_v1"]) {
    const { metrics } = await codesItemByItem(jpegEncode, jpegDecode, ["bits", "bits"], {
      params: { quality: 60, wire_format },
    });
    const pixels = 32 * 48 * 2 + 19 * 23;
    assert.equal(metrics["rate.payload_bpp"], Number(metrics["codec.bit_count"]) / pixels);
  }
});

Deno.test("a budget in bits per pixel is that of each image", async () => {
  const params = { target_bpp: 4, fill_budget: true, wire_format: "compact_binary_v1" };
  const { outputs } = await runOperation(jpegEncode, { inputs: { images: input() }, params });
  const bits = SIZES.map(({ height, width }) => 8 * Math.floor(4 * height * width / 8));
  assert.deepEqual(outputs.bits.metadata.source_item_counts, bits);
});

Deno.test("a lost image keeps its own size", async () => {
  const params = { wire_format: "compact_binary_v1" };
  const { outputs } = await runOperation(jpegEncode, { inputs: { images: input() }, params });
  const bits = given(outputs.bits), metadata = { ...bits.metadata, failed_item_indices: [1] };
  const decoded = await runOperation(jpegDecode, {
    inputs: { bits: { ...bits, metadata } },
    params: { on_error: "gray_image" },
  });
  const images = imagesOf(decoded.outputs.images);
  assert.deepEqual(images.sizes, SIZES);
  assert.ok(imageAt(images, 1).every((sample) => sample === 128) && imageAt(images, 1).length === 48 * 32 * 3);
  const report = await runOperation(delivery, { inputs: { images: given2(decoded.outputs.images) } });
  assert.equal(report.metrics["channel.outage_rate"], 1 / 3);
});

/** The same for images, which may be several arrays. */
function given2(artifact: InputArtifact): GivenInput {
  return { kind: IMAGES, ...imagesArtifact(imagesOf(artifact), artifact.metadata) };
}

Deno.test("the toy VQ-VAE, the linear analog code and packages of a joint coder code each image at its size", async () => {
  await codesItemByItem(vqEncode, vqDecode, ["indices", "indices"], { params: { patch_size: 4 } });
  const analog = await codesItemByItem(linearAnalogEncode, linearAnalogDecode, ["symbols", "symbols"], {
    params: { channel_uses_per_pixel: 0.5 },
  });
  assert.deepEqual(
    analog.outputs.symbols.metadata.source_item_counts,
    SIZES.map(({ height, width }) => Math.floor(height * width / 2)),
  );
  const calls: number[][] = [];
  const watched: Model = (feeds) => {
    calls.push([...feeds.images.shape]);
    return sampleModel(feeds);
  };
  await codesItemByItem(deepjsccEncode, deepjsccDecode, ["symbols", "symbols"], {
    params: LEARNED,
    decoderParams: LEARNED,
    models: [watched, blockModel],
  });
  assert.deepEqual(calls.slice(0, 3), SIZES.map(({ height, width }) => [1, 3, height, width]));
});

/** Sizes with a common divisor of 8, as a network or a grid of blocks needs them. */
const EVEN = [{ height: 32, width: 48 }, { height: 48, width: 32 }, { height: 16, width: 80 }];
const autoencoder = { autoencoder: tinyAutoencoder() };

Deno.test("autoencoders code each image at its size, as latents one after the other", async () => {
  const [klEncode, klDecode, vqEncode, vqDecode] = diffusers;
  for (const [encoder, decoder] of [[klEncode, klDecode], [vqEncode, vqDecode]] as const) {
    const sent = await codesItemByItem(encoder, decoder, ["latents", "latents"], {
      params: { model_id: "m" },
      decoderParams: { model_id: "m" },
      named: autoencoder,
      sizes: EVEN,
    });
    assert.deepEqual(sent.whole, sent.parts);
    const { metadata } = sent.outputs.latents;
    assert.deepEqual(metadata.latent_shapes, EVEN.map(({ height, width }) => [3, height / 4, width / 4]));
    assert.deepEqual(metadata.source_item_counts, EVEN.map(({ height, width }) => 3 * height * width / 16));
    assert.equal(sent.metrics["codec.latents_per_pixel"], 3 / 16);
  }
  // Over a link of bits, and with another number of latents than the metadata state.
  const [toBits, , latentsToBits, bitsToLatents] = serial;
  assert.equal(toBits.id, "channel.indices_to_bits");
  await codesItemByItem(klEncode, klDecode, ["latents", "latents"], {
    params: { model_id: "m" },
    decoderParams: { model_id: "m" },
    named: autoencoder,
    sizes: EVEN,
    async between(latents) {
      const { bits } = (await runOperation(latentsToBits, { inputs: { latents: given(latents) } })).outputs;
      return (await runOperation(bitsToLatents, { inputs: { bits: given(bits) } })).outputs.latents;
    },
  });
  const sent = await runOperation(klEncode, {
    inputs: { images: input(mixedBatch(3, EVEN)) },
    params: { model_id: "m" },
    models: autoencoder,
  });
  const latents = given(sent.outputs.latents), metadata = { ...latents.metadata, latent_shapes: [[3, 8, 12]] };
  await refuses("boundary_shape_invalid", () =>
    runOperation(klDecode, {
      inputs: { latents: { ...latents, metadata } },
      params: { model_id: "m" },
      models: autoencoder,
    }));
});

Deno.test("learned codecs code each image at its size: transforms, entropy coder and bundle", async () => {
  const [, , analyse, synthesise, entropyEncode, entropyDecode] = codeclib;
  const params = { model: MODEL, pad_to_multiple: 32 };
  const latents = await codesItemByItem(analyse, synthesise, ["latents", "latents"], { params, named: models });
  assert.deepEqual(latents.whole, latents.parts);
  const short = given(latents.outputs.latents), data = (short.array.data as Float32Array).slice(1);
  await refuses("boundary_shape_invalid", () =>
    runOperation(synthesise, {
      inputs: { latents: { ...short, array: ndarray("float32", data, [data.length]) } },
      models,
    }));
  await codesItemByItem(analyse, synthesise, ["latents", "latents"], {
    params,
    named: models,
    async between(latents) {
      const { bits } = (await runOperation(entropyEncode, {
        inputs: { latents: given(latents) },
        params: { model: MODEL },
        models,
      })).outputs;
      return (await runOperation(entropyDecode, { inputs: { bits: given(bits) }, models })).outputs.latents;
    },
  });
  const { model } = (await runOperation(exportOnnx, { inputs: { images: input() }, params, models })).outputs;
  assert.deepEqual(
    [(model.json().codec as JsonObject).export_height, (model.json().codec as JsonObject).export_width],
    [64, 64],
  );
  const find = (id: string) => codecRuntimes.find((operation) => operation.id === id)!;
  const own = await codesItemByItem(
    find("model.codeclib_onnx_encode"),
    find("model.codeclib_onnx_decode"),
    ["latents", "latents"],
    { params: { pad_to_multiple: 32 }, shared: { model } },
  );
  assert.deepEqual(own.whole, latents.whole);
});

Deno.test("a lost image of a learned codec has latents of its own size", async () => {
  const [, , analyse, synthesise, entropyEncode, entropyDecode] = codeclib;
  const run = async (operation: Operation, inputs: Record<string, GivenInput>, params: JsonObject = {}) =>
    (await runOperation(operation, { inputs, params, models })).outputs;
  const { latents } = await run(analyse, { images: input() }, { model: MODEL, pad_to_multiple: 32 });
  const { bits } = await run(entropyEncode, { latents: given(latents) }, { model: MODEL });
  const damaged = { ...given(bits), metadata: { ...bits.metadata, failed_item_indices: [1] } };
  const received = await run(entropyDecode, { bits: damaged }, { on_error: "zeros" });
  const { images } = await run(synthesise, { latents: given(received.latents) }, { on_error: "zeros" });
  const batch = imagesOf(images);
  assert.deepEqual(batch.sizes, SIZES);
  assert.ok(imageAt(batch, 1).every((sample) => sample === 0));
  assert.deepEqual(images.metadata.delivered, [true, false, true]);
});

Deno.test("scores are those of each image, and a measure that a small image lacks is skipped for it", async () => {
  const reference = input(), other = mixedBatch();
  for (let at = 0; at < other.data.length; at += 3) other.data[at] ^= 5;
  const { outputs, metrics } = await runOperation(reconstruction, {
    inputs: { reconstruction: input(other), reference },
    params: { preview_count: 2 },
  });
  const items = outputs.report.json().items as JsonObject[];
  let total = 0;
  for (let index = 0; index < SIZES.length; index++) {
    const single = await runOperation(reconstruction, {
      inputs: {
        reconstruction: { ...alone(index), ...imagesArtifact(oneImage(other, index)) },
        reference: { ...alone(index), ...imagesArtifact(oneImage(mixedBatch(), index)) },
      },
    });
    const [alike] = single.outputs.report.json().items as JsonObject[];
    assert.deepEqual(items[index].metrics, alike.metrics);
    total += Number(single.metrics["quality.psnr_db"]);
  }
  assert.ok(Math.abs(Number(metrics["quality.psnr_db"]) - total / 3) < 1e-12);
  assert.deepEqual(items.map(({ id }) => id), ["a", "b", "c"]);
  // No image has 176 pixels on its shorter side, which five scales of 11 pixels need.
  assert.equal(metrics["quality.ms_ssim_skipped_count"], 3n);
  const turned = emptyImages(imageForm([SIZES[1], SIZES[0], SIZES[2]], { channels: 3, dtype: "uint8" }));
  await refuses(
    "boundary_shape_invalid",
    () => runOperation(reconstruction, { inputs: { reconstruction: input(turned), reference } }),
  );
});

Deno.test("noise, blur, masks and the capacity reference work at each size", async () => {
  for (const mode of ["gaussian", "blur", "patch_mask", "salt_pepper"]) {
    const { outputs } = await runOperation(perturbation, {
      inputs: { images: input() },
      params: { mode, patch_size: 8, sigma: 0.1, probability: 0.2, seed: 3 },
    });
    const images = imagesOf(outputs.images);
    assert.deepEqual(images.sizes, SIZES);
    for (let index = 0; index < 3; index++) {
      const before = imageAt(mixedBatch(), index), after = Array.from(imageAt(images, index));
      const changed = after.reduce((sum, value, at) => sum + Number(value !== before[at]), 0);
      if (mode === "patch_mask") {
        assert.ok(changed > 0 && changed <= 8 * 8 * 3);
        assert.ok(after.reduce((sum, value) => sum + Number(value === 0), 0) >= 8 * 8 * 3);
      } else assert.ok(changed > 0.1 * after.length, `${mode}, image ${index}: ${changed} of ${after.length}`);
    }
    if (mode !== "blur") continue;
    const single = await runOperation(perturbation, { inputs: { images: alone(2) }, params: { mode } });
    assert.deepEqual(imageAt(images, 2), imageAt(imagesOf(single.outputs.images), 0));
  }
  const oracle = await runOperation(jpegCapacity, { inputs: { images: input() }, params: { snr_db: 30 } });
  assert.deepEqual(oracle.outputs.images.metadata.channel_uses_per_image, [768, 768, 218]);
  assert.equal(oracle.metrics["channel.channel_use_count"], 1754n);
  const states = await runOperation(imageStates, { inputs: { images: input() } });
  assert.equal((states.outputs.state.json().states as unknown[]).length, 3);
});

Deno.test("importance maps are those of each image, and weight its errors", async () => {
  const params = { method: "local_contrast", cell_size: 8 };
  const { outputs } = await runOperation(importanceMap, { inputs: { images: input() }, params });
  const maps = importanceMapsOf(outputs.importance_map);
  assert.deepEqual(maps.map(({ height, width }) => ({ height, width })), SIZES);
  const other = mixedBatch();
  for (let at = 0; at < other.data.length; at += 5) other.data[at] ^= 9;
  const items = {
    kind: outputs.importance_map.kind,
    items: outputs.importance_map.arrayNames.map((name) => outputs.importance_map.array(name)),
  };
  const weighted = await runOperation(weightedError, {
    inputs: { reconstruction: input(other), reference: input(), importance_map: items },
  });
  const scores = weighted.outputs.report.json().items as JsonObject[];
  for (let index = 0; index < 3; index++) {
    const single = await runOperation(importanceMap, { inputs: { images: alone(index) }, params });
    assert.deepEqual(importanceMapsOf(single.outputs.importance_map)[0].data, maps[index].data);
    const reconstruction = { ...alone(index), ...imagesArtifact(oneImage(other, index)) };
    const map = { kind: items.kind, array: single.outputs.importance_map.array() };
    const one = await runOperation(weightedError, {
      inputs: {
        reconstruction,
        reference: { ...alone(index), ...imagesArtifact(oneImage(mixedBatch(), index)) },
        importance_map: map,
      },
    });
    assert.deepEqual(scores[index].metrics, (one.outputs.report.json().items as JsonObject[])[0].metrics);
  }
  const swapped = { ...items, items: [items.items[1], items.items[0], items.items[2]] };
  await refuses("boundary_shape_invalid", () =>
    runOperation(weightedError, {
      inputs: { reconstruction: input(other), reference: input(), importance_map: swapped },
    }));
});

/** Joins a batch of one size into one of two: its first image, and the upper part of its last. */
function cropped(given: GivenInput): GivenInput {
  const batch = imagesOf(artifactOf("images", IMAGES, given as OutputArtifact)), { height, width } = sizeAt(batch, 0);
  const rows = height === 8 ? 4 : Math.min(height - 1, 8 * Math.ceil(height / 16));
  const mixed = emptyImages(imageForm([{ height, width }, { height: rows, width }], batch));
  imageAt(mixed, 0).set(imageAt(batch, 0));
  const lower = imageAt(mixed, 1);
  lower.set(imageAt(batch, batch.count - 1).subarray(0, lower.length));
  return {
    kind: IMAGES,
    ...imagesArtifact(mixed, {
      ...given.metadata,
      image_ids: batch.count === 2 ? given.metadata?.image_ids ?? ["a", "b"] : ["a", "b"],
    }),
  };
}

for (const { operation: { definition }, operation } of BUILTIN_OPERATIONS) {
  const fixture = FIXTURES[operation.id];
  const kinds = Object.values({ ...definition.inputs, ...definition.optionalInputs }).flat();
  if ("skip" in fixture || !kinds.includes(IMAGES)) continue;
  Deno.test(`${operation.id} takes images of several sizes`, async () => {
    let tried = 0;
    for (const { inputs, params, models, model, files } of fixture) {
      const wired = Object.entries(await inputs?.() ?? {});
      // Detections and maps of a case belong to its images.
      if (wired.some(([port]) => port === "detections" || port === "importance_map")) continue;
      const mixed = wired.map(([port, one]) => [port, one.kind === IMAGES ? cropped(one) : one]);
      const options = { inputs: Object.fromEntries(mixed), params: params as JsonObject, models, model };
      const run = async () => void await runOperation(operation, { ...options, files: await files?.() });
      await run();
      tried++;
    }
    assert.ok(tried > 0 || operation.id === "metrics.importance_weighted_error", "no case has images alone");
  });
}

Deno.test("unequal error protection gives the classes of each image, at grids of several sizes", async () => {
  const batch = mixedBatch(3, EVEN), perBlock = 24;
  const blocks = EVEN.map(({ height, width }) => height * width / 64);
  const protect = async (images: GivenInput, payload: Uint8Array, counts: number[], params: JsonObject) => {
    const { importance_map: maps } = (await runOperation(importanceMap, { inputs: { images } })).outputs;
    const items = maps.arrayNames.map((name) => maps.array(name));
    const map = holdsItems(maps.arrayNames) ? { items } : { array: items[0] };
    const inputs = {
      bits: payloadInput(payload, { source_item_counts: counts }),
      importance_map: { kind: maps.kind, ...map },
    };
    return await runOperation(protection, { inputs, params });
  };
  const payload = someBits(perBlock * blocks.reduce((sum, own) => sum + own));
  const counts = blocks.map((own) => own * perBlock);
  const cases: JsonObject[] = [
    { protection: "repetition", class_fractions: [0.2, 0.3, 0.5], repetition_factors: [5, 3, 2] },
    { protection: "power" },
    { protection: "nr_ldpc", transport_block_size_bits: 512 },
    { protection: "repetition", class_fractions: [1], repetition_factors: [2] },
  ];
  for (const params of cases) {
    const { outputs, metrics } = await protect(input(batch), payload, counts, params);
    const received = given(outputs.coded_bits);
    const soft = (flipped: readonly number[] = []): GivenInput => {
      const bits = received.array.data as Uint8Array;
      const values = Float32Array.from(bits, (bit, at) => (flipped.includes(at) ? -1 : 1) * (bit ? -8 : 8));
      return {
        kind: "channel.llr.numpy",
        array: ndarray("float32", values, [values.length]),
        metadata: received.metadata,
      };
    };
    const decoded = await runOperation(protectionDecode, { inputs: { received: soft() } });
    assert.deepEqual(decoded.outputs.bits.array().data, payload, String(params.protection));
    assert.deepEqual(decoded.outputs.bits.metadata.source_item_counts, counts);
    assert.equal(decoded.metrics["channel.class_map_failure_rate"], 0);
    // The classes of an image are those that it gets alone: its maps and its bits of each class are the same.
    let first = 0, coded = 0, mapped = 0n;
    for (let index = 0; index < EVEN.length; index++) {
      const own = payload.subarray(first, first += counts[index]);
      const single = await protect(alone(index, batch), own, [counts[index]], params);
      coded += Number(single.metrics["channel.protected_bit_count"]);
      mapped += BigInt(single.metrics["channel.class_map_bit_count"] as bigint);
    }
    assert.equal(metrics["channel.class_map_bit_count"], mapped);
    if (params.protection !== "nr_ldpc") assert.equal(Number(metrics["channel.protected_bit_count"]), coded);
    if (mapped === 0n || params.protection === "nr_ldpc") continue;
    // A damaged map of the second image loses that image alone.
    const cells = EVEN.map(({ height, width }) => height * width / 256), width = params.class_fractions ? 2 : 1;
    const copies = 7, start = copies * (cells[0] * width + 16);
    assert.equal(Number(mapped), cells.reduce((sum, own) => sum + own * width + 16, 0));
    const flipped = Array.from({ length: copies }, (_, copy) => start + copy);
    const lost = await runOperation(protectionDecode, { inputs: { received: soft(flipped) } });
    assert.deepEqual(lost.outputs.bits.metadata.failed_item_indices, [1]);
    const bits = lost.outputs.bits.array().data as Uint8Array;
    assert.deepEqual(bits.subarray(0, counts[0]), payload.subarray(0, counts[0]));
    assert.ok(bits.subarray(counts[0], counts[0] + counts[1]).every((bit) => bit === 0));
    assert.deepEqual(bits.subarray(counts[0] + counts[1]), payload.subarray(counts[0] + counts[1]));
  }
});
