import assert from "node:assert/strict";
import protection from "../../ops/channel/unequal_error_protection.ts";
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
  imagesOf,
  oneImage,
  sizeAt,
} from "../../lib/artifact/values.ts";
import { importanceMapsOf } from "../../lib/artifact/importance.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { blockModel, LEARNED, sampleModel } from "./_fixtures/deepjscc.ts";
import { payloadInput, someBits } from "./inputs.ts";
import { artifactOf, type GivenInput, type Model, refuses, runOperation } from "./harness.ts";

const IMAGES = "image.batch.numpy";
const SIZES = [{ height: 32, width: 48 }, { height: 48, width: 32 }, { height: 19, width: 23 }];

/** A landscape, a portrait, and odd sides. */
function mixedBatch(channels: 1 | 3 = 3) {
  const batch = emptyImages(imageForm(SIZES, { channels, dtype: "uint8" }));
  for (let at = 0; at < batch.data.length; at++) batch.data[at] = 128 + 90 * Math.sin(at / 41) + (at * 7) % 23;
  return batch;
}

const input = (batch = mixedBatch(), metadata: JsonObject = {}) => ({
  kind: IMAGES,
  ...imagesArtifact(batch, { image_ids: ["a", "b", "c"].slice(0, batch.count), ...metadata }),
});

const alone = (index: number) => {
  const { metadata, ...image } = imagesArtifact(oneImage(mixedBatch(), index), { image_ids: [["a", "b", "c"][index]] });
  return { kind: IMAGES, ...image, metadata };
};

/** Passes an output on as the input of the next operation. */
const given = (artifact: InputArtifact): GivenInput => {
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
  more: { params?: JsonObject; decoderParams?: JsonObject; models?: [Model, Model] } = {},
) {
  const coded = async (images: GivenInput) => {
    const [sender, receiver] = more.models ?? [];
    const sent = await runOperation(encoder, { inputs: { images }, params: more.params, model: sender });
    const wired = { ...given(sent.outputs[port]) };
    const options = { inputs: { [decoderPort]: wired }, params: more.decoderParams, model: receiver };
    return { sent, images: imagesOf((await runOperation(decoder, options)).outputs.images) };
  };
  const all = await coded(input());
  assert.deepEqual(all.images.sizes, SIZES);
  for (let index = 0; index < SIZES.length; index++) {
    const single = await coded(alone(index));
    assert.deepEqual(imageAt(all.images, index), imageAt(single.images, 0), `image ${index} of ${encoder.id}`);
  }
  return all.sent;
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
  const rows = Math.min(height - 1, 8 * Math.ceil(height / 16));
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
  Deno.test(`${operation.id} takes images of several sizes, or states that they have one size`, async () => {
    let tried = 0;
    for (const { inputs, params, models, model, files } of fixture) {
      const wired = Object.entries(await inputs?.() ?? {});
      // Detections and maps of a case belong to its images.
      if (wired.some(([port]) => port === "detections" || port === "importance_map")) continue;
      const mixed = wired.map(([port, one]) => [port, one.kind === IMAGES ? cropped(one) : one]);
      const options = { inputs: Object.fromEntries(mixed), params: params as JsonObject, models, model };
      const run = async () => void await runOperation(operation, { ...options, files: await files?.() });
      if (/ of one size/.test(operation.contract.description ?? "")) await refuses("boundary_shape_invalid", run);
      else await run();
      tried++;
    }
    assert.ok(tried > 0 || operation.id === "metrics.importance_weighted_error", "no case has images alone");
  });
}

Deno.test("unequal error protection refuses importance maps of several sizes", async () => {
  const { outputs } = await runOperation(importanceMap, { inputs: { images: input() } });
  const { importance_map: maps } = outputs, items = maps.arrayNames.map((name) => maps.array(name));
  const inputs = { bits: payloadInput(someBits(512)), importance_map: { kind: maps.kind, items } };
  await refuses("boundary_shape_invalid", () => runOperation(protection, { inputs }));
  assert.match(protection.contract.description!, / of one size/);
});
