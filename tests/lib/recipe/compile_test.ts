import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { canonicalJson, prettyJson } from "../../../lib/contract/json.ts";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { compileText, findings, registry } from "./_registry.ts";

/** Compact JSON with the keys in their own order. */
const inOrder = (document: Value) => prettyJson(document).replace(/\n */g, "").replaceAll('": ', '":');

const demo = `
name: demo
metadata: {seed: 23}
steps:
  - id: data
    op: source.random_bits
  - id: wireless_channel
    op: wireless.channel
    params: {snr_db: 6}
    inputs: {symbols: data.bits}
`;

Deno.test("a recipe is brought to its normalised and its effective form", () => {
  const compilation = compileText(demo);
  deepStrictEqual(findings(compilation), []);
  strictEqual(compilation.status, "valid");
  strictEqual(compilation.defaults_materialized, true);
  // Keys stand in the serialised order, so the texts are compared.
  strictEqual(
    inOrder(compilation.normalized),
    '{"schema_version":1,"name":"demo","execution_profile":{"id":"custom","version":1},"metadata":{"seed":23},"steps":[' +
      '{"id":"data","op":"source.random_bits","params":{},"inputs":{}},' +
      '{"id":"wireless_channel","op":"wireless.channel","params":{"snr_db":6},"inputs":{"symbols":"data.bits"}}]}',
  );
  strictEqual(
    inOrder(compilation.effective),
    '{"schema_version":1,"name":"demo","execution_profile":{"id":"custom","version":1},"metadata":{"seed":23},"steps":[' +
      '{"id":"data","op":"source.random_bits","params":{"bit_count":1024,"seed":746795100},"inputs":{}},' +
      '{"id":"wireless_channel","op":"wireless.channel","params":{"noise_mode":"snr_at_unit_power","snr_db":6,' +
      '"seed":1101169485},"inputs":{"symbols":"data.bits"}}]}',
  );
  strictEqual(compilation.authored_sha256, sha256Json(compilation.normalized!));
  strictEqual(compilation.effective_sha256, sha256Json(compilation.effective!));
});

Deno.test("the hashes are those that Python's json and hashlib give for the same documents", () => {
  strictEqual(compileText(demo).effective_sha256, "d269a6746aa216169fade79fda17d07f2d089ceeb6155f39775ab96881994db0");
  strictEqual(compileText(demo).authored_sha256, "d9a89731ebad81759b40f944a13b2996cba6f1a4c71a3b6605c81e856657f569");
});

Deno.test("YAML, JSON and a JavaScript value of one recipe have one hash; another number type has another", () => {
  const hash = (raw: unknown) => compileRecipe(raw, { mode: "strict", registry }).effective_sha256;
  const json = `{"steps": [{"op": "source.random_bits", "id": "data"},
    {"op": "wireless.channel", "id": "wireless_channel", "inputs": {"symbols": "data.bits"}, "params": {"snr_db": 6}}],
    "metadata": {"seed": 23}, "name": "demo", "schema_version": 1}`;
  const built = (snr_db: unknown) => ({
    name: "demo",
    metadata: { seed: 23n, note: undefined },
    steps: [
      { id: "data", op: "source.random_bits", params: { bit_count: 1024 } },
      { id: "wireless_channel", op: "wireless.channel", params: { snr_db }, inputs: { symbols: "data.bits" } },
    ],
  });
  const expected = compileText(demo).effective_sha256;
  strictEqual(compileText(json, "strict", "r.json").effective_sha256, expected);
  strictEqual(hash(built(6)), expected);
  strictEqual(hash(built(float(6))), compileText(demo.replace("snr_db: 6", "snr_db: 6.0")).effective_sha256);
  strictEqual(new Set([expected, hash(built(float(6))), hash(built(6.5))]).size, 3);
});

Deno.test("compiling an effective recipe changes nothing, written as JSON and read back", () => {
  const first = compileText(demo);
  const text = prettyJson(first.effective!);
  const second = compileRecipe(readRecipeText(text, { file: "recipe.json" }).value, { mode: "strict", registry });
  strictEqual(second.effective_sha256, first.effective_sha256);
  strictEqual(prettyJson(second.effective!), text);
});

Deno.test("the forms share nothing that a caller could change in another", () => {
  const raw = {
    name: "x",
    metadata: { a: [1] },
    steps: [{ id: "a", op: "test.nested", params: { label: "l", limit: null } }],
  };
  const compilation = compileRecipe(raw, { mode: "strict", registry });
  raw.metadata.a.push(2);
  (compilation.normalized!.metadata.a as Value[]).push(3);
  deepStrictEqual((compilation.raw as { metadata: JsonObject }).metadata.a, [1]);
  deepStrictEqual(compilation.normalized!.metadata.a, [1, 3]);
  deepStrictEqual(compilation.effective!.metadata.a, [1]);
});

Deno.test("defaults are made explicit at every depth", () => {
  const params = (text: string) =>
    canonicalJson(
      compileText(`name: x\nsteps: [{id: a, op: test.nested, params: ${text}}]`).effective!.steps[0].params,
    );
  strictEqual(params("{label: l}"), '{"grid":{"rows":[],"size":4},"label":"l","limit":null}');
  strictEqual(
    params("{label: l, grid: {rows: [{}, {gain: 2, taps: []}]}, limit: {value: 3}}"),
    '{"grid":{"rows":[{"gain":1.0,"taps":[1,2]},{"gain":2,"taps":[]}],"size":8},"label":"l",' +
      '"limit":{"unit":"dB","value":3}}',
  );
});

Deno.test("a conditional parameter counts only while its condition holds", () => {
  const compiled = (params: string) =>
    compileText(
      `name: x\nsteps:\n- {id: a, op: source.random_bits}\n- id: b\n  op: wireless.channel\n  inputs: {symbols: a.bits}\n  params: ${params}`,
    );
  const effective = (params: string) => canonicalJson(compiled(params).effective!.steps[1].params);
  strictEqual(effective("{}"), '{"noise_mode":"snr_at_unit_power","seed":0,"snr_db":12.0}');
  strictEqual(
    effective("{noise_mode: fixed_variance}"),
    '{"noise_mode":"fixed_variance","noise_variance":1.0,"seed":0}',
  );
  deepStrictEqual(findings(compiled("{noise_variance: 2.0}")), [
    "operation_param_inactive $.steps[1].params.noise_variance 7:12",
  ]);
  deepStrictEqual(findings(compiled("{noise_mode: fixed_variance, snr_db: 1}")), [
    "operation_param_inactive $.steps[1].params.snr_db 7:40",
  ]);
  // A value that equals the default says nothing else.
  strictEqual(effective("{noise_mode: fixed_variance, snr_db: 12}"), effective("{noise_mode: fixed_variance}"));
  strictEqual(
    compiled("{noise_variance: 2.0}").diagnostics[0].hint,
    "It applies only with noise_mode=fixed_variance",
  );
});

Deno.test("schema_version is the integer 1 or left out, in both modes", () => {
  for (const mode of ["strict", "compat"] as const) {
    for (const version of ["0", "2", "false", "true", "'1'", "1.0", "null", "[1]", "-1", "18446744073709551617"]) {
      const compilation = compileText(
        `schema_version: ${version}\nname: x\nsteps: [{id: a, op: source.random_bits}]`,
        mode,
      );
      deepStrictEqual(findings(compilation), ["recipe_schema_version_unsupported $.schema_version 1:17"], version);
      strictEqual(compilation.status, "invalid");
      strictEqual(compilation.effective, null);
    }
    for (const version of ["1", "0x1", "+1"]) {
      const compilation = compileText(
        `schema_version: ${version}\nname: x\nsteps: [{id: a, op: source.random_bits}]`,
        mode,
      );
      deepStrictEqual(findings(compilation), []);
      strictEqual(compilation.effective!.schema_version, 1);
    }
  }
});

const legacy = `{"zeta": {"b": 1.0, "a": [18446744073709551616]}, "name": "x", "__proto__": 5,
  "steps": [{"op": "source.random_bits", "layout": {"x": 2.50}}, {"id": "", "op": "source.random_bits", "params": null,
  "inputs": null, "description": "d"}], "metadata": null, "suite": null, "dataset_capture": null, "description": "r"}`;

Deno.test("compat keeps unknown fields, in front and without loss; strict refuses them", () => {
  const compat = compileText(legacy, "compat", "r.json");
  strictEqual(compat.status, "valid");
  deepStrictEqual(compat.diagnostics.map(({ severity, code, path }) => `${severity} ${code} ${path}`), [
    "warning unknown_recipe_field $.zeta",
    "warning unknown_recipe_field $.__proto__",
    "warning implicit_recipe_step_id $.steps[0].id",
    "warning implicit_recipe_step_id $.steps[1].id",
    "warning unknown_recipe_step_field $.steps[0].layout",
  ]);
  strictEqual(
    inOrder(compat.normalized),
    '{"zeta":{"b":1.0,"a":[18446744073709551616]},"__proto__":5,"schema_version":1,"name":"x",' +
      '"execution_profile":{"id":"custom","version":1},"metadata":{},"steps":[' +
      '{"layout":{"x":2.5},"id":"step_1","op":"source.random_bits","params":{},"inputs":{}},' +
      '{"id":"step_2","op":"source.random_bits","params":{},"inputs":{},"description":"d"}],' +
      '"description":"r","suite":{},"dataset_capture":{}}',
  );
  const filled = '"params":{"bit_count":1024,"seed":7}';
  strictEqual(inOrder(compat.effective!), inOrder(compat.normalized!).replaceAll('"params":{}', filled));
  // A second reading of what was written finds the same document.
  const again = compileText(prettyJson(compat.normalized!), "compat", "r.json");
  strictEqual(again.authored_sha256, compat.authored_sha256);
  strictEqual(inOrder(again.normalized), inOrder(compat.normalized));

  const strict = compileText(legacy, "strict", "r.json");
  strictEqual(strict.status, "invalid");
  strictEqual(strict.diagnostics.every(({ severity }) => severity === "error"), true);
  deepStrictEqual(strict.diagnostics.map(({ code }) => code), compat.diagnostics.map(({ code }) => code));
  strictEqual(strict.effective_sha256, null);
  strictEqual(strict.normalized !== null, true);
});

Deno.test("execution profiles are brought to one form", () => {
  const profile = (text: string) => {
    const compilation = compileText(`name: x\nexecution_profile: ${text}\nsteps: [{id: a, op: source.random_bits}]`);
    return compilation.status === "valid"
      ? canonicalJson(compilation.normalized!.execution_profile)
      : findings(compilation).map((finding) => finding.replace("execution_profile_invalid $.execution_profile", ""))
        .join();
  };
  strictEqual(profile("null"), '{"id":"custom","version":1}');
  strictEqual(profile("layered_digital"), '{"id":"layered_digital","version":1}');
  strictEqual(profile("{id: layered_digital}"), '{"id":"layered_digital","version":1}');
  const based = '{"based_on":{"id":"layered_digital","version":1},"id":"custom","version":1}';
  strictEqual(profile("{id: custom, based_on: {id: layered_digital, version: 1}}"), based);
  strictEqual(profile("{id: range_localization, version: 2}"), '{"id":"range_localization","version":2}');
  strictEqual(profile("3"), " 2:20");
  strictEqual(profile("''"), ".id 2:20");
  strictEqual(profile("{version: 1}"), ".id 2:20");
  strictEqual(profile("{id: custom, version: 1.0}"), ".version 2:42");
  strictEqual(profile("{id: custom, label: x}"), ".label 2:40");
  strictEqual(profile("{id: custom, based_on: null}"), ".based_on 2:43");
  strictEqual(profile("{id: custom, based_on: layered_digital}"), ".based_on 2:43");
  strictEqual(profile("{id: custom, based_on: {id: layered_digital}}"), ".based_on 2:43");
  strictEqual(profile("{id: custom, based_on: {id: custom, version: 1}}"), ".based_on.id 2:48");
  strictEqual(profile("{id: layered_digital, based_on: {id: custom, version: 1}}"), ".based_on 2:52,.based_on.id 2:57");
});

Deno.test("a value that is no document is reported, not thrown", () => {
  const codes = (raw: unknown) =>
    compileRecipe(raw, { mode: "strict", registry }).diagnostics.map(({ code, path }) => `${code} ${path}`);
  for (const raw of [null, 3, "x", [], true]) deepStrictEqual(codes(raw), ["recipe_top_level_type $"]);
  deepStrictEqual(codes({ name: "\ud800", steps: [NaN] }), [
    "recipe_json_value_invalid $.name",
    "recipe_json_value_invalid $.steps[0]",
  ]);
  deepStrictEqual(codes({}), ["recipe_validation_error $.name", "recipe_validation_error $.steps"]);
  const many: JsonObject = {
    name: "x",
    steps: Array.from({ length: 513 }, (_, i) => ({ id: `s${i}`, op: "source.random_bits" })),
  };
  deepStrictEqual(codes(many), ["recipe_limit_exceeded $.steps"]);
  (many.steps as Value[]).pop();
  deepStrictEqual(codes(many), []);
});

Deno.test("an inactive parameter is a warning in a matrix over its selector, and stays out of the effective recipe", () => {
  const swept = compileText(`name: x
metadata: {matrix: {dimensions: {mode: [snr_at_unit_power, fixed_variance]}, step_params: {b: {noise_mode: {matrix: mode}}}}}
steps:
- {id: a, op: source.random_bits}
- {id: b, op: wireless.channel, inputs: {symbols: a.bits}, params: {noise_variance: 2.0}}`);
  const point = compileText(`name: x
metadata: {matrix_selection: {mode: snr_at_unit_power}}
steps:
- {id: a, op: source.random_bits}
- {id: b, op: wireless.channel, inputs: {symbols: a.bits}, params: {noise_mode: snr_at_unit_power, noise_variance: 2.0}}`);
  for (const compilation of [swept, point]) {
    deepStrictEqual(compilation.diagnostics.map(({ code, severity }) => [code, severity]), [
      ["operation_param_inactive", "warning"],
    ]);
    strictEqual(
      canonicalJson(compilation.effective!.steps[1].params),
      '{"noise_mode":"snr_at_unit_power","seed":0,"snr_db":12.0}',
    );
  }
});

Deno.test("a parameter that only a variant uses stands in the effective recipe with its default", async () => {
  const builtIn = await createRegistry();
  const compile = (params: string) =>
    compileRecipe(
      readRecipeText(
        `name: x
steps:
- {id: s, op: source.image_dataset}
- {id: e, op: foundation.clip_image_embed, inputs: {images: s.images}, params: ${params}}`,
        { file: "x.yaml" },
      ).value,
      { mode: "strict", registry: builtIn },
    );
  const { backend, bins, dimensions, device } = compile("{bins: 16}").effective!.steps[1].params;
  deepStrictEqual([backend, bins, dimensions, device], ["local_semantic", 16, 8, "cpu"]);
  deepStrictEqual(compile("{bins: 8}").diagnostics.map(({ code, severity }) => [code, severity]), [
    ["operation_param_inactive", "error"],
  ]);
});

Deno.test("a parameter that several variants use names them all", async () => {
  const builtIn = await createRegistry();
  const found = (params: string) =>
    compileRecipe(
      readRecipeText(
        `name: x
steps:
- {id: s, op: source.text_dataset}
- {id: n, op: noise.source_text_perturbation, inputs: {texts: s.texts}, params: ${params}}`,
        { file: "x.yaml" },
      ).value,
      { mode: "strict", registry: builtIn },
    ).diagnostics.map(({ code, path, hint }) => [code, path, hint]);
  deepStrictEqual(found("{mode: shuffle_words, probability: 0.5}"), [[
    "operation_param_inactive",
    "$.steps[1].params.probability",
    "It applies only with mode=drop_words or mask_words",
  ]]);
  deepStrictEqual(found("{mode: mask_words, probability: 0.5}"), []);
});

// Core specification, recipe fields: embedded dataset_capture is accepted only for legacy files and transient capture jobs.
Deno.test("a capture inside a recipe is refused, but for older forms and capture jobs", () => {
  const steps = [{ id: "data", op: "source.random_bits" }];
  const recipe = { name: "x", steps, dataset_capture: { split: "train" } };
  const found = (options: Partial<Parameters<typeof compileRecipe>[1]>) => {
    const { status, diagnostics } = compileRecipe(recipe, { mode: "strict", registry, ...options });
    return [status, ...diagnostics.map(({ severity, code, path }) => `${severity} ${code} ${path}`)];
  };
  deepStrictEqual(found({}), ["invalid", "error dataset_capture_embedded $.dataset_capture"]);
  deepStrictEqual(found({ mode: "compat" }), ["valid", "warning dataset_capture_embedded $.dataset_capture"]);
  deepStrictEqual(found({ captureJob: true }), ["valid"]);
});
