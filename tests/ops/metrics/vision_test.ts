import assert from "node:assert/strict";
import { float, isNumber, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { mean } from "../../../lib/numeric/scores/statistics.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import detection from "../../../ops/metrics/detection.ts";
import segmentation from "../../../ops/metrics/segmentation.ts";
import { refuses, runOperation } from "../harness.ts";

const stored = async (name: string) =>
  JSON.parse(await Deno.readTextFile(new URL(`../../data/vision/${name}.json`, import.meta.url)));
const close = (actual: unknown, expected: number, what: string) =>
  assert.ok(Math.abs(toNumber(actual as number) - expected) < 1e-12, `${what}: ${actual} for ${expected}`);

interface Row {
  label: string;
  confidence?: number;
  box: number[];
}

function detections(pictures: readonly Row[][]) {
  const items = pictures.map((rows, index) => ({
    id: `p${index}`,
    detections: rows.map(({ label, confidence = 1, box }) => ({
      label,
      label_id: 0,
      confidence: float(confidence),
      box: box.map(float),
    })),
  }));
  return { kind: "vision.detections.json", json: { kind: "vision.detections", schema_version: 1, items } };
}

const score = (candidate: readonly Row[][], reference: readonly Row[][], params: JsonObject = {}) =>
  runOperation(detection, { inputs: { candidate: detections(candidate), reference: detections(reference) }, params });

Deno.test("detections score as an independent evaluation after COCOeval scores them", async () => {
  for (const { references, candidates, scores } of (await stored("detection")).cases) {
    for (const expected of scores) {
      const { metrics, outputs } = await score(candidates, references, {
        iou_threshold: float(expected.iou),
        confidence_threshold: float(expected.confidence),
      });
      const at = `at_iou_${String(expected.iou).replace(".", "p")}_conf_${
        String(expected.confidence).replace(".", "p")
      }`;
      for (const name of ["recall", "precision", "f1"]) {
        close(metrics[`detection.${name}_${at}`], expected[name], `${name}_${at}`);
      }
      const report = outputs.report.json();
      for (const { label, average_precision, ...counts } of report.labels as JsonObject[]) {
        const { average_precision: wanted, ...wantedCounts } = expected.labels[label as string];
        assert.deepEqual(counts, wantedCounts);
        close(average_precision, wanted, `average precision of ${label}`);
      }
      close((report.mean_average_precision as JsonObject).iou_0p5_to_0p95, expected.coco_ap, "COCO AP");
      const conf = at.slice(at.indexOf("conf_"));
      close(metrics[`detection.map_at_iou_0p5_to_0p95_${conf}`], expected.coco_ap, "mAP");
      const labels = expected.labels as Record<string, JsonObject>;
      const precisions = Object.values(labels)
        .flatMap(({ average_precision }) => isNumber(average_precision) ? [toNumber(average_precision)] : []);
      close(metrics[`detection.ap_${at}`], mean(precisions), "mean AP at the threshold");
      for (const [label, { reference_count, candidate_count, match_count }] of Object.entries(labels)) {
        const f1 = 2 * Number(match_count) / (Number(reference_count) + Number(candidate_count));
        close(metrics[`detection.class_f1_${at}.${label}`], f1, `F1 of ${label}`);
      }
    }
  }
});

Deno.test("a box is matched once, by the most confident candidate of its label", async () => {
  const box = [0, 0, 10, 10], near = [1, 0, 11, 10];
  const { metrics, outputs } = await score(
    [[
      { label: "a", confidence: 0.4, box },
      { label: "a", confidence: 0.9, box: near },
      { label: "b", confidence: 1, box },
    ]],
    [[{ label: "a", box }]],
  );
  assert.equal(metrics["detection.recall_at_iou_0p5_conf_0"], 1);
  assert.equal(metrics["detection.precision_at_iou_0p5_conf_0"], 1 / 3);
  assert.equal(metrics["task.score"], 0.5);
  const [a] = outputs.report.json().labels as JsonObject[];
  // The match ranks first: precision is 1 at every level of recall.
  assert.equal(toNumber(a.average_precision as number), 1);
});

Deno.test("inverted boxes and an IoU threshold of 0 are refused", async () => {
  const box = [0, 0, 20, 20];
  for (const inverted of [[20, 20, 0, 0], [20, 0, 0, 20], [0, 20, 20, 0]]) {
    await refuses("boundary_value_invalid", () => score([[{ label: "a", box: inverted }]], [[{ label: "a", box }]]));
    await refuses("boundary_value_invalid", () => score([[{ label: "a", box }]], [[{ label: "a", box: inverted }]]));
  }
  await refuses(
    "params_invalid",
    () => score([[{ label: "a", box: [30, 30, 50, 50] }]], [[{ label: "a", box }]], { iou_threshold: 0 }),
  );
});

Deno.test("of each image and label the most confident candidates count", async () => {
  const box = [0, 0, 10, 10], far = [50, 50, 60, 60];
  const candidates = [
    { label: "a", confidence: 0.2, box },
    { label: "a", confidence: 0.9, box: far },
    { label: "b", confidence: 0.1, box },
  ];
  const references = [{ label: "a", box }, { label: "b", box }];
  const recall = async (max_detections: number) =>
    (await score([candidates], [references], { max_detections })).metrics["detection.recall_at_iou_0p5_conf_0"];
  assert.deepEqual([await recall(1), await recall(2)], [0.5, 1]);
});

Deno.test("what has no denominator is left out, and ids must pair", async () => {
  const box = [0, 0, 10, 10];
  assert.deepEqual((await score([[]], [[{ label: "a", box }]])).metrics, {
    "detection.recall_at_iou_0p5_conf_0": 0,
    "detection.f1_at_iou_0p5_conf_0": 0,
    "detection.ap_at_iou_0p5_conf_0": 0,
    "detection.map_at_iou_0p5_to_0p95_conf_0": 0,
    "detection.class_f1_at_iou_0p5_conf_0.a": 0,
    "task.score": 0,
  });
  assert.deepEqual((await score([[]], [[]])).metrics, {});
  await refuses("pair_ids_mismatch", () => score([[], []], [[]]));
});

function raster(values: number[][][], metadata: JsonObject = {}) {
  const data = Uint8Array.from(values.flat(2));
  const shape = [values.length, values[0].length, values[0][0].length];
  return { kind: "vision.segmentation_mask.numpy", array: ndarray("uint8", data, shape), metadata };
}

Deno.test("rasters score as the confusion matrix says", async () => {
  for (const { reference, candidate, miou, pixel_accuracy } of (await stored("segmentation")).cases) {
    const inputs = { reference: raster(reference), candidate: raster(candidate) };
    const { metrics } = await runOperation(segmentation, { inputs });
    close(metrics["segmentation.semantic_raster_pooled_miou"], miou, "mean IoU");
    close(metrics["segmentation.semantic_raster_pooled_pixel_accuracy"], pixel_accuracy, "pixel accuracy");
    assert.equal(metrics["task.score"], metrics["segmentation.semantic_raster_pooled_pixel_accuracy"]);
  }
});

Deno.test("panoptic quality is that of the objects, and averages their classes", async () => {
  const lines = (...rows: string[]) => rows.map((row) => [...row].map(Number));
  // Class 1: one of two objects matched with IoU 3/4, one left over on either side; class 2: equal.
  const reference = raster([lines("110011", "110011", "000000", "220000")]);
  const candidate = raster([lines("110010", "100010", "000100", "220000")]);
  const { metrics } = await runOperation(segmentation, { inputs: { reference, candidate } });
  close(metrics["segmentation.panoptic_quality"], ((3 / 4) / (1 + 2 / 2) + 1) / 2, "panoptic quality");
  const same = await runOperation(segmentation, { inputs: { reference, candidate: reference } });
  assert.equal(same.metrics["segmentation.panoptic_quality"], 1);
  assert.equal(same.metrics["segmentation.boundary_f1"], 1);
  // The frame of the image is no boundary: rasters without a common class share none.
  const other = await runOperation(segmentation, {
    inputs: { reference: raster([lines("111", "111")]), candidate: raster([lines("222", "222")]) },
  });
  assert.equal(other.metrics["segmentation.boundary_f1"], 0);
  const shifted = await runOperation(segmentation, {
    inputs: { reference: raster([lines("000001", "000001")]), candidate: raster([lines("011111", "011111")]) },
  });
  assert.equal(shifted.metrics["segmentation.boundary_f1"], 0);
  const nothing = await runOperation(segmentation, {
    inputs: { reference: raster([[[0, 0]]]), candidate: raster([[[0, 0]]]) },
  });
  assert.equal(nothing.metrics["segmentation.panoptic_quality"], undefined);
});

Deno.test("classes are compared by name where both sides name them, and the mean without the ground is reported", async () => {
  const reference = raster([[[0, 1, 2, 2]]], { class_names: ["background", "circle", "square"] });
  const candidate = raster([[[0, 2, 3, 1]]], { class_names: ["background", "square", "circle", "dog"] });
  const { metrics, outputs } = await runOperation(segmentation, { inputs: { reference, candidate } });
  // Right: ground, circle, one of two squares; the dog is a class of its own.
  assert.equal(metrics["segmentation.semantic_raster_pooled_pixel_accuracy"], 3 / 4);
  assert.equal(metrics["segmentation.semantic_raster_pooled_miou"], (1 + 1 + 1 / 2 + 0) / 4);
  const { miou_without_background, classes } = outputs.report.json();
  assert.equal(toNumber(miou_without_background as number), 0.5);
  const pooled = (name: string) => metrics[`segmentation.semantic_raster_pooled_${name}`];
  assert.equal(pooled("miou_without_background"), 0.5);
  assert.deepEqual(["background", "circle", "square", "dog"].map((name) => pooled(`class_iou.${name}`)), [
    1,
    1,
    0.5,
    0,
  ]);
  assert.deepEqual((classes as JsonObject[]).map(({ name }) => name), ["background", "circle", "square", "dog"]);
});

Deno.test("rasters of other shapes, types, values or pictures are refused", async () => {
  const reference = raster([[[0, 1]]], { image_ids: ["a"] });
  const against = (candidate: ReturnType<typeof raster>) =>
    runOperation(segmentation, { inputs: { reference, candidate } });
  await refuses("boundary_shape_invalid", () => against(raster([[[0, 1, 1]]])));
  await refuses("pair_ids_mismatch", () => against(raster([[[0, 1]]], { image_ids: ["b"] })));
  await refuses("boundary_value_invalid", () => against(raster([[[0, 1]]], { class_names: ["background"] })));
  const floats = { ...raster([[[0, 1]]]), array: ndarray("float32", Float32Array.of(0, 1), [1, 1, 2]) };
  await refuses("boundary_dtype_invalid", () => against(floats));
});
