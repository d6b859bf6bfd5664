/** The report of lint: its form, what decides over passing, each problem once, and recipes of any shape. */
import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { cloneValue, float, isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { lintRecipe, type LintReport } from "../../../lib/plan/lint.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { type Change, lintRecipeOf } from "./lint_recipes.ts";

const registry = await createRegistry();
const LINK = `name: link
metadata: {seed: 23, rate_count_fixed_point: data.bits}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 1024}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: channel, op: wireless.channel, params: {snr_db: 4}, inputs: {symbols: modulator.symbols}}
  - id: demodulator
    op: demodulation.digital_demodulate
    params: {modulation: qam16}
    inputs: {rx_symbols: channel.rx_symbols}
`;
const MISMATCH: Change = { set: { "demodulator.modulation": "bpsk" } };

const lint = (recipe: unknown, options: { strict?: boolean } = {}): LintReport =>
  lintRecipe(compileRecipe(recipe, { mode: "strict", registry }), { registry, ...options });
const codes = ({ issues }: LintReport) => issues.map(({ code, severity }) => `${severity} ${code}`);

Deno.test("a clean report, member by member", () => {
  const { execution_profile, runner_support, ...report } = lint(lintRecipeOf("bit_link"));
  assert.deepEqual(report, {
    schema_version: 1,
    recipe: "changed",
    status: "passed",
    strict: true,
    profiles: ["bit_transport"],
    issue_count: 0,
    error_count: 0,
    warning_count: 0,
    issues: [],
  });
  assert.deepEqual(execution_profile.reference, { id: "layered_digital", version: 1 });
  assert.equal(execution_profile.status, "conformant");
  assert.equal(execution_profile.stage_bindings.source, "data");
  assert.deepEqual(runner_support.benchmark_run, { supported: true, unsupported_steps: [] });
  assert.equal(runner_support.differentiable_export.supported, false);
  assert.ok(runner_support.differentiable_export.unsupported_steps.includes("data"));
});

Deno.test("the transport profiles follow from the steps", () => {
  const profilesOf = (group: string, change?: Change) => lint(lintRecipeOf(group, change)).profiles;
  assert.deepEqual(profilesOf("layered"), ["bit_transport", "symbol_transport"]);
  const digital = { op: "wireless.digital_link", inputs: { bits: "tx_bit_boundary.bits" } };
  assert.deepEqual(profilesOf("bit_link", { steps: { wireless_channel: digital } }), ["bit_transport"]);
  assert.deepEqual(profilesOf("joint"), ["symbol_transport"]);
  assert.deepEqual(profilesOf("images"), ["task_direct"]);
});

Deno.test("warnings pass, errors fail, and both are counted", () => {
  const metadata = { rate_count_fixed_point: null };
  const counts = (change: Change) => {
    const report = lint(lintRecipeOf("layered", { ...change, metadata }));
    return [report.status, report.error_count, report.warning_count, report.issue_count];
  };
  assert.deepEqual(counts({}), ["passed", 0, 1, 1]);
  assert.deepEqual(counts(MISMATCH), ["failed", 1, 1, 2]);
});

Deno.test("relaxed lint warns only of names that the catalogue does not know", () => {
  const research = { dataset: { id: "my_own_bits" }, metrics: ["my.own_metric"] };
  const recipe = lintRecipeOf("layered", { ...MISMATCH, metadata: { research } });
  const unknown = (severity: string) => `${severity} research_catalog_${severity}`;
  assert.deepEqual(codes(lint(recipe)), [unknown("error"), unknown("error"), "error modulation_mismatch"]);
  const relaxed = lint(recipe, { strict: false });
  assert.equal(relaxed.strict, false);
  assert.deepEqual(codes(relaxed), [unknown("warning"), unknown("warning"), "error modulation_mismatch"]);
});

Deno.test("lint includes the findings of compiler and planner", () => {
  const report = lint(lintRecipeOf("layered", {
    steps: { data: { op: "source.random_bitz" }, channel_decoder: null },
    set: { "modulator.modulation": "qpsq" },
    wire: { "evaluation.weight": "data.bits", "crc_check.bits": "nowhere.bits" },
  }));
  assert.equal(report.status, "failed");
  assert.deepEqual([...new Set(codes(report))].sort(), [
    "error input_unexpected",
    "error operation_params_schema_invalid",
    "error recipe_validation_error",
    "error required_step_missing",
    "error unknown_operation",
  ]);
});

Deno.test("an invalid modulation is no mismatch", () => {
  const report = lint(lintRecipeOf("layered", { set: { "demodulator.modulation": "qpsq" } }));
  assert.deepEqual(codes(report), ["error operation_params_schema_invalid"]);
});

Deno.test("a document that cannot be read fails with what the compiler says", () => {
  for (const recipe of [null, 3, "text", [], { name: "empty" }, { steps: 3 }]) {
    const report = lint(recipe);
    assert.equal(report.status, "failed");
    assert.ok(report.error_count > 0);
  }
  assert.equal(lint(null).recipe, null);
  assert.deepEqual(lint(null).profiles, []);
});

Deno.test("findings have line and column", () => {
  const { value, locate } = readRecipeText(LINK, { file: "link.yaml" });
  const [issue] = lintRecipe(compileRecipe(value, { mode: "strict", registry, locate }), { registry, locate }).issues;
  assert.deepEqual(issue.location, { file: "link.yaml", line: 9, column: 26 });
});

Deno.test("a number in another notation gets the number as hint", () => {
  const hintOf = (changed: string, from: string) => {
    const { value } = readRecipeText(LINK.replace(from, changed), { file: "link.yaml" });
    return lint(value).issues[0].hint;
  };
  const real = (written: string) => hintOf(`snr_db: ${written}`, "snr_db: 4");
  assert.equal(real("20_000"), "Write 20000.0, without separators");
  assert.equal(real("1:30:00"), "Write one number in the unit of the parameter; the time 1:30:00 is 5400 seconds");
  assert.equal(real('"10,5"'), "Write 10.5 with a point");
  assert.equal(real('"1,000"'), "Write 1.0 with a point, or 1000.0 without separators");
  assert.equal(real("12 dB"), "Write 12.0");
  const whole = (written: string) => hintOf(`bit_count: ${written}`, "bit_count: 1024");
  assert.equal(whole("20_000"), "Write 20000, without separators");
  assert.equal(whole("'1,000,000'"), "Write 1000000, without separators");
  assert.equal(whole("'10,5'"), "Use a whole number");
});

Deno.test("the hint for a wrong kind does not name the source of the input", () => {
  const recipe = lintRecipeOf("coded", {
    wire: { "bler.candidate": "ch.rx_symbols", "mod.bits": "data.bits" },
    steps: { enc: null, dem: null, dec: null },
  });
  const [issue] = lint(recipe).issues.filter(({ code }) => code === "kind_mismatch");
  assert.equal(issue.hint, null);
});

Deno.test("linting leaves the compilation alone and says the same again", () => {
  const compilation = compileRecipe(lintRecipeOf("allocated", { steps: { delivery: null } }), {
    mode: "strict",
    registry,
  });
  const before = canonicalJson([compilation.effective, compilation.diagnostics]);
  const first = lintRecipe(compilation, { registry });
  assert.deepEqual(lintRecipe(compilation, { registry }), first);
  assert.equal(canonicalJson([compilation.effective, compilation.diagnostics]), before);
});

Deno.test("no recipe makes lint fail, however it is mutilated", () => {
  let state = 99;
  const below = (count: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % count;
  };
  const strange: Value[] = [null, 0, -1, 1.5, float(2), true, "", "data.bits", "constructor", "__proto__.x", [], {}, [
    {},
  ], 10n ** 20n];
  const bases = ["layered", "custom", "allocated", "bit_link", "joint"].map((group) =>
    lintRecipeOf(group) as JsonObject
  );
  const places = (value: Value): [JsonObject | Value[], string | number][] => {
    const keys = Array.isArray(value) ? [...value.keys()] : isObject(value) ? Object.keys(value) : [];
    return keys.flatMap((key): [JsonObject | Value[], string | number][] => [
      [value as JsonObject, key],
      ...places((value as JsonObject)[key]),
    ]);
  };
  const seen = new Set<string>();
  for (let round = 0; round < 800; round++) {
    const recipe = cloneValue(bases[below(bases.length)]);
    for (let spot = 0; spot <= below(4); spot++) {
      const all = places(recipe);
      const [holder, key] = all[below(all.length)];
      const [other, otherKey] = all[below(all.length)];
      const change = below(3);
      if (change === 0) (holder as JsonObject)[key] = cloneValue(strange[below(strange.length)]);
      else if (change === 1) (holder as JsonObject)[key] = cloneValue((other as JsonObject)[otherKey]);
      else if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      if (!isObject(recipe) || Object.keys(recipe).length === 0) break;
    }
    const report = lint(recipe);
    assert.equal(report.status === "failed", report.error_count > 0);
    assert.equal(
      new Set(report.issues.map((issue) => canonicalJson(issue))).size,
      report.issue_count,
    );
    for (const issue of report.issues) {
      assert.ok(
        issue.path.startsWith("$") && issue.message !== "" && !issue.message.includes("[object"),
        issue.message,
      );
      seen.add(issue.code);
    }
  }
  assert.ok(seen.size > 20, [...seen].join());
});
