import assert from "node:assert/strict";
import source from "../../../ops/source/semantic_artifacts_smoke.ts";
import detection from "../../../ops/metrics/detection.ts";
import segmentation from "../../../ops/metrics/segmentation.ts";
import similarity from "../../../ops/metrics/embedding_similarity.ts";
import { runOperation } from "../harness.ts";

const { outputs } = await runOperation(source, { params: { embedding_dim: 64 } });

Deno.test("boxes, rasters and importance describe the same scenes", () => {
  const boxes = outputs.detections_reference.json().items as { detections: { box: number[] }[] }[];
  const raster = outputs.segmentation_reference.array(), importance = outputs.importance_map.array();
  assert.deepEqual(raster.shape, [2, 64, 64]);
  assert.deepEqual(importance.shape, raster.shape);
  boxes.forEach(({ detections }, scene) => {
    for (const { box } of detections) {
      const [x, y, right, bottom] = box.map(Number);
      const centre = scene * 64 * 64 + Math.floor((y + bottom) / 2) * 64 + Math.floor((x + right) / 2);
      assert.ok(Number(raster.data[centre]) > 0 && Number(importance.data[centre]) === 1);
    }
  });
  assert.ok(Math.abs(Number(importance.data[0]) - 0.1) < 1e-7);
});

Deno.test("what the imagined system missed shows in the scores", async () => {
  const pair = (name: string) => ({ reference: outputs[`${name}_reference`], candidate: outputs[`${name}_candidate`] });
  const { metrics } = await runOperation(detection, { inputs: pair("detections") });
  assert.equal(metrics["detection.recall_at_iou_0p5_conf_0"], 2 / 3);
  assert.equal(metrics["detection.precision_at_iou_0p5_conf_0"], 1);
  const { metrics: pixels } = await runOperation(segmentation, { inputs: pair("segmentation") });
  assert.ok(Number(pixels["segmentation.semantic_raster_pooled_pixel_accuracy"]) < 1);
});

Deno.test("pictures and captions live in one space, and each caption is nearest its picture", async () => {
  const { metrics } = await runOperation(similarity, {
    inputs: { reference: outputs.clip_embeddings, candidate: outputs.multimodal_embeddings },
  });
  assert.ok(Number(metrics["embedding.cosine_min"]) > 0.5);
  for (const item of outputs.rankings.json().items as { ranked_ids: string[]; relevant_ids: string[] }[]) {
    assert.equal(item.ranked_ids[0], item.relevant_ids[0]);
  }
});

Deno.test("objects of the video move a pixel a frame", () => {
  const { shape, data } = outputs.video_frames.array();
  assert.deepEqual(shape, [2, 4, 64, 64, 3]);
  const row = (frame: number, column: number) => Number(data[((frame * 64 + 18) * 64 + column) * 3 + 1]);
  for (let column = 0; column < 60; column++) assert.equal(row(3, column + 3), row(0, column));
});
