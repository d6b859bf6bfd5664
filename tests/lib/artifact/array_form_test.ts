import assert from "node:assert/strict";
import { checkContents, checkForm, formText, KIND_FORMS } from "../../../lib/artifact/array_form.ts";
import { type Dtype, DTYPES, elementCount, ndarray } from "../../../lib/numeric/array/ndarray.ts";

Deno.test("an array of another form than its kind's is refused, with the forms as the hint", () => {
  const check = (kind: string, dtype: Dtype, shape: number[]) => {
    const { make, itemSize, slots } = DTYPES[dtype], count = elementCount(shape);
    const data = make(new ArrayBuffer(count * itemSize), 0, count * slots);
    checkForm("out", kind, { array: ndarray(dtype, data, shape) });
  };
  for (const [kind, forms] of Object.entries(KIND_FORMS)) {
    for (const { dtypes, axes } of forms) for (const dtype of dtypes) check(kind, dtype, axes.map(() => 2));
    assert.throws(() => check(kind, "bool", forms[0].axes.map(() => 2)), {
      code: "output_kind_mismatch",
      hint: `Expected: ${formText(forms)}`,
    });
    assert.throws(() => check(kind, forms[0].dtypes[0], []), { code: "output_kind_mismatch" }, kind);
  }
  assert.throws(() => check("channel.payload_bits.numpy", "uint8", [2, 4]), {
    message: "Cannot store out as channel.payload_bits.numpy: it is uint8 [2, 4]",
    hint: "Expected: uint8 [n]",
  });
});

Deno.test("a value that its kind does not have is refused, wherever it stands", () => {
  const BITS = "channel.demod_bits.numpy", LLRS = "channel.llr.numpy", SYMBOLS = "channel.symbols.complex_numpy";
  const bits = new Uint8Array(33), floats = new Float32Array(33).fill(-1e30), wide = Float64Array.from(floats);
  const check = (kind: string, data: Uint8Array | Float32Array | Float64Array, offset?: number) => () =>
    checkContents("out", kind, data, offset);
  for (let at = 0; at < 33; at++) {
    bits.fill(1)[at] = 2;
    const message = `Cannot store out as ${BITS}: element ${at} is 2`;
    assert.throws(check(BITS, bits), { code: "output_value_invalid", message, hint: /0 or 1/ });
    for (const [kind, wrong] of [[SYMBOLS, [NaN, Infinity, -Infinity]], [LLRS, [NaN, -NaN]]] as const) {
      for (const value of wrong) {
        for (const data of [floats, wide]) {
          const before = data[at];
          data[at] = value;
          assert.throws(check(kind, data, 7), {
            message: `Cannot store out as ${kind}: element ${at + 7} is ${value}`,
          });
          data[at] = before;
        }
      }
    }
  }
  // Bytes at any place of a buffer, and numbers that are allowed: the largest ones, zeros, and certain bits.
  for (let begin = 0; begin < 5; begin++) check(BITS, bits.fill(1).subarray(begin))();
  check(SYMBOLS, Float32Array.of(3.4028234663852886e38, -3.4028234663852886e38, 0, -0, 1e-45))();
  check(LLRS, Float32Array.of(Infinity, -Infinity, 0))();
  check("image.batch.numpy", Uint8Array.of(0, 255))();
});
