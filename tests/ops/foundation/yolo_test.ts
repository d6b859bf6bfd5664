/** Decoding against stored cases of an independent implementation, and models of several layouts run as ONNX files. */
import assert from "node:assert/strict";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { fillLetterbox, forMask, letterbox, readHead } from "../../../lib/numeric/image/yolo.ts";
import { namesOf } from "../../../ops/foundation/_yolo.ts";
import yoloDetect from "../../../ops/foundation/yolo_detect.ts";
import yoloSegment from "../../../ops/foundation/yolo_segment.ts";
import { bytesOf, field, onnxModel } from "../../support/onnx_writer.ts";
import { refuses, runOperation } from "../harness.ts";

const INPUT = 32;

interface Case {
  image: { shape: [number, number, number]; data: number[] };
  planes: number[];
  classes: number;
  confidence: number;
  iou: number;
  mask_threshold: number;
  cells: number;
  head: number[];
  prototypes: { shape: [number, number, number]; data: number[] };
  detections: { box: number[]; score: number; label: number }[];
  raster: number[];
  instances: number[];
}

const CASES: Case[] =
  JSON.parse(await Deno.readTextFile(new URL("../../data/vision/yolo.json", import.meta.url))).cases;

const near = (actual: number, expected: number, tolerance: number, what: string) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} for ${expected}`);

Deno.test("pictures of any proportion are letterboxed as the reference does it", () => {
  for (const { image: { shape: [height, width, channels], data }, planes } of CASES) {
    const out = new Float32Array(3 * INPUT * INPUT);
    fillLetterbox(data, channels, 1 / 255, letterbox(width, height, INPUT, INPUT), out);
    out.forEach((value, at) => near(value, planes[at], 5.1e-5, `${width} x ${height}, sample ${at}`));
  }
});

Deno.test("heads and masks are read as the reference reads them", () => {
  for (const { image: { shape: [height, width] }, prototypes, ...stored } of CASES) {
    const letter = letterbox(width, height, INPUT, INPUT);
    const found = readHead(stored.head, stored, letter);
    assert.ok(found.length > 3);
    assert.equal(found.length, stored.detections.length);
    const raster = new Array<number>(width * height).fill(0), instances = raster.slice();
    const [count, protoHeight, protoWidth] = prototypes.shape;
    const grid = { data: prototypes.data, count, height: protoHeight, width: protoWidth };
    for (let rank = found.length - 1; rank >= 0; rank--) {
      const { box, score, label, cell } = found[rank], expected = stored.detections[rank];
      assert.equal(label, expected.label);
      near(score, expected.score, 1e-7, "score");
      box.forEach((edge, at) => near(edge, expected.box[at], 1e-4, "edge"));
      const weights = prototypes.data.slice(0, count).map((_, k) =>
        stored.head[(4 + stored.classes + k) * stored.cells + cell]
      );
      forMask(found[rank], weights, grid, stored.mask_threshold, letter, (pixel) => {
        raster[pixel] = 1 + label;
        instances[pixel] = 1 + rank;
      });
    }
    assert.deepEqual(raster, stored.raster);
    assert.deepEqual(instances, stored.instances);
  }
});

Deno.test("of a crowd the 300 most confident are kept", () => {
  const cells = 1000, letter = letterbox(INPUT, INPUT, INPUT, INPUT), head = new Float32Array(5 * cells);
  // Boxes of no size overlap with nothing.
  for (let cell = 0; cell < cells; cell++) {
    head[cell] = head[cells + cell] = INPUT / 2;
    head[4 * cells + cell] = (cell + 1) / cells;
  }
  const found = readHead(head, { cells, classes: 1, confidence: 0.1, iou: 0.5 }, letter);
  assert.deepEqual(found.map(({ cell }) => cell), Array.from({ length: 300 }, (_, rank) => cells - 1 - rank));
});

/** A file that gives a stored head, and prototypes where there are some, whatever picture it sees. */
function storedModel(stored: Case, { metadata = {}, batch = 1 as number | string, prototypes = true } = {}) {
  const rows = stored.head.length / stored.cells - (prototypes ? 0 : stored.prototypes.shape[0]);
  const head = {
    name: "head",
    shape: [1, rows, stored.cells],
    data: Float32Array.from(stored.head.slice(0, rows * stored.cells)),
  };
  const grid = {
    name: "grid",
    shape: [1, ...stored.prototypes.shape],
    data: Float32Array.from(stored.prototypes.data),
  };
  const entries = Object.entries(metadata).map(([key, value]) =>
    field(14, bytesOf(field(1, key), field(2, String(value))))
  );
  return onnxModel({
    nodes: [
      { op: "Identity", inputs: ["head"], outputs: ["output0"] },
      ...(prototypes ? [{ op: "Identity", inputs: ["grid"], outputs: ["output1"] }] : []),
    ],
    initializers: [head, ...(prototypes ? [grid] : [])],
    inputs: [{ name: "images", shape: [batch, 3, INPUT, INPUT] }],
    outputs: [{ name: "output0", shape: head.shape }, ...(prototypes ? [{ name: "output1", shape: grid.shape }] : [])],
    extra: bytesOf(...entries),
  });
}

function picture({ image: { shape: [height, width, channels], data } }: Case, dtype: "uint8" | "float32" = "uint8") {
  const batch = { count: 1, height, width, channels };
  const samples = dtype === "uint8" ? Uint8Array.from(data) : Float32Array.from(data, (value) => value / 255);
  return { kind: "image.batch.numpy", ...imagesArtifact({ ...batch, dtype, data: samples }, { image_ids: ["p"] }) };
}

const paramsOf = ({ confidence, iou }: Case): JsonObject => ({ confidence: float(confidence), iou: float(iou) });

Deno.test("a detector in ONNX gives boxes in pixels of the picture, named as its file names them", async () => {
  const [stored] = CASES, metadata = { names: "{0: 'circle', 1: \"driver's cab\", 2: 'it\\'s'}" };
  for (const prototypes of [false, true]) {
    const models = { network: { "model.onnx": storedModel(stored, { metadata, prototypes }) } };
    const { outputs } = await runOperation(yoloDetect, {
      inputs: { images: picture(stored) },
      params: paramsOf(stored),
      models,
    });
    const [item] = outputs.detections.json().items as JsonObject[];
    assert.equal(item.id, "p");
    const detections = item.detections as JsonObject[];
    assert.equal(detections.length, stored.detections.length);
    const names = ["circle", "driver's cab", "it's"];
    detections.forEach(({ label, label_id, confidence, box }, rank) => {
      const expected = stored.detections[rank];
      assert.deepEqual([label, label_id], [names[expected.label], expected.label]);
      near(toNumber(confidence as number), expected.score, 1e-7, "confidence");
      (box as number[]).forEach((edge, at) => near(toNumber(edge), expected.box[at], 1e-4, "edge"));
    });
  }
});

Deno.test("a segmenter in ONNX gives classes, instances and a row a detection", async () => {
  for (const stored of CASES) {
    const { outputs } = await runOperation(yoloSegment, {
      inputs: { images: picture(stored) },
      params: { ...paramsOf(stored), mask_threshold: float(stored.mask_threshold) },
      models: { network: { "model.onnx": storedModel(stored) } },
    });
    const { segmentation } = outputs, { shape: [height, width] } = stored.image;
    assert.deepEqual(segmentation.array().shape, [1, height, width]);
    assert.deepEqual([...segmentation.array().data], stored.raster);
    assert.deepEqual([...segmentation.array("instances").data], stored.instances);
    const table = segmentation.array("detections");
    assert.deepEqual(table.shape, [stored.detections.length, 8]);
    const [image, rank, label, score] = table.data as Float32Array;
    assert.deepEqual([image, rank, label], [0, 0, stored.detections[0].label]);
    near(score, stored.detections[0].score, 1e-7, "score");
    const names = Array.from({ length: stored.classes }, (_, index) => `class_${index}`);
    assert.deepEqual(segmentation.metadata.class_names, ["background", ...names]);
  }
});

Deno.test("models of another layout are refused with what to do", async () => {
  const [stored] = CASES;
  const detect = (model: Uint8Array) =>
    runOperation(yoloDetect, { inputs: { images: picture(stored) }, models: { network: { "model.onnx": model } } });
  await refuses("artifact_abi_mismatch", () => detect(storedModel(stored, { metadata: { names: "{0: 'one'}" } })));
  await refuses("artifact_abi_mismatch", () => detect(storedModel(stored, { batch: 4 })));
  await refuses("artifact_abi_mismatch", () =>
    runOperation(yoloSegment, {
      inputs: { images: picture(stored) },
      models: { network: { "model.onnx": storedModel(stored, { prototypes: false }) } },
    }));
  await refuses(
    "runtime_unavailable",
    () => runOperation(yoloDetect, { inputs: { images: picture(stored) }, params: { device: "cuda:0" }, models: {} }),
  );
});

Deno.test("names are read from a Python dictionary", () => {
  assert.deepEqual(namesOf("{0: 'person', 1: \"driver's cab\", 2: 'a: b, 3: c'}"), [
    "person",
    "driver's cab",
    "a: b, 3: c",
  ]);
  assert.deepEqual(namesOf("{2: 'b', 0: 'a'}"), ["a", "class_1", "b"]);
  assert.equal(namesOf(undefined), undefined);
  assert.equal(namesOf("{}"), undefined);
});
