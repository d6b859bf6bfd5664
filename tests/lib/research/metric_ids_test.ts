/** What operations and runs measure is in the catalogue, under the same id. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { RecipeDocument } from "../../../lib/recipe/types.ts";
import { findMetric } from "../../../lib/research/catalog.ts";
import { evaluatingOperations, labelledMetrics, stepMetrics } from "../../../lib/research/evaluations.ts";
import { run } from "../../../mod.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { FIXTURES } from "../../ops/_fixtures/index.ts";
import { runOperation } from "../../ops/harness.ts";
import { temporaryFolder } from "../../support/temporary.ts";

function oneStep(op: string, params: JsonObject): RecipeDocument {
  const steps = [{ id: "step", op, params, inputs: {} }];
  return { schema_version: 1, name: "one", execution_profile: { id: "custom", version: 1 }, metadata: {}, steps };
}

/**
 * Cases of an operation: all of one that measures, of others the first; `deno task soak whole` has all. The ids of metrics are
 * those of the operation, and few depend on a parameter.
 */
const casesOf = <T>(id: string, cases: readonly T[]): readonly T[] =>
  FULL_SIZE || id.startsWith("metrics.") ? cases : cases.slice(0, 1);

/** The sandbox of the models stays from test to test. */
const SHARED = { sanitizeOps: false, sanitizeResources: false };

for (const { operation } of BUILTIN_OPERATIONS) {
  const fixture = FIXTURES[operation.id];
  if (fixture === undefined || "skip" in fixture) continue;
  Deno.test(`metrics of ${operation.id} are in the catalogue`, SHARED, async () => {
    for (const item of casesOf(operation.id, fixture)) {
      const { metrics, params } = await runOperation(operation, {
        inputs: await item.inputs?.() ?? {},
        params: item.params as JsonObject,
        files: await item.files?.(),
        model: item.model,
        models: item.models,
      });
      const labelled = labelledMetrics(oneStep(operation.id, params));
      for (const [id, value] of Object.entries(metrics)) {
        const entry = findMetric(id) ?? labelled.get(id);
        assert.ok(entry, `${id} is not in the catalogue`);
        assert.notEqual(entry.status, "planned", `${id} is put out and no longer only planned`);
        if (typeof value === "bigint") assert.ok(entry.statistic === "count", `${id} is a count`);
      }
      for (const id of stepMetrics({ op: operation.id, params })) {
        assert.ok(id in metrics, `${operation.id} is expected to put out ${id}`);
      }
    }
  });
}

/** Scores that come from outside. */
const WITHOUT_HEADLINE = ["metrics.external_classification", "metrics.external_text"];

Deno.test("every evaluating operation has its headline metrics, and they are in the catalogue", () => {
  const known = new Set([...evaluatingOperations(), ...WITHOUT_HEADLINE]);
  const evaluating = BUILTIN_OPERATIONS.map(({ operation }) => operation.id).filter((id) => id.startsWith("metrics."));
  assert.deepEqual(evaluating.filter((id) => !known.has(id)), []);
  for (const op of evaluatingOperations()) {
    const ids = stepMetrics({ op, params: {} });
    assert.ok(ids.length > 0, op);
    for (const id of ids) assert.ok(findMetric(id), `${op}: ${id}`);
  }
});

Deno.test("labels and parameters shape the ids", () => {
  const of = (op: string, params: JsonObject) => stepMetrics({ op: `metrics.${op}`, params });
  assert.deepEqual(of("bit_error_rate", { label: "link.ber" }), ["channel.link.ber"]);
  assert.deepEqual(of("retrieval", { k_values: "1, 3" }), ["retrieval.hit_at_1", "retrieval.hit_at_3"]);
  assert.deepEqual(
    of("detection", { iou_threshold: 0.75, confidence_threshold: 0.25 })[0],
    "detection.recall_at_iou_0p75_conf_0p25",
  );
  assert.deepEqual(of("bit_boundary", {}), []);
  const labelled = labelledMetrics(oneStep("metrics.block_error_rate", { label: "link" }));
  assert.deepEqual([...labelled.keys()], [
    "channel.link",
    "channel.link.block_error_count",
    "channel.link.block_count",
  ]);
  assert.deepEqual(labelled.get("channel.link")!.counts, {
    events: "channel.link.block_error_count",
    trials: "channel.link.block_count",
  });
});

Deno.test("what a run adds to its steps is in the catalogue", async () => {
  const projectRoot = temporaryFolder("svc-research-");
  const { status, summary } = await run(
    { name: "bits", steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 8 } }] },
    { projectRoot },
  );
  assert.equal(status, "completed");
  const [step] = summary.steps as { metrics: JsonObject }[];
  const ids = [...Object.keys(step.metrics), "memory.run.peak_rss_bytes"];
  assert.ok(ids.includes("timing.step.wall_time_s"));
  for (const id of ids) assert.ok(findMetric(id), id);
  assert.ok("memory.run.peak_rss_bytes" in (summary.metrics as JsonObject));
});
