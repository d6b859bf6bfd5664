/**
 * Adapters that loop, wait for ever, allocate without limit or end their engine: each step ends with a coded error, this
 * process lives, and no process of the adapter is left.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Operation } from "../../../lib/contract/operation.ts";
import { runOperation } from "../../ops/harness.ts";
import { body, failure, images, manifestOf, operationsOf, processesOf, withFolder, writeFolder } from "./support.ts";
import { tables } from "../../support/tables.ts";
import { isSampled } from "../../support/sample.ts";

const DATA = tables(import.meta.url);

/** Code that holds its thread until the time limit. */
const ENDLESS: Record<string, string> = DATA.ENDLESS;

/** What takes memory; a loop keeps all of it, and catches every error. */
const BOMBS: Record<string, string> = DATA.BOMBS;

/** Sizes at which the engine refuses, or ends its process. */
const SIZES: Record<string, string> = DATA.SIZES;

/** Runs code as a step of an adapter. @returns the code of its failure */
async function probe(
  project: string,
  name: string,
  code: string,
  limits: string,
): Promise<{ code: string; message: string }> {
  const folder = writeFolder(join(project, name), {
    "svc_adapter.yaml": manifestOf([name], { extra: `limits: { ${limits} }` }),
    "code.ts": `export async function ${name}(): Promise<any> {\n${body(code)}\n}`,
  });
  const operation = operationsOf(folder).get(`probe.${name.toLowerCase()}`) as Operation;
  const failed = await failure(runOperation(operation, { inputs: { images: images() } }));
  assert.deepEqual(processesOf(folder), [], `${name}: no process is left`);
  return failed;
}

Deno.test("code that does not return is ended at the time limit", () =>
  withFolder(async (project) => {
    await Promise.all(
      Object.entries(ENDLESS).map(async ([name, code]) => {
        const failed = await probe(project, name, code, "timeout_s: 3, memory_mb: 512");
        assert.equal(failed.code, "adapter_timeout", `${name}: ${failed.message}`);
      }),
    );
  }));

Deno.test("code that takes memory without end is ended at its memory limit, whatever it catches", () =>
  withFolder(async (project) => {
    for (const [name, taken] of Object.entries(BOMBS)) {
      const code = `const all: unknown[] = []; for (;;) try { all.push(${taken}); } catch {}`;
      const failed = await probe(project, name, code, "timeout_s: 300, memory_mb: 64");
      assert.equal(failed.code, "adapter_memory_exceeded", `${name}: ${failed.message}`);
    }
  }));

Deno.test("sizes that end the engine end the step with a code", () =>
  withFolder(async (project) => {
    const codes = ["adapter_call_failed", "adapter_memory_exceeded", "adapter_result_invalid"];
    // Every fourth, in their order: of the engine, of memory and of answers.
    for (const [index, [name, code]] of Object.entries(SIZES).entries()) {
      if (!isSampled(index, 4)) continue;
      const failed = await probe(project, name, code, "timeout_s: 300, memory_mb: 128");
      assert.ok(codes.includes(failed.code), `${name}: ${failed.code} ${failed.message}`);
    }
  }));

Deno.test("a closed pipe does not outlast the time limit", () =>
  withFolder(async (project) => {
    const code = `Deno.stdout.close(); await new Promise(() => {})`;
    const failed = await probe(project, "closed", code, "timeout_s: 3, memory_mb: 256");
    // Under bubblewrap the pipe stays open, and the limit ends the process.
    assert.match(failed.code, /^adapter_(timeout|call_failed)$/, failed.message);
  }));

Deno.test("a fatal error of the engine is named", () =>
  withFolder(async (project) => {
    const failed = await probe(project, "split", SIZES.split, "timeout_s: 300, memory_mb: 8192");
    assert.equal(failed.code, "adapter_call_failed");
    assert.match(failed.message, /^The process of the adapter probe ended: Fatal JavaScript invalid size error/);
  }));
