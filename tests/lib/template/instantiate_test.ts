import assert from "node:assert/strict";
import { join } from "node:path";
import { readinessOf } from "../../../lib/execute/readiness.ts";
import { sha256Hex, sha256Json } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { findTemplate, packagedCatalog } from "../../../lib/template/catalog.ts";
import { inspectTemplates } from "../../../lib/template/inspect.ts";
import { instantiateTemplate } from "../../../lib/template/instantiate.ts";
import { lintRecipe } from "../../../lib/plan/lint.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { expandMatrix } from "../../../lib/recipe/expand_matrix.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import type { RecipeDocument } from "../../../lib/recipe/types.ts";
import { plan, run } from "../../../mod.ts";
import {
  ABSENT,
  CODEC,
  CODEC_PATH,
  CODEC_TEXT,
  edited,
  inProject,
  PLANNED,
  PROTECTED,
  refusal,
  registry,
  TEXTS,
  WITH_PLANNED,
} from "./_setup.ts";
import { tables } from "../../support/tables.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const DATA = tables(import.meta.url);

const compiled = (text: string) =>
  compileRecipe(readRecipeText(text, { file: "starter.yaml" }).value, { mode: "strict", registry });

const graphOf = ({ steps }: RecipeDocument) => steps.map(({ id, op, inputs }) => ({ id, op, inputs }));

Deno.test("without overrides the recipe is the starter with a record of where it came from", () =>
  inProject({}, async (options) => {
    const { status, recipe, provenance, diagnostics } = await instantiateTemplate(CODEC, {}, options);
    assert.equal(status, "instantiated");
    assert.deepEqual(diagnostics, []);
    const { template_provenance, ...metadata } = recipe.metadata;
    assert.deepEqual({ ...recipe, metadata }, compiled(CODEC_TEXT).normalized);
    assert.deepEqual(template_provenance, provenance);
    assert.deepEqual(provenance, {
      schema_version: 1,
      kind: "svc.recipe_template_provenance",
      template_id: CODEC,
      catalog_schema_version: 1,
      template_digest: `sha256:${sha256Json(findTemplate(packagedCatalog(), CODEC))}`,
      source_kind: "packaged_builtin",
      source_reference: "svc_pkg:recipe_starters/image_codec_default.yaml",
      source_digest: `sha256:${sha256Hex(CODEC_TEXT)}`,
      // SHA-256 of {"step_params":{}}
      overrides_digest: `sha256:${sha256Hex('{"step_params":{}}')}`,
    });
  }));

Deno.test("the recipe stands alone: it compiles strictly, with the task and the profile of its entry", () =>
  inProject({}, async (options) => {
    const { templates } = await inspectTemplates(options);
    const available = templates.filter((row) => row.available);
    assert.ok(available.length >= 3);
    for (const { id, task_id, execution_profile } of available) {
      const { recipe } = await instantiateTemplate(id, {}, options);
      const compilation = compileRecipe(recipe, { mode: "strict", registry });
      assert.equal(compilation.status, "valid", id);
      assert.deepEqual(compilation.normalized, recipe);
      assert.deepEqual(recipe.execution_profile, execution_profile);
      assert.equal(((recipe.metadata.research as JsonObject).task as JsonObject).id, task_id);
    }
  }));

Deno.test("what is offered can be run here: every available template passes lint and plans, with all its variants", async () => {
  await inProject({}, async (options, projectRoot) => {
    const readiness = readinessOf({ stateDir: join(projectRoot, ".svc"), projectRoot });
    const { templates } = await inspectTemplates({ ...options, readiness });
    for (const { id, available, status: offered, run_readiness } of templates) {
      if (!available) continue;
      const { ready, missing } = run_readiness as { ready: boolean; missing: { kind: string }[] };
      // Only what needs a large model may lack something, and the row names it.
      assert.ok(ready || offered === "experimental", `${id} lacks something`);
      assert.ok(missing.every(({ kind }) => kind === "model"), id);
      const { recipe } = await instantiateTemplate(id, {}, options);
      const { points } = expandMatrix(recipe, { registry });
      for (const concrete of points.length > 0 ? points.map((point) => point.recipe) : [recipe]) {
        const { status, issues } = lintRecipe(compileRecipe(concrete, { mode: "strict", registry }), { registry });
        assert.equal(status, "passed", `${id}: ${JSON.stringify(issues)}`);
        const planned = await plan(concrete, { projectRoot });
        const codes = new Set(planned.diagnostics.map(({ code }) => code));
        if (!ready) assert.deepEqual([...codes], ["model_unavailable"], id);
        else assert.equal(planned.status, "planned", `${id}: ${JSON.stringify(planned.diagnostics)}`);
      }
    }
  });
});

for (const [id, metric, value] of [[CODEC, "quality.psnr_db", null], [TEXTS, "text.exact_match", 1]] as const) {
  Deno.test(`${id} runs offline`, async () => {
    const stateDir = temporaryFolder();
    await inProject({}, async (options, projectRoot) => {
      const { recipe } = await instantiateTemplate(id, {}, options);
      const { status, summary } = await run(recipe, { projectRoot, stateDir });
      assert.equal(status, "completed");
      const evaluation = (summary.steps as JsonObject[]).find((step) => step.id === "evaluation")!;
      const measured = Number((evaluation.metrics as JsonObject)[metric]);
      if (value === null) assert.ok(measured > 25 && measured < 60, String(measured));
      else assert.equal(measured, value);
    });
  });
}

Deno.test("overrides change the values they name and nothing else, and keep their types", () =>
  inProject({}, async (options) => {
    const overrides = {
      name: "mine",
      description: "my own",
      step_params: { wireless_channel: { snr_db: float(6) }, channel_encoder: { factor: 5 } },
    };
    const plain = (await instantiateTemplate(PROTECTED, {}, options)).recipe;
    const { recipe, provenance } = await instantiateTemplate(PROTECTED, overrides, options);
    assert.deepEqual(graphOf(recipe), graphOf(plain));
    assert.equal(recipe.name, "mine");
    assert.equal(recipe.description, "my own");
    const changed = recipe.steps.filter((step, index) => canonicalJson(step) !== canonicalJson(plain.steps[index]));
    assert.deepEqual(changed.map(({ id }) => id), ["channel_encoder", "wireless_channel"]);
    assert.equal(canonicalJson(changed[0].params), '{"factor":5}');
    assert.equal(canonicalJson(changed[1].params), '{"channel":"awgn","snr_db":6.0}');
    const canonical = '{"description":"my own","name":"mine","step_params":' +
      '{"channel_encoder":{"factor":5},"wireless_channel":{"snr_db":6.0}}}';
    assert.equal(provenance.overrides_digest, `sha256:${sha256Hex(canonical)}`);
    // 6 is another value than 6.0, and another digest.
    overrides.step_params.wireless_channel.snr_db = 6;
    const integral = await instantiateTemplate(PROTECTED, overrides, options);
    assert.equal(canonicalJson(integral.recipe.steps[8].params), '{"channel":"awgn","snr_db":6}');
    assert.notEqual(integral.provenance.overrides_digest, provenance.overrides_digest);
    assert.equal(integral.provenance.source_digest, provenance.source_digest);
  }));

Deno.test("the text is the recipe, with the comments of the template", () =>
  inProject({}, async (options) => {
    const overrides = {
      name: "mine: all",
      step_params: { tx_power: { target_power: float(2) }, receiver: { on_error: "zeros" } },
    };
    const { recipe, text } = await instantiateTemplate(PROTECTED, overrides, options);
    assert.match(text, /^# Protected digital transmission of photographs/);
    assert.match(text, /\n {2}# The physical link\. Es\/N0 is/);
    assert.match(text, /target_power: 2\.0,/);
    assert.doesNotMatch(text, /params: \{\}|inputs: \{\}/);
    const compilation = compiled(text);
    assert.deepEqual(compilation.diagnostics, []);
    assert.deepEqual(compilation.normalized, recipe);
  }));

Deno.test("a parameter that the matrix sets in every variant can be overridden, with a warning", () =>
  inProject({}, async (options) => {
    const { diagnostics } = await instantiateTemplate(
      PROTECTED,
      { step_params: { wireless_channel: { snr_db: 3.5, channel: "flat_rayleigh" } } },
      options,
    );
    const warnings = diagnostics.filter(({ severity }) => severity === "warning");
    assert.deepEqual(warnings.map(({ code, path }) => [code, path]), [
      ["template_override_shadowed", "$.step_params.wireless_channel.snr_db"],
    ]);
  }));

Deno.test("the project's own recipe is instantiated, and its earlier provenance is replaced", async () => {
  const own = edited(CODEC_TEXT, [/^name: .*$/m, "name: ours"], [
    "  seed: 23\n",
    "  seed: 23\n  template_provenance: {kind: stale, note: old}\n",
  ]);
  await inProject({ [CODEC_PATH]: own }, async (options) => {
    const { recipe, provenance } = await instantiateTemplate(CODEC, {}, options);
    assert.equal(recipe.name, "ours");
    assert.deepEqual(
      [provenance.source_kind, provenance.source_reference, provenance.source_digest],
      ["project_override", CODEC_PATH, `sha256:${sha256Hex(own)}`],
    );
    assert.deepEqual(recipe.metadata.template_provenance, provenance);
  });
});

const REFUSED: [
  name: string,
  id: string,
  overrides: unknown,
  found: [code: string, path: string, hint: RegExp | null][],
][] = DATA.REFUSED;

for (const [name, id, overrides, expected] of REFUSED) {
  Deno.test(`refused and left without a trace: ${name}`, () =>
    inProject({}, async (options) => {
      const error = await refusal(instantiateTemplate(id === "CODEC" ? CODEC : PROTECTED, overrides, options));
      assert.equal(error.code, "template_override_invalid");
      const errors = error.diagnostics.filter(({ severity }) => severity === "error");
      for (const [code, path, hint] of expected) {
        const found = errors.find((item) => item.code === code && item.path === path);
        assert.ok(found, `${code} at ${path}: ${JSON.stringify(error.diagnostics)}`);
        if (hint) assert.match(String(found.hint), hint);
      }
      assert.deepEqual(new Set(errors.map(({ path }) => path)), new Set(expected.map(([, path]) => path)));
    }));
}

Deno.test("what is not available is not instantiated: planned, without a starter, unknown, or with an invalid override", async () => {
  await inProject({}, async (options) => {
    const unknown = await refusal(instantiateTemplate("semantic_comm.image", {}, options));
    assert.equal(unknown.code, "template_not_found");
    for (const [id, more] of [[PLANNED, { catalog: WITH_PLANNED }], [ABSENT, { starters: {} }]] as const) {
      const error = await refusal(instantiateTemplate(id, {}, { ...options, ...more }));
      assert.equal(error.code, "template_unavailable");
      assert.deepEqual(error.diagnostics.map(({ severity, code }) => [severity, code]), [[
        "error",
        "template_unavailable",
      ]]);
    }
  });
  await inProject({ [CODEC_PATH]: edited(CODEC_TEXT, ["quality: 75", "quality: 750"]) }, async (options, folder) => {
    const error = await refusal(instantiateTemplate(CODEC, {}, options));
    assert.equal(error.code, "template_unavailable");
    assert.equal(error.hint, `Correct or remove ${CODEC_PATH}`);
    assert.deepEqual(error.diagnostics.map(({ code, path }) => [code, path]), [
      ["operation_params_schema_invalid", "$.steps[1].params.quality"],
    ]);
    assert.equal(error.diagnostics[0].location!.file, CODEC_PATH);
    // An override of the very value does not mend the source.
    const again = instantiateTemplate(CODEC, { step_params: { sender: { quality: 50 } } }, options);
    assert.equal((await refusal(again)).code, "template_unavailable");
    await Deno.writeTextFile(join(folder, CODEC_PATH), CODEC_TEXT);
    assert.equal((await instantiateTemplate(CODEC, {}, options)).status, "instantiated");
  });
});

Deno.test("instantiating leaves catalogue, starters and the caller's overrides as they were", () =>
  inProject({}, async (options) => {
    const overrides = Object.freeze({ step_params: Object.freeze({ data: Object.freeze({ crop_size: 64 }) }) });
    const first = await instantiateTemplate(CODEC, overrides, options);
    first.recipe.steps.length = 1;
    (first.recipe.metadata.research as JsonObject).task = null;
    const second = await instantiateTemplate(CODEC, overrides, options);
    assert.equal(second.recipe.steps.length, 11);
    assert.deepEqual(second.recipe.metadata.research, { task: { id: "image_reconstruction" } });
  }));
