import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { openArrays } from "../../../lib/artifact/array_file.ts";
import { memorySource, viewOf } from "../../../lib/artifact/byte_source.ts";
import { inspectData } from "../../../lib/artifact/data_inspect.ts";
import { openMat5 } from "../../../lib/artifact/mat5.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { bytesOf } from "../../../lib/numeric/array/ndarray.ts";
import vectors from "../../data/mat5/vectors.json" with { type: "json" };
import { bytesFrom, damage, seeded } from "./_fuzz.ts";

const LIMITS = { maxArrays: 100, maxBytes: 2 ** 24 };
const opened = (bytes: Uint8Array, limits = LIMITS) => openMat5(memorySource(bytes), "a.mat", limits);
const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;
type Expected = Record<string, { dtype: string; shape: number[]; values: string }>;

Deno.test("files of SciPy, plain and compressed, and of the other byte order give their arrays bit for bit", () => {
  for (
    const [text, arrays] of [
      [vectors.plain, vectors.arrays],
      [vectors.compressed, vectors.arrays],
      [vectors.big_endian, vectors.big_endian_arrays],
    ] as [string, Expected][]
  ) {
    const file = opened(bytesFrom(text));
    assert.deepEqual(file.names, Object.keys(arrays));
    for (const [name, { dtype, shape, values }] of Object.entries(arrays)) {
      assert.deepEqual(file.form(name), { dtype, shape }, name);
      const array = file.array(name);
      assert.deepEqual([array.dtype, array.shape], [dtype, shape], name);
      assert.deepEqual(bytesOf(array), bytesFrom(values), name);
    }
    assert.throws(() => file.array("absent"), code("artifact_array_missing"));
  }
});

Deno.test("texts, structs and cells have a form and no numbers", async () => {
  const file = opened(bytesFrom(vectors.others));
  assert.deepEqual(file.names.map((name) => file.form(name).dtype), ["char", "struct", "cell"]);
  for (const name of file.names) assert.throws(() => file.array(name), code("artifact_archive_unsupported"));
  const bytes = bytesFrom(vectors.compressed);
  const { format, arrays } = await inspectData("x.mat", () => memorySource(bytes));
  assert.equal(format, "mat");
  assert.deepEqual((arrays as unknown[])[1], { name: "single", dtype: "float32", shape: [2, 3, 4] });
});

/** A little-endian file of one array that claims a shape; `data` are its numbers with their tag. */
function file(shape: number[], data: Uint8Array, pack = false): Uint8Array {
  const body = new Uint8Array(48 + Math.ceil(shape.length / 2) * 8 + data.length), view = viewOf(body);
  const words = [14, body.length - 8, 6, 8, 6, 0, 5, 4 * shape.length, ...shape];
  if (shape.length % 2 === 1) words.push(0);
  words.push(1 | (1 << 16), 0x78);
  words.forEach((word, at) => view.setUint32(4 * at, word, true));
  body.set(data, 4 * words.length);
  const whole = body.subarray(0, 4 * words.length + data.length);
  view.setUint32(4, whole.length - 8, true);
  const packed = new Uint8Array(deflateSync(whole as Uint8Array<ArrayBuffer>)), tag = new Uint8Array(8);
  viewOf(tag).setUint32(0, 15, true);
  viewOf(tag).setUint32(4, packed.length, true);
  const header = new Uint8Array(128).fill(0x20);
  header.set([0, 1, 0x49, 0x4d], 124);
  return Uint8Array.of(...header, ...(pack ? [...tag, ...packed] : whole));
}
/** Doubles with their tag. */
function doubles(count: number): Uint8Array {
  const data = new Uint8Array(8 + 8 * count);
  viewOf(data).setUint32(0, 9, true);
  viewOf(data).setUint32(4, 8 * count, true);
  return data;
}

Deno.test("shapes without their numbers, giants, bombs and other versions are refused", async () => {
  assert.deepEqual(opened(file([2, 3], doubles(6))).array("x").shape, [2, 3]);
  for (const pack of [false, true]) {
    assert.throws(() => opened(file([2, 2], doubles(6), pack)).array("x"), code("artifact_archive_invalid"));
    assert.throws(() => opened(file([2 ** 30, 2 ** 30], doubles(1), pack)), code("artifact_limit_exceeded"));
    assert.throws(() => opened(file([1, 2, 2 ** 31], doubles(1), pack)), code("artifact_archive_invalid"), "negative");
    assert.throws(() => opened(file([4], doubles(4), pack)), code("artifact_archive_invalid"), "one axis");
    assert.throws(() => opened(file(Array(40).fill(1), doubles(1), pack)), code("artifact_archive_invalid"), "rank");
  }
  const bomb = file([1, 10], doubles(1e5), true);
  assert.ok(bomb.length < 2000);
  assert.throws(() => opened(bomb, { ...LIMITS, maxBytes: 1e5 }), code("artifact_limit_exceeded"));
  assert.throws(() => opened(bytesFrom(vectors.plain), { ...LIMITS, maxArrays: 3 }), code("artifact_limit_exceeded"));
  const twice = file([1, 1], doubles(1)), second = twice.subarray(128);
  assert.throws(() => opened(Uint8Array.of(...twice, ...second)), /two arrays named x/);
  assert.throws(() => opened(bytesFrom(vectors.level_4)), code("artifact_archive_invalid"));
  const other = twice.slice();
  other[125] = 2;
  assert.throws(() => opened(other), code("artifact_archive_unsupported"));
  await assert.rejects(openArrays(twice, "x.bin", []), code("usage_invalid"));
});

Deno.test("truncated and damaged files are read or refused with a code", () => {
  const random = seeded(3);
  for (const bytes of [file([2, 3], doubles(6)), file([2, 3], doubles(6), true), bytesFrom(vectors.compressed)]) {
    for (let length = 129; length < Math.min(bytes.length, 200); length++) {
      assert.throws(() => opened(bytes.slice(0, length)), code("artifact_archive_invalid"), String(length));
    }
    let refused = 0;
    for (let round = 0; round < 400; round++) {
      try {
        const damaged = opened(damage(bytes, random));
        for (const name of damaged.names) damaged.array(name);
      } catch (error) {
        assert.ok(error instanceof SvcError, String(error));
        refused++;
      }
    }
    assert.ok(refused > 100, String(refused));
  }
});
