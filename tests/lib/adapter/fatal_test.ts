/**
 * Adapters that loop, wait for ever, allocate without limit or end their engine: each step ends with a coded error, this
 * process lives, and no process of the adapter is left.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Operation } from "../../../lib/contract/operation.ts";
import { runOperation } from "../../ops/harness.ts";
import {
  BITS,
  body,
  failure,
  images,
  manifestOf,
  operationsOf,
  processesOf,
  withFolder,
  writeFolder,
} from "./support.ts";

/** Code that holds its thread until the time limit. */
const ENDLESS: Record<string, string> = {
  loop: `for (;;);`,
  loopLater: `await new Promise((resolve) => setTimeout(resolve, 5)); for (;;);`,
  loopInTimer: `setTimeout(() => { for (;;); }, 5); await new Promise(() => {})`,
  loopInGetter: `return { get dtype() { for (;;); } }`,
  loopInThen: `return { then() { for (;;); } }`,
  loopInSignal: `Deno.addSignalListener("SIGTERM", () => {}); for (;;);`,
  never: `await new Promise(() => {})`,
  blocked: `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
  backtracking: `/^(a+)+$/.test("a".repeat(60) + "b")`,
};

/** What takes memory; a loop keeps all of it, and catches every error. */
const BOMBS: Record<string, string> = {
  heap: `new Array(1e5).fill(Math.random())`,
  texts: `("x".repeat(1e7) + all.length).split("").join("-")`,
  copies: `(globalThis.text ??= "x".repeat(5e7)).replaceAll("x", String.fromCharCode(97 + all.length % 26))`,
  typed: `new Uint8Array(1e7).fill(1)`,
  subclass: `new (class extends Float64Array {})(1e6).fill(1)`,
  slices: `(globalThis.first ??= new Uint8Array(1e7).fill(1)).slice()`,
  sorted: `(globalThis.first ??= new Uint8Array(1e7).fill(1)).toReversed()`,
  shared: `new Uint8Array(new SharedArrayBuffer(1e7)).fill(1)`,
  clones: `structuredClone(globalThis.first ??= new Uint8Array(1e7).fill(1))`,
  encoded: `new TextEncoder().encode(globalThis.text ??= "x".repeat(1e7))`,
  buffers: `Buffer.alloc(1e7, 1)`,
  wasm: `new Uint8Array(new WebAssembly.Memory({ initial: 160 }).buffer).fill(1)`,
  decoded: `Uint8Array.fromHex(globalThis.text ??= "01".repeat(1e7))`,
  blobs: `new Blob([new Uint8Array(1e7).fill(1)])`,
  maps: `new Map(Array.from({ length: 1e5 }, (_, key) => [key, {}]))`,
  workers:
    `new Worker("data:text/javascript,onmessage=()=>{};globalThis.a=new Uint8Array(2e7).fill(1)", { type: "module" })`,
};

/** Sizes at which the engine refuses, or ends its process. */
const SIZES: Record<string, string> = {
  split: `try { ("x".repeat(2 ** 27) + "0").split("") } catch {} throw new Error("caught")`,
  array: `new Array(2 ** 32 - 1).fill(0)`,
  arrayFrom: `Array.from({ length: 2 ** 32 })`,
  spread: `[...new Uint8Array(2 ** 28)]`,
  joined: `new Array(2 ** 29).join("xx")`,
  concatenated: `[].concat(...Array.from({ length: 2 ** 10 }, () => new Array(2 ** 20).fill(0)))`,
  manyArguments: `Math.max(...new Array(2 ** 26).fill(0))`,
  map: `const map = new Map(); for (let i = 0;; i++) map.set(i, i)`,
  text: `"x".repeat(2 ** 30)`,
  growing: `let text = "x"; for (;;) text += text`,
  padded: `"x".padEnd(2 ** 29 - 24).normalize("NFKD").toUpperCase().split(" ")`,
  expression: `new RegExp("(".repeat(2 ** 20) + ")".repeat(2 ** 20)).exec("x")`,
  matches: `"x".repeat(2 ** 28).match(/x/g)`,
  floats: `new Float64Array(2 ** 33)`,
  buffer: `new ArrayBuffer(2 ** 53 - 1)`,
  resizable: `new ArrayBuffer(8, { maxByteLength: 2 ** 40 }).resize(2 ** 40)`,
  pages: `new WebAssembly.Memory({ initial: 65537 })`,
  table: `new WebAssembly.Table({ initial: 2 ** 31, element: "anyfunc" })`,
  integer: `1n << (2n ** 31n)`,
  recursion: `const f = (): number => f() + 1; f()`,
  recursionInText: `const o: any = { toString: () => String(o) }; String(o)`,
  nested: `JSON.parse("[".repeat(1e7))`,
  parsed: `new Function("(".repeat(2 ** 22))`,
  deepResult:
    `let list: any = []; for (let i = 0; i < 1e6; i++) list = [list]; return { array: ${BITS}, metadata: { list } }`,
  largeResult: `return { array: ${BITS}, metadata: { list: new Array(2e7).fill("x") } }`,
  sparseResult: `return { array: ${BITS}, metadata: { list: new Array(2 ** 32 - 1) } }`,
  exits: `Deno.exit(3)`,
  readsPipe: `Deno.stdin.close(); await new Promise((resolve) => setTimeout(resolve, 50)); Deno.exit()`,
  garbage: `Deno.stdout.writeSync(new Uint8Array(1e6).fill(255)); await new Promise(() => {})`,
  hugeFrame: `Deno.stdout.writeSync(new Uint8Array(8).fill(127)); await new Promise(() => {})`,
};

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
    for (const [name, code] of Object.entries(SIZES)) {
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
