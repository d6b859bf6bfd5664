import { deepStrictEqual, rejects, strictEqual, throws } from "node:assert/strict";
import { open } from "../../../mod.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { applyOverrides, parseOverrideValue } from "../../../lib/recipe/overrides.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const recipe = (): JsonObject => ({
  name: "x",
  steps: [{ id: "ch", op: "a.b", params: { snr_db: 1, grid: { size: 2 }, list: [1, { k: 2 }] } }, { op: "c.d" }],
});

const overridden = (...overrides: string[]) => {
  const raw = recipe();
  const changed = applyOverrides(raw, overrides) as { steps: { params?: JsonObject }[] };
  // The author's value stays as it was.
  deepStrictEqual(raw, recipe());
  return changed.steps;
};

Deno.test("override values keep number types; what is not JSON is a text", () => {
  const cases: [string, string][] = DATA.CASES;
  for (const [text, canonical] of cases) strictEqual(canonicalJson(parseOverrideValue(text)), canonical);
  throws(() => parseOverrideValue('{"a":1,"a":2}'), (error: SvcError) => error.code === "recipe_duplicate_key");
});

Deno.test("overrides reach parameters at any depth, the last one winning", () => {
  deepStrictEqual(overridden("ch.snr_db=6.0", "ch.snr_db=7.0")[0].params!.snr_db, float(7));
  deepStrictEqual(overridden("ch.grid.size=8", "ch.grid.deep.er=x")[0].params!.grid, { size: 8, deep: { er: "x" } });
  deepStrictEqual(overridden("ch.list.1.k=a=b")[0].params!.list, [1, { k: "a=b" }]);
  deepStrictEqual(overridden("ch.fresh=1")[0].params!.fresh, 1);
  deepStrictEqual(overridden("step_2.x=1")[1].params, { x: 1 });
  strictEqual(({} as { polluted?: unknown }).polluted, undefined);
  deepStrictEqual(Object.keys(overridden("ch.__proto__.polluted=1")[0].params!).at(-1), "__proto__");
  strictEqual(({} as { polluted?: unknown }).polluted, undefined);
});

Deno.test("a dimension keeps the value that is chosen", async () => {
  const matrix = { dimensions: { snr_db: [0, 3], bits: [10, 20] }, step_params: {} };
  const raw = { ...recipe() as JsonObject, metadata: { matrix } };
  const chosen = applyOverrides(raw, ["snr_db=4.0"]) as typeof raw;
  deepStrictEqual(chosen.metadata.matrix.dimensions, { snr_db: [float(4)], bits: [10, 20] });
  deepStrictEqual(matrix.dimensions.snr_db, [0, 3], "the author's value stays");
  throws(() => applyOverrides(raw, ["snr=4.0"]), { code: "override_invalid", hint: "Did you mean snr_db?" });

  await using svc = await open();
  const text = `name: sweep
metadata: {matrix: {dimensions: {bits: [10, 20]}, step_params: {data: {bit_count: {matrix: bits}}}}}
steps: [{id: data, op: source.random_bits}]
`;
  const { planned } = await svc.recipes.prepare(await svc.recipes.parse(text, { set: ["bits=30"] }));
  const { recipe: { name, metadata, steps } } = planned;
  deepStrictEqual([name, metadata.matrix_selection, steps[0].params.bit_count], ["sweep__bits_30", { bits: 30 }, 30]);
  await rejects(svc.recipes.prepare(text), { code: "plan_invalid" });
  // A value of the matrix gives the point of the matrix; equal numbers are one value.
  const levels = `name: sweep
metadata: {matrix: {dimensions: {level: [1.5, 10.0]}, step_params: {link: {snr_db: {matrix: level}}}}}
steps: [{id: data, op: source.random_bits}, {id: link, op: wireless.digital_link, inputs: {bits: data.bits}}]
`;
  const point = async (set: string) => {
    const chosen = await svc.recipes.prepare(await svc.recipes.parse(levels, { set: [set] }));
    return chosen.planned.recipe;
  };
  const { points } = await svc.recipes.expand(levels);
  deepStrictEqual(await point("level=10"), points[1].compilation.effective);
  deepStrictEqual((await point("level=10")).metadata.matrix_index, 1);
});

Deno.test("overrides that cannot be read or placed are refused", () => {
  const refusal = (override: string) => {
    try {
      applyOverrides(recipe(), [override]);
    } catch (error) {
      return `${(error as SvcError).code}: ${(error as SvcError).hint}`;
    }
  };
  for (const text of ["ch", "ch.snr_db", "=1", ".a=1", "ch.=1", "ch..a=1", "ch.a.=1"]) {
    strictEqual(
      refusal(text),
      "override_invalid: Write step.param=value, or dimension=value for a dimension of the matrix",
      text,
    );
  }
  strictEqual(refusal("ch=1"), "override_invalid: Write step.param=value: the recipe has no matrix");
  strictEqual(refusal("hc.snr_db=1"), "override_step_unknown: Did you mean ch?");
  strictEqual(refusal("ch.snr_db.x=1"), "override_invalid: Override the whole parameter");
  strictEqual(refusal("ch.list.2=1"), "override_invalid: The list has 2 items, the first is 0");
  strictEqual(refusal("ch.list.x=1"), "override_invalid: The list has 2 items, the first is 0");
});
