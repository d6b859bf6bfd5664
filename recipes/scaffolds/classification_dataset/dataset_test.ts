/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { examples } from "./dataset.ts";
import type { Context } from "../svc_types.ts";

const rows = (split: string) => examples({ params: { split } }, {} as Context).examples;

Deno.test("the splits are disjoint and complete", () => {
  const ids = (split: string) => rows(split).map(({ id }) => id);
  assert.deepEqual([...ids("validation"), ...ids("test")], ids("all"));
  assert.equal(new Set(ids("all")).size, ids("all").length);
});

Deno.test("rows have an id, a label and a prediction only", () => {
  for (const row of rows("all")) assert.deepEqual(Object.keys(row), ["id", "label", "prediction"]);
});
