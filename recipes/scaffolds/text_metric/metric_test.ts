/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { characterErrorRate, editDistance } from "./metric.ts";
import type { Context } from "../svc_types.ts";

Deno.test("known edit distances, characters outside the basic plane included", () => {
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("abc", ""), 3);
  assert.equal(editDistance("a😀b", "ab"), 1);
});

Deno.test("a missing text counts as empty, the order does not matter", () => {
  const reference = [{ id: "a", text: "four" }, { id: "b", text: "five!" }, { id: "c", text: "x" }];
  const candidate = [{ id: "b", text: "fi e!" }, { id: "a", text: "four" }];
  const { metrics, per_example } = characterErrorRate({ reference, candidate }, {} as Context);
  assert.equal(metrics.character_error_rate, 2 / 10);
  assert.deepEqual(per_example?.map(({ errors }) => errors), [0, 1, 1]);
});
