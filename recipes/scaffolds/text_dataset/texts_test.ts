/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { sentences } from "./texts.ts";
import type { Context } from "../svc_types.ts";

const read = (text_count: number) => sentences({ params: { text_count } }, {} as Context).texts;

Deno.test("the texts have unique ids, and the order is fixed", () => {
  const ids = read(3).map(({ id }) => id);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(read(2).map(({ id }) => id), ids.slice(0, 2));
});
