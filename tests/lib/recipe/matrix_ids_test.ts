/** Ids and names of matrix points. The golden ids were computed with Python's hashlib over the text of the contract. */
import { deepStrictEqual, notStrictEqual, strictEqual } from "node:assert/strict";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { expandMatrix } from "../../../lib/recipe/expand_matrix.ts";
import { variantId } from "../../../lib/recipe/variant.ts";
import { variantNames } from "../../../lib/recipe/variant_name.ts";
import { registry } from "./_registry.ts";

const GOLDEN: [Value, string][] = [
  [null, "53f9b8be38f3860d2017af12241aa93ecfb4c3637b829e9647da46ac11352f77"],
  [true, "8562c5e51aee7c9c9a0eb62759459fc0cd1098f7005616deb246fa1346ffb065"],
  [false, "682e3f3dcea5f46e4ed6470e374082bf49f73608cef055503c7909f524d1931b"],
  [1, "77a001e84c7c0adc39b5e4f069dcc6c504ff1584f4165a7fc1a73df2ba1b4b8c"],
  [float(1), "25208e7eb049e15397d994019a84dfa1d5c7de2c26c9684d5fda8efb7f1393ed"],
  ["1", "ddc74004d5abd291f4367385df7ad73219755de04d598ebe29fe7e2f7282548f"],
  [2n ** 65n, "2e2b0911e5088b21529863d7d07c5d8c3b57a3d15ef8b9edda2a970a6944ed55"],
  [-0, "8556a751adc26ae3e13d2c629febdaaaf97cb58fa2fc74d6ca2bcd3877f8f51f"],
  [float(1e16), "f84be3623c2a787e1a6f9cbf62175d6505c6ed919fee975bd851fd1846262db6"],
  [0.1, "ec26d46a979994fdbf77538d709536b3b065ed02df0d74978084b765db88d3b1"],
  ["é😀", "663964d4b61d41e1ce4e5c2111ba95c4a78e7cad9495d7a0ec06a80e6a190e00"],
  ["", "77e7a8f68724d1cc9a03ecbd714f79c054b94c3c273e8318af619004879c5d16"],
  [[], "8f539bfcc1922762789d2901062b1de3a34ca90c36c2f8d5e8b5e8cc3927f7d6"],
  [[1, float(1), [null]], "3ec6640266d3bbde0a3aa4cfa3d98d6606c26f91526556677e04ea0e8ef90d76"],
  [{}, "80dfa4ae35b8019876e73ad6c0cab2273b81d0574c847483046d3829bb053f66"],
  [{ b: true, a: "y" }, "a62b3aaf7b80c72d0d6e7994f8709d2ed486d15491f4af6de98ab698d1d7ef22"],
];

Deno.test("variant ids of every type are the golden ones", () => {
  for (const [value, digest] of GOLDEN) strictEqual(variantId({ x: value }), `mxv1-${digest}`);
  strictEqual(new Set(GOLDEN.map(([, digest]) => digest)).size, GOLDEN.length);
  strictEqual(
    variantId({ snr_db: float(-4), modulation: "qpsk" }),
    "mxv1-7f91d0c16308f972574b01b4b25520c2dad7ca1c61c124ed6dc87c089b7ea9cb",
  );
});

const recipe = (name: string, dimensions: JsonObject): JsonObject => ({
  name,
  metadata: {
    matrix: {
      dimensions,
      step_params: { a: { bit_count: { matrix: "bits" } }, b: { label: { matrix: "label" } } },
    },
  },
  steps: [
    { id: "a", op: "source.random_bits" },
    { id: "b", op: "test.nested", params: { label: "x" } },
  ],
});

Deno.test("ids and indices survive renames of the recipe and reordering of dimensions", () => {
  const bits = [3, 1, 2], label = ["q", "p"];
  const ids = (raw: JsonObject) =>
    expandMatrix(raw, { registry }).points.map(({ index, variant_id, selection }) => [index, variant_id, selection]);
  const expected = ids(recipe("one", { bits, label }));
  // Names in order, the last one fastest, values as they are listed.
  deepStrictEqual(expected.map(([, , selection]) => Object.values(selection as JsonObject)), [
    [3, "q"],
    [3, "p"],
    [1, "q"],
    [1, "p"],
    [2, "q"],
    [2, "p"],
  ]);
  deepStrictEqual(ids(recipe("another", { label, bits })), expected);
  const renamed = ids(recipe("one", { bits, label: ["q", "r"] }));
  strictEqual(renamed[0][1], expected[0][1]);
  notStrictEqual(renamed[1][1], expected[1][1]);
});

const named = (name: string, ...coordinates: [string, Value][][]) =>
  variantNames(
    name,
    coordinates.map((point) => ({ coordinates: point, variant_id: variantId(Object.fromEntries(point)) })),
  );

Deno.test("points have readable names while these are plain and short", () => {
  deepStrictEqual(named("demo", [["mod", "qpsk"], ["snr_db", float(-4)]]), ["demo__mod_qpsk__snr_db_-4.0"]);
  deepStrictEqual(named("d", [["a", true], ["b", null], ["c", 1e-5]]), ["d__a_true__b_null__c_1e-05"]);
  const isId = (names: string[]) => names.every((name) => /^mxv1-[0-9a-f]{64}$/.test(name));
  for (const value of ["two words", "é", "", "a/b", [1], {}, float(1e16), "x".repeat(49)] as Value[]) {
    strictEqual(isId(named("demo", [["a", value]])), true, String(value));
  }
  strictEqual(isId(named("a recipe", [["a", 1]])), true);
  strictEqual(isId(named("demo", [["a dimension", 1]])), true);
  const x = "x".repeat(48);
  // 48 + 2 + (48 + 1 + 48) + 2 + (1 + 1 + 9) = 160.
  deepStrictEqual(named(x, [[x, x], ["y", "123456789"]]), [`${x}__${x}_${x}__y_123456789`]);
  strictEqual(isId(named(x, [[x, x], ["y", "1234567890"]])), true);
});

Deno.test("points never share a name", () => {
  const [one, text, two] = named("demo", [["a", 1]], [["a", "1"]], [["a", 2]]);
  deepStrictEqual([one, text, two], [variantId({ a: 1 }), variantId({ a: "1" }), "demo__a_2"]);
});
