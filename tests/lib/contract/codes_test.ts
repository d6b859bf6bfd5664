/** The table of error classes covers the codes that the step checks throw. */
import assert from "node:assert/strict";
import { failureClass } from "../../../lib/contract/codes.ts";

Deno.test("every code of the step checks is a failure of the contract", async () => {
  const files = ["execute/run_step.ts", "execute/staging.ts", "artifact/codec.ts"];
  const texts = await Promise.all(
    files.map((file) => Deno.readTextFile(new URL(`../../../lib/${file}`, import.meta.url))),
  );
  const codes = new Set(texts.join("\n").match(/(?<=")(?:output|input_modified|staging_conflict)\w*(?=")/g));
  codes.delete("output");
  codes.delete("outputs");
  assert.ok(codes.size >= 12, [...codes].join());
  for (const code of codes) assert.equal(failureClass(code), "contract", code);
  for (const code of ["operation_failed", "artifact_output_invalid"]) assert.equal(failureClass(code), "operation");
});
