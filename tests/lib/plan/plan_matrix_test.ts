import assert from "node:assert/strict";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject, Value } from "../../../lib/contract/value.ts";
import { PlanCache } from "../../../lib/plan/cache.ts";
import { type MatrixPlan, planMatrix } from "../../../lib/plan/plan_matrix.ts";
import type { PlanOptions } from "../../../lib/plan/planner.ts";
import type { PlanStep } from "../../../lib/plan/types.ts";
import { expandMatrix } from "../../../lib/recipe/expand_matrix.ts";
import { LINK, planToys, recipeOf, toyRegistry, toySources } from "./toy.ts";

const registry = toyRegistry();

function planAll(raw: unknown, options: Partial<PlanOptions> = {}, select?: number[]): Promise<MatrixPlan> {
  const expansion = expandMatrix(raw, { registry });
  const points = select?.map((index) => expansion.points[index]);
  return planMatrix(
    expansion,
    { registry, implementationSources: toySources, cache: new PlanCache(), ...options },
    points,
  );
}

const matrix = (dimensions: JsonObject, step_params: JsonObject) => ({
  metadata: { matrix: { dimensions, step_params } },
});

const SWEEP = {
  ...LINK,
  ...matrix({ snr_db: [1.5, 2.5], channel: ["awgn", "fading"], count: [4, 8] }, {
    wireless_channel: { snr_db: { matrix: "snr_db" }, channel: { matrix: "channel" } },
    data: { count: { matrix: "count" } },
  }),
};

/** The digests of a plan, from the plan as a whole. */
function rehash(plan: JsonObject): { sha256: string; bindings: string[]; contracts: string } {
  const without = (object: JsonObject, key: string) =>
    Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
  return {
    sha256: sha256Json(without(plan, "sha256")),
    bindings: (plan.steps as PlanStep[]).map((step) => sha256Json(without(step, "binding_sha256"))),
    contracts: sha256Json((plan.operation_contracts as JsonObject).operations),
  };
}

Deno.test("every point is planned as it is planned alone, and its digests cover its text", async () => {
  const planned = await planAll(SWEEP);
  assert.ok(planned.status === "planned");
  assert.equal(planned.points.length, 8);
  const plans = planned.points.map(({ planned: { plan } }) => plan);
  assert.equal(new Set(plans.map(({ sha256 }) => sha256)).size, 8);
  for (const [index, { recipe, planned: { plan } }] of planned.points.entries()) {
    const { sha256, bindings, contracts } = rehash(plan);
    assert.equal(plan.sha256, sha256);
    assert.equal(plan.operation_contracts.sha256, contracts);
    assert.deepEqual(plan.steps.map(({ binding_sha256 }) => binding_sha256), bindings);
    // Another recipe in between, so that nothing is left of the last plan.
    const other = await planToys(recipeOf([["data", "toy.bits", { count: index + 1 }]]));
    assert.ok(other.status === "planned");
    assert.equal(other.plan.sha256, rehash(other.plan).sha256);
    const alone = await planToys(recipe, { singleRun: true });
    assert.ok(alone.status === "planned");
    assert.equal(canonicalJson(alone.plan), canonicalJson(plan));
  }
  // The fading points are bound to another entry.
  assert.deepEqual(plans.map(({ steps }) => steps[3].implementation), [
    ...Array(4).fill("numpy_any"),
    ...Array(4).fill("numpy_fading"),
  ]);
});

Deno.test("a problem of some points names these points; a problem of all points belongs to the recipe", async () => {
  const refused = await planAll({
    ...SWEEP,
    ...matrix({ channel: ["awgn", "tdl"], low: [0.5, 2.5], count: [1, 2, 3, 4, 5, 6] }, {
      wireless_channel: { channel: { matrix: "channel" } },
      relay: { low: { matrix: "low" } },
      data: { count: { matrix: "count" } },
    }),
    execution_profile: "layered_digital",
  });
  assert.equal(refused.status, "refused");
  const found = refused.diagnostics.filter(({ severity }) => severity === "error");
  const conflict = found.find(({ code }) => code === "params_conflict")!;
  assert.equal(conflict.path, "$.steps[1].params.low");
  assert.match(conflict.message, /\(at matrix points 1, 3, 5, 7, 9 and 7 more\)$/);
  const planned = found.find(({ code }) => code === "materialization_unavailable")!;
  assert.match(planned.message, /\(at matrix points 12, 13, 14, 15, 16 and 7 more\)$/);
  const profile = found.filter(({ code }) => code === "execution_profile_mismatch");
  assert.ok(profile.length > 0);
  for (const { message } of profile) assert.doesNotMatch(message, /matrix point/);
});

Deno.test("only the wanted points are planned", async () => {
  const raw = {
    ...recipeOf([["photos", "toy.photos"]]),
    ...matrix({ dataset: ["bundled", "kodak"] }, { photos: { dataset: { matrix: "dataset" } } }),
  };
  const readiness = {
    missing: ({ id }: { id: string }) => (id === "kodak" ? { reason: "it is not here", hint: "Fetch it" } : null),
  };
  const all = await planAll(raw, { readiness });
  assert.equal(all.status, "refused");
  assert.deepEqual(
    all.diagnostics.filter(({ severity }) => severity === "error").map(({ code, message }) => [code, message]),
    [
      [
        "dataset_unavailable",
        "Cannot run photos without the dataset kodak: it is not here (at matrix point 1: dataset=kodak)",
      ],
    ],
  );
  const one = await planAll(raw, { readiness }, [0]);
  assert.ok(one.status === "planned");
  assert.deepEqual(one.points.map(({ index }) => index), [0]);
});

Deno.test("an unknown operation is told once, in the planner's words", async () => {
  const { status, diagnostics } = await planAll({
    ...SWEEP,
    steps: [...LINK.steps, { id: "odd", op: "toy.bit", params: {}, inputs: {} }],
  });
  assert.equal(status, "refused");
  assert.deepEqual(diagnostics.map(({ code }) => code), ["variant_seed_namespace", "unknown_operation"]);
});

Deno.test("the sources of the program are described once for all points", async () => {
  let calls = 0;
  const implementationSources: typeof toySources = {
    describe(urls) {
      calls++;
      return toySources.describe(urls);
    },
  };
  const value: Value = Array.from({ length: 50 }, (_, n) => n + 1);
  const raw = { ...SWEEP, ...matrix({ count: value }, { data: { count: { matrix: "count" } } }) };
  assert.equal((await planAll(raw, { implementationSources })).status, "planned");
  assert.equal(calls, 1);
});
