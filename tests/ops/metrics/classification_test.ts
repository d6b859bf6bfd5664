import assert from "node:assert/strict";
import classification from "../../../ops/metrics/classification.ts";
import smoke from "../../../ops/source/task_labels_smoke.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

const batch = (kind: string, labels: string) => ({
  json: {
    kind,
    schema_version: 1,
    items: labels.split(" ").filter((label) => label !== "").map((label, i) => ({ id: `i${i}`, label })),
  },
});
const score = async (reference: string, candidate: string) => {
  const { metrics, outputs } = await runOperation(classification, {
    inputs: { reference: batch("task.labels", reference), candidate: batch("task.predictions", candidate) },
  });
  return { metrics, report: outputs.report.json() };
};

Deno.test("accuracy counts items, balanced accuracy classes", async () => {
  const { metrics, report } = await score("a a a b", "a a c b");
  assert.deepEqual(metrics, {
    "task.accuracy": 0.75,
    "task.exact_match": 0.75,
    "task.score": 0.75,
    "classification.balanced_accuracy": (2 / 3 + 1) / 2,
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
