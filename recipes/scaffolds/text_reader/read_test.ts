/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { read } from "./read.ts";
import type { Context } from "../svc_types.ts";

Deno.test("one word for each image, by its mean", () => {
  const images = { dtype: "uint8" as const, shape: [2, 1, 2, 1], data: Uint8Array.of(0, 255, 90, 100) };
  assert.deepEqual(read(images, {}, {} as Context).texts, ["bright", "dark"]);
  assert.deepEqual(read(images, { threshold: 0.3 }, {} as Context).texts, ["bright", "bright"]);
});
