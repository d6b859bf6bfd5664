import assert from "node:assert/strict";
import { checkForm, formText, KIND_FORMS } from "../../../lib/artifact/array_form.ts";
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
