/** The learned codec end to end on the bundled model: round trips, rates, damage, refusals. */
import assert from "node:assert/strict";
import codeclibFamily from "../../../ops/codeclib/codeclib.ts";
import exportOnnx from "../../../ops/codeclib/codeclib_export_onnx.ts";
import runtimes from "../../../ops/codeclib/codeclib_runtimes.ts";
import imageReconstruction from "../../../ops/metrics/image_reconstruction.ts";
import imageDataset from "../../../ops/source/image_dataset.ts";
import jpegFamily from "../../../ops/codec/jpeg.ts";
import { decodeArtifact, encodeArtifact } from "../../../lib/artifact/codec.ts";
import { bitsArtifact, bitsOf, imagesOf } from "../../../lib/artifact/values.ts";
import type { SvcError } from "../../../lib/contract/error.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { packBits } from "../../../lib/numeric/array/bit_packing.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { bundle, latents, MODEL, models, pictures, TINY } from "../_fixtures/codeclib.ts";
import { runOperation } from "../harness.ts";

const [encode, decode, analysisEncode, synthesisDecode, entropyEncode, entropyDecode] = codeclibFamily;

const [onnxEncode, onnxDecode, onnxEntropyEncode, onnxEntropyDecode, aotiEncode, aotiDecode] = [
  "onnx_encode",
  "onnx_decode",
  "onnx_entropy_encode",
  "onnx_entropy_decode",
  "aoti_encode",
  "aoti_decode",
]
  .map((name) => runtimes.find(({ id }) => id === `model.codeclib_${name}`)!);

const [jpegEncode, jpegDecode] = jpegFamily;

/** The sandbox of the model stays from test to test; the last one ends it. */
const SHARED = { sanitizeOps: false, sanitizeResources: false };
const codecTest = (name: string, body: () => Promise<void>) => Deno.test(name, SHARED, body);

const run = (images = pictures(), params: JsonObject = {}) =>
  runOperation(encode, { inputs: { images }, params: { ...TINY, ...params }, models });
const back = (bits: InputArtifact | ReturnType<typeof damagedAt>, params: JsonObject = {}) =>
  runOperation(decode, { inputs: { bits }, params, models });

/** A payload with one bit turned, at a fraction of an item or of the whole. */
function damagedAt(bits: InputArtifact, at: number) {
  const values = bitsOf(bits).slice();
  values[at] ^= 1;
  return { kind: bits.kind, ...bitsArtifact(values, bits.metadata, "payload.bits") };
}

async function photograph(id: string): Promise<InputArtifact> {
  const folder = new URL("../../../recipes/samples/", import.meta.url);
  const files = {
    read: () => Promise.reject(new Error("nothing else is read")),
    blocks: () => assert.fail("nothing else is read"),
    list: () => Promise.reject(new Error("nothing is listed")),
    bundled: (_id: string, path: string) => Deno.readFile(new URL(path, folder)),
  };
  const params = { dataset: "svc_sample_images", image_ids: id, crop_size: 128 };
  return (await runOperation(imageDataset, { params, files })).outputs.images;
}

codecTest("pictures come back in their size and type, nearer at higher quality and at a higher rate", async () => {
  const images = await photograph("chelsea");
  let last = { psnr: 0, bpp: 0 };
  for (const quality of [1, 4, 8]) {
    const { outputs, metrics } = await runOperation(encode, {
      inputs: { images },
      params: { ...TINY, quality },
      models,
    });
    const decoded = (await back(outputs.bits)).outputs.images;
    assert.deepEqual(decoded.array().shape, [1, 128, 128, 3]);
    assert.equal(decoded.array().dtype, "uint8");
    const scores = await runOperation(imageReconstruction, { inputs: { reconstruction: decoded, reference: images } });
    const found = {
      psnr: scores.metrics["quality.psnr_db"] as number,
      bpp: metrics["rate.native_codec_bpp"] as number,
    };
    assert.ok(found.psnr > last.psnr + 1 && found.bpp > 1.2 * last.bpp, `${JSON.stringify(found)} after ${quality}`);
    last = found;
  }
  assert.ok(last.psnr > 30 && last.bpp < 2);
});

codecTest(
  "on a photograph it has never seen it beats JPEG of the same or a higher rate below half a bit a pixel",
  async () => {
    const images = await photograph("chelsea");
    const psnrOf = async (reconstruction: InputArtifact) => {
      const { metrics } = await runOperation(imageReconstruction, { inputs: { reconstruction, reference: images } });
      return metrics["quality.psnr_db"] as number;
    };
    for (const [quality, jpegQuality] of [[2, 5], [4, 15]]) {
      const learned = await runOperation(encode, { inputs: { images }, params: { ...TINY, quality }, models });
      // Fitted tables and progressive scans: the best that a JPEG file can be.
      const best = { quality: jpegQuality, optimize: true, progressive: true };
      const jpeg = await runOperation(jpegEncode, { inputs: { images }, params: best });
      const rate = "rate.native_codec_bpp";
      assert.ok(learned.metrics[rate] < jpeg.metrics[rate], `${learned.metrics[rate]} against ${jpeg.metrics[rate]}`);
      const ours = await psnrOf((await back(learned.outputs.bits)).outputs.images);
      const theirs = await psnrOf(
        (await runOperation(jpegDecode, { inputs: { bits: jpeg.outputs.bits } })).outputs.images,
      );
      assert.ok(ours > theirs + 0.5, `${ours} dB against ${theirs} dB`);
    }
  },
);

codecTest("the two halves and the four quarters are the same codec", async () => {
  const whole = await run(pictures(), { wire_format: "compact_binary_v1" });
  const analysed = await latents();
  const parts = await runOperation(entropyEncode, { inputs: analysed, params: { model: MODEL }, models });
  assert.deepEqual(bitsOf(parts.outputs.bits), bitsOf(whole.outputs.bits));
  const decoded = await runOperation(entropyDecode, { inputs: { bits: parts.outputs.bits }, models });
  const images = await runOperation(synthesisDecode, { inputs: { latents: decoded.outputs.latents }, models });
  assert.deepEqual(
    imagesOf(images.outputs.images).data,
    imagesOf((await back(whole.outputs.bits)).outputs.images).data,
  );
  // Half a step is all that quantisation may move a latent by.
  const before = analysed.latents.array().data as Float32Array, after = decoded.outputs.latents.array().data;
  before.forEach((value, at) => assert.ok(Math.abs(value - Number(after[at])) <= 0.5 + 1e-3 * Math.abs(value)));
});

codecTest("both containers carry the same pictures, and grey and float pictures keep their form", async () => {
  const [json, compact] = await Promise.all(
    ["safe_json_base64", "compact_binary_v1"].map((wire_format) => run(pictures(1, "float32"), { wire_format })),
  );
  assert.equal(json.metrics["codec.native_bit_count"], compact.metrics["codec.native_bit_count"]);
  assert.ok(json.metrics["codec.bit_count"] > compact.metrics["codec.bit_count"]);
  assert.deepEqual(
    [json, compact].map(({ outputs }) => (outputs.bits.metadata.source_item_counts as number[]).length),
    [
      1,
      2,
    ],
  );
  const images = await Promise.all(
    [json, compact].map(async ({ outputs }) => (await back(outputs.bits)).outputs.images),
  );
  assert.deepEqual(images[0].array().data, images[1].array().data);
  assert.deepEqual([images[0].array().shape, images[0].array().dtype], [[2, 37, 45, 1], "float32"]);
  assert.deepEqual(packBits(bitsOf(compact.outputs.bits)).subarray(0, 6), Uint8Array.of(83, 86, 67, 49, 1, 2));
});

codecTest("a turned bit costs one picture, whose substitute on_error chooses, or the payload", async () => {
  const { outputs: { bits } } = await run(pictures(), { wire_format: "compact_binary_v1" });
  const [first] = bits.metadata.source_item_counts as number[], total = bitsOf(bits).length;
  const sound = imagesOf((await back(bits)).outputs.images).data, half = sound.length / 2;
  const container = 8 * (8 + 9);
  // Quality, both check sums, hyper latents, latents: of the first picture, then at the end of the second.
  for (const at of [container + 5, container + 12, container + 30, container + 42, first - 12, total - 12]) {
    const wrong = damagedAt(bits, at), lost = at < first ? 0 : 1;
    await assert.rejects(() => back(wrong), { code: "image_payload_invalid" });
    const { outputs: { images } } = await back(wrong, { on_error: "gray_image" });
    assert.deepEqual(images.metadata.failed_item_indices, [lost], `bit ${at}`);
    const found = imagesOf(images).data;
    assert.ok(found.subarray(lost * half, (lost + 1) * half).every((value) => value === 128));
    assert.deepEqual(
      found.subarray((1 - lost) * half, (2 - lost) * half),
      sound.subarray((1 - lost) * half, (2 - lost) * half),
    );
  }
  const zeros = await runOperation(entropyDecode, {
    inputs: { bits: damagedAt(bits, first - 12) },
    params: { on_error: "zeros" },
    models,
  });
  assert.deepEqual(zeros.outputs.latents.metadata.failed_item_indices, [0]);
  const inputs = { latents: zeros.outputs.latents };
  await assert.rejects(() => runOperation(synthesisDecode, { inputs, models }), { code: "boundary_value_invalid" });
  const { outputs: { images } } = await runOperation(synthesisDecode, {
    inputs,
    params: { on_error: "zeros" },
    models,
  });
  assert.ok(imagesOf(images).data.subarray(0, half).every((value) => value === 0));
  assert.deepEqual(imagesOf(images).data.subarray(half), sound.subarray(half));
});

codecTest("a model in another state is noticed, and so are scales of another runtime", async () => {
  const { outputs: { bits } } = await run();
  const stated = { ...bits.metadata.codeclib as JsonObject, model_state_sha256: "0".repeat(64) };
  const other = {
    kind: bits.kind,
    ...bitsArtifact(bitsOf(bits), { ...bits.metadata, codeclib: stated }, "payload.bits"),
  };
  await assert.rejects(() => back(other), { code: "artifact_hash_mismatch" });
  const params = { ...TINY, expected_model_state_sha256: "0".repeat(64) };
  await assert.rejects(() => runOperation(encode, { inputs: { images: pictures() }, params, models }), {
    code: "artifact_hash_mismatch",
  });
  const { model_state_sha256 } = bits.metadata.codeclib as JsonObject;
  await run(pictures(), { expected_model_state_sha256: model_state_sha256 });

  // The same latents against tables whose scales are spaced otherwise: what a runtime with other last bits would choose.
  const folder = models[MODEL], names = ["analysis", "hyper_analysis", "hyper_synthesis", "synthesis"];
  const files = Object.fromEntries(names.map((name) => [`${name}.onnx`, Deno.readFileSync(`${folder}/${name}.onnx`)]));
  const tables = JSON.parse(Deno.readTextFileSync(`${folder}/tables.json`));
  files["tables.json"] = new TextEncoder().encode(
    JSON.stringify({ ...tables, scales: { ...tables.scales, count: 63 } }),
  );
  await assert.rejects(() => runOperation(decode, { inputs: { bits }, models: { [MODEL]: files } }), {
    code: "artifact_hash_mismatch",
  });
});

codecTest("what cannot be run is refused with what helps", async () => {
  const images = pictures();
  const refused = async (params: JsonObject, code: string, hint: RegExp) => {
    await assert.rejects(
      () => runOperation(encode, { inputs: { images }, params: { ...TINY, ...params }, models }),
      (error: SvcError) => error.code === code && hint.test(error.hint ?? ""),
      `${JSON.stringify(params)} gives ${code}`,
    );
  };
  await refused({ metric: "ms-ssim" }, "params_conflict", /mse/);
  await refused({ pretrained: false }, "params_conflict", /pretrained/);
  await refused({ pad_to_multiple: 48 }, "params_invalid", /32/);
  const analysed = await latents();
  const conflict = { inputs: analysed, params: { model: MODEL, quality: 5 }, models };
  await assert.rejects(() => runOperation(entropyEncode, conflict), { code: "params_conflict" });

  // A payload of a published model that nobody fetched.
  const { outputs: { bits } } = await run();
  const named = { ...bits.metadata.codeclib as JsonObject, model: "mbt2018" };
  const foreign = {
    kind: bits.kind,
    ...bitsArtifact(bitsOf(bits), { ...bits.metadata, codeclib: named }, "payload.bits"),
  };
  await assert.rejects(() => back(foreign), { code: "model_unavailable" });

  const broken = analysed.latents.array().data.slice() as Float32Array;
  broken[3] = NaN;
  const input = { kind: analysed.latents.kind, metadata: analysed.latents.metadata };
  const array = ndarray("float32", broken, analysed.latents.array().shape);
  await assert.rejects(() => runOperation(synthesisDecode, { inputs: { latents: { ...input, array } }, models }), {
    code: "boundary_value_invalid",
  });
});

codecTest("rounded latents are integers, in units of the step", async () => {
  const inputs = { images: pictures() };
  const plain = await runOperation(analysisEncode, { inputs, params: TINY, models });
  const rounded = await runOperation(analysisEncode, { inputs, params: { ...TINY, quantize_latents: true }, models });
  const values = rounded.outputs.latents.array().data as Float32Array;
  assert.ok(values.every(Number.isInteger));
  const before = plain.outputs.latents.array().data as Float32Array;
  assert.ok(values.every((value, at) => Math.abs(value - before[at]) <= 0.5));
  // 45 x 37 pixels padded to 64 x 64.
  assert.deepEqual(rounded.outputs.latents.array().shape, [2, 128, 4, 4]);
});

codecTest("a bundle runs as the model that it came from, bit for bit", async () => {
  const { model } = await bundle(), images = pictures();
  assert.deepEqual([...model.files!.keys()].sort(), [
    "analysis.onnx",
    "hyper_analysis.onnx",
    "hyper_synthesis.onnx",
    "synthesis.onnx",
    "tables.json",
  ]);
  const { model: name, quality, export_height, export_width, opset } = model.json().codec as JsonObject;
  assert.deepEqual([name, quality, export_height, export_width, opset], [MODEL, 3, 64, 64, 17]);
  const named = await latents();
  const params = { pad_to_multiple: 32 };
  const analysed = (await runOperation(onnxEncode, { inputs: { images, model }, params })).outputs.latents;
  assert.deepEqual(analysed.array().data, named.latents.array().data);
  const { bits } = (await runOperation(onnxEntropyEncode, { inputs: { latents: analysed, model } })).outputs;
  const whole = await run(images, { wire_format: "compact_binary_v1" });
  assert.deepEqual(bitsOf(bits), bitsOf(whole.outputs.bits));
  const decoded = (await runOperation(onnxEntropyDecode, { inputs: { bits, model } })).outputs.latents;
  const shown = (await runOperation(onnxDecode, { inputs: { latents: decoded, model } })).outputs.images;
  assert.deepEqual(imagesOf(shown).data, imagesOf((await back(whole.outputs.bits)).outputs.images).data);
});

codecTest(
  "a bundle is refused for another opset, a missing or exchanged network, and what another model made",
  async () => {
    const params = (more: JsonObject) => ({ inputs: { images: pictures() }, params: { ...TINY, ...more }, models });
    for (const wrong of [{ opset: 16 }, { export_height: 40 }] as JsonObject[]) {
      await assert.rejects(() => runOperation(exportOnnx, params(wrong)), { code: "params_invalid" });
    }
    const { model } = await bundle(), files = Object.fromEntries(model.files!);
    const { files: _digests, ...json } = model.json();
    const remade = (files: Record<string, Uint8Array>) => ({ kind: model.kind, json, files });
    const inputs = (files: Record<string, Uint8Array>) => ({ images: pictures(), model: remade(files) });
    const { "synthesis.onnx": _left, ...without } = files;
    await assert.rejects(
      () => runOperation(onnxEncode, { inputs: inputs(without) }),
      (error: SvcError) => ["artifact_hash_mismatch", "artifact_manifest_invalid"].includes(error.code),
    );
    const exchanged = { ...files, "synthesis.onnx": files["analysis.onnx"] };
    await assert.rejects(() => runOperation(onnxEncode, { inputs: inputs(exchanged) }), {
      code: "artifact_hash_mismatch",
    });

    // The file itself: a byte of a network turned in the archive, below its check sum.
    const encoded = encodeArtifact("model", model.kind, remade(files)).bytes, at = encoded.length >> 1;
    const turned = encoded.slice();
    turned[at] ^= 1;
    assert.throws(() => decodeArtifact(model.kind, turned), { code: "artifact_archive_invalid" });
  },
);

codecTest("validating an export runs every network of the bundle", async () => {
  const folder = models[MODEL], names = ["analysis", "hyper_analysis", "hyper_synthesis", "synthesis"];
  const files = Object.fromEntries(names.map((name) => [`${name}.onnx`, Deno.readFileSync(`${folder}/${name}.onnx`)]));
  files["tables.json"] = Deno.readFileSync(`${folder}/tables.json`);
  files["synthesis.onnx"] = files["hyper_analysis.onnx"]; // takes latents, and gives no pictures
  const broken = { inputs: { images: pictures() }, params: TINY, models: { [MODEL]: files } };
  await assert.rejects(() => runOperation(exportOnnx, broken));
  await runOperation(exportOnnx, { ...broken, params: { ...TINY, validate_export: false } });
});

Deno.test("the planner refuses compiled networks on every backend", () => {
  for (const { definition } of [aotiEncode, aotiDecode]) {
    const plans = definition.materializations!.map(({ status }) => status);
    assert.ok(plans.length > 0);
    assert.ok(plans.every((status) => status === "planned"), plans.join());
  }
});
