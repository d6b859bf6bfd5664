import assert from "node:assert/strict";
import { explainPlan, planText } from "../../../lib/plan/explain.ts";
import { LINK, planToys, toyRegistry } from "./toy.ts";

Deno.test("a plan is explained step by step, with what differs from the defaults", async () => {
  const registry = toyRegistry();
  const result = await planToys(LINK, { registry, implementation: "numpy_bpsk" });
  if (result.status !== "planned") throw new Error("unreachable");
  const explanation = explainPlan(result, registry);
  assert.deepEqual(explanation.cache, { outcome: "miss", reason: "first_plan" });
  assert.deepEqual(
    explanation.steps.map(({ step_id, params, backend, implementation, reason }) => ({
      step_id,
      params,
      backend,
      implementation,
      reason,
    })),
    [
      {
        step_id: "data",
        params: { count: 16, seed: result.recipe.steps[0].params.seed },
        backend: "numpy",
        implementation: "default",
        reason: "declared order",
      },
      { step_id: "relay", params: {}, backend: "python", implementation: "default", reason: "declared order" },
      {
        step_id: "modulator",
        params: { modulation: "bpsk" },
        backend: "numpy",
        implementation: "numpy_bpsk",
        reason: "--implementation numpy_bpsk",
      },
      {
        step_id: "wireless_channel",
        params: { snr_db: 4.5, seed: result.recipe.steps[3].params.seed },
        backend: "numpy",
        implementation: "numpy_any",
        reason: "declared order",
      },
    ],
  );
});

Deno.test("as text: a head, and each step with its inputs and parameters", async () => {
  const registry = toyRegistry();
  const result = await planToys(LINK, { registry });
  if (result.status !== "planned") throw new Error("unreachable");
  const lines = planText(explainPlan(result, registry)).split("\n");
  assert.equal(lines[0], "toy: 4 steps under benchmark_run, profile custom");
  assert.equal(lines[2], `plan   ${result.plan.sha256}`);
  assert.equal(lines[3], "cache  miss (first_plan)");
  assert.ok(lines.includes("modulator         toy.modulate on numpy/numpy_bpsk (declared order)"));
  assert.ok(lines.includes("                  symbols <- modulator.symbols"));
  assert.ok(lines.some((line) => /^ {18}snr_db=4\.5 {2}seed=\d+$/.test(line) || /seed=\d+ {2}snr_db=4\.5/.test(line)));
});
