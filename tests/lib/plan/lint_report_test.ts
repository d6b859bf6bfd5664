/** The report of lint: its form, what decides over passing, each problem once, and recipes of any shape. */
import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { cloneValue, float, isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { lintRecipe, type LintReport } from "../../../lib/plan/lint.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { lintRegistry } from "./lint_registry.ts";
import { allocated, bitLink, custom, joint, layered, pictures, type Recipe } from "./lint_recipes.ts";

const registry = lintRegistry();

const lint = (recipe: unknown, options: { strict?: boolean } = {}): LintReport =>
  lintRecipe(compileRecipe(recipe, { mode: "strict", registry }), { registry, ...options });
const codes = ({ issues }: LintReport) => issues.map(({ code, severity }) => `${severity} ${code}`);

Deno.test("a clean report, member by member", () => {
  const { execution_profile, runner_support, ...report } = lint(bitLink());
  assert.deepEqual(report, {
    schema_version: 1,
    recipe: "spoilt",
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

Deno.test("how content travels", () => {
  const profilesOf = (recipe: Recipe) => lint(recipe).profiles;
  assert.deepEqual(profilesOf(layered()), ["bit_transport", "symbol_transport"]);
  assert.deepEqual(profilesOf(bitLink({ wireless_channel: { op: "wireless.digital_link" } })), ["bit_transport"]);
  assert.deepEqual(profilesOf(joint()), ["symbol_transport"]);
  assert.deepEqual(profilesOf(pictures({})), ["task_direct"]);
});

Deno.test("warnings pass, errors fail, and both are counted", () => {
  const warned = lint(layered({}, {}, { rate_count_fixed_point: null }));
  assert.deepEqual([warned.status, warned.error_count, warned.warning_count, warned.issue_count], ["passed", 0, 1, 1]);
  const failed = lint(
    layered({ demodulator: { params: { modulation: "bpsk" } } }, {}, { rate_count_fixed_point: null }),
  );
  assert.deepEqual([failed.status, failed.error_count, failed.warning_count, failed.issue_count], ["failed", 1, 1, 2]);
});

Deno.test("relaxed lint warns of what the catalogue does not know, and of nothing less", () => {
  const recipe = layered({ demodulator: { params: { modulation: "bpsk" } } }, {}, {
    research: { dataset: { id: "my_own_bits" }, metrics: ["my.own_metric"] },
  });
  assert.deepEqual(codes(lint(recipe)), [
    "error research_catalog_error",
    "error research_catalog_error",
    "error modulation_mismatch",
  ]);
  const relaxed = lint(recipe, { strict: false });
  assert.equal(relaxed.strict, false);
  assert.deepEqual(codes(relaxed), [
    "warning research_catalog_warning",
    "warning research_catalog_warning",
    "error modulation_mismatch",
  ]);
});

Deno.test("lint holds all that compiler and planner say", () => {
  const broken = layered({
    data: { op: "source.random_bitz" },
    modulator: { params: { modulation: "qpsq" } },
    channel_decoder: null,
    evaluation: { inputs: { reference: "data.bits", candidate: "crc_check.bits", weight: "data.bits" } },
    crc_check: { inputs: { bits: "nowhere.bits" } },
  });
  const report = lint(broken);
  assert.equal(report.status, "failed");
  assert.deepEqual([...new Set(codes(report))].sort(), [
    "error input_unexpected",
    "error operation_params_schema_invalid",
    "error recipe_validation_error",
    "error required_step_missing",
    "error unknown_operation",
  ]);
});

Deno.test("a rule whose premise failed is silent: a bad modulation does not mismatch", () => {
  const report = lint(layered({ demodulator: { params: { modulation: "qpsq" } } }));
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

Deno.test("findings know their line", async () => {
  const text = [
    "name: link",
    "metadata: {seed: 23, rate_count_fixed_point: data.bits}",
    "steps:",
    "  - {id: data, op: source.random_bits}",
    "  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}",
    "  - {id: channel, op: wireless.channel, inputs: {symbols: modulator.symbols}}",
    "  - id: demodulator",
    "    op: demodulation.digital_demodulate",
    "    params: {modulation: qam16}",
    "    inputs: {rx_symbols: channel.rx_symbols}",
    "",
  ].join("\n");
  const { value, locate } = readRecipeText(text, { file: "link.yaml" });
  const builtin = await createRegistry();
  const compilation = compileRecipe(value, { mode: "strict", registry: builtin, locate });
  const [issue] = lintRecipe(compilation, { registry: builtin, locate }).issues;
  assert.deepEqual(issue.location, { file: "link.yaml", line: 9, column: 26 });
});

const MATRIX: [string, string[], Recipe][] = [
  [
    "a matrix over both sides fits",
    [],
    layered({}, {}, {
      matrix: {
        dimensions: { modulation: ["bpsk", "qpsk"] },
        step_params: {
          modulator: { modulation: { matrix: "modulation" } },
          demodulator: { modulation: { matrix: "modulation" } },
        },
      },
    }),
  ],
  [
    "a power among others",
    ["warning reference_snr_with_variable_power"],
    layered({}, {}, {
      matrix: {
        dimensions: { power: [float(1), float(2)] },
        step_params: { tx_power: { target_power: { matrix: "power" } } },
      },
    }),
  ],
  [
    "interferers that only some presets have",
    [],
    layered({ wireless_channel: { params: { interferers: 1 } } }, {}, {
      matrix: {
        dimensions: { channel: ["awgn", "interference_awgn"] },
        step_params: { wireless_channel: { channel: { matrix: "channel" } } },
      },
    }),
  ],
  [
    "repetition that both sides follow",
    [],
    layered({}, {}, {
      matrix: {
        dimensions: { factor: [3, 5] },
        step_params: {
          channel_encoder: { factor: { matrix: "factor" } },
          channel_decoder: { factor: { matrix: "factor" } },
        },
      },
    }),
  ],
  [
    "repetition that one side follows",
    ["error repetition_factor_mismatch"],
    layered({ channel_decoder: { params: { factor: 3 } } }, {}, {
      matrix: {
        dimensions: { factor: [3, 5] },
        step_params: { channel_encoder: { factor: { matrix: "factor" } } },
      },
    }),
  ],
];
for (const [what, expected, recipe] of MATRIX) {
  Deno.test(`matrix: ${what}`, () => assert.deepEqual(codes(lint(recipe)), expected));
}

const FINE: [string, Recipe][] = [
  [
    "bit loading needs no modulation",
    allocated({
      tx_power: { params: { policy: "causal_ar_water_filling", transport_mode: "allocation_aware_bit_loading" } },
      demodulator: {
        params: { modulation: "qam16" },
        inputs: { rx_symbols: "wireless_channel.rx_symbols", allocation: "tx_power.allocation" },
      },
    }),
  ],
  ["16QAM at unit power", layered({ modulator: { params: { modulation: "qam16" } } })],
  [
    "a fixed variance at any power",
    layered({
      tx_power: { params: { target_power: float(2) } },
      wireless_channel: { params: { noise_mode: "fixed_variance", noise_variance: 0.1 } },
    }),
  ],
  [
    "a seed shared by steps that do not meet",
    layered({
      data: { params: { bit_count: 128, seed: 7 } },
      other: { op: "source.random_bits", params: { seed: 7 } },
    }),
  ],
  [
    "BER of coded bits",
    layered({
      evaluation: {
        op: "metrics.bit_error_rate",
        inputs: { reference: "channel_encoder.coded_bits", candidate: "demodulator.bits" },
      },
    }),
  ],
  ["fading with its receiver", layered({ wireless_channel: { params: { channel: "flat_rayleigh" } } })],
  ["a rate counted at a step of one output", layered({}, {}, { rate_count_fixed_point: "payload_bit_boundary" })],
  [
    "a power that is set back to 1",
    layered({
      tx_power: { params: { target_power: float(2) } },
      tx_power_normalize: { op: "channel.symbol_power_normalize", inputs: { symbols: "tx_power.symbols" } },
      wireless_channel: { inputs: { symbols: "tx_power_normalize.symbols" } },
    }, { tx_power_normalize: "tx_power" }),
  ],
  [
    "a variance that passes a front end",
    allocated({
      receiver_frontend: {
        op: "hardware.receiver_iq_imbalance",
        inputs: { rx_symbols: "wireless_channel.rx_symbols" },
      },
      demodulator: { inputs: { rx_symbols: "receiver_frontend.rx_symbols", allocation: "tx_power.allocation" } },
    }, { receiver_frontend: "wireless_channel" }),
  ],
  ["a link that is not there has no rate", pictures({}, { rate_count_fixed_point: null })],
  [
    "hard decisions need no variance",
    layered({
      wireless_channel: { op: "channel.identity_symbol_link", params: {}, inputs: { symbols: "tx_power.symbols" } },
      demodulator: { inputs: { rx_symbols: "wireless_channel.symbols" } },
    }),
  ],
];
for (const [what, recipe] of FINE) {
  // Some of them have a step that nothing reads, which is reported.
  Deno.test(`nothing to say: ${what}`, () =>
    assert.deepEqual(codes(lint(recipe)).filter((code) => code !== "warning step_without_effect"), []));
}

Deno.test("linting leaves the compilation alone and says the same again", () => {
  const compilation = compileRecipe(allocated({ delivery: null }), { mode: "strict", registry });
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
  const bases = [layered(), custom(), allocated(), bitLink(), joint()].map((recipe) => recipe as JsonObject);
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
