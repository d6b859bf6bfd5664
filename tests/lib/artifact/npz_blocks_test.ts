import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { METADATA_MEMBER } from "../../../lib/artifact/codec.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { openNpz, writeNpz } from "../../../lib/artifact/npz.ts";
import { NpzBlocks } from "../../../lib/artifact/npz_blocks.ts";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { DTYPES, type NdArray } from "../../../lib/numeric/array/ndarray.ts";

/** Writes an array in blocks of some elements and reads the file. */
function written(folder: string, name: string, { dtype, shape: [length], data }: NdArray, text: string, size: number) {
  const path = join(folder, crypto.randomUUID()), slots = size * DTYPES[dtype].slots;
  using file = new NpzBlocks(path, { name, dtype, length }, { [METADATA_MEMBER]: text });
  for (let at = 0; at < data.length; at += slots) file.write(data.subarray(at, at + slots));
  using hashed = new NpzBlocks(null, { name, dtype, length }, { [METADATA_MEMBER]: text });
  for (let at = 0; at < data.length; at += slots) hashed.write(data.subarray(at, at + slots));
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
        const whole = writeNpz({ [name]: array, [METADATA_MEMBER]: text }, name);
        assert.deepEqual(openNpz(whole).array(name), array);
        for (const size of [1, 7, 1000]) {
          const { bytes, parts, sha256 } = written(folder, name, array, text, size);
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

Deno.test("an array that is not complete is refused, and one beyond 4 GiB before its file exists", () => {
  const folder = Deno.makeTempDirSync({ prefix: "svc-blocks-" }), path = join(folder, "bits.npz");
  const large = { name: "bits", dtype: "complex64", length: 2 ** 29 } as const;
  const code = (error: unknown) => error instanceof SvcError && error.code === "artifact_limit_exceeded";
  assert.throws(() => new NpzBlocks(path, large, {}), code);
  assert.ok(!exists(path));
  using file = new NpzBlocks(path, { name: "bits", dtype: "uint8", length: 3 }, {});
  file.write(Uint8Array.of(1, 0));
  assert.throws(() => file.finish(), RangeError);
  Deno.removeSync(folder, { recursive: true });
});
