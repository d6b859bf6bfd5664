import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { openArrays } from "../../../lib/artifact/array_file.ts";
import { fileSource, memorySource, viewOf } from "../../../lib/artifact/byte_source.ts";
import { inspectData } from "../../../lib/artifact/data_inspect.ts";
import { loadHdf5, openHdf5 } from "../../../lib/artifact/hdf5.ts";
import { readHdf5 } from "../../../lib/artifact/hdf5_file.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { bytesOf } from "../../../lib/numeric/array/ndarray.ts";
import vectors from "../../data/hdf5/vectors.json" with { type: "json" };
import { bytesFrom, damage, seeded } from "./_fuzz.ts";

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;
type Expected = Record<string, { dtype: string; shape: number[]; values: string }>;

Deno.test("files of h5py, in the formats of 1.0 and 1.14, and of MATLAB 7.3 give their arrays bit for bit", async () => {
  for (
    const [name, text, arrays] of [
      ["a.h5", vectors.file, vectors.arrays],
      ["a.hdf5", vectors.version_1_14, vectors.arrays],
      ["a.mat", vectors.matlab, vectors.matlab_arrays],
    ] as [string, string, Expected][]
  ) {
    using file = await openArrays(bytesFrom(text), name, Object.keys(arrays));
    assert.deepEqual([...file.names].sort(), Object.keys(arrays).sort());
    for (const [array, { dtype, shape, values }] of Object.entries(arrays)) {
      assert.deepEqual(file.form(array), { dtype, shape }, array);
      const found = file.array(array);
      assert.deepEqual([found.dtype, found.shape], [dtype, shape], array);
      assert.deepEqual(bytesOf(found), bytesFrom(values), array);
    }
    assert.throws(() => file.array("absent"), code("artifact_array_missing"));
  }
});

Deno.test("texts, records, virtual arrays, giants, devices and links to other files give no values", async () => {
  using file = await openArrays(bytesFrom(vectors.others), "a.h5", [
    ...["text", "record", "virtual", "giant", "device"],
  ]);
  assert.deepEqual([...file.names].sort(), ["device", "giant", "record", "text", "virtual"]);
  assert.deepEqual(["text", "record"].map((name) => file.form(name).dtype), ["text", "compound"]);
  for (const name of ["text", "record", "virtual"]) {
    assert.throws(() => file.array(name), code("artifact_archive_unsupported"), name);
  }
  assert.throws(() => file.array("giant"), code("artifact_limit_exceeded"));
  assert.throws(() => file.array("device"), code("artifact_archive_invalid"));
});

Deno.test("inspection reads headers, not values", async () => {
  const bytes = bytesFrom(vectors.file), limits = { maxArrays: 99, maxBytes: 2 ** 20 }, hdf5 = await loadHdf5();
  const { arrays, format } = await inspectData("x.h5", () => memorySource(bytes));
  assert.equal(format, "hdf5");
  assert.deepEqual((arrays as { name: string }[]).map(({ name }) => name).sort(), Object.keys(vectors.arrays).sort());
  let read = 0;
  const at = (from: number, length: number) => {
    read += length;
    return memorySource(bytes).at(from, length);
  };
  const open = () => openHdf5(hdf5, { size: bytes.length, at }, "x.h5", limits);
  using file = open();
  for (const name of file.names) file.form(name);
  const headers = read;
  using again = open();
  again.array("packed");
  assert.ok(read - headers > headers, `${headers} of ${read}`);
});

Deno.test("truncated and damaged files are read or refused with a code, and the next file is read", async () => {
  const random = seeded(9), whole = bytesFrom(vectors.file), hdf5 = await loadHdf5();
  const open = (bytes: Uint8Array) =>
    openHdf5(hdf5, memorySource(bytes), "a.h5", { maxArrays: 1024, maxBytes: 2 ** 30 });
  let refused = 0;
  const attempt = (bytes: Uint8Array) => {
    try {
      using file = open(bytes);
      for (const name of file.names) file.array(name);
    } catch (error) {
      assert.ok(error instanceof SvcError, String(error));
      assert.doesNotMatch(error.message, /stopped/);
      refused++;
    }
  };
  for (let round = 0; round < 200; round++) attempt(damage(whole, random));
  // Errors of the library leave nothing on its stack.
  for (let round = 0; round < 5000; round++) attempt(whole.subarray(0, 3000));
  for (let length = 8; length < whole.length; length += 97) attempt(whole.slice(0, length));
  assert.ok(refused > 5100, String(refused));
  using file = open(whole);
  assert.equal(file.names.length, Object.keys(vectors.arrays).length);
});

/** A damaged file on which the library stops. */
const trapping = () => damage(bytesFrom(vectors.file), seeded(505168));

Deno.test("a file that stops the library is refused alone: the next file of the process is read", async () => {
  const limits = { maxArrays: 1024, maxBytes: 2 ** 30 }, wanted = Object.keys(vectors.arrays);
  const stops = { code: "artifact_archive_invalid", message: /it is damaged, the HDF5 library stopped on it/ };
  for (let round = 0; round < 2; round++) {
    await assert.rejects(async () => {
      using file = await readHdf5(memorySource(trapping()), "a.h5", { wanted, limits });
      for (const name of wanted) if (file.has(name)) file.array(name);
    }, stops);
    using file = await readHdf5(memorySource(bytesFrom(vectors.file)), "a.h5", { wanted, limits });
    assert.deepEqual(
      wanted.map((name) => file.array(name).dtype),
      Object.values(vectors.arrays).map(({ dtype }) => dtype),
    );
  }
});

Deno.test("a file of the disk is read by its thread, which ends after its time", async () => {
  const path = await Deno.makeTempFile({ suffix: ".h5" }), limits = { maxArrays: 1024, maxBytes: 2 ** 30 };
  try {
    await Deno.writeFile(path, bytesFrom(vectors.file));
    using source = fileSource(path, 2 ** 20);
    using file = await readHdf5(source, "a.h5", { wanted: [], limits });
    assert.deepEqual([...file.names].sort(), Object.keys(vectors.arrays).sort());
    assert.throws(() => file.array(file.names[0]), TypeError);
    await assert.rejects(
      readHdf5(source, "a.h5", { wanted: [], limits, timeoutMs: 0 }),
      code("artifact_limit_exceeded"),
    );
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("a chunk of 16 bytes that inflates to 64 MiB is refused, and the same chunk as declared is read", async () => {
  const { FS } = await loadHdf5(), { File } = await import("npm:h5wasm@^0.8.11");
  const bomb = new Uint8Array(deflateSync(new Uint8Array(2 ** 26))), values = Float32Array.of(1, 2, 3, 4);
  const written = new File("bomb.h5", "w");
  written.create_dataset({ name: "packed", data: bomb, shape: [bomb.length] });
  written.create_dataset({ name: "x", data: values, shape: [4], chunks: [4], compression: 9 });
  written.flush();
  const content = FS.readFile("bomb.h5").slice(), view = viewOf(content);
  const placeOf = (part: Uint8Array) =>
    content.findIndex((_, at) => part.every((byte: number, i: number) => content[at + i] === byte));
  // A node of chunks: after 24 bytes the size of the first chunk, a mask of filters, its place on two axes, and its address.
  const node = placeOf(new TextEncoder().encode("TREE\u0001")), packed = placeOf(bomb.subarray(0, 64));
  assert.ok(node > 0 && packed > 0);
  const read = async () => {
    using file = await openArrays(content.slice(), "a.h5", ["x"]);
    return file.array("x").data;
  };
  assert.deepEqual(await read(), values);
  view.setUint32(node + 24, bomb.length, true);
  view.setBigUint64(node + 48, BigInt(packed), true);
  await assert.rejects(read(), {
    code: "artifact_archive_invalid",
    message: /chunks of the array x hold more than they/,
  });
});
