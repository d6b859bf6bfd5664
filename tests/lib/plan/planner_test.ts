import assert from "node:assert/strict";
import { contractSha256 } from "../../../lib/contract/define.ts";
import type { Diagnostic } from "../../../lib/contract/error.ts";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { PlanOptions } from "../../../lib/plan/planner.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import type { ExecutionPlan } from "../../../lib/plan/types.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { tables } from "../../support/tables.ts";
import { LINK, planToys, recipeOf, toyRegistry, toySources } from "./toy.ts";

const DATA = tables(import.meta.url);
const GOLDEN = new URL("./golden/link.plan.json", import.meta.url);

async function planned(raw: unknown, options: Partial<PlanOptions> = {}) {
  const result = await planToys(raw, options);
  assert.equal(result.status, "planned", JSON.stringify(result.diagnostics));
  if (result.status !== "planned") throw new Error("unreachable");
  return result;
}

async function refused(raw: unknown, options: Partial<PlanOptions> = {}): Promise<Diagnostic[]> {
  const result = await planToys(raw, options);
  assert.equal(result.status, "refused");
  return result.diagnostics;
}

/** Recomputes every digest of a plan from its own content. */
function checkDigests(plan: ExecutionPlan): void {
  const { sha256, ...body } = plan;
  assert.equal(sha256, sha256Json(body as JsonObject));
  const contracts = plan.operation_contracts as { sha256: string; operations: JsonObject };
  assert.equal(contracts.sha256, sha256Json(contracts.operations));
  for (const { binding_sha256, ...row } of plan.steps) {
    assert.equal(binding_sha256, sha256Json(row as JsonObject));
    assert.equal(row.operation_contract_sha256, sha256Json(contracts.operations[row.operation_id as string]));
  }
}

Deno.test("the plan of a small link is the stored one, byte for byte", async () => {
  const { plan } = await planned(LINK);
  const text = prettyJson(plan);
  if (Deno.env.get("UPDATE_GOLDEN") === "1") Deno.writeTextFileSync(GOLDEN, text);
  assert.equal(text, Deno.readTextFileSync(GOLDEN));
  checkDigests(plan);
});

Deno.test("two processes' worth of planning gives the same plan", async () => {
  const [a, b] = [await planned(LINK), await planned(LINK)];
  assert.equal(prettyJson(a.plan), prettyJson(b.plan));
  assert.notEqual(a.plan, b.plan);
  assert.equal(a.plan.recipe.sha256, sha256Json(a.recipe));
});

Deno.test("contract digests in the plan are those of the registry", async () => {
  const registry = toyRegistry();
  const { plan } = await planned(LINK, { registry });
  for (const row of plan.steps) {
    assert.equal(row.operation_contract_sha256, contractSha256(registry.get(row.operation_id).operation.contract));
  }
});

/** A recipe and options, and the code, the path and parts of message and hint of its only finding. */
interface Case {
  title: string;
  steps: Record<string, { op: string; params?: JsonObject; inputs?: Record<string, string> }>;
  metadata?: JsonObject;
  execution_profile?: string;
  options?: Partial<PlanOptions>;
  /** Whether the machine lacks every dataset and model. */
  lacking?: boolean;
  code: string;
  path: string;
  message: string;
  hint: string | null;
}

const BITS: [string, string, unknown?, Record<string, string>?] = ["data", "toy.bits"];
const SYMBOLS: [string, string, unknown?, Record<string, string>?][] = [
  BITS,
  ["modulator", "toy.modulate", {}, { bits: "data.bits" }],
];
const TO_BITS = { bits: "data.bits" }, TO_SYMBOLS = { symbols: "modulator.symbols" };
const lacking = {
  missing: ({ id }: { id: string }) => ({ reason: "it is not on this machine", hint: `svc fetch ${id}` }),
};

for (const { title, steps, options, lacking: lacks, code, path, message, hint, ...more } of DATA.CASES as Case[]) {
  Deno.test(`refusal, ${title}: ${code}`, async () => {
    const rows = Object.entries(steps).map((
      [id, { op, params, inputs }],
    ): (typeof SYMBOLS)[number] => [id, op, params, inputs]);
    const [found, ...others] = await refused(recipeOf(rows, more), lacks ? { readiness: lacking } : options);
    assert.deepEqual([found.code, found.path, found.severity, others], [code, path, "error", []]);
    assert.ok(found.message.includes(message), found.message);
    assert.doesNotMatch(found.message, /\.$/);
    if (hint === null) assert.equal(found.hint, null);
    else assert.ok(found.hint?.includes(hint), found.hint ?? "");
  });
}

Deno.test("a runtime that is missing has its own code, beside the model", async () => {
  const raw = recipeOf([...SYMBOLS, ["learned", "toy.learned", { runtime: "identity", model: "heavy" }, TO_SYMBOLS]]);
  const codes = (await refused(raw, { readiness: lacking })).map((item) => item.code);
  assert.deepEqual(codes, ["model_unavailable", "runtime_unavailable"]);
  await planned(raw, { readiness: { missing: () => null } });
});

Deno.test("the native extension is required where it was chosen, and its absence is a materialisation that is not there", async () => {
  const raw = recipeOf([BITS, ["modulator", "toy.modulate", { data_plane_backend: "cpp_native" }, TO_BITS]]);
  const asked: unknown[] = [];
  const readiness = (reason: string | null) => ({
    missing: (requirement: unknown) => (asked.push(requirement), reason === null ? null : { reason, hint: "Build it" }),
  });
  const [found, ...others] = await refused(raw, { readiness: readiness("the native extension is not built") });
  assert.deepEqual([found.code, found.path, found.hint], ["materialization_unavailable", "$.steps[1]", "Build it"]);
  assert.equal(found.message, "Cannot run modulator on cpp: the native extension is not built");
  assert.deepEqual(others, []);
  const { plan } = await planned(raw, { readiness: readiness(null) });
  assert.equal(plan.steps[1].backend, "cpp");
  const requirements = [{ kind: "native", id: "cpp_native" }];
  assert.deepEqual(plan.steps[1].implementation_metadata.runtime_availability, { requirements });
  assert.deepEqual(asked, [...requirements, ...requirements]);
});

Deno.test("all findings come at once, in the order of the checks", async () => {
  const raw = recipeOf([
    ["data", "toy.bits"],
    ["broken", "toy.nothing"],
    ["relay", "toy.relay", { low: 2.5 }, { bits: "data.bit" }],
    ["needy", "toy.needy", {}, { bits: "broken.bits" }],
    ["link", "toy.channel", { channel: "tdl" }, { symbols: "data.bits" }],
    ["photos", "toy.photos", { dataset: "kodak" }],
  ], {
    execution_profile: { id: "layered_digital", version: 2 },
    metadata: { task_id: "a", research: { task: { id: "b" } }, sweeps: { "data.count": "1,2" } },
  });
  const codes = (await refused(raw, { singleRun: true, readiness: lacking })).map((item) => item.code);
  assert.deepEqual(codes, [
    "legacy_sweep_normalized",
    "task_mismatch",
    "unknown_operation",
    "params_conflict",
    "output_unavailable",
    "kind_mismatch",
    "execution_profile_mismatch",
    "matrix_unresolved",
    "materialization_unavailable",
    "dataset_unavailable",
  ]);
});

Deno.test("profile, matrix, materialisation, availability, in that order", async () => {
  const raw = recipeOf([
    ...SYMBOLS,
    ["link", "toy.channel", { channel: "tdl" }, TO_SYMBOLS],
    ["photos", "toy.photos", { dataset: "kodak" }],
  ], { execution_profile: { id: "layered_digital", version: 2 }, metadata: { ui_sweeps: { "data.count": "1,2" } } });
  const codes = (await refused(raw, { singleRun: true, readiness: lacking })).map((item) => item.code);
  assert.deepEqual(codes, [
    "legacy_sweep_normalized",
    "execution_profile_mismatch",
    "matrix_unresolved",
    "materialization_unavailable",
    "dataset_unavailable",
  ]);
});

Deno.test("a recipe that does not compile is checked as far as it goes, and no problem is named twice", async () => {
  const diagnostics = await refused(recipeOf([
    ["data", "toy.bits", { count: "many" }],
    ["modulator", "toy.modulate", {}, { bits: "later.bits" }],
    ["later", "toy.relay", {}, { bits: "later.nothing", hnt: "data.bits" }],
    ["odd", "toy.odd", {}, { bits: "nowhere.bits" }],
  ]));
  assert.deepEqual(diagnostics.map((item) => [item.code, item.path]), [
    ["recipe_validation_error", "$.steps[1].inputs.bits"],
    ["recipe_validation_error", "$.steps[2].inputs.bits"],
    ["recipe_validation_error", "$.steps[3].inputs.bits"],
    ["operation_params_schema_invalid", "$.steps[0].params.count"],
    ["input_unexpected", "$.steps[2].inputs.hnt"],
    ["unknown_operation", "$.steps[3].op"],
  ]);
});

Deno.test("nothing to normalise: the compiler's findings stand alone", async () => {
  assert.deepEqual((await refused(3)).map((item) => item.code), ["recipe_top_level_type"]);
});

Deno.test("a step whose producer is unknown is not blamed for it", async () => {
  const codes = (await refused(recipeOf([
    ["data", "toy.odd"],
    ["relay", "toy.relay", {}, { bits: "data.bits" }],
    ["needy", "toy.needy", {}, { bits: "relay.bits" }],
  ]))).map((item) => item.code);
  assert.deepEqual(codes, ["unknown_operation"]);
});

Deno.test("metadata is promised through every operation that passes it on", async () => {
  await planned(recipeOf([
    BITS,
    ["relay", "toy.relay", {}, TO_BITS],
    ["again", "toy.relay", {}, { bits: "relay.bits" }],
    ["needy", "toy.needy", {}, { bits: "again.bits" }],
  ]));
  // any_of: the source alone promises origin.id, which covers origin, but neither alternative.
  const [found] = await refused(recipeOf([BITS, ["needy", "toy.needy", {}, TO_BITS]]));
  assert.equal(found.code, "input_metadata_missing");
  assert.match(found.message, /relayed or washed/);
  assert.equal(found.hint, null);
});

Deno.test("a profile is a contract unless it is not enforced", async () => {
  const raw = { ...LINK, execution_profile: "layered_digital" };
  assert.ok((await refused(raw)).every((item) => item.code === "execution_profile_mismatch"));
  await planned(raw, { enforceProfile: false });
});

Deno.test("a matrix is planned where the recipe does not run as one", async () => {
  await planned(recipeOf([BITS], {
    metadata: { matrix: { dimensions: { n: [1, 2] }, step_params: { data: { count: { matrix: "n" } } } } },
  }));
});

Deno.test("an explicit implementation sets its parameters, and the plan says so", async () => {
  const raw = recipeOf([BITS, ["modulator", "toy.modulate", {}, TO_BITS]]);
  const { plan, recipe, cache } = await planned(raw, { implementation: "numpy_bpsk" });
  const metadata = plan.steps[1].implementation_metadata;
  assert.deepEqual(metadata.parameter_overrides, { modulation: "bpsk" });
  assert.equal((metadata.selection as JsonObject).source, "flag");
  // The override switches one conditional default on, and one off.
  assert.deepEqual(recipe.steps[1].params, { modulation: "bpsk", roll_off: 0.5, data_plane_backend: "auto" });
  assert.equal(plan.recipe.sha256, sha256Json(recipe));
  assert.equal(cache.effective_recipe_sha256, plan.recipe.sha256);
  checkDigests(plan);
  assert.equal(plan.steps[0].implementation, "default");
});

Deno.test("what the author wrote is not set by a flag", async () => {
  const raw = recipeOf([BITS, ["modulator", "toy.modulate", { modulation: "qpsk" }, TO_BITS]]);
  const [found] = await refused(raw, { implementation: "numpy_bpsk" });
  assert.equal(found.code, "materialization_unavailable");
  assert.equal(found.path, "$.steps[1].params.modulation");
});

Deno.test("requirements of the chosen parameters are recorded", async () => {
  const { plan } = await planned(recipeOf([["photos", "toy.photos", { dataset: "kodak" }]]));
  assert.deepEqual(plan.steps[0].implementation_metadata.runtime_availability, {
    requirements: [{ kind: "dataset", id: "kodak" }],
  });
});

Deno.test("findings know their line", async () => {
  const registry = toyRegistry();
  const locate = () => ({ file: "r.yaml", line: 7, column: 3 });
  const compilation = compileRecipe(recipeOf([["data", "toy.planned"]]), { mode: "strict", registry });
  const result = await planRecipe(compilation, { registry, implementationSources: toySources, locate });
  assert.deepEqual(result.diagnostics[0].location, { file: "r.yaml", line: 7, column: 3 });
});

Deno.test("warnings of the compiler travel with the plan", async () => {
  const registry = toyRegistry();
  const raw = { ...LINK, colour: "blue" };
  const result = await planRecipe(compileRecipe(raw, { mode: "compat", registry }), {
    registry,
    implementationSources: toySources,
    usePlanCache: false,
  });
  assert.equal(result.status, "planned");
  assert.deepEqual(result.diagnostics.map((item) => [item.severity, item.code]), [["warning", "unknown_recipe_field"]]);
});
