import assert from "node:assert/strict";
import { join } from "node:path";
import type { Cancellation } from "../../../lib/contract/operation.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { closeOnnxSessions } from "../../../lib/onnx/session.ts";
import { linearModel } from "../../support/onnx_graphs.ts";
import { svc } from "../../support/cli.ts";
import { runOperation } from "../../ops/harness.ts";
import { images, manifestOf, operationsOf, sha256, withFolder, writeFolder } from "./support.ts";

const MOD = new URL("../../../mod.ts", import.meta.url).href;

Deno.test("a model of the manifest is handed in as bytes, and computed on request", () =>
  withFolder(async (project) => {
    const model = linearModel([2, 0, 0, 3], 2);
    const extra = `models: [{ id: scale, path: models/scale.onnx, sha256: ${sha256(model)} }]`;
    const folder = writeFolder(join(project, "probe"), {
      "svc_adapter.yaml": manifestOf(["compute", "unknown", "misfed"], {
        wraps: "model.external_encode_latents",
        extra,
      }),
      "models/scale.onnx": model,
      "code.ts": `
export async function compute(_: object, { models, infer }: any) {
  if (!(models.scale instanceof Uint8Array) || models.scale.length !== ${model.length}) throw new Error("no bytes");
  const feeds = () => ({ x: { dtype: "float32", shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) } });
  const [{ y }] = await Promise.all([infer("scale", feeds()), infer("scale", feeds())]);
  return y;
}
export const unknown = async (_: object, { infer }: any) => (await infer("scales", {})).y;
export const misfed = async (_: object, { infer }: any) => (await infer("scale", { x: { dtype: "float32", shape: [1], data: [1] } })).y;
`,
    });
    const operations = operationsOf(folder);
    try {
      const { outputs } = await runOperation(operations.get("probe.compute")!, { inputs: { images: images() } });
      assert.deepEqual([...outputs.latents.array().data], [2, 6, 6, 12]);
      for (const [name, message] of [["unknown", /lists no model scales/], ["misfed", /not a typed array/]] as const) {
        const call = runOperation(operations.get(`probe.${name}`)!, { inputs: { images: images() } });
        await assert.rejects(call, { code: "adapter_call_failed", message });
      }
    } finally {
      await closeOnnxSessions();
    }
  }));

Deno.test("a cancellation reaches the adapter's signal, and progress comes out", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "probe"), {
      "svc_adapter.yaml": manifestOf(["wait"]),
      "code.ts": `
export const wait = (_: object, context: any) => new Promise((_, reject) => {
  if (context.is_cancelled()) throw new Error("cancelled too early");
  context.raise_if_cancelled();
  context.report_progress(1, 4, "quarter");
  context.signal.addEventListener("abort", () => {
    try {
      context.raise_if_cancelled();
    } catch {
      reject(new Error(context.is_cancelled() ? "aborted" : "not cancelled"));
    }
  });
});`,
    });
    const operation = operationsOf(folder).get("probe.wait")!;
    const input = (await import("../../ops/harness.ts")).artifactOf("images", "image.batch.numpy", images());
    let isCancelled = false;
    const cancellation: Cancellation = {
      get isCancelled() {
        return isCancelled;
      },
      throwIfCancelled() {
        if (isCancelled) throw new SvcError("operation_canceled", "stop");
      },
    };
    const seen: unknown[] = [];
    const context = {
      inputs: { images: input },
      params: { level: 0.5 },
      cancellation,
      progress: (...parts: unknown[]) => {
        seen.push(parts);
        isCancelled = true;
      },
    };
    // deno-lint-ignore no-explicit-any -- the parts of a context that an adapter has a use for
    await assert.rejects(Promise.resolve(operation.definition.run(context as any)), { code: "operation_canceled" });
    assert.deepEqual(seen, [[1, 4, { phase: "quarter" }]]);
  }));

Deno.test("a program that may not start its own executable refuses adapters with the missing right", () =>
  withFolder(async (project) => {
    writeFolder(join(project, "probe"), {
      "svc_adapter.yaml": manifestOf(["encode"]),
      "code.ts": `console.log("ran"); export const encode = () => 1;`,
    });
    const script = join(project, "script.ts");
    Deno.writeTextFileSync(
      script,
      `import { plan } from ${JSON.stringify(MOD)};
const refused = await plan({ name: "x", steps: [] }, { adapters: [{ folder: "probe" }] }).catch((error) => error);
console.log(JSON.stringify([refused.code, refused.hint]));`,
    );
    const load = async (...flags: string[]) => {
      const args = ["run", "--no-prompt", "--allow-read", "--allow-env", "--allow-sys", `--allow-write=${project}`];
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [...args, ...flags, "--no-config", "--no-lock", "--no-check", script],
        cwd: project,
      }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      return JSON.parse(new TextDecoder().decode(stdout));
    };
    const [refused, hint] = await load();
    assert.equal(refused, "adapter_isolation_unavailable");
    assert.equal(hint, "Start it with --allow-run=deno");
    // The right to run one program is enough: then the operating system sets no limits beside those of the program.
    const [code] = await load("--allow-run=deno");
    assert.notEqual(code, "adapter_isolation_unavailable");
  }));

Deno.test("the command line loads, grants and refuses; what an adapter prints never reaches standard output", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "probe"), {
      "svc_adapter.yaml": manifestOf(["encode"], { extra: "permissions:\n  env: [SVC_TEST_LEVEL]" }),
      "code.ts": `
console.log("loading");
export function encode() {
  console.log("{ not JSON");
  console.error("nor this");
  const level = Number(Deno.env.get("SVC_TEST_LEVEL"));
  return { dtype: "uint8", shape: [2], data: Uint8Array.of(level, 1 - level) };
}`,
    });
    const recipe = join(project, "recipe.json");
    Deno.writeTextFileSync(
      recipe,
      JSON.stringify({
        name: "printing",
        steps: [
          {
            id: "data",
            op: "source.image_dataset",
            params: { dataset: "svc_sample_images", image_ids: "camera", crop_size: 8 },
          },
          { id: "coded", op: "probe.encode", inputs: { images: "data.images" } },
        ],
      }),
    );
    const options = { cwd: project, env: { SVC_TEST_LEVEL: "1" } };
    const refused = await svc(["--adapter", folder, "--json", "recipe", "run", recipe], options);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /adapter_permission_refused/);
    assert.doesNotMatch(refused.stdout, /not JSON/);
    const granted = await svc(
      ["--adapter", folder, "--grant", "probe:env=SVC_TEST_LEVEL", "--json", "recipe", "run", recipe],
      options,
    );
    assert.equal(granted.code, 0, granted.stderr);
    assert.equal(granted.json.status, "completed");
    const [, step] = granted.json.summary.steps;
    assert.deepEqual(step.metadata.external_adapter_sdk.permissions_granted.env, ["SVC_TEST_LEVEL"]);
    assert.equal(step.metadata.external_adapter_sdk.grant_source, "flag");
    assert.deepEqual(step.metadata.adapter_output.lines, ["{ not JSON", "nor this"]);
  }));
