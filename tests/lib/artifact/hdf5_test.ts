import assert from "node:assert/strict";
import { openArrays } from "../../../lib/artifact/array_file.ts";
import { type ByteSource, memorySource } from "../../../lib/artifact/byte_source.ts";
import { inspectData } from "../../../lib/artifact/data_inspect.ts";
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
    using file = await openArrays(bytesFrom(text), name);
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
  using file = await openArrays(bytesFrom(vectors.others), "a.h5");
  assert.deepEqual([...file.names].sort(), ["device", "giant", "record", "text", "virtual"]);
  assert.deepEqual(["text", "record"].map((name) => file.form(name).dtype), ["text", "compound"]);
  for (const name of ["text", "record", "virtual"]) {
    assert.throws(() => file.array(name), code("artifact_archive_unsupported"), name);
  }
  assert.throws(() => file.array("giant"), code("artifact_limit_exceeded"));
  assert.throws(() => file.array("device"), code("artifact_archive_invalid"));
});

Deno.test("inspection reads headers, not values", async () => {
  const bytes = bytesFrom(vectors.file);
  let read = 0;
  const source: ByteSource = {
    size: bytes.length,
    at(from, length) {
      if (length !== 2 ** 20) read += length;
      return memorySource(bytes).at(from, length);
    },
  };
  const { arrays, format } = await inspectData("x.h5", () => source);
  assert.equal(format, "hdf5");
  assert.deepEqual((arrays as { name: string }[]).map(({ name }) => name).sort(), Object.keys(vectors.arrays).sort());
  const headers = read;
  using file = await openArrays(source, "x.h5");
  file.array("packed");
  assert.ok(read - headers > headers, `${headers} of ${read}`);
});

Deno.test("truncated and damaged files are read or refused with a code, and the next file is read", async () => {
  const random = seeded(9), whole = bytesFrom(vectors.file);
  let refused = 0;
  const attempt = async (bytes: Uint8Array) => {
    try {
      using file = await openArrays(bytes, "a.h5");
      for (const name of file.names) file.array(name);
    } catch (error) {
      assert.ok(error instanceof SvcError, String(error));
      assert.notEqual(error.code, "runtime_unavailable");
      refused++;
    }
  };
  for (let round = 0; round < 200; round++) await attempt(damage(whole, random));
  // Errors of the library leave nothing on its stack.
  for (let round = 0; round < 5000; round++) await attempt(whole.subarray(0, 3000));
  for (let length = 8; length < whole.length; length += 97) await attempt(whole.slice(0, length));
  assert.ok(refused > 5100, String(refused));
  using file = await openArrays(whole, "a.h5");
  assert.equal(file.names.length, Object.keys(vectors.arrays).length);
});
