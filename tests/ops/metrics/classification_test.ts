import assert from "node:assert/strict";
import classification from "../../../ops/metrics/classification.ts";
import smoke from "../../../ops/source/task_labels_smoke.ts";
import { recordedRate } from "../../../lib/contract/metric_metadata.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { rateEstimate } from "../../../lib/numeric/scores/rate_interval.ts";
import { refuses, runOperation } from "../harness.ts";

const batch = (kind: string, labels: string) => ({
  json: {
    kind,
    schema_version: 1,
    items: labels.split(" ").filter((label) => label !== "").map((label, i) => ({ id: `i${i}`, label })),
  },
});
const score = async (reference: string, candidate: string) => {
  const { metrics, metadata, outputs } = await runOperation(classification, {
    inputs: { reference: batch("task.labels", reference), candidate: batch("task.predictions", candidate) },
  });
  return { metrics, metadata, report: outputs.report.json() };
};

Deno.test("accuracy counts items, balanced accuracy classes", async () => {
  const { metrics, report } = await score("a a a b", "a a c b");
  assert.deepEqual(metrics, {
    "task.accuracy": 0.75,
    "task.exact_match": 0.75,
    "task.score": 0.75,
    "classification.balanced_accuracy": (2 / 3 + 1) / 2,
    "classification.macro_f1": (0.8 + 1 + 0) / 3,
    "classification.micro_f1": 0.75,
  });
  assert.deepEqual(report.class_names, ["a", "b", "c"]);
  assert.deepEqual(report.confusion_matrix, [[2, 0, 1], [0, 1, 0], [0, 0, 0]]);
  const [a, , c] = report.classes as JsonObject[];
  assert.equal(Number(a.recall), 2 / 3);
  assert.equal(Number(a.precision), 1);
  // A class that only the predictions name has no recall, and does not count among the classes of the reference.
  assert.equal(c.recall, undefined);
  assert.equal(Number(c.f1), 0);
});

Deno.test("the accuracy has the counts of its items, so that it has an interval without replicates", async () => {
  const { metadata } = await score("a a a b", "a a c b");
  const { events, trials, unit, complement } = recordedRate(metadata, "task.accuracy")!;
  assert.deepEqual([events, trials, unit, complement], [1, 4, "source_item", true]);
  const all = recordedRate((await score("a b", "a b")).metadata, "task.score")!;
  // Clopper and Pearson without a failure in 2: 1 - 0.025^(1/2).
  assert.ok(Math.abs(rateEstimate(all, 0.95)!.low! - 0.025 ** 0.5) < 1e-12);
});

Deno.test("labels are compared as they are written", async () => {
  assert.equal((await score("a", "A")).metrics["task.accuracy"], 0);
});

Deno.test("labels are paired by id, and there is at least one", async () => {
  await refuses("pair_ids_mismatch", () => score("a b", "a"));
  await refuses("boundary_empty", () => score("", ""));
});

Deno.test("the built-in predictions have the scores that their description says", async () => {
  const { outputs: { candidate, reference } } = await runOperation(smoke, {});
  const { metrics } = await runOperation(classification, { inputs: { candidate, reference } });
  assert.equal(metrics["task.accuracy"], 0.75);
  assert.equal(metrics["classification.balanced_accuracy"], (3 / 4 + 1 + 0) / 3);
  const { outputs } = await runOperation(smoke, { params: { sample_ids: "pavement_2,crossing_4" } });
  assert.deepEqual((outputs.reference.json().items as JsonObject[]).map(({ id }) => id), ["pavement_2", "crossing_4"]);
  assert.equal(smoke.definition.check!({ dataset: "task_smoke", sample_ids: "crossing" }, new Set()).length, 1);
});

Deno.test("macro F1 equals scikit-learn's; probabilities give calibration, Brier score, top-k and AUROC", async () => {
  const PROBABILITIES = [[.7, .2, .1], [.4, .4, .2], [.1, .6, .3], [.2, .3, .5], [.5, .2, .3], [.3, .1, .6]];
  const TRUTH = "a b b c c a", PREDICTED = "a a b c a c";
  const candidate = batch("task.predictions", PREDICTED);
  const near = (actual: unknown, expected: number) =>
    assert.ok(Math.abs(Number(actual) - expected) < 1e-12, `${actual}`);
  const scored = {
    json: {
      ...candidate.json,
      items: candidate.json.items.map((item, at) => ({
        ...item,
        probabilities: Object.fromEntries(PROBABILITIES[at].map((p, k) => ["abc"[k], float(p)])),
      })),
    },
  };
  const run = async (given: typeof candidate, params = {}) =>
    (await runOperation(classification, {
      inputs: { reference: batch("task.labels", TRUTH), candidate: given },
      params,
    }))
      .metrics;
  const metrics = await run(scored, { top_k: 2, calibration_bins: 2 });
  near(metrics["classification.macro_f1"], 0.5222222222222223);
  near(metrics["classification.micro_f1"], 0.5);
  near(metrics["classification.auroc"], 0.8125);
  near(metrics["classification.top_k_accuracy.2"], 1);
  near(metrics["classification.brier_score"], 0.49666666666666665);
  near(metrics["classification.expected_calibration_error"], (0.4 + 0.1) / 6);
  assert.equal((await run(candidate))["classification.brier_score"], undefined);
  const broken = structuredClone(scored);
  broken.json.items[1].probabilities.a = float(0.9);
  await refuses("boundary_value_invalid", () => run(broken));
});
