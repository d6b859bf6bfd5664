import assert from "node:assert/strict";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { detectionsArtifact } from "../../../lib/artifact/vision.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { paintScene } from "../../../lib/numeric/image/scenes.ts";
import importanceMap from "../../../ops/foundation/importance_map.ts";
import reconstruction from "../../../ops/metrics/image_reconstruction.ts";
import weightedError from "../../../ops/metrics/importance_weighted_error.ts";
import { outputOf, refuses, runOperation } from "../harness.ts";

const { pixels } = paintScene({
  size: 64,
  ground: "white",
  objects: [{ shape: "circle", colour: "blue", x: 20, y: 20, side: 16 }],
});
const imagesWith = (data: Uint8Array) => ({
  kind: "image.batch.numpy",
  ...imagesArtifact({ count: 1, height: 64, width: 64, channels: 3, dtype: "uint8", data }, { image_ids: ["a"] }),
});
const boxes = (id = "a") => ({
  kind: "vision.detections.json",
  ...detectionsArtifact([
    { id, detections: [{ label: "circle", label_id: 0, confidence: 0.75, box: [20, 20, 36, 36] }] },
  ]),
});
const models = { network: new URL("../../../recipes/models/svc-tiny-detector-v1", import.meta.url).pathname };

async function mapOf(params: JsonObject, data = pixels) {
  const inputs = { images: imagesWith(data), ...(params.method === "detections" ? { detections: boxes() } : {}) };
  const { outputs } = await runOperation(importanceMap, { inputs, params, models });
  return outputs.importance_map;
}
const at = (map: Awaited<ReturnType<typeof mapOf>>, x: number, y: number) => Number(map.array().data[64 * y + x]);

const valuesOf = (map: Awaited<ReturnType<typeof mapOf>>) => map.array().data as Float32Array;

/** The sandbox of the models stays from test to test. */
const SHARED = { sanitizeOps: false, sanitizeResources: false };
Deno.test("each method finds the object and leaves the background", SHARED, async () => {
  for (const method of ["local_contrast", "detections", "occlusion_sensitivity"]) {
    const map = await mapOf({ method, cell_size: 8 });
    assert.deepEqual(map.array().shape, [1, 64, 64]);
    assert.equal(map.metadata.importance_method, method);
    assert.ok(Math.abs(at(map, 2, 2) - 0.1) < 1e-7, `${method}: ${at(map, 2, 2)}`);
    assert.ok(Math.max(...valuesOf(map)) === 1, method);
    assert.ok(Math.max(at(map, 22, 28), at(map, 28, 28), at(map, 28, 22)) > 0.3, method);
  }
});

Deno.test("contrast is the standard deviation of a cell, scaled to the largest", async () => {
  const two = new Uint8Array(64 * 64 * 3).fill(100);
  // Half of the first cell differs by 40, half of the second by 20.
  for (let y = 0; y < 16; y++) {
    two.fill(140, 3 * 64 * y, 3 * (64 * y + 8));
    two.fill(120, 3 * (64 * y + 16), 3 * (64 * y + 24));
  }
  const map = await mapOf({ background: float(0) }, two);
  assert.equal(at(map, 0, 0), 1);
  assert.ok(Math.abs(at(map, 16, 0) - 0.5) < 1e-6);
  assert.equal(at(map, 32, 0), 0);
});

Deno.test("an image without contrast is equally important everywhere", async () => {
  assert.ok(valuesOf(await mapOf({}, new Uint8Array(64 * 64 * 3).fill(9))).every((v) => v === 1));
});

Deno.test("detections of other images are refused", async () => {
  const inputs = { images: imagesWith(pixels), detections: boxes("b") };
  await refuses("pair_ids_mismatch", () => runOperation(importanceMap, { inputs, params: { method: "detections" } }));
});

Deno.test("weighted errors count by importance; equal weights give the plain error", async () => {
  const wrong = pixels.slice();
  wrong[0] += wrong[0] > 128 ? -30 : 30;
  const images = { reference: imagesWith(pixels), reconstruction: imagesWith(wrong) };
  const score = async (map: Awaited<ReturnType<typeof mapOf>>) =>
    (await runOperation(weightedError, { inputs: { ...images, importance_map: outputOf(map) } })).metrics;
  const equal = await score(await mapOf({ background: float(1) }));
  const plain = (await runOperation(reconstruction, { inputs: images })).metrics;
  for (const name of ["mse", "psnr_db"]) {
    const [weighted, expected] = [equal[`quality.importance_weighted_${name}`], plain[`quality.${name}`]].map(Number);
    assert.ok(Math.abs(weighted - expected) < 1e-12, name);
  }
  const weighted = await score(await mapOf({ method: "detections" }));
  // The wrong pixel has weight 0.1; 256 pixels of the box have 1.
  const expected = 0.1 * 900 / (3 * (256 + 0.1 * (4096 - 256)));
  assert.ok(Math.abs(Number(weighted["quality.importance_weighted_mse"]) - expected) < 1e-6);
});
