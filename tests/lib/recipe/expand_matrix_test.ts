import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { expandMatrix, type ExpandOptions, expansionDocument } from "../../../lib/recipe/expand_matrix.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { selectPoints } from "../../../lib/recipe/select_points.ts";
import { hasUnresolvedMatrix, variantId } from "../../../lib/recipe/variant.ts";
import { registry } from "./_registry.ts";

const expand = (raw: unknown, options: Partial<ExpandOptions> = {}) => expandMatrix(raw, { registry, ...options });
const expandText = (text: string, options: Partial<ExpandOptions> = {}) => {
  const { value, locate } = readRecipeText(text, { file: "recipe.yaml" });
  return expand(value, { locate, ...options });
};

const SWEEP = `name: demo
metadata:
  seed: 23
  note: kept
  matrix:
    dimensions: {snr_db: [-4.0, 0, 6.0], count: [16, 32]}
    step_params:
      link: {snr_db: {matrix: snr_db}}
      data: {bit_count: {matrix: count}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 8}}
  - {id: link, op: wireless.channel, inputs: {symbols: data.bits}}
`;

Deno.test("points are concrete recipes: values applied, aliases removed, coordinates recorded", () => {
  const expansion = expandText(SWEEP.replace("note: kept", "note: kept\n  ui_sweeps: {link.snr_db: [1]}"));
  strictEqual(expansion.status, "valid");
  strictEqual(expansion.expanded_count, 6);
  strictEqual(expansion.recipe!.name, "demo");
  const { source, enabled, variant_count, matrix, diagnostics } = expansion.canonical_matrix;
  deepStrictEqual([source, enabled, variant_count], ["matrix", true, 6]);
  strictEqual(
    canonicalJson(matrix),
    '{"dimensions":{"count":[16,32],"snr_db":[-4.0,0,6.0]},"step_params":{"data":{"bit_count":{"matrix":"count"}},' +
      '"link":{"snr_db":{"matrix":"snr_db"}}}}',
  );
  deepStrictEqual(diagnostics.map(({ severity, code }) => `${severity} ${code}`), [
    "warning legacy_sweep_precedence",
    "info variant_seed_namespace",
  ]);
  const third = expansion.recipes[2];
  strictEqual(
    canonicalJson(third),
    canonicalJson({
      schema_version: 1,
      name: "demo__count_16__snr_db_6.0",
      execution_profile: expansion.recipe!.execution_profile,
      metadata: {
        seed: 23,
        note: "kept",
        matrix_selection: { count: 16, snr_db: float(6) },
        matrix_index: 2,
        matrix_variant_id: variantId({ snr_db: float(6), count: 16 }),
      },
      steps: [
        { id: "data", op: "source.random_bits", params: { bit_count: 16 }, inputs: {} },
        { id: "link", op: "wireless.channel", params: { snr_db: float(6) }, inputs: { symbols: "data.bits" } },
      ],
    }),
  );
  deepStrictEqual(Object.keys(third), ["schema_version", "name", "execution_profile", "metadata", "steps"]);
  for (const point of expansion.points) {
    strictEqual(point.recipe, expansion.recipes[point.index]);
    strictEqual(hasUnresolvedMatrix(point.recipe), false);
    strictEqual(point.compilation.status, "valid");
    // Whoever compiles the recipe that was returned gets the same.
    const again = compileRecipe(point.recipe, { mode: "strict", registry });
    strictEqual(again.effective_sha256, point.compilation.effective_sha256);
  }
  strictEqual(new Set(expansion.points.map(({ compilation }) => compilation.effective_sha256)).size, 6);
  deepStrictEqual(Object.keys(expansionDocument(expansion)), [
    "recipe",
    "expanded_count",
    "canonical_matrix",
    "recipes",
  ]);
});

Deno.test("references stand at any depth; mappings are merged, everything else replaced", () => {
  const nested = (params: JsonObject): JsonObject => ({
    name: "deep",
    metadata: {
      matrix: {
        dimensions: { gain: [float(2), 0.5], taps: [[3], []], limit: [{ value: float(1), unit: "W" }] },
        step_params: { a: params },
      },
    },
    steps: [{
      id: "a",
      op: "test.nested",
      params: { label: "x", grid: { size: 2, rows: [{ gain: float(9) }, { taps: [7] }] } },
    }],
  });
  const { status, recipes, diagnostics } = expand(nested({
    grid: { rows: [{ gain: { matrix: "gain" }, taps: { matrix: "taps" } }] },
    limit: { matrix: "limit" },
    label: "constant",
  }));
  strictEqual(status, "valid", JSON.stringify(diagnostics));
  strictEqual(
    canonicalJson(recipes.map(({ steps }) => steps[0].params)),
    canonicalJson(([[2, [3]], [2, []], [0.5, [3]], [0.5, []]] as [number, Value][]).map(([gain, taps]) => ({
      label: "constant",
      grid: { size: 2, rows: [{ gain: float(gain), taps }] },
      limit: { value: float(1), unit: "W" },
    }))),
  );
});

Deno.test("a recipe without a matrix expands to nothing, and one that cannot be read too", () => {
  const { status, expanded_count, recipes, canonical_matrix } = expandText(
    "name: x\nsteps: [{id: a, op: source.random_bits}]\n",
  );
  deepStrictEqual([status, expanded_count, recipes], ["valid", 0, []]);
  deepStrictEqual(canonical_matrix, {
    source: "none",
    enabled: false,
    variant_count: 0,
    matrix: null,
    diagnostics: [],
  });
  const broken = expand(3);
  deepStrictEqual([broken.status, broken.recipe, broken.expanded_count], ["invalid", null, 0]);
});

Deno.test("a recipe that was a point before becomes the point of its new matrix", () => {
  const before = expandText(SWEEP).recipes[3];
  const matrix = { dimensions: { n: [5] }, step_params: { data: { bit_count: { matrix: "n" } } } };
  const { recipes: [point], status } = expand({ ...before, metadata: { ...before.metadata, matrix } });
  strictEqual(status, "valid");
  deepStrictEqual(point.metadata.matrix_selection, { n: 5 });
  strictEqual(point.metadata.matrix_variant_id, variantId({ n: 5 }));
});

Deno.test("variants share their derived seeds under a namespace, and do not without", () => {
  const seeds = (text: string) =>
    expandText(text).points.map(({ compilation }) => canonicalJson(compilation.effective!.steps[1].params.seed));
  strictEqual(new Set(seeds(SWEEP)).size, 6);
  const paired = SWEEP.replace("note: kept", "seed_namespace: pair");
  strictEqual(new Set(seeds(paired)).size, 1);
  deepStrictEqual(expandText(paired).diagnostics, []);
  const blank = expandText(SWEEP.replace("note: kept", 'seed_namespace: " "'));
  deepStrictEqual(blank.diagnostics.map(({ code }) => code), ["variant_seed_namespace"]);
  strictEqual(new Set(blank.points.map(({ compilation }) => compilation.effective_sha256)).size, 6);
});

Deno.test("a problem of points is told once, where its value was written", () => {
  const { status, diagnostics, points } = expandText(
    SWEEP.replace("[-4.0, 0, 6.0]", '[-4.0, "low", true]').replace("[16, 32]", "[0, 32]").replace(
      "bit_count: {matrix: count}",
      "bit_count: {matrix: count}, nope: 3",
    ),
  );
  strictEqual(status, "invalid");
  strictEqual(points.length, 6);
  deepStrictEqual(
    diagnostics.map(({ code, path, message, location }) =>
      `${code} ${path} ${location!.line}:${location!.column} ${/\(at .*/.exec(message)?.[0] ?? ""}`.trimEnd()
    ),
    [
      "variant_seed_namespace $.metadata.seed_namespace 3:3",
      "operation_params_schema_invalid $.steps[0].params.bit_count 6:55 (at matrix points 0, 1, 2)",
      "operation_params_schema_invalid $.steps[0].params.nope 9:42",
      "operation_params_schema_invalid $.steps[1].params.snr_db 6:33 (at matrix points 1, 4)",
      "operation_params_schema_invalid $.steps[1].params.snr_db 6:40 (at matrix points 2, 5)",
    ],
  );
  const single = expandText(SWEEP.replace("[-4.0, 0, 6.0]", '["low"]').replace("[16, 32]", "[0, 32]"));
  ok(single.diagnostics.some(({ message }) => message.endsWith("(at matrix point 0: count=0, snr_db=low)")));
});

Deno.test("what is wrong with the author's recipe is not told again of its points", () => {
  const { diagnostics } = expandText(SWEEP.replace("op: wireless.channel", "op: wireless.chanel"));
  deepStrictEqual(diagnostics.map(({ code }) => code), ["operation_defaults_unavailable", "variant_seed_namespace"]);
  const compat = SWEEP.replace("name: demo", "name: demo\nextra: 1");
  deepStrictEqual(expandText(compat, { mode: "compat" }).status, "valid");
  deepStrictEqual(expandText(compat, { mode: "compat" }).recipes[0].extra, 1);
  deepStrictEqual(expandText(compat).status, "invalid");
});

Deno.test("legacy sweeps expand like a matrix, and are refused where that is asked for", () => {
  const text = `name: demo
metadata:
  ui_sweeps: {link.snr_db: "0:2", data.bit_count: [0, 1]}
steps:
  - {id: data, op: source.random_bits}
  - {id: link, op: wireless.channel, inputs: {symbols: data.bits}}
`;
  const { recipes, canonical_matrix, diagnostics } = expandText(text);
  strictEqual(canonical_matrix.source, "ui_sweeps");
  deepStrictEqual(recipes.map(({ metadata }) => Object.keys(metadata))[0], [
    "matrix_selection",
    "matrix_index",
    "matrix_variant_id",
  ]);
  deepStrictEqual(recipes[1].metadata.matrix_selection, { "data.bit_count": 0, "link.snr_db": 1 });
  const { location } = diagnostics.find(({ code }) => code === "operation_params_schema_invalid")!;
  // The list item that gave the value.
  deepStrictEqual([location!.line, location!.column], [3, 52]);
  const strict = expandText(text, { strictLegacy: true });
  deepStrictEqual([strict.status, strict.expanded_count], ["invalid", 0]);
  deepStrictEqual(strict.diagnostics.map(({ code }) => code), ["legacy_sweep_normalized"]);
});

Deno.test("points are found by index, id, beginning of an id, name and coordinate", () => {
  const { points } = expandText(SWEEP);
  const indices = (...names: string[]) => selectPoints(points, names).map(({ index }) => index);
  deepStrictEqual(indices("5", "0", "5"), [0, 5]);
  deepStrictEqual(indices(points[4].variant_id, points[2].variant_id.slice(0, 20)), [2, 4]);
  deepStrictEqual(indices("demo__count_32__snr_db_0"), [4]);
  deepStrictEqual(indices("snr_db=6.0", " count=16"), [0, 1, 2, 5]);
  const refusal = (name: string) => {
    try {
      return indices(name);
    } catch (error) {
      return error instanceof SvcError ? `${error.code}: ${error.message}; ${error.hint}` : error;
    }
  };
  strictEqual(refusal("6"), "usage_invalid: Cannot find a matrix point named 6; The indices are 0 to 5");
  // Values are typed: 6 is not 6.0.
  strictEqual(
    refusal("snr_db=6"),
    "usage_invalid: Cannot find a matrix point with snr_db=6; Values of snr_db: -4.0, 0, 6.0",
  );
  strictEqual(refusal("snr=6.0"), "usage_invalid: Cannot find a dimension named snr; Did you mean snr_db?");
  strictEqual(refusal("mxv1-"), "usage_invalid: Cannot select one of 6 points that match mxv1-; null");
  strictEqual(
    refusal("demo__count_32__snr_db_1"),
    "usage_invalid: Cannot find a matrix point named demo__count_32__snr_db_1; Did you mean demo__count_32__snr_db_0?",
  );
  strictEqual(String(refusal("")).startsWith("usage_invalid: Cannot find a matrix point named (empty); Known: "), true);
});
