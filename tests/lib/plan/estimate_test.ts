import assert from "node:assert/strict";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);

async function planOf(params: JsonObject) {
  const steps = [
    { id: "data", op: "source.random_bits", params },
    { id: "mod", op: "modulation.digital_modulate", params: { modulation: "qpsk" }, inputs: { bits: "data.bits" } },
    { id: "link", op: "wireless.channel", inputs: { symbols: "mod.symbols" } },
  ];
  const compilation = compileRecipe({ name: "estimate", steps }, { mode: "strict", registry });
  const planned = await planRecipe(compilation, { registry, usePlanCache: false });
  assert.equal(planned.status, "planned", JSON.stringify(planned.diagnostics));
  return (planned as Extract<typeof planned, { status: "planned" }>).plan;
}

Deno.test("a plan estimates memory and disk of each step from parameters alone", async () => {
  const { resources } = await planOf({ bit_count: 1000, batch_size: 4 });
  assert.deepEqual(resources, {
    memory_bytes: 2 * (16_000 + 16_000),
    disk_bytes: 4000 + 16_000 + 16_000,
    exact: true,
    per_step: [
      { step_id: "data", memory_bytes: 2 * 4000, disk_bytes: 4000, exact: true },
      { step_id: "mod", memory_bytes: 2 * (4000 + 16_000), disk_bytes: 16_000, exact: true },
      { step_id: "link", memory_bytes: 2 * (16_000 + 16_000), disk_bytes: 16_000, exact: true },
    ],
  });
});

Deno.test("the estimate is under the plan hash and the same each time", async () => {
  const [one, again] = [await planOf({ bit_count: 1000 }), await planOf({ bit_count: 1000 })];
  assert.deepEqual(one.resources, again.resources);
  const { sha256, ...rest } = one;
  assert.equal(sha256Json(rest), sha256);
  assert.notEqual(sha256Json({ ...rest, resources: { ...rest.resources, disk_bytes: 1 } }), sha256);
});

Deno.test("sizes beyond exact integers stay integers", async () => {
  const { resources } = await planOf({ bit_count: 2 ** 53, batch_size: 2 ** 53 });
  assert.equal(resources.memory_bytes, Number.MAX_SAFE_INTEGER);
  assert.equal(resources.disk_bytes, Number.MAX_SAFE_INTEGER);
});
