import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { METADATA_MEMBER } from "../../../lib/artifact/codec.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { openNpz, writeNpz } from "../../../lib/artifact/npz.ts";
import { NpzBlocks } from "../../../lib/artifact/npz_blocks.ts";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { DTYPES, type NdArray } from "../../../lib/numeric/array/ndarray.ts";

/** Writes arrays in blocks of some elements, in turn, and reads the file. */
function written(folder: string, arrays: Record<string, NdArray>, text: string, size: number) {
  const path = join(folder, crypto.randomUUID()), texts = { [METADATA_MEMBER]: text };
  using file = new NpzBlocks(path, arrays, texts);
  using hashed = new NpzBlocks(null, arrays, texts);
  const longest = Math.max(...Object.values(arrays).map(({ shape: [length] }) => length));
  for (let at = 0; at < longest; at += size) {
    for (const [name, { dtype, data }] of Object.entries(arrays)) {
      const { slots } = DTYPES[dtype], block = data.subarray(at * slots, (at + size) * slots);
      file.write(name, block);
      hashed.write(name, block);
    }
  }
  const { parts, sha256 } = file.finish();
  assert.equal(sha256, null);
  return { bytes: Deno.readFileSync(path), parts, sha256: hashed.finish().sha256 };
}

Deno.test("an array in blocks has the file of the whole array, before and after the metadata, of every size", () => {
  const folder = Deno.makeTempDirSync({ prefix: "svc-blocks-" });
  for (const name of ["bits", "rx_symbols"]) {
    for (const dtype of ["uint8", "float32", "complex64", "int64"] as const) {
      for (const length of [0, 1, 1000]) {
        const data = DTYPES[dtype].make(
          new ArrayBuffer(length * DTYPES[dtype].itemSize),
          0,
          length * DTYPES[dtype].slots,
        );
        new Uint8Array(data.buffer).forEach((_, at, bytes) => bytes[at] = at * 31 % 251);
        const array = { dtype, shape: [length], data }, text = `{"array":"${name}"}`;
        const whole = writeNpz({ [name]: array, [METADATA_MEMBER]: text }, true);
        assert.deepEqual(openNpz(whole).array(name), array);
        for (const size of [1, 7, 1000]) {
          const { bytes, parts, sha256 } = written(folder, { [name]: array }, text, size);
          assert.equal(sha256, sha256Hex(whole));
          assert.deepEqual(bytes, new Uint8Array(whole), `${name} ${dtype} ${length} ${size}`);
          const sizes = parts.map((part) => part instanceof Uint8Array ? part.length : part.size);
          assert.equal(sizes.reduce((a, b) => a + b), whole.length);
        }
      }
    }
  }
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("arrays of one file in turns have the file of the whole arrays, in any order of their names", () => {
  const folder = Deno.makeTempDirSync({ prefix: "svc-blocks-" });
  const variance = Float32Array.from({ length: 1000 }, (_, i) => i), gains = variance.map((value) => 1 / (1 + value));
  const symbols = { dtype: "complex64", shape: [500], data: variance.map((value) => -value) } as const;
  for (const name of ["a", "z"]) {
    const arrays = {
      symbols: { ...symbols, shape: [500] },
      [name]: { dtype: "float32" as const, shape: [10, 100], data: variance },
      [`${name}2`]: { dtype: "float32" as const, shape: [1000], data: gains },
    };
    const whole = writeNpz({ ...arrays, [METADATA_MEMBER]: "{}" }, true);
    const flat = { ...arrays, [name]: { ...arrays[name], shape: [1000] } };
    const flatWhole = writeNpz({ ...flat, [METADATA_MEMBER]: "{}" }, true);
    assert.notDeepEqual(whole, flatWhole);
    for (const size of [1, 300, 1000]) {
      const { bytes, sha256 } = written(folder, flat, "{}", size);
      assert.deepEqual(bytes, new Uint8Array(flatWhole), `${name} ${size}`);
      assert.equal(sha256, sha256Hex(flatWhole));
    }
  }
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("an array that is not complete is refused, and one beyond 4 GiB before its file exists", () => {
  const folder = Deno.makeTempDirSync({ prefix: "svc-blocks-" }), path = join(folder, "bits.npz");
  const large = { bits: { dtype: "complex64", shape: [2 ** 29] } } as const;
  const code = (error: unknown) => error instanceof SvcError && error.code === "artifact_limit_exceeded";
  assert.throws(() => new NpzBlocks(path, large, {}), code);
  assert.ok(!exists(path));
  using file = new NpzBlocks(path, { bits: { dtype: "uint8", shape: [3] } }, {});
  file.write("bits", Uint8Array.of(1, 0));
  assert.throws(() => file.finish(), RangeError);
  Deno.removeSync(folder, { recursive: true });
});
