/** Random matrices and sweeps, sound and damaged: an expansion that keeps its promises, or errors of known codes. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { canonicalJson, sameValue } from "../../../lib/contract/json.ts";
import { float, isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { expandMatrix } from "../../../lib/recipe/expand_matrix.ts";
import { hasUnresolvedMatrix, variantId } from "../../../lib/recipe/variant.ts";
import { type Picker, picker } from "./_picker.ts";
import { registry } from "./_registry.ts";

const NAMES = ["snr", "n", "a b", "__proto__", "constructor", "10", "2", "é", "x".repeat(60)];
const VALUES: Value[] = [1, float(1), true, "1", null, -0, float(0), 0.1, "qpsk", [1], [float(1)], {}, { a: 1 }, 7];
const STEPS = ["data", "link", "deep"];
const JUNK: Value[] = [null, 0, "", "x", [], {}, true, { matrix: 1 }, { matrix: "snr", x: 1 }, { dimensions: {} }];

/** A matrix without errors, whose parameters need not suit their steps. */
function soundMatrix(pick: Picker): JsonObject {
  const names = [...new Set(Array.from({ length: 1 + pick.below(3) }, () => pick.of(NAMES)))];
  const dimensions = Object.fromEntries(names.map((name) => {
    const values = Array.from({ length: 1 + pick.below(4) }, () => pick.of(VALUES));
    return [name, [...new Map(values.map((value) => [canonicalJson(value), value])).values()]] as [string, Value];
  }));
  const bound = names.map((name, at): [string, Value] => {
    const reference: Value = { matrix: name };
    return [`p${at}`, pick.of([reference, [0, reference], { q: [{ r: reference }] }])];
  });
  return { dimensions, step_params: { [pick.of(STEPS)]: Object.fromEntries(bound) } };
}

/** A copy with one member, anywhere, replaced, removed or renamed. */
function damage(value: Value, pick: Picker): Value {
  if (Array.isArray(value) && value.length > 0) {
    const at = pick.below(value.length);
    if (pick.below(5) === 0) return [...value, value[at]];
    return value.map((item, index) => (index === at ? damage(item, pick) : item));
  }
  if (isObject(value) && Object.keys(value).length > 0 && pick.below(4) > 0) {
    const entries = Object.entries(value), at = pick.below(entries.length), [key, item] = entries[at];
    const changed: [string, Value][] = [[[key, damage(item, pick)]], [], [[pick.of([...NAMES, ...STEPS]), item]]][
      pick.below(3)
    ] as [string, Value][];
    return Object.fromEntries([...entries.slice(0, at), ...changed, ...entries.slice(at + 1)]);
  }
  return pick.of(JUNK);
}

const recipe = (metadata: JsonObject): JsonObject => ({
  name: "demo",
  metadata: { seed: 1, ...metadata },
  steps: [
    { id: "data", op: "source.random_bits" },
    { id: "link", op: "wireless.channel", inputs: { symbols: "data.bits" } },
    { id: "deep", op: "test.nested", params: { label: "x", grid: { size: 3 } } },
  ],
});

const CODES = new Set([
  "matrix_definition_invalid",
  "matrix_step_unknown",
  "matrix_dimension_unknown",
  "matrix_dimension_unused",
  "matrix_reference_malformed",
  "matrix_values_duplicate",
  "matrix_too_large",
  "legacy_sweep_normalized",
  "legacy_sweep_precedence",
  "legacy_sweep_ignored",
  "variant_seed_namespace",
  "operation_params_schema_invalid",
  "operation_param_inactive",
]);

function checkExpansion(raw: JsonObject) {
  const before = canonicalJson(raw);
  const expansion = expandMatrix(raw, { registry });
  strictEqual(canonicalJson(raw), before);
  const { status, points, canonical_matrix: { matrix, enabled, source }, diagnostics } = expansion;
  for (const { code } of diagnostics) strictEqual(CODES.has(code), true, code);
  strictEqual(status === "invalid", diagnostics.some(({ severity }) => severity === "error"));
  strictEqual(enabled, matrix !== null);
  strictEqual(points.length > 0, enabled);
  if (matrix !== null) {
    const dimensions = Object.entries(matrix.dimensions as { [name: string]: Value[] });
    strictEqual(points.length, dimensions.reduce((count, [, values]) => count * values.length, 1));
    for (const identity of ["variant_id", "name"] as const) {
      const of = points.map((point) => (identity === "name" ? point.recipe.name : point.variant_id));
      strictEqual(new Set(of).size, points.length);
    }
    for (const { index, selection, variant_id, recipe, compilation } of points) {
      strictEqual(points[index].recipe, recipe);
      strictEqual(hasUnresolvedMatrix(recipe), false);
      strictEqual(variant_id, variantId(selection));
      for (const [name, values] of dimensions) {
        strictEqual(values.some((value) => sameValue(value, selection[name])), true);
      }
      strictEqual(sameValue(compileRecipe(recipe, { mode: "strict", registry }).normalized!, recipe), true);
      strictEqual(compilation.diagnostics.every(({ code }) => CODES.has(code)), true);
    }
  }
  return { source, expanded: points.length > 0 };
}

Deno.test("random matrices keep their promises, damaged ones are refused by name", () => {
  const pick = picker(7);
  const seen = { sound: 0, refused: 0, survived: 0 };
  for (let round = 0; round < 400; round++) {
    const matrix = soundMatrix(pick);
    deepStrictEqual(checkExpansion(recipe({ matrix })), { source: "matrix", expanded: true });
    seen.sound++;
    let damaged: Value = matrix;
    for (let edits = 1 + pick.below(2); edits > 0; edits--) damaged = damage(damaged, pick);
    if (damaged === null) continue;
    seen[checkExpansion(recipe({ matrix: damaged })).expanded ? "survived" : "refused"]++;
  }
  // Every outcome occurs.
  strictEqual(seen.refused > 100 && seen.survived > 2, true, JSON.stringify(seen));
});

Deno.test("random sweeps are read or ignored, never half", () => {
  const pick = picker(8);
  const paths = [
    "data.bit_count",
    "channel.snr_db",
    "wireless_channel.snr_db",
    "link.snr_db",
    "deep.grid.size",
    "x",
    "a.b",
  ];
  const texts = [
    "1,2",
    "1:3",
    "0:0.5:2",
    "5:1",
    "1:0:2",
    "a:b",
    "",
    ":",
    ",",
    "1e400",
    "0:1e-300:1",
    "-1:-1:-3",
    "é,é",
  ];
  let expanded = 0, ignored = 0;
  for (let round = 0; round < 400; round++) {
    const sweeps = Object.fromEntries(
      Array.from({ length: pick.below(4) }, () => [
        pick.of([...paths, pick.of(NAMES)]),
        pick.below(2) === 0 ? pick.of(texts) : pick.of([...JUNK, [1, 2], [1, 1], [float(1), 1]]),
      ]),
    );
    const outcome = checkExpansion(
      recipe({ [pick.of(["sweeps", "ui_sweeps"])]: pick.below(20) ? sweeps : pick.of(JUNK) }),
    );
    if (outcome.expanded) expanded++;
    else ignored++;
  }
  strictEqual(expanded > 50 && ignored > 50, true, `${expanded} ${ignored}`);
});
