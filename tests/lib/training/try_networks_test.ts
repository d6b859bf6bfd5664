/** Networks are tried where they come in: the same inputs give the same bits, in one session and in a fresh one. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { MAX_IR_VERSION, MAX_OPSET } from "../../../lib/onnx/function.ts";
import type { OnnxGraph } from "../../../lib/onnx/graph.ts";
import { openOnnxSession } from "../../../lib/onnx/session.ts";
import { inspectPackage } from "../../../lib/training/inspect.ts";
import { packageTrainedArtifact } from "../../../lib/training/pack.ts";
import { openPackage, type PackageSource } from "../../../lib/training/source.ts";
import { importTrainedArtifact } from "../../../lib/training/store.ts";
import { tryNetworks } from "../../../lib/training/try_networks.ts";
import type { TrainedManifest } from "../../../lib/training/types.ts";
import { onnxModel, type TestModel, type TestNode } from "../../support/onnx_writer.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { isSampled, sizeOf } from "../../support/sample.ts";
import { contractOf, inFolder, packageFiles, writeFolder, zipOf } from "./_package.ts";
import "../../support/networks.ts";

const shape = ["batch", "antenna", 2];
const receiver = (nodes: TestNode[], more: TestModel = {}) =>
  onnxModel({
    nodes,
    inputs: [{ name: "symbols_ri", shape }],
    outputs: [{ name: "llr", shape }],
    ...more,
  });
const packaged = (model: Uint8Array) =>
  packageFiles(({ files }) => {
    files.set("models/receiver.onnx", model);
  });
const findings = async (model: Uint8Array) => {
  const source = openPackage(zipOf(packaged(model)), "toy");
  return await tryNetworks(source, inspectPackage(source, { contractOf }));
};
const relu: TestNode = { op: "Relu", inputs: ["symbols_ri"], outputs: ["llr"] };

Deno.test("a network with random operators fails the trial as well: a seed belongs to the session", async () => {
  const noise = [
    {
      op: "RandomNormalLike",
      inputs: ["symbols_ri"],
      outputs: ["noise"],
      attributes: { seed: { float: 3 }, dtype: 1 },
    },
    { op: "Add", inputs: ["symbols_ri", "noise"], outputs: ["llr"] },
  ];
  const [{ code, message }] = await findings(receiver(noise));
  assert.deepEqual([code, /llr differs between two runs/.test(message)], ["artifact_not_deterministic", true]);
  assert.deepEqual(await findings(receiver([relu])), []);
});

Deno.test("a network that the runtime cannot load or run for its shapes is refused in our words", async () => {
  const [unknown] = await findings(receiver([{ op: "NoSuchOperator", inputs: ["symbols_ri"], outputs: ["llr"] }]));
  assert.equal(unknown.code, "artifact_unsupported");
  assert.match(unknown.message, /^Cannot use models\/receiver\.onnx: the runtime cannot load it$/);
  // A batch of one runs, one of three does not: a number of rows is built in.
  const fixed: TestModel = { initializers: [{ name: "size", shape: [3], data: BigInt64Array.of(1n, 16n, 2n) }] };
  const reshape = [{ op: "Reshape", inputs: ["symbols_ri", "size"], outputs: ["flat"] }, {
    op: "Add",
    inputs: ["flat", "symbols_ri"],
    outputs: ["llr"],
  }];
  const [rows] = await findings(receiver(reshape, fixed));
  assert.equal(rows.code, "artifact_unsupported");
  assert.match(rows.message, /it does not run on inputs of its shapes, with a batch of 3/);
  const flat: TestModel = { initializers: [{ name: "size", shape: [3], data: BigInt64Array.of(1n, -1n, 2n) }] };
  const [joined] = await findings(
    receiver([{ op: "Reshape", inputs: ["symbols_ri", "size"], outputs: ["llr"] }], flat),
  );
  assert.match(joined.message, /llr has 1 rows for a batch of 3/);
});

Deno.test(
  "import and package refuse it before anything is written, with the code among the findings",
  inFolder(async (folder) => {
    const noise = [{ op: "RandomUniformLike", inputs: ["symbols_ri"], outputs: ["llr"], attributes: { dtype: 1 } }];
    const store = { stateDir: join(folder, "state"), contractOf };
    const code = async (call: Promise<unknown>) => {
      try {
        await call;
      } catch (error) {
        return (error as SvcError).diagnostics.map(({ code }) => code);
      }
      return [];
    };
    assert.deepEqual(await code(importTrainedArtifact(zipOf(packaged(receiver(noise))), store)), [
      "artifact_not_deterministic",
    ]);
    assert.throws(() => Deno.statSync(store.stateDir), Deno.errors.NotFound);
    const root = writeFolder(join(folder, "toy"), new Map([["receiver.onnx", receiver(noise)]]));
    assert.deepEqual(await code(packageTrainedArtifact(root, { contractOf, operations: ["toy.receiver"] })), [
      "artifact_not_deterministic",
    ]);
    assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name), ["receiver.onnx"]);
    assert.deepEqual(await code(importTrainedArtifact(zipOf(packaged(receiver([relu]))), store)), []);
  }),
);

Deno.test("the stated versions are the newest that the runtime loads", async () => {
  const opens = async (more: TestModel) => {
    try {
      await (await openOnnxSession(receiver([relu], more))).release();
      return true;
    } catch (error) {
      assert.ok(error instanceof SvcError && error.code === "runtime_unavailable");
      return false;
    }
  };
  assert.deepEqual([await opens({ opset: MAX_OPSET }), await opens({ opset: MAX_OPSET + 1 })], [true, false]);
  assert.deepEqual([await opens({ irVersion: MAX_IR_VERSION }), await opens({ irVersion: MAX_IR_VERSION + 1 })], [
    true,
    false,
  ]);
});

Deno.test("every shipped network is a function", async () => {
  const models = join(ROOT_PATH, "recipes/models");
  // As one package, whose networks share their sandboxes.
  const sources = new Map<string, PackageSource>(), graphs = new Map<string, OnnxGraph>();
  const components: TrainedManifest["components"] = [];
  const folders = [...Deno.readDirSync(models)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
  for (const [index, name] of folders.entries()) {
    if (!isSampled(index, 4)) continue;
    let source;
    try {
      source = openPackage(join(models, name), name);
    } catch (error) {
      // Folders without a manifest, such as that of the training scripts.
      if (!(error instanceof SvcError)) throw error;
      continue;
    }
    const inspected = inspectPackage(source);
    assert.deepEqual(inspected.diagnostics, [], name);
    sources.set(name, source);
    for (const [number, component] of inspected.manifest!.components.entries()) {
      // The first network of every fourth package, and all of all at full size.
      if (number >= sizeOf(1, Infinity)) continue;
      const [id, path] = [`${name}/${component.id}`, `${name}/${component.path}`];
      components.push({ ...component, id, path });
      graphs.set(id, inspected.graphs.get(component.id)!);
    }
  }
  const read = (path: string, limit: number) => {
    const [name, ...rest] = path.split("/");
    return sources.get(name)!.read(rest.join("/"), limit);
  };
  assert.ok(components.length > sizeOf(4, 20), `${components.length} networks`);
  assert.deepEqual(await tryNetworks({ read }, { manifest: { components }, graphs }), []);
});
