/** The native runtime, in a process of its own: its package is in no lock file, and some machines do not have it. */
import assert from "node:assert/strict";
import { ACCELERATOR_TOLERANCE } from "../../../lib/onnx/accelerator.ts";

const CASE = new URL("./accelerator_case.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

async function inProcess(...flags: string[]): Promise<{ code?: string; message?: string; worst?: number }> {
  const args = ["run", "--no-lock", "--no-prompt", `--config=${CONFIG}`, ...flags, CASE];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const text = new TextDecoder().decode(stdout).trim().split("\n").at(-1)!;
  assert.ok(text.startsWith("{"), new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

Deno.test("both runtimes give the same results within the stated tolerance", async () => {
  const { code, message, worst } = await inProcess("--cached-only", "-A");
  if (code !== undefined) {
    // Nothing is fetched for a test: deno cache npm:onnxruntime-node@1.30.0 brings it.
    console.log(`skipped: ${message}`);
    assert.equal(code, "runtime_unavailable");
    return;
  }
  assert.ok(worst! <= 1, `results are ${worst} tolerances (${JSON.stringify(ACCELERATOR_TOLERANCE)}) apart`);
});

Deno.test("without the permission to load libraries it is refused with the reason", async () => {
  const { code, message } = await inProcess("--cached-only", "--allow-read", "--allow-env", "--deny-ffi");
  assert.equal(code, "runtime_unavailable");
  assert.match(message!, /native libraries may not be loaded/);
});
