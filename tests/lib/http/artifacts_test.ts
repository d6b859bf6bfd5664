import assert from "node:assert/strict";
import { join } from "node:path";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { imageOfArray } from "../../../lib/artifact/array_image.ts";
import { blockOf, MAX_BLOCK_VALUES } from "../../../lib/artifact/array_block.ts";
import { everyNth, seriesOf } from "../../../lib/artifact/array_series.ts";
import { openTestServer } from "./support.ts";

async function put(folder: string, name: string, bytes: Uint8Array | string): Promise<string> {
  const at = join(folder, ".svc/runs/20260101T000000Z_x");
  await Deno.mkdir(at, { recursive: true });
  await Deno.writeFile(join(at, name), typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  return `runs/20260101T000000Z_x/${name}`;
}

Deno.test("a preview shows the beginning of each array with typed numbers, and of a text", async () => {
  await using server = await openTestServer();
  const npz = writeNpz({
    symbols: ndarray("complex64", new Float32Array([1, -1, 0.5, 2]), [2]),
    count: ndarray("int64", new BigInt64Array([5n, 2n ** 60n]), [2]),
    level: ndarray("float32", Float32Array.of(1, NaN, Infinity), [3]),
    long: ndarray("uint8", new Uint8Array(1000), [1000]),
  });
  const path = await put(server.folder, "a.npz", npz);
  const { text, json } = await server.get(`/api/artifact?path=${path}`);
  assert.deepEqual([json.format, json.truncated, json.size_bytes], ["npz", true, npz.length]);
  assert.match(text, /\[\[1\.0,-1\.0\],\[0\.5,2\.0\]\]/);
  assert.match(text, /\[5,1152921504606846976\]/);
  assert.match(text, /\[1\.0,"NaN","Infinity"\]/);
  const long = json.preview.arrays.find(({ name }: { name: string }) => name === "long");
  assert.deepEqual([long.shape, long.values.length], [[1000], 256]);
  const words = await put(server.folder, "a.json", `{"text": "${"ä".repeat(40_000)}"}`);
  const shown = (await server.get(`/api/artifact?path=${words}`)).json;
  assert.equal(shown.truncated, true);
  assert.ok(new TextEncoder().encode(shown.preview.text).length <= 65536);
  assert.ok(!shown.preview.text.includes("\ufffd"));
});

Deno.test("bytes come as an attachment, whatever they are", async () => {
  await using server = await openTestServer();
  const path = await put(server.folder, "a.svg", "<svg onload='alert(1)'/>");
  const reply = await server.request(`/api/artifact?path=${path}&download=1`);
  assert.equal(reply.headers.get("content-type"), "application/octet-stream");
  assert.equal(reply.headers.get("content-disposition"), 'attachment; filename="a.svg"');
  assert.equal(await reply.text(), "<svg onload='alert(1)'/>");
  const page = await put(server.folder, "a.html", "<script>alert(1)</script>");
  assert.equal((await server.get(`/api/artifact?path=${page}`)).json.preview, null);
  assert.equal((await server.get(`/api/image?path=${path}`)).status, 422);
});

Deno.test("bytes carry the digest of the finished run as ETag, and come in the range that is asked for", async () => {
  await using server = await openTestServer();
  const text = "0123456789".repeat(100_000),
    path = await put(server.folder, "data.txt", text),
    tag = `"${sha256Hex(text)}"`;
  const ask = (headers: Record<string, string> = {}) =>
    server.request(`/api/artifact?path=${path}&download=1`, { headers });
  const unfinished = await ask();
  assert.deepEqual([unfinished.status, unfinished.headers.get("etag")], [200, null], "nothing is recorded yet");
  assert.equal(await unfinished.text(), text);
  await put(server.folder, "SHA256SUMS", `${sha256Hex(text)}  data.txt\n`);
  const whole = await ask();
  assert.deepEqual([whole.status, whole.headers.get("etag"), whole.headers.get("accept-ranges")], [200, tag, "bytes"]);
  assert.equal(await whole.text(), text);
  const known = await ask({ "if-none-match": tag });
  assert.deepEqual([known.status, known.headers.get("etag"), await known.text()], [304, tag, ""]);
  for (
    const [range, first, end] of [
      ["bytes=0-0", 0, 1],
      ["bytes=5-", 5, 1_000_000],
      ["bytes=-7", 999_993, 1_000_000],
      ["bytes=-2000000", 0, 1_000_000],
      ["bytes=300000-999999999", 300_000, 1_000_000],
    ] as const
  ) {
    const part = await ask({ range });
    assert.deepEqual(
      [part.status, part.headers.get("content-range"), part.headers.get("content-length"), part.headers.get("etag")],
      [206, `bytes ${first}-${end - 1}/1000000`, String(end - first), tag],
      range,
    );
    assert.equal(await part.text(), text.slice(first, end), range);
  }
  for (const range of ["bytes=1000000-", "bytes=-0"]) {
    const none = await ask({ range });
    assert.deepEqual([none.status, none.headers.get("content-range")], [416, "bytes */1000000"], range);
    assert.equal((await none.json()).code, "range_not_satisfiable");
  }
  for (const range of ["bytes=5-3", "bytes=0-1,4-5", "lines=0-1", "bytes=-", "bytes=a-b"]) {
    const all = await ask({ range });
    assert.deepEqual([all.status, (await all.text()).length], [200, 1_000_000], range);
  }
  // A part of another version of the file would not fit.
  for (const [condition, status] of [[tag, 206], ['"other"', 200]] as const) {
    const reply = await ask({ range: "bytes=0-9", "if-range": condition });
    assert.equal(reply.status, status);
    await reply.body?.cancel();
  }
});

Deno.test("pictures of arrays are what the arrays hold", async () => {
  await using server = await openTestServer();
  const pixels = Uint8Array.from({ length: 2 * 4 * 5 * 3 }, (_, i) => i * 2);
  const path = await put(server.folder, "i.npz", writeNpz({ images: ndarray("uint8", pixels, [2, 4, 5, 3]) }));
  const reply = await server.request(`/api/image?path=${path}&index=1`);
  assert.equal(reply.headers.get("content-type"), "image/png");
  const image = decodeImage(await reply.bytes());
  assert.deepEqual([image.width, image.height, image.channels], [5, 4, 3]);
  assert.deepEqual([...image.data], [...pixels.subarray(60)]);
  const beyond = await server.get(`/api/image?path=${path}&index=2`);
  assert.deepEqual([beyond.status, beyond.json.code], [400, "query_invalid"]);
  const wrong = await server.get(`/api/image?path=${path}&array=image`);
  assert.equal(wrong.json.hint, "Did you mean images?");
});

Deno.test("floats in [0, 1] are scaled to samples, other planes are stretched, constants are black", () => {
  const samples = (
    values: number[],
  ) => [...imageOfArray(ndarray("float64", Float64Array.from(values), [1, values.length]), 0).data];
  assert.deepEqual(samples([0, 0.5, 1]), [0, 128, 255]);
  assert.deepEqual(samples([-1, 0, 3]), [0, 64, 255]);
  assert.deepEqual(samples([7, 7]), [0, 0]);
  assert.throws(() => imageOfArray(ndarray("complex64", new Float32Array(8), [2, 2]), 0), { code: "artifact_invalid" });
  assert.throws(() => imageOfArray(ndarray("uint8", new Uint8Array(8), [8]), 0), { code: "artifact_invalid" });
});

Deno.test("a thinned line keeps every peak, and no more points than were asked for", () => {
  const data = Float64Array.from({ length: 100_000 }, (_, i) => Math.sin(i / 1000));
  data[77_777] = 9;
  data[12_345] = -9;
  const { x, y, source_count } = seriesOf(ndarray("float64", data), 100) as {
    x: number[];
    y: unknown[];
    source_count: number;
  };
  assert.ok(x.length <= 100);
  assert.equal(source_count, 100_000);
  assert.ok(x.every((value, i) => i === 0 || value > x[i - 1]));
  assert.equal(Number(y[x.indexOf(77_777)]), 9);
  assert.equal(Number(y[x.indexOf(12_345)]), -9);
  const short = seriesOf(ndarray("int32", Int32Array.of(3, 1, 2)), 100) as { y: unknown[] };
  assert.deepEqual(short.y.map(Number), [3, 1, 2]);
});

Deno.test("a constellation is a histogram that counts every finite symbol once", () => {
  const symbols = Float32Array.of(-1, -1, 1, 1, 1, 1, NaN, 0, 1, -1);
  const { kind, x, y, counts } = seriesOf(ndarray("complex64", symbols, [5]), 4) as {
    kind: string;
    x: unknown[];
    y: unknown[];
    counts: number[][];
  };
  assert.equal(kind, "histogram_2d");
  assert.deepEqual(counts, [[1, 1], [0, 2]]);
  assert.deepEqual([x.map(Number), y.map(Number)], [[-1, 0, 1], [-1, 0, 1]]);
  assert.throws(() => seriesOf(ndarray("complex64", symbols, [5]), 4, "line"), { code: "artifact_invalid" });
  const pairs = ndarray("complex64", Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), [5]);
  assert.deepEqual(everyNth(pairs, 2, 1), ndarray("complex64", Float32Array.of(2, 3, 6, 7), [2]));
  assert.equal(everyNth(pairs, 1, 0), pairs);
  for (const [stride, offset] of [[2, 2], [8, 5]]) {
    assert.throws(() => everyNth(pairs, stride, offset), { code: "artifact_invalid" });
  }
  const bins = seriesOf(ndarray("uint8", Uint8Array.of(0, 0, 255)), 2, "histogram") as { y: number[] };
  assert.deepEqual(bins.y, [2, 1]);
});

Deno.test("a robust range keeps the bulk of a histogram wide, and counts what lies beyond", () => {
  const data = Float64Array.from({ length: 10_000 }, (_, i) => Math.sin(i));
  data[5000] = 1e6;
  const of = (range: "all" | "robust") =>
    seriesOf(ndarray("float64", data), 10, "histogram", range) as { x: unknown[]; y: number[]; outside_count: number };
  assert.deepEqual(of("all").y.slice(1), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
  const robust = of("robust");
  assert.equal(robust.outside_count, 1);
  assert.equal(robust.y.reduce((sum, count) => sum + count, 0), 9999);
  assert.ok(Number(robust.x[0]) >= -1 && Number(robust.x.at(-1)) < 2);
  data[5000] = 0;
  assert.deepEqual(of("robust").outside_count, 0, "nothing is left out where nothing lies far");
  const symbols = new Float32Array(4000).fill(1);
  symbols[7] = -9000;
  const cells = seriesOf(ndarray("complex64", symbols, [2000]), 4, undefined, "robust") as { outside_count: number };
  assert.equal(cells.outside_count, 1);
});

Deno.test("a block is the part below its leading indices, with every digit", async () => {
  const values = Float32Array.from({ length: 2 * 3 * 2 * 2 }, (_, i) => i / 3);
  const array = ndarray("complex64", values, [3, 2, 2]);
  const block = blockOf(array, [1, 0]) as Record<string, unknown[]>;
  assert.deepEqual([block.shape, block.at, block.block_shape], [[3, 2, 2], [1, 0], [2]]);
  assert.deepEqual(block.real.map((value) => Math.fround(Number(value))), [values[8], values[10]]);
  assert.deepEqual(block.imaginary.map((value) => Math.fround(Number(value))), [values[9], values[11]]);
  assert.equal(blockOf(ndarray("int64", BigInt64Array.of(1n, 2n), [2]), []).imaginary, null);
  assert.deepEqual(blockOf(ndarray("float64", Float64Array.of(1, NaN), [2]), [1]).real, [null]);
  for (const at of [[3], [0, 0, 0, 0]]) assert.throws(() => blockOf(array, at), { code: "query_invalid" });
  const large = ndarray("uint8", new Uint8Array(MAX_BLOCK_VALUES + 1), [1, MAX_BLOCK_VALUES + 1]);
  assert.throws(() => blockOf(large, []), { code: "query_invalid" });
  assert.deepEqual(blockOf(large, [0], { first: 3 }).block_shape, [3]);
  const part = blockOf(ndarray("int8", Int8Array.of(1, 2, 3, 4, 5, 6), [2, 3]), [1], { first: 2 }) as Record<
    string,
    unknown[]
  >;
  assert.deepEqual(part.real.map(Number), [4, 5]);
  assert.throws(() => blockOf(large, [], { first: 3 }), { code: "query_invalid" });
  // 512 rows of 257: halved to 256, then both to 256 × 129 values.
  const map = ndarray("float32", Float32Array.from({ length: 2 * 512 * 257 }, (_, i) => i), [2, 512, 257]);
  const reduced = blockOf(map, [1], { reduced: true }) as unknown as {
    block_shape: number[];
    cell: number[];
    real: number[];
  };
  assert.deepEqual([reduced.block_shape, reduced.cell], [[256, 129], [2, 2]]);
  const value = (row: number, column: number) => 512 * 257 + row * 257 + column;
  assert.equal(Number(reduced.real[0]), value(1, 1));
  assert.equal(Number(reduced.real.at(-1)), value(511, 256));
  assert.throws(() => blockOf(map, [1]), { code: "query_invalid" });

  await using server = await openTestServer();
  const path = await put(server.folder, "h.npz", writeNpz({ h: array }));
  const reply = await server.get(`/api/array?path=${path}&at=2,1`);
  assert.deepEqual([reply.status, reply.json.array, reply.json.block_shape], [200, "h", [2]]);
  const short = await server.get(`/api/array?path=${path}&at=2,1&first=1`);
  assert.deepEqual([short.status, short.json.block_shape], [200, [1]]);
  assert.equal((await server.get(`/api/array?path=${path}&at=2,1&first=0`)).status, 400);
  for (const at of ["3", "x", "-1", "0,"]) {
    assert.equal((await server.get(`/api/array?path=${path}&at=${at}`)).status, 400, at);
  }
});
