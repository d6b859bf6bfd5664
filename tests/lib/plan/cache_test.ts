import assert from "node:assert/strict";
import { defineOperation } from "../../../lib/contract/define.ts";
import { z } from "../../../lib/contract/zod.ts";
import { PlanCache, type PlanDraft, planKey } from "../../../lib/plan/cache.ts";
import type { SourceHashes } from "../../../lib/plan/implementation_source.ts";
import type { PlanOptions } from "../../../lib/plan/planner.ts";
import { LINK, planToys, recipeOf, toyRegistry, toySources } from "./toy.ts";

/** Plans and answers the record of the cache. */
async function evidence(raw: unknown, options: Partial<PlanOptions>) {
  const result = await planToys(raw, options);
  assert.equal(result.status, "planned", JSON.stringify(result.diagnostics));
  return result.status === "planned" ? result.cache : null!;
}

const outcome = ({ outcome, reason }: { outcome: string; reason: string }) => `${outcome} ${reason}`;
const counts = (count: number) => recipeOf([["data", "toy.bits", { count }]]);

Deno.test("first plan, live entry, another recipe of that name", async () => {
  const shared = { cache: new PlanCache(), registry: toyRegistry() };
  assert.equal(outcome(await evidence(LINK, shared)), "miss first_plan");
  assert.equal(outcome(await evidence(LINK, shared)), "hit live");
  assert.equal(outcome(await evidence({ ...LINK, metadata: { seed: 24 } }, shared)), "miss effective_recipe_sha256");
  assert.equal(outcome(await evidence({ ...LINK, name: "other" }, shared)), "miss first_plan");
});

Deno.test("a miss names the member of the key that differs", async () => {
  const shared = { cache: new PlanCache(), registry: toyRegistry() };
  await evidence(LINK, shared);
  assert.equal(outcome(await evidence(LINK, { ...shared, backend: "numpy" })), "miss backend");
  assert.equal(
    outcome(await evidence(LINK, { ...shared, backend: "numpy", runner: "dataset_capture" })),
    "miss runner",
  );
  await evidence(LINK, shared);
  assert.equal(outcome(await evidence(LINK, { ...shared, implementation: "numpy_bpsk" })), "miss implementation");
  await evidence(LINK, shared);
  assert.equal(outcome(await evidence(LINK, { ...shared, enforceProfile: false })), "miss enforce_execution_profile");
  await evidence(LINK, shared);
  const edited: SourceHashes = {
    describe: async (urls) =>
      new Map(
        [...await toySources.describe(urls)].map((
          [url, source],
        ) => [url, { ...source, source_sha256: "1".repeat(64) }]),
      ),
  };
  assert.equal(
    outcome(await evidence(LINK, { ...shared, implementationSources: edited })),
    "miss operation_registry_sha256",
  );
});

Deno.test("bypass reads nothing, stores nothing and explains nothing", async () => {
  const shared = { cache: new PlanCache(), registry: toyRegistry() };
  const first = await evidence(LINK, { ...shared, usePlanCache: false });
  assert.deepEqual([first.enabled, outcome(first), first.entry_count], [false, "bypass disabled", 0]);
  assert.equal(outcome(await evidence(LINK, shared)), "miss first_plan");
  assert.equal(outcome(await evidence(LINK, { ...shared, usePlanCache: false })), "bypass disabled");
  assert.equal(shared.cache.statistics().bypasses, 2);
});

Deno.test("the record links plan, recipe, registry and key", async () => {
  const options = { cache: new PlanCache(), registry: toyRegistry() };
  const result = await planToys(LINK, options);
  if (result.status !== "planned") throw new Error("unreachable");
  const { cache, plan } = result;
  assert.deepEqual(Object.keys(cache), [
    "schema_version",
    "enabled",
    "outcome",
    "reason",
    "key_sha256",
    "key_schema_version",
    "plan_sha256",
    "effective_recipe_sha256",
    "authored_recipe_sha256",
    "operation_registry_sha256",
    "planner_validation_sha256",
    "entry_count",
    "max_entries",
  ]);
  assert.equal(cache.plan_sha256, plan.sha256);
  assert.equal(cache.effective_recipe_sha256, plan.recipe.sha256);
  assert.deepEqual([cache.key_schema_version, cache.entry_count, cache.max_entries], [2, 1, 128]);
  const again = await planToys(LINK, options);
  assert.equal(again.status === "planned" && again.plan, plan);
});

Deno.test("plans of one key asked for at once are built once", async () => {
  const shared = { cache: new PlanCache(), registry: toyRegistry() };
  const found = await Promise.all([evidence(LINK, shared), evidence(LINK, shared), evidence(LINK, shared)]);
  assert.deepEqual(found.map(outcome), ["miss first_plan", "hit joined", "hit joined"]);
  assert.deepEqual(shared.cache.statistics(), {
    hits: 2,
    misses: 1,
    bypasses: 0,
    evictions: 0,
    entry_count: 1,
    inflight_count: 0,
    max_entries: 128,
  });
});

Deno.test("a failed plan is not kept, nor handed to those who joined as a hit", async () => {
  const cache = new PlanCache();
  const bad = recipeOf([["relay", "toy.relay"]]);
  const results = await Promise.all([planToys(bad, { cache }), planToys(bad, { cache })]);
  assert.deepEqual(results.map((result) => result.status), ["refused", "refused"]);
  const { hits, misses, entry_count, inflight_count } = cache.statistics();
  assert.deepEqual([hits, misses, entry_count, inflight_count], [0, 2, 0, 0]);
});

const KEY = planKey({
  effective_recipe_sha256: "r",
  operation_registry_sha256: "o",
  planner_validation_sha256: "v",
  runner: "benchmark_run",
  backend: null,
  implementation: null,
  enforce_execution_profile: true,
});

Deno.test("a build that throws leaves nothing behind", async () => {
  const cache = new PlanCache();
  const fail = () => cache.obtain(KEY, "name", () => Promise.reject(new Error("defect")));
  const results = await Promise.allSettled([fail(), fail()]);
  assert.deepEqual(results.map((result) => result.status), ["rejected", "rejected"]);
  assert.equal(cache.statistics().inflight_count, 0);
  const draft = { plan: {}, recipe: {} } as PlanDraft;
  assert.equal((await cache.obtain(KEY, "name", () => draft)).outcome, "miss");
});

Deno.test("the least recently used entry leaves, and the next miss says evicted", async () => {
  const shared = { cache: new PlanCache(2), registry: toyRegistry() };
  const named = (name: string) => ({ ...counts(8), name });
  await evidence(named("a"), shared);
  await evidence(named("b"), shared);
  assert.equal(outcome(await evidence(named("a"), shared)), "hit live");
  await evidence(named("c"), shared);
  assert.equal(outcome(await evidence(named("a"), shared)), "hit live");
  assert.equal(outcome(await evidence(named("b"), shared)), "miss evicted");
  assert.deepEqual([shared.cache.statistics().evictions, shared.cache.statistics().entry_count], [2, 2]);
});

Deno.test("a registration forgets the plans made before it", async () => {
  const shared = { cache: new PlanCache(), registry: toyRegistry() };
  await evidence(LINK, shared);
  await evidence(counts(3), shared);
  shared.registry.register([{
    operation: defineOperation({
      id: "toy.new",
      name: "New",
      outputs: {},
      params: z.strictObject({}),
      threadSafe: true,
      run: () => ({ outputs: {} }),
    }),
    moduleUrl: "file:///toys/new.ts",
  }]);
  const found = await evidence(LINK, shared);
  assert.deepEqual([outcome(found), found.entry_count], ["miss effective_recipe_sha256", 1]);
  assert.equal(outcome(await evidence(counts(3), shared)), "miss effective_recipe_sha256");
});

Deno.test("a registration while a plan is built keeps that plan out", async () => {
  const cache = new PlanCache();
  const gate = Promise.withResolvers<void>();
  const draft = { plan: {}, recipe: {} } as PlanDraft;
  const building = cache.obtain(KEY, "name", () => gate.promise.then(() => draft));
  cache.invalidate();
  gate.resolve();
  assert.equal((await building).outcome, "miss");
  assert.equal(cache.statistics().entry_count, 0);
});

Deno.test("what the machine has is asked again on a hit", async () => {
  const shared = { cache: new PlanCache(), registry: toyRegistry() };
  const raw = recipeOf([["photos", "toy.photos", { dataset: "kodak" }]]);
  const ready = { missing: () => null };
  const gone = { missing: () => ({ reason: "it was removed", hint: null }) };
  await evidence(raw, { ...shared, readiness: ready });
  const refused = await planToys(raw, { ...shared, readiness: gone });
  assert.deepEqual(refused.diagnostics.map((item) => item.code), ["dataset_unavailable"]);
  assert.equal(outcome(await evidence(raw, { ...shared, readiness: ready })), "hit live");
});

Deno.test("a plan cannot be changed by those who share it", async () => {
  const result = await planToys(LINK);
  if (result.status !== "planned") throw new Error("unreachable");
  assert.throws(() => (result.plan.steps[0].backend = "cpp"), TypeError);
  assert.throws(() => (result.plan.sha256 = ""), TypeError);
});
