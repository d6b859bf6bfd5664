/**
 * Runs adapters that loop, wait for ever or allocate without limit. Each must end with its error code, and all threads of its
 * sandbox must end. This is a process of its own, so that threads and memory of other tests do not count.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { closeAdapters } from "../../../lib/adapter/runtime.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import { runOperation } from "../../ops/harness.ts";
import { workerThreads } from "../../support/worker_threads.ts";
import { BITS, body, failure, images, manifestOf, operationsOf, withFolder, writeFolder } from "./support.ts";

/** Broken in a way that ends the sandbox. */
const FATAL: Record<string, [string, string]> = {
  loop: [`for (;;);`, "adapter_timeout"],
  loopLater: [`await new Promise((resolve) => setTimeout(resolve, 5)); for (;;);`, "adapter_timeout"],
  loopInTimer: [`setTimeout(() => { for (;;); }, 5); await new Promise(() => {})`, "adapter_timeout"],
  loopInGetter: [`return { get dtype() { for (;;); } }`, "adapter_timeout"],
  loopInThen: [`return { then() { for (;;); } }`, "adapter_timeout"],
  never: [`await new Promise(() => {})`, "adapter_timeout"],
  blocked: [`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`, "adapter_timeout"],
  heap: [
    `const all: unknown[] = []; for (;;) all.push(new Array(1000).fill(Math.random()));`,
    "adapter_memory_exceeded",
  ],
  heapLater: [
    `await new Promise((resolve) => setTimeout(resolve, 5)); const all: unknown[] = []; for (;;) all.push([Math.random()]);`,
    "adapter_memory_exceeded",
  ],
  // Arrays do not count against the limit of the heap. What loops over them catches all errors.
  ...Object.fromEntries(
    Object.entries({
      typed: `new Uint8Array(1e7).fill(1)`,
      subclass: `new (class extends Float64Array {})(1e6).fill(1)`,
      original: `new (Object.getPrototypeOf(Uint8Array.of(1)).constructor)(1e7).fill(1)`,
      copies: `(globalThis.first ??= new Uint8Array(1e7).fill(1)).slice()`,
      sorted: `(globalThis.first ??= new Uint8Array(1e7).fill(1)).toReversed()`,
      shared: `new Uint8Array(new SharedArrayBuffer(1e7)).fill(1)`,
      clones: `structuredClone(globalThis.first ??= new Uint8Array(1e7).fill(1))`,
      encoded: `new TextEncoder().encode(globalThis.text ??= "x".repeat(1e7))`,
      buffers: `Buffer.alloc(1e7, 1)`,
      wasm: `new Uint8Array(new WebAssembly.Memory({ initial: 160 }).buffer).fill(1)`,
      decoded: `Uint8Array.fromHex(globalThis.text ??= "01".repeat(1e7))`,
      leaked: `(Object.prototype.get = (target) => { globalThis.leaked ??= target; }, Uint8Array.length,
        new (globalThis.leaked ?? Uint8Array)(1e7).fill(1))`,
      unwatched: `(clearInterval(globalThis.id = (globalThis.id ?? 0) + 1), new Uint8Array(1e7).fill(1))`,
    }).map(([name, taken]): [string, [string, string]] => [
      name,
      [`const all: unknown[] = []; for (;;) try { all.push(${taken}); } catch {}`, "adapter_memory_exceeded"],
    ]),
  ),
};

/** Waits until the threads of a sandbox have ended: long before the time limit of its call. */
async function untilOver(name: string): Promise<void> {
  for (let tries = 0; workerThreads() > 0; tries++) {
    assert.ok(tries < 600, `${name}: a thread remains`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

await withFolder(async (project) => {
  // The watch sees the memory of the whole process: only bombs get a tight limit.
  const probe = (name: string, code: string, limits: string) => {
    const folder = writeFolder(join(project, name), {
      "svc_adapter.yaml": manifestOf([name, "fine"], {
        extra: `limits: { ${limits} }`,
      }),
      "code.ts": `export async function ${name}(): Promise<any> {\n${body(code)}\n}\n` +
        `export function fine() { return ${BITS}; }`,
    });
    const operations = operationsOf(folder);
    return (called: string) =>
      runOperation(operations.get(`probe.${called.toLowerCase()}`) as Operation, { inputs: { images: images() } });
  };
  try {
    const end = async ([name, [code, expected]]: [string, [string, string]]) => {
      const bomb = expected === "adapter_memory_exceeded";
      const call = probe(name, code, bomb ? "timeout_s: 120, memory_mb: 64" : "timeout_s: 2, memory_mb: 8192");
      const failed = await failure(call(name));
      assert.equal(failed.code, expected, `${name}: ${failed.message}`);
      return call;
    };
    const cases = Object.entries(FATAL),
      isBomb = ([, [, expected]]: typeof cases[0]) => !expected.endsWith("timeout");
    // Each waits for its own time limit: they wait together. Bombs share one memory and go off one by one.
    const [afterLoop] = await Promise.all(cases.filter((item) => !isBomb(item)).map(end));
    await afterLoop("fine");
    await closeAdapters();
    for (const item of cases.filter(isBomb)) {
      await end(item);
      await untilOver(item[0]);
    }
  } finally {
    await closeAdapters();
  }
});
await untilOver("all");
// A thread that still computes must not keep this process.
Deno.exit();
