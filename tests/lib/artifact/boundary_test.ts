import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { float } from "../../../lib/contract/value.ts";
import { checkAccounting, checkCount, checkExpectedCount } from "../../../lib/artifact/accounting.ts";
import { checkBits, checkEmbedding, checkFinite, checkImages, checkSymbols } from "../../../lib/artifact/boundary.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

function refuses(code: string, check: () => unknown, name = ""): void {
  assert.throws(
    check,
    (error) => error instanceof SvcError && error.code === code && /^Cannot /.test(error.message),
    name,
  );
}

Deno.test("bits are uint8, one dimension, 0 and 1, wherever a wrong value stands and however memory is aligned", () => {
  const memory = new Uint8Array(64);
  for (let start = 0; start < 5; start++) {
    for (let length = 0; length < 20; length++) {
      const bits = memory.subarray(start, start + length);
      assert.equal(checkBits(ndarray("uint8", bits)), bits);
      for (let at = 0; at < length; at++) {
        bits[at] = 1;
        checkBits(ndarray("uint8", bits));
        for (const wrong of [2, 128, 255]) {
          bits[at] = wrong;
          refuses("boundary_value_invalid", () => checkBits(ndarray("uint8", bits)), `${start} ${length} ${at}`);
        }
        bits[at] = 0;
      }
    }
  }
  refuses("boundary_dtype_invalid", () => checkBits(ndarray("bool", new Uint8Array(1))));
  refuses("boundary_dtype_invalid", () => checkBits(ndarray("float32", new Float32Array(1))));
  refuses("boundary_rank_invalid", () => checkBits(ndarray("uint8", new Uint8Array(2), [2, 1])));
  refuses("boundary_rank_invalid", () => checkBits(ndarray("uint8", new Uint8Array(1), [])));
});

Deno.test("one value that is not finite is found anywhere, in every float type", () => {
  for (const Type of [Float16Array, Float32Array, Float64Array]) {
    const data = new Type(11);
    data.fill(Type === Float16Array ? 65504 : Type === Float32Array ? 3.4e38 : 1.7e308);
    data[1] = -data[1], data[2] = 0, data[3] = -0, data[4] = 1e-7;
    checkFinite(data, "numbers");
    for (let at = 0; at < data.length; at++) {
      for (const wrong of [NaN, Infinity, -Infinity]) {
        const copy = data.slice();
        copy[at] = wrong;
        refuses("boundary_non_finite", () => checkFinite(copy, "numbers"), `${Type.name} ${at} ${wrong}`);
        checkFinite(copy.subarray(at + 1), "numbers");
      }
    }
  }
});

Deno.test("symbols are complex64", () => {
  const complex = ndarray("complex64", new Float32Array([1, 2, 3, 4]));
  assert.equal(checkSymbols(complex), complex.data);
  refuses("boundary_dtype_invalid", () => checkSymbols(ndarray("complex128", new Float64Array(2))));
  refuses("boundary_rank_invalid", () => checkSymbols(ndarray("complex64", new Float32Array(4), [1, 2])));
  refuses("boundary_non_finite", () => checkSymbols(ndarray("complex64", new Float32Array([0, NaN]))));
});

Deno.test("images are batches of uint8, or of float32 in [0, 1]", () => {
  const batch = (data: Uint8Array | Float32Array, shape: number[]) =>
    ndarray(data instanceof Uint8Array ? "uint8" : "float32", data, shape);
  for (const channels of [1, 3, 4]) checkImages(batch(new Uint8Array(4 * channels), [1, 2, 2, channels]));
  checkImages(batch(new Float32Array([0, -0, 1, 0.5]), [1, 2, 2, 1]));
  refuses("boundary_dtype_invalid", () => checkImages(ndarray("uint16", new Uint16Array(1), [1, 1, 1, 1])));
  refuses("boundary_rank_invalid", () => checkImages(batch(new Uint8Array(3), [1, 1, 3])));
  refuses("boundary_shape_invalid", () => checkImages(batch(new Uint8Array(2), [1, 1, 1, 2])));
  refuses("boundary_empty", () => checkImages(batch(new Uint8Array(0), [0, 1, 1, 3])));
  for (const wrong of [-1e-7, 1.0000001, 255]) {
    refuses("boundary_value_invalid", () => checkImages(batch(new Float32Array([0.5, wrong]), [1, 1, 2, 1])));
  }
  refuses("boundary_non_finite", () => checkImages(batch(new Float32Array([NaN]), [1, 1, 1, 1])));
});

Deno.test("embeddings become float32 and stay finite", () => {
  const same = ndarray("float32", new Float32Array([1, 2]), [1, 2]);
  assert.equal(checkEmbedding(same).data, same.data);
  assert.deepEqual(checkEmbedding(ndarray("float64", new Float64Array([0.1]), [1, 1])).data, Float32Array.from([0.1]));
  refuses("boundary_non_finite", () => checkEmbedding(ndarray("float64", new Float64Array([1e300]), [1, 1])));
  refuses("boundary_dtype_invalid", () => checkEmbedding(ndarray("int32", new Int32Array(1), [1, 1])));
  refuses("boundary_rank_invalid", () => checkEmbedding(ndarray("float32", new Float32Array(1))));
  refuses("boundary_empty", () => checkEmbedding(ndarray("float32", new Float32Array(0), [0, 4])));
});

Deno.test("counts are integers that are not negative, unless the unit is continuous", () => {
  assert.equal(checkCount(5n, "bits"), 5);
  assert.equal(checkCount(float(5), "bits"), 5);
  assert.equal(checkCount(0.5, "seconds"), 0.5);
  assert.equal(checkCount(0.5, "channel_uses", { continuous: true }), 0.5);
  refuses("boundary_count_not_integer", () => checkCount(0.5, "bits"));
  refuses("boundary_count_negative", () => checkCount(-1, "pixels"));
  refuses("boundary_non_finite", () => checkCount(Infinity, "symbols"));
  refuses("boundary_dtype_invalid", () => checkCount("5", "bytes"));
  checkExpectedCount(3, 3, "bits");
  refuses("boundary_count_mismatch", () => checkExpectedCount(3, 4, "bits"));
});

Deno.test("rates and sums must agree to 1e-9", () => {
  const link = DATA.LINK;
  checkAccounting(link);
  for (const total of ["payload_bits", "framed_bits", "coded_bits", "transmitted_bits", "channel_uses"] as const) {
    const { [total]: value, ...others } = link;
    checkAccounting(others);
    refuses("boundary_accounting_mismatch", () => checkAccounting({ ...others, [total]: value + 1 }), total);
  }
  refuses("boundary_count_not_integer", () => checkAccounting({ framed_bits: 0.5 }));
});
