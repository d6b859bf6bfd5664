/** Folders as YOLO keeps them, of two small pictures made here. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { itemsOf } from "../../../lib/artifact/values.ts";
import { type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { fileAccess } from "../../../lib/execute/files.ts";
import { fillPolygon, type Point, polygonArea } from "../../../lib/numeric/image/polygon.ts";
import coco from "../../../ops/source/coco.ts";
import { refuses, runOperation } from "../harness.ts";
import { uniformImagesOf } from "../inputs.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const [coco8, coco128] = coco;

/** A plain picture of 40 x 20 pixels. */
const wide = () =>
  writePng({ width: 40, height: 20, channels: 3, data: new Uint8Array(40 * 20 * 3).fill(200) }).slice();
const square = () => writePng({ width: 16, height: 16, channels: 1, data: new Uint8Array(256).fill(50) }).slice();

const BOXES = { "000000000009.txt": "45 0.5 0.5 0.5 1.0\n0 0.25 0.25 0.1 0.1\n" };

function folder(split: string, labels: Record<string, string> = {}) {
  const files: Record<string, Uint8Array | string> = {
    [`d/images/${split}/000000000009.png`]: wide(),
    [`d/images/${split}/000000000025.png`]: square(),
    [`d/images/${split}/notes.md`]: "no picture",
  };
  for (const [name, text] of Object.entries(labels)) files[`d/labels/${split}/${name}`] = text;
  return files;
}

const detect = (labels: Record<string, string>, params: JsonObject = {}) =>
  runOperation(coco128, {
    params: { dataset_dir: "d", image_size: 32, ...params },
    files: folder("train2017", labels),
  });
const segment = (labels: Record<string, string>) =>
  runOperation(coco8, { params: { dataset_dir: "d", image_size: 32 }, files: folder("val", labels) });

Deno.test("boxes follow their letterboxed picture, classes have the names of COCO", async () => {
  const { outputs } = await detect(BOXES);
  const { count, width, height, channels, data } = uniformImagesOf(outputs.images);
  assert.deepEqual([count, height, width, channels], [2, 32, 32, 3]);
  // 40 x 20 becomes 32 x 16 from row 8 on, between bars of grey.
  const row = (y: number) => data[(y * 32 + 16) * 3];
  assert.deepEqual([7, 8, 23, 24].map(row), [114, 200, 200, 114]);
  const [first, second] = itemsOf(outputs.detections);
  assert.deepEqual([first.id, second.id], ["000000000009", "000000000025"]);
  assert.deepEqual(second.detections, [], "no label file, no object");
  const [bowl, person] = first.detections as JsonObject[];
  assert.deepEqual([bowl.label, bowl.label_id, person.label], ["bowl", 45, "person"]);
  assert.deepEqual((bowl.box as number[]).map(toNumber), [8, 8, 24, 24]);
  [6.4, 11.2, 9.6, 12.8].forEach((edge, at) =>
    assert.ok(Math.abs(toNumber((person.box as number[])[at]) - edge) < 1e-9, `${person.box}`)
  );
});

Deno.test("a limit takes the first pictures by name, and polygons count as boxes", async () => {
  const { outputs } = await detect({ "000000000009.txt": "1 0.25 0.5 0.5 0 0.75 0.5 0.5 1" }, { limit: 1 });
  const [item, ...others] = itemsOf(outputs.detections);
  assert.equal(others.length, 0);
  const [{ box, label }] = item.detections as JsonObject[];
  assert.equal(label, "bicycle");
  assert.deepEqual((box as number[]).map(toNumber), [8, 8, 24, 24]);
});

Deno.test("polygons become rasters, the smaller object on top", async () => {
  // A box over the whole square picture, and before it a triangle and a small square.
  const { outputs } = await segment({
    "000000000025.txt": "2 0 0 0.5 0 0.5 0.5 0 0.5\n7 0 1 1 1 1 0\n0 0.5 0.5 1 1\n",
    "000000000009.txt": "79 0 0 1 0 1 1 0 1",
  });
  const { data } = outputs.segmentation.array();
  const names = outputs.segmentation.metadata.class_names as string[];
  assert.equal(names.length, 81);
  const at = (image: number, x: number, y: number) => names[Number(data[(image * 32 + y) * 32 + x])];
  assert.deepEqual([at(0, 16, 7), at(0, 16, 8), at(0, 0, 23), at(0, 0, 24)], [
    "background",
    "toothbrush",
    "toothbrush",
    "background",
  ]);
  assert.deepEqual([at(1, 2, 2), at(1, 20, 2), at(1, 30, 20)], ["car", "person", "truck"]);
});

Deno.test("lines that are no labels are refused by file and line, an empty folder as such", async () => {
  for (const line of ["80 0.5 0.5 1 1", "0 0.5 0.5 1", "0 0.5 0.5 1 1.5", "person 0.5 0.5 1 1", "0 0 0 1 0 1 1 1"]) {
    await assert.rejects(() => detect({ "000000000009.txt": `0 0.5 0.5 1 1\n${line}` }), (error: Error) => {
      assert.match(error.message, /line 2 of d\/labels\/train2017\/000000000009\.txt/, line);
      return true;
    });
  }
  await refuses(
    "boundary_empty",
    () => runOperation(coco128, { params: { dataset_dir: "d" }, files: { "d/images/train2017/notes.md": "" } }),
  );
  await refuses("boundary_file_missing", () => runOperation(coco128, { params: { dataset_dir: "d" }, files: {} }));
});

Deno.test("a polygon covers the pixels whose centres lie inside, and neighbours share none", () => {
  const size = { width: 40, height: 40 };
  const covered = (points: Point[]) => {
    const pixels = new Set<number>();
    fillPolygon(points, size, (pixel) => {
      assert.ok(!pixels.has(pixel));
      pixels.add(pixel);
    });
    return pixels;
  };
  const whole = covered([[0, 0], [40, 0], [40, 40], [0, 40]]);
  assert.equal(whole.size, 1600);
  const [left, right] = [covered([[0, 0], [40, 0], [0, 40]]), covered([[40, 0], [40, 40], [0, 40]])];
  assert.equal(left.size + right.size, 1600);
  assert.equal([...left].filter((pixel) => right.has(pixel)).length, 0);
  // A circle by many corners, and beyond the raster nothing.
  const circle = Array.from({ length: 400 }, (_, i): Point => {
    const angle = 2 * Math.PI * i / 400;
    return [20 + 15 * Math.cos(angle), 20 + 15 * Math.sin(angle)];
  });
  assert.ok(Math.abs(polygonArea(circle) - Math.PI * 225) < 0.1);
  assert.ok(Math.abs(covered(circle).size - Math.PI * 225) < 15);
  assert.equal(covered(circle.map(([x, y]) => [x - 60, y])).size, 0);
});

Deno.test("a folder is listed by name, without links and folders, inside the project only", async () => {
  const root = temporaryFolder();
  await Deno.mkdir(join(root, "d/inner"), { recursive: true });
  for (const name of ["b.txt", "a.txt", "B.txt"]) await Deno.writeTextFile(join(root, "d", name), "");
  await Deno.symlink(join(root, "d/a.txt"), join(root, "d/link.txt"));
  const files = fileAccess({ projectRoot: root, stateDir: join(root, ".svc") });
  assert.deepEqual(await files.list("d"), ["B.txt", "a.txt", "b.txt"]);
  await refuses("path_refused", () => files.list("../d"));
  await refuses("path_refused", () => files.list("d/a.txt"));
  await refuses("boundary_file_missing", () => files.list("e"));
});
