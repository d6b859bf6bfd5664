/** Adapters that mean harm or are broken: each is contained, with the right error, and the host is as it was. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Operation } from "../../../lib/contract/operation.ts";
import { runOperation } from "../../ops/harness.ts";
import { BITS, body, failure, images, manifestOf, operationsOf, withFolder, writeFolder } from "./support.ts";
import { tables } from "../../support/tables.ts";
import { isSampled } from "../../support/sample.ts";

const DATA = tables(import.meta.url);

/** What is refused, by the name of the function that tries it. */
const REFUSED: Record<string, string> = DATA.REFUSED;

/** Attempts that have no effect outside of the adapter's process, with the code of their end. */
const CONTAINED: Record<string, [string, string]> = DATA.CONTAINED;

/** What is broken or ill-meant in the answer, with the words of the refusal. */
const ANSWERS: Record<string, [string, RegExp]> = DATA.ANSWERS;

/** Unusual answers that are in order: only their content is sent. */
const ACCEPTED: Record<string, string> = {
  disguised: `Object.assign(${BITS}, { __proto__: { x: 1 } })`,
  proxied: `new Proxy(${BITS}, {})`,
  sharedMemory: `{ dtype: "uint8", shape: [4], data: new Uint8Array(new SharedArrayBuffer(4)) }`,
  growingMemory: `{ dtype: "uint8", shape: [4], data: new Uint8Array(new ArrayBuffer(4, { maxByteLength: 8 })) }`,
  partOfMemory: `{ dtype: "uint8", shape: [4], data: new Uint8Array(16).subarray(4, 8) }`,
  buffer: `{ dtype: "uint8", shape: [4], data: Buffer.alloc(4) }`,
  classInstance: `new (class { dtype = "uint8"; shape = [4]; data = new Uint8Array(4); })()`,
};

/** What is thrown or rejected. */
const THROWN: Record<string, [string, RegExp]> = DATA.THROWN;

const SOURCE = `declare const require: any;
// What is computed escapes the look at the sources, and meets the sandbox.
const load = (specifier: string, options?: any): Promise<any> => import(specifier, options);
const PROGRAM = ${JSON.stringify(new URL("../../../mod.ts", import.meta.url).pathname)};
${
  Object.entries(REFUSED).map(([name, code]) => `export async function ${name}() {\n${body(`const it = ${code}`)}\n}`)
    .join("\n")
}
${Object.entries(ANSWERS).map(([name, [code]]) => `export function ${name}(): any {\n  return ${code};\n}`).join("\n")}
${Object.entries(ACCEPTED).map(([name, code]) => `export function ${name}(): any {\n  return ${code};\n}`).join("\n")}
${Object.entries(CONTAINED).map(([name, [code]]) => `export async function ${name}() {\n${body(code)}\n}`).join("\n")}
${Object.entries(THROWN).map(([name, [code]]) => `export async function ${name}() {\n${body(code)}\n}`).join("\n")}
export function fine() { console.log("hello", { a: 1 }); return ${BITS}; }
export function flood() { for (let i = 0; i < 100_000; i++) console.log("x".repeat(10_000)); return ${BITS}; }
export function late({}, context: any) {
  setTimeout(() => context.report_progress(1, 2, "late"), 5);
  setTimeout(() => { throw new Error("late"); }, 5);
  Promise.reject(new Error("nobody listens"));
  return ${BITS};
}
export function tamper() {
  Object.prototype.toString = () => "tampered";
  Array.prototype.map = () => { throw new Error("tampered"); };
  Promise.prototype.then = () => { throw new Error("tampered"); };
  return ${BITS};
}
`;
const FUNCTIONS = [
  ...Object.keys(REFUSED),
  ...Object.keys(CONTAINED),
  ...Object.keys(ANSWERS),
  ...Object.keys(ACCEPTED),
  ...Object.keys(THROWN),
  "fine",
  "flood",
  "late",
  "tamper",
];

/** Runs the functions one after another, each as a step. */
async function probing(body: (call: (name: string) => Promise<unknown>) => Promise<void>): Promise<void> {
  await withFolder(async (project) => {
    const folder = writeFolder(join(project, "probe"), {
      "svc_adapter.yaml": manifestOf(FUNCTIONS),
      "code.ts": SOURCE,
    });
    const operations = operationsOf(folder);
    await body((name) =>
      runOperation(operations.get(`probe.${name.toLowerCase()}`) as Operation, { inputs: { images: images() } })
    );
  });
}

Deno.test("what reaches out of the sandbox is refused, whatever its spelling, and the host is as it was", () =>
  probing(async (call) => {
    const before = { folder: Deno.cwd(), environment: Deno.env.toObject() };
    for (const name of Object.keys(REFUSED)) {
      const { code, message, hint } = await failure(call(name));
      assert.equal(code, "adapter_permission_refused", `${name}: ${code} ${message}`);
      assert.ok(hint, name);
    }
    for (const [name, [, expected]] of Object.entries(CONTAINED)) {
      const { code, message } = await failure(call(name));
      assert.equal(code, expected, `${name}: ${code} ${message}`);
    }
    await call("fine");
    assert.deepEqual({ folder: Deno.cwd(), environment: Deno.env.toObject() }, before);
  }));

Deno.test("an answer that is not what was promised is refused with the reason", () =>
  probing(async (call) => {
    for (const [index, [name, [, reason]]] of Object.entries(ANSWERS).entries()) {
      if (!isSampled(index, 2)) continue;
      const { code, message } = await failure(call(name));
      assert.equal(code, "adapter_result_invalid", `${name}: ${code} ${message}`);
      assert.match(message, reason, name);
    }
    for (const name of Object.keys(ACCEPTED)) await call(name);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    await call("fine");
  }));

Deno.test("whatever is thrown becomes a readable failure", () =>
  probing(async (call) => {
    for (const [name, [, reason]] of Object.entries(THROWN)) {
      const { code, message } = await failure(call(name));
      assert.equal(code, "adapter_call_failed", `${name}: ${code} ${message}`);
      assert.match(message, reason, name);
      assert.ok(message.length < 3000, name);
    }
    await call("fine");
  }));

Deno.test("what is printed goes to the step's facts, and a flood is cut", () =>
  probing(async (call) => {
    const quiet = await call("fine") as { metadata: { adapter_output: { lines: string[]; dropped_lines: number } } };
    assert.deepEqual(quiet.metadata.adapter_output, { lines: ["hello { a: 1 }"], dropped_lines: 0 });
    const loud = await call("flood") as typeof quiet;
    assert.equal(loud.metadata.adapter_output.lines.length, 100);
    assert.equal(loud.metadata.adapter_output.dropped_lines, 99_900);
  }));

Deno.test("what happens after the answer changes nothing", () =>
  probing(async (call) => {
    await call("late");
    await new Promise((resolve) => setTimeout(resolve, 30));
    await call("fine");
    // Built-in prototypes belong to the adapter's process alone.
    await failure(call("tamper"));
    assert.equal(String({}), "[object Object]");
    assert.deepEqual([1].map((x) => x + 1), [2]);
  }));

Deno.test("the code of a failure follows from what happened, not from its text", () =>
  withFolder(async (project) => {
    const load = async (name: string, before: string) => {
      const folder = writeFolder(join(project, name), {
        "svc_adapter.yaml": manifestOf(["fine"], { name }),
        "code.ts":
          `const load = (specifier: string) => import(specifier);\n${before}\nexport const fine = () => (${BITS});`,
      });
      const [operation] = operationsOf(folder).values();
      return (await failure(runOperation(operation, { inputs: { images: images() } }))).code;
    };
    assert.equal(await load("importing", `await load("npm:is-odd@3.0.1");`), "adapter_module_remote");
    assert.equal(await load("reading", `Deno.readTextFileSync("/etc/passwd");`), "adapter_permission_refused");
    assert.equal(await load("named", `Deno.env.get("import of npm:x");`), "adapter_permission_refused");
    assert.equal(await load("throwing", `throw new Error("import of heap: out of memory");`), "adapter_load_failed");
  }));

Deno.test("a request that was not granted is refused with the manifest's line, a granted one is answered", () =>
  withFolder(async (project) => {
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("served"));
    const host = `127.0.0.1:${server.addr.port}`;
    const weights = writeFolder(join(project, "weights"), { "w.txt": "heavy" });
    const folder = writeFolder(join(project, "probe"), {
      "svc_adapter.yaml": manifestOf(["ask", "read", "look", "other"], {
        extra: `permissions:\n  net: ["${host}"]\n  read: [../weights]\n  env: [SVC_TEST_LEVEL]`,
      }),
      "code.ts": `
const answer = (text: string) => { console.log(text); return ${BITS}; };
export async function ask() { return answer(await (await fetch("http://${host}/")).text()); }
export async function read() { return answer(Deno.readTextFileSync("../weights/w.txt")); }
export async function look() { return answer(Deno.env.get("SVC_TEST_LEVEL")!); }
export async function other() { return answer(Deno.env.get("HOME")!); }
`,
    });
    const call = async (grants: string[], name: string) => {
      const operation = operationsOf(folder, grants).get(`probe.${name}`)!;
      return await runOperation(operation, { inputs: { images: images() } });
    };
    Deno.env.set("SVC_TEST_LEVEL", "seven");
    try {
      for (
        const [name, flag] of [["ask", `--grant probe:net=${host}`], ["read", "read /"], [
          "look",
          "--grant probe:env=SVC_TEST_LEVEL",
        ]]
      ) {
        const { code, hint } = await failure(call([], name));
        assert.equal(code, "adapter_permission_refused", name);
        if (name !== "read") assert.equal(hint, `Grant it with ${flag}`);
      }
      const { hint } = await failure(call([], "other"));
      assert.equal(hint, `To request it: svc_adapter.yaml:7 permissions.env: ["HOME"]`);
      const granted = [`net=${host}`, `read=${weights}`, "env=SVC_TEST_LEVEL"];
      for (const [name, text] of [["ask", "served"], ["read", "heavy"], ["look", "seven"]]) {
        const { metadata } = await call(granted, name);
        assert.deepEqual((metadata.adapter_output as { lines: string[] }).lines, [text]);
      }
      assert.equal((await failure(call(granted, "other"))).code, "adapter_permission_refused");
    } finally {
      Deno.env.delete("SVC_TEST_LEVEL");
    }
  }));
