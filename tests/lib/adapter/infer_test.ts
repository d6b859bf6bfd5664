/** `context.infer` within bounds: floods of calls, arrays beyond the limit, and models without bounds. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { AdapterSandbox } from "../../../lib/adapter/sandbox.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { closeOnnxSessions } from "../../../lib/onnx/session.ts";
import { runOperation } from "../../ops/harness.ts";
import { hostileModel, largeExpand } from "../../support/hostile_graphs.ts";
import { linearModel } from "../../support/onnx_graphs.ts";
import { images, manifestOf, operationsOf, sha256, withFolder, writeFolder } from "./support.ts";
import { tables } from "../../support/tables.ts";
import { isSampled } from "../../support/sample.ts";

const DATA = tables(import.meta.url);

/** Runs the body of a function in an adapter with a model `net`. */
async function probe(code: string, model: Uint8Array, limits: string) {
  const extra = `limits: ${limits}\nmodels: [{ id: net, path: net.onnx, sha256: ${sha256(model)} }]`;
  let outcome: Awaited<ReturnType<typeof runOperation>> | undefined;
  await withFolder(async (project) => {
    const folder = writeFolder(join(project, "probe"), {
      "svc_adapter.yaml": manifestOf(["probe"], { wraps: "model.external_encode_latents", extra }),
      "net.onnx": model,
      "code.ts": `export async function probe(_: object, { infer }: any): Promise<any> {\n${code}\n}`,
    });
    try {
      outcome = await runOperation(operationsOf(folder).get("probe.probe")!, { inputs: { images: images() } });
    } finally {
      await closeOnnxSessions();
    }
  });
  return outcome!;
}

const SCALE = linearModel([2], 1);
const LATENTS = `{ dtype: "float32", shape: [1], data: Float32Array.of(0) }`;

Deno.test("many calls at once are answered, each with its own arrays", async () => {
  const { outputs } = await probe(
    `
    const reused = new Float32Array(1);
    const ask = (value: number) => {
      reused[0] = value;
      return infer("net", { x: { dtype: "float32", shape: [1, 1], data: reused } });
    };
    const results = await Promise.all(Array.from({ length: 500 }, (_, value) => ask(value)));
    return { dtype: "float32", shape: [500], data: Float32Array.from(results, ({ y }: any) => y.data[0]) };`,
    SCALE,
    "{ memory_mb: 512 }",
  );
  assert.deepEqual(outputs.latents.array().data, Float32Array.from({ length: 500 }, (_, value) => 2 * value));
});

/** Requests without end; each flood kept the program's memory growing before it was refused. */
const FLOODS: Record<string, string> = DATA.FLOODS;

for (const [index, [name, code]] of Object.entries(FLOODS).entries()) {
  if (!isSampled(index, 2)) continue;
  Deno.test(`a flood of ${name} exceeds the adapter's memory before it is copied`, async () => {
    // In a process of its own, whose memory is measured.
    const script = new URL("./infer_case.ts", import.meta.url).pathname;
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", script, code],
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    const { code: failed, grownMb } = JSON.parse(new TextDecoder().decode(stdout));
    assert.equal(failed, "adapter_memory_exceeded");
    // memory_mb is 256; the runtime of the model, the copy under way and what garbage collection has not freed add to it.
    assert.ok(grownMb < 768, `${grownMb} MiB`);
  });
}

Deno.test("what is not a feed is refused", async () => {
  for (
    const [feeds, message] of [
      ["7", /feeds are/],
      ["{ x: 1 }", /the feed x is 1/],
      ["{ x: { dtype: 1, shape: [1], data: new Float32Array(1) } }", /the feed x has the dtype 1/],
      [`{ x: { dtype: "float32", shape: new Array(9).fill(1), data: new Float32Array(1) } }`, /at most 8 sizes/],
      [`{ x: { dtype: "float32", shape: ["1"], data: new Float32Array(1) } }`, /the shape of the feed x is not a list/],
      [`{ x: { dtype: "float32", shape: [1], data: new DataView(new ArrayBuffer(4)) } }`, /not a typed array/],
      [`{ x: { dtype: "float32", shape: [1], get data() { throw new Error("gotcha"); } } }`, /gotcha/],
    ] as const
  ) {
    await assert.rejects(probe(`await infer("net", ${feeds}); return ${LATENTS};`, SCALE, "{ memory_mb: 512 }"), {
      code: "adapter_call_failed",
      message,
    });
  }
});

Deno.test("a model that exceeds its memory ends the call, also where the adapter's code catches the error", async () => {
  const code = `
    for (;;) await infer("net", { x: { dtype: "float32", shape: [], data: Float32Array.of(1) } }).catch(() => {});`;
  await assert.rejects(probe(code, hostileModel(largeExpand(850e6)), "{ memory_mb: 512 }"), {
    code: "onnx_memory_exceeded",
    message: "Cannot run the model net of the adapter probe: it needs more than 512 MiB of memory",
    hint: /limits\.memory_mb/,
  });
});

Deno.test("a model that exceeds its time ends the call", () =>
  withFolder(async (root) => {
    const sources = new Map([[
      "code.ts",
      `export const wait = async ({ infer }) => {
      for (;;) await infer("net", {}).catch(() => {});
    };`,
    ]]);
    const sandbox = await AdapterSandbox.start({
      name: "probe",
      root,
      sources,
      models: [],
      granted: { net: [], read: [], env: [] },
      limits: { timeout_s: 60, memory_mb: 512 },
    });
    try {
      await sandbox.load("code.ts", ["wait"]);
      const call = sandbox.call({ module: "code.ts", callable: "wait", args: [], seed: null }, {
        infer: () =>
          Promise.reject(new SvcError("onnx_time_exceeded", "Cannot run the model: it took longer than 5 s")),
      });
      await assert.rejects(call, { code: "onnx_time_exceeded" });
      assert.equal(sandbox.ended, true);
    } finally {
      await sandbox.close();
    }
  }));

Deno.test("a model stops with the call that asked for it", () =>
  withFolder(async (root) => {
    const sources = new Map([[
      "code.ts",
      `export const leave = ({ infer }) => { infer("net", {}); };
      export const ask = async ({ infer }) => (await infer("net", {})).y.shape.length;`,
    ]]);
    const sandbox = await AdapterSandbox.start({
      name: "probe",
      root,
      sources,
      models: [],
      granted: { net: [], read: [], env: [] },
      limits: { timeout_s: 60, memory_mb: 512 },
    });
    const call = (callable: string) => ({ module: "code.ts", callable, args: [], seed: null });
    try {
      await sandbox.load("code.ts", ["leave", "ask"]);
      const { promise: stopped, resolve } = Promise.withResolvers<void>();
      await sandbox.call(call("leave"), {
        async infer(_model, _feeds, cancellation) {
          while (!cancellation.isCancelled) await new Promise((resolve) => setTimeout(resolve, 5));
          resolve();
          throw new Error("cancelled");
        },
      });
      await stopped;
      // The next call asks again.
      const { value } = await sandbox.call(call("ask"), {
        infer: () => Promise.resolve({ y: { dtype: "float32", shape: [1], data: Float32Array.of(1) } }),
      });
      assert.equal(value, 1);
    } finally {
      await sandbox.close();
    }
  }));
