/** Inputs that once crashed, hung or flooded the program. Each is refused with its code, and with bounded effort. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readSnapshot } from "../../lib/study/rows/evidence.ts";
import { showBenchmarkResult } from "../../lib/study/rows/store.ts";
import { verifyBenchmark } from "../support/session.ts";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { canonicalJson, parseJson, prettyJson } from "../../lib/contract/json.ts";
import type { SvcError } from "../../lib/contract/error.ts";
import { Registry } from "../../lib/contract/registry.ts";
import { Suggestions } from "../../lib/contract/nearest.ts";
import { float, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { parseImageManifest } from "../../lib/artifact/dataset_manifest.ts";
import { lintRecipe } from "../../lib/plan/lint.ts";
import { planRecipe } from "../../lib/plan/planner.ts";
import { compileRecipe } from "../../lib/recipe/compile.ts";
import { editRecipeText } from "../../lib/recipe/edit_text.ts";
import { expandMatrix } from "../../lib/recipe/expand_matrix.ts";
import { formatRecipeText } from "../../lib/recipe/format.ts";
import { readRecipeText } from "../../lib/recipe/read.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { Session } from "../../lib/api/session.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { resultOf } from "../lib/study/result_fixture.ts";

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);

async function plan(raw: unknown) {
  const compilation = compileRecipe(raw, { mode: "strict", registry });
  return await planRecipe(compilation, { registry, usePlanCache: false });
}

const recipe = (op: string, params: JsonObject, more: JsonObject = {}) => ({
  name: "corpus",
  steps: [{ id: "a", op, params }],
  ...more,
});

Deno.test("an integer beyond 2^53 is refused unless it is a 64-bit seed", async () => {
  const cases: [string, JsonObject, string?][] = [
    ["source.leo_ntn_tracking_scenario", { prediction_horizon_s: 18446744073709551616n }, "prediction_horizon_s"],
    ["source.leo_ntn_tracking_scenario", { history_length: 2n ** 53n + 1n }, "history_length"],
    ["source.random_bits", { bit_count: 10n ** 26n }, "bit_count"],
    ["source.random_bits", { bit_count: 8, seed: 2n ** 64n }, "seed"],
    ["source.random_bits", { bit_count: 8, seed: 2n ** 64n - 1n }],
    ["model.jpeg_encode", { quality: -(10n ** 26n) }, "quality"],
  ];
  for (const [op, params, refused] of cases) {
    const { status, diagnostics } = await plan(recipe(op, params));
    const found = diagnostics.filter(({ code }) => code === "param_out_of_range").map(({ path }) => path);
    assert.deepEqual(found, refused === undefined ? [] : [`$.steps[0].params.${refused}`], op);
    if (refused === undefined) assert.equal(status, "planned");
    else assert.match(diagnostics[0].hint!, /2\^|1e20/);
  }
});

Deno.test("the boundary 2^53 itself reaches an operation as a number", () => {
  const { effective } = compileRecipe(recipe("source.random_bits", { bit_count: 2n ** 53n }), {
    mode: "strict",
    registry,
  });
  assert.equal(effective!.steps[0].params.bit_count, 2 ** 53);
  assert.equal(canonicalJson(effective!.steps[0].params.bit_count), "9007199254740992");
});

const MANY = Array.from({ length: 5000 }, (_, index) => `key_${index}`);
const FLOOD: JsonObject = Object.fromEntries(MANY.map((key) => [key, 1]));

Deno.test("a document with thousands of problems gets a thousand of them, and one that says so", async () => {
  const floods: [string, unknown][] = [
    [
      "fields",
      recipe("source.random_bits", {}, Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, n]))),
    ],
    ["parameters", recipe("source.random_bits", FLOOD)],
    ["ids", recipe("source.text_dataset", { sample_ids: MANY.join(",") })],
    ["profile fields", recipe("source.random_bits", {}, { execution_profile: FLOOD })],
    ["matrix", recipe("source.random_bits", {}, { metadata: { matrix: { dimensions: FLOOD, step_params: FLOOD } } })],
    ["inputs", {
      name: "corpus",
      steps: [{ id: "a", op: "source.random_bits", inputs: Object.fromEntries(MANY.map((key) => [key, "b.c"])) }],
    }],
  ];
  for (const [name, raw] of floods) {
    const { status, diagnostics } = await plan(raw);
    assert.equal(status, "refused", name);
    assert.equal(diagnostics.length, 1001, name);
    const truncated = diagnostics.filter(({ code }) => code === "diagnostics_truncated");
    assert.deepEqual(truncated, [diagnostics[1000]], name);
    assert.equal(truncated[0].severity, "error", name);
    const report = lintRecipe(compileRecipe(raw, { mode: "strict", registry }), { registry });
    assert.ok(report.issues.length <= 1001, name);
  }
});

Deno.test("long names do not multiply with the problems below them", async () => {
  const long = "s".repeat(60_000);
  const raws = [
    { name: "corpus", steps: [{ id: long, op: "source.random_bits", params: FLOOD }] },
    { ...recipe("source.random_bits", { bit_count: 8 }), execution_profile: { [long]: FLOOD } },
    recipe("source.random_bits", {}, {
      metadata: { matrix: { dimensions: { [long]: [1] }, step_params: { [long]: FLOOD } } },
    }),
  ];
  for (const raw of raws) {
    const { diagnostics } = await plan(raw);
    assert.ok(JSON.stringify(diagnostics).length < 2 ** 21, `${JSON.stringify(diagnostics).length} characters`);
    assert.equal(diagnostics.at(-1)!.severity, "error");
    const { issues } = lintRecipe(compileRecipe(raw, { mode: "strict", registry }), { registry });
    assert.ok(JSON.stringify(issues).length < 2 ** 21);
  }
});

Deno.test("an error behind a thousand warnings still refuses the recipe", () => {
  const raw = recipe("no.such_operation", {}, FLOOD);
  const { status, diagnostics } = compileRecipe(raw, { mode: "compat", registry });
  assert.equal(status, "invalid");
  assert.equal(diagnostics.at(-1)!.severity, "error");
});

/** Counts how often a list of known names is read: once for every suggestion that is computed. */
function countingRegistry() {
  const counter = { lookups: 0 };
  const counting = new Proxy(registry, {
    get(target, name) {
      if (name === "ids") {
        return () =>
          new Proxy(target.ids(), {
            get: (ids, key) => {
              if (key === Symbol.iterator) counter.lookups++;
              const member = Reflect.get(ids, key);
              return typeof member === "function" ? member.bind(ids) : member;
            },
          });
      }
      const member = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return { counter, counting };
}

Deno.test("at most 20 suggestions are computed for a document, matrix points included", async () => {
  const steps = Array.from({ length: 512 }, (_, index) => ({ id: `s${index}`, op: `wireless.chanel${index}` }));
  const { counter, counting } = countingRegistry();
  const compilation = compileRecipe({ name: "corpus", steps }, { mode: "strict", registry: counting });
  const { diagnostics } = await planRecipe(compilation, { registry: counting, usePlanCache: false });
  assert.equal(diagnostics.filter(({ hint }) => hint === "Did you mean wireless.channel?").length, 20);
  // Compiler and planner read the names of the same 20.
  assert.ok(counter.lookups <= 40, `${counter.lookups} look-ups`);

  const matrix = {
    dimensions: { n: Array.from({ length: 256 }, (_, n) => n + 1) },
    step_params: { s0: { n: { matrix: "n" } } },
  };
  counter.lookups = 0;
  const { points } = expandMatrix({ name: "corpus", metadata: { matrix }, steps: steps.slice(0, 30) }, {
    registry: counting,
  });
  assert.equal(points.length, 256);
  assert.ok(counter.lookups <= 20 * 257, `${counter.lookups} look-ups`);
  const suggestions = new Suggestions();
  const names = MANY.slice(0, 100);
  assert.equal(names.filter((name) => suggestions.for(`${name}x`, names) !== null).length, 20);
  assert.equal(suggestions.for(`${names[0]}x`, names), `Did you mean ${names[0]}?`);
});

Deno.test("nesting is refused while it is parsed", () => {
  const size = 600_000;
  const texts = ["- ", "? ", ": ", "[", "{a: ", "- &a ", "? - : "].map((piece) => piece.repeat(size / piece.length));
  texts.push(Array.from({ length: 1000 }, (_, column) => `${" ".repeat(column)}- \n`).join(""));
  texts.push(Array.from({ length: 1000 }, (_, column) => `${" ".repeat(column)}a:\n`).join(""));
  for (const text of texts) {
    const name = text.slice(0, 12);
    assert.throws(() => readRecipeText(text, { file: "r.yaml" }), { code: "recipe_limit_exceeded" }, name);
    assert.throws(() => parseYaml(text), /nested deeper than 64/, name);
  }
  for (const open of ["[", '{"a":']) {
    assert.throws(() => readRecipeText(open.repeat(9000), { file: "r.json" }), { code: "recipe_limit_exceeded" });
    const deep = `${open.repeat(9000)}1${(open === "[" ? "]" : "}").repeat(9000)}`;
    assert.throws(() => parseJson(deep), { name: "SyntaxError" });
  }
  assert.throws(() => parseYaml("a: 1\na: 2\n"), /is repeated/);
});

Deno.test("texts of many lines are laid out and edited without a stack overflow", () => {
  const lines = 130_000;
  const texts = {
    folded: `name: x\nmetadata:\n  note: >\n${"    w\n".repeat(lines)}steps: []\n`,
    comments: `name: x\n${"#\n".repeat(lines)}metadata: {}\nsteps: []\n`,
  };
  for (const [name, text] of Object.entries(texts)) {
    const laidOut = formatRecipeText(text, { file: "r.yaml" });
    assert.ok(laidOut.length >= lines * 2, name);
  }
  const raw = readRecipeText(texts.comments, { file: "r.yaml" }).value as JsonObject;
  const edited = editRecipeText(texts.comments, { ...raw, name: "z" }, { file: "r.yaml" });
  assert.equal(edited, texts.comments.replace("name: x", "name: z"));
});

Deno.test("the overview of a recipe with parameters of another type has its problems, and asks for no model", async () => {
  const svc = new Session();
  for (const dataset of [10n ** 26n, null, ["a"]]) {
    const step = { id: "a", op: "source.text_dataset", params: { dataset } };
    const model = { id: "b", op: "model.codeclib_encode", params: { codec_id: dataset, model: dataset } };
    const { status, run_readiness, diagnostics } = await svc.recipes.overview({ name: "corpus", steps: [step, model] });
    assert.deepEqual([status, run_readiness], ["invalid", null]);
    assert.ok(diagnostics.length > 0);
  }
  svc.close();
});

Deno.test("an input that is no text is one finding, and no rule of lint reads it", () => {
  const inputs = { symbols: { toString: 1 } as JsonObject };
  const steps = [
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    { id: "wireless_channel", op: "wireless.channel", inputs },
  ];
  const execution_profile = { id: "layered_digital", version: 1 };
  const raw = { name: "corpus", execution_profile, steps };
  const { issues } = lintRecipe(compileRecipe(raw, { mode: "strict", registry }), { registry });
  assert.ok(issues.some(({ path, severity }) => path === "$.steps[1].inputs.symbols" && severity === "error"));
});

Deno.test("a float beyond binary64 is no JSON", () => {
  for (const text of ["1e400", "[-1e309]", '{"a":1.0e999}']) {
    assert.throws(() => parseJson(text), { name: "SyntaxError" });
  }
  assert.equal(canonicalJson(parseJson(`[1${"0".repeat(400)},1e308]`)), `[1${"0".repeat(400)},1e+308]`);
});

Deno.test("a result of a benchmark in another form is refused with its first problem", async () => {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-corpus-" });
  const workspace = openWorkspace({ stateDir, projectRoot: stateDir });
  const result = resultOf([{ id: "a", method: "qpsk", metrics: () => ({ "channel.ber": float(0.1) }) }], [
    "channel.ber",
  ], 1);
  const id = result.result_id, folder = join(stateDir, "benchmarks", id);
  const sound = JSON.parse(prettyJson(result));
  const changes: [string, (document: typeof sound) => void][] = [
    ["$.reports[0]", (document) => document.reports = ["../../etc/passwd"]],
    ["$.reports[0]", (document) => document.reports = [-0.5]],
    ["$.benchmark.metrics[0].unit", (document) => document.benchmark.metrics[0].unit = []],
    ["$.recipes[0].label", (document) => delete document.recipes[0].label],
    ["$.recipes[0].metrics", (document) => document.recipes[0].metrics["channel.ber"] = "1"],
    ["$.recipes[0].run_dir", (document) => document.recipes[0].run_dir = "../../runs"],
    [
      "$.recipes[0].run_evidence_snapshot.relative_path",
      ({ recipes: [row] }) => row.run_evidence_snapshot = { relative_path: "../x.gz", sha256: "" },
    ],
  ];
  await Deno.mkdir(folder, { recursive: true });
  for (const [path, change] of [...changes, ["", () => {}] as typeof changes[number]]) {
    const document = structuredClone(sound);
    change(document);
    await Deno.writeTextFile(join(folder, "result.json"), JSON.stringify(document));
    if (path === "") assert.equal(showBenchmarkResult(workspace, id).result.result_id, id);
    else {
      assert.throws(
        () => showBenchmarkResult(workspace, id),
        (error: SvcError) => error.code === "bundle_schema_invalid" && error.diagnostics[0].path.startsWith(path),
        path,
      );
      assert.equal((await verifyBenchmark(workspace, id)).status, "invalid");
    }
  }
  // A megabyte of zeros compresses to a kilobyte; a gigabyte would to a megabyte.
  const bomb = gzipSync(new Uint8Array(300 * 2 ** 20));
  await Deno.writeFile(join(folder, "bomb.gz"), bomb);
  assert.throws(() => readSnapshot(folder, { relative_path: "bomb.gz", sha256: sha256Hex(bomb) }), {
    code: "bundle_schema_invalid",
  });
  await Deno.remove(stateDir, { recursive: true });
});

Deno.test("half of a surrogate pair is refused with a code wherever a text is read, written or hashed", () => {
  const half = "\ud800";
  const manifest = { schema_version: 1, kind: "svc.image_dataset_manifest", id: half };
  assert.throws(() => parseImageManifest(JSON.stringify(manifest)), { code: "dataset_manifest_invalid" });
  for (const value of [half, { [half]: 1 }, [half]] as Value[]) {
    assert.throws(() => canonicalJson(value), { code: "text_invalid" });
    assert.throws(() => parseJson(JSON.stringify(value)), { name: "SyntaxError" });
  }
  assert.throws(() => sha256Hex(half), { code: "text_invalid" });
  assert.throws(() => parseYaml('a: "\\ud800"'), { name: "SyntaxError" });
  assert.equal(canonicalJson(parseJson('{"\\ud800": ["\\udc00a"]}', { repair: true })), '{"\ufffd":["\ufffda"]}');
  const { diagnostics } = compileRecipe(recipe("source.random_bits", { bit_count: float(1), label: half }), {
    mode: "strict",
    registry,
  });
  assert.equal(diagnostics[0].code, "recipe_json_value_invalid");
});
