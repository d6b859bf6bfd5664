/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { examples } from "./examples.ts";
import { kappa } from "./metric.ts";
import type { Context, Item } from "../svc_types.ts";

const context = {} as Context;
const items = (...labels: string[]): Item[] => labels.map((label, i) => ({ id: `${i}`, label }));

Deno.test("perfect is 1, chance is 0, the opposite is -1", () => {
  const of = (reference: string[], candidate: string[]) =>
    kappa({ reference: items(...reference), candidate: items(...candidate) }, context).metrics.cohen_kappa;
  assert.equal(of(["a", "b"], ["a", "b"]), 1);
  assert.equal(of(["a", "a", "b", "b"], ["a", "b", "a", "b"]), 0);
  assert.equal(of(["a", "b"], ["b", "a"]), -1);
  assert.equal(of(["a", "a"], ["a", "a"]), undefined);
});

Deno.test("the examples of the recipe: 0.7 observed, 0.5 by chance", () => {
  const rows = examples(context).examples;
  const { metrics } = kappa({
    reference: rows.map(({ id, label }) => ({ id, label })),
    candidate: rows.map(({ id, prediction }) => ({ id, label: prediction })).reverse(),
  }, context);
  assert.ok(Math.abs(metrics.observed_agreement - 0.7) < 1e-12);
  assert.ok(Math.abs(metrics.cohen_kappa - 0.4) < 1e-12);
});
