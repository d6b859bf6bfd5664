import assert from "node:assert/strict";
import type { Diagnostic } from "../../../lib/contract/error.ts";
import { checkManifest } from "../../../lib/training/documents.ts";
import { inspectPackage } from "../../../lib/training/inspect.ts";
import { openPackage } from "../../../lib/training/source.ts";
import { endlessLoop, hostileModel, largeExpand, largeProduct } from "../../support/hostile_graphs.ts";
import { MAX_IR_VERSION, MAX_OPSET } from "../../../lib/onnx/function.ts";
import {
  field,
  graph,
  onnxModel,
  scalingModel,
  type TestModel,
  type TestNode,
  type TestValue,
} from "../../support/onnx_writer.ts";
import {
  type Bendable,
  contractOf,
  inFolder,
  packageFiles,
  type Parts,
  parts,
  seal,
  writeFolder,
  zipOf,
} from "./_package.ts";

const inspect = (change?: (parts: Parts) => void, ...ids: string[]) =>
  inspectPackage(openPackage(zipOf(packageFiles(change, ...ids)), "toy.zip"), { contractOf });
const shown = (diagnostics: readonly Diagnostic[]) => diagnostics.map(({ code, path }) => `${code} ${path}`);
const found = (change: (parts: Parts) => void, ...ids: string[]) => shown(inspect(change, ...ids).diagnostics);
const manifestWith = (change: (manifest: Bendable) => void, ...ids: string[]) =>
  found(({ manifest }) => change(manifest), ...ids);

Deno.test(
  "a sound package is ready, as a folder, a manifest and a ZIP file",
  inFolder((folder) => {
    const files = packageFiles();
    writeFolder(folder, files);
    const sources = [openPackage(folder), openPackage(`${folder}/trained_artifact.yaml`), openPackage(zipOf(files))];
    const inspected = sources.map((source) => inspectPackage(source, { contractOf }));
    for (const one of inspected) {
      assert.deepEqual(one.diagnostics, []);
      assert.equal(one.status, "ready");
      assert.deepEqual(one.identity, inspected[0].identity);
      assert.deepEqual([...one.files.keys()].sort(), [...files.keys()].sort());
      assert.equal(one.graphs.get("receiver")!.nodeCount, 1);
    }
    assert.equal(inspected[0].package_file_sha256, inspected[1].package_file_sha256);
    assert.notEqual(inspected[0].package_file_sha256, inspected[2].package_file_sha256);
  }),
);

Deno.test("a joint codec with both halves is ready", () => {
  const { status, diagnostics } = inspect(() => {}, "toy.encode", "toy.decode");
  assert.deepEqual([status, diagnostics], ["ready", []]);
});

Deno.test("for one operation only its row is compared", () => {
  const files = packageFiles(
    ({ manifest }) => manifest.compatible_operations[1].role = "detector",
    "toy.encode",
    "toy.decode",
  );
  const wrong = (only: string) => shown(inspectPackage(openPackage(zipOf(files)), { contractOf, only }).diagnostics);
  const mismatch = "artifact_abi_mismatch $.compatible_operations[1].role";
  assert.deepEqual(["toy.encode", "toy.decode"].map((only) => wrong(only).includes(mismatch)), [false, true]);
});

Deno.test("half of a joint codec is refused", () => {
  assert.deepEqual(found(() => {}, "toy.encode"), ["artifact_component_missing $.components[0]"]);
  assert.deepEqual(found(() => {}, "toy.decode"), ["artifact_component_missing $.components[0]"]);
});

Deno.test("the digest of a file that was changed is refused wherever it is stated", () => {
  const wrong = "0".repeat(64);
  assert.deepEqual(
    manifestWith((manifest) => {
      manifest.contract.sha256 = wrong;
      manifest.contract.file_sha256 = wrong;
      manifest.components[0].sha256 = wrong;
      manifest.support_files[0].sha256 = wrong;
    }),
    [
      "artifact_hash_mismatch $.contract.file_sha256",
      "artifact_hash_mismatch $.contract.sha256",
      "artifact_hash_mismatch $.components[0].sha256",
      "artifact_hash_mismatch $.support_files[0].sha256",
    ],
  );
});

Deno.test("files that are missing make a package unavailable, not invalid", () => {
  const files = packageFiles();
  files.delete("models/receiver.onnx");
  files.delete("training/loss.csv");
  const { status, diagnostics, identity } = inspectPackage(openPackage(zipOf(files)), { contractOf });
  assert.deepEqual([status, identity], ["unavailable", null]);
  assert.deepEqual(shown(diagnostics), [
    "artifact_file_missing $.components[0].path",
    "artifact_file_missing $.support_files[0].path",
  ]);
});

Deno.test("another version is said to be one, and nothing else is", () => {
  assert.deepEqual(manifestWith((manifest) => manifest.schema_version = 3), [
    "artifact_version_unsupported $.schema_version",
  ]);
  assert.deepEqual(manifestWith((manifest) => manifest.runtime.abi_version = 3), [
    "artifact_version_unsupported $.runtime.abi_version",
  ]);
  assert.deepEqual(found(({ contract }) => contract.schema_version = 2), [
    "artifact_version_unsupported $.contract.path",
  ]);
});

Deno.test("an inspection computes nothing: graphs without bounds are only read", () => {
  const ports = { input: "symbols_ri", output: "llr", shape: ["batch", "antenna", 2] };
  for (const hostile of [endlessLoop(), largeProduct(20_000, true), largeExpand(2 ** 40)]) {
    const { status, diagnostics } = inspect(({ files }) =>
      files.set("models/receiver.onnx", hostileModel(hostile, ports))
    );
    assert.equal(status, "ready", JSON.stringify(diagnostics));
  }
});

Deno.test("every breach of the schema is reported, each at its place", () => {
  assert.deepEqual(
    manifestWith((manifest) => {
      delete manifest.name;
      manifest.kind = "svc.other";
      manifest.components[0].format = "torchscript";
      manifest.runtime.backend = "torch";
      manifest.runtime.limits = { call_timeout_s: 3601, memory_gb: 2 };
      manifest.source.origin = "found";
      manifest.colour = "red";
    }).sort(),
    [
      "artifact_schema_invalid $.colour",
      "artifact_schema_invalid $.components[0].format",
      "artifact_schema_invalid $.kind",
      "artifact_schema_invalid $.name",
      "artifact_schema_invalid $.runtime.backend",
      "artifact_schema_invalid $.runtime.limits.call_timeout_s",
      "artifact_schema_invalid $.runtime.limits.memory_gb",
      "artifact_schema_invalid $.source.origin",
    ],
  );
});

Deno.test("what a manifest names, it names once, inside the package", () => {
  const rules: [string, (manifest: Bendable) => void][] = [
    ["artifact_member_unsafe $.components[0].path", (m) => m.components[0].path = "../receiver.onnx"],
    ["artifact_member_unsafe $.contract.path", (m) => m.contract.path = "/etc/contract.json"],
    ["artifact_schema_invalid $.support_files[0].path", (m) => m.support_files[0].path = "MODELS/receiver.onnx"],
    ["artifact_manifest_ambiguous $.support_files[0].path", (m) => m.support_files[0].path = "b/trained_artifact.yaml"],
    [
      "artifact_schema_invalid $.components[1].id",
      (m) => m.components.push({ ...m.components[0], path: "other.onnx" }),
    ],
    [
      "artifact_schema_invalid $.runtime.entrypoints[1].id",
      (m) => m.runtime.entrypoints.push(m.runtime.entrypoints[0]),
    ],
    [
      "artifact_schema_invalid $.compatible_operations[1].operation",
      (m) => m.compatible_operations.push(m.compatible_operations[0]),
    ],
    [
      "artifact_schema_invalid $.runtime.entrypoints[0].inputs[0].shape[2]",
      (m) => m.runtime.entrypoints[0].inputs[0].shape[2] = 0,
    ],
    [
      "artifact_schema_invalid $.compatible_operations[0].binding_group",
      (m) => m.application.mode = "all_group_bindings",
    ],
    [
      "artifact_schema_invalid $.publication.selection_history.path",
      (m) => m.publication = { selection_history: { path: "training/loss.csv", sha256: "0".repeat(64) } },
    ],
  ];
  for (const [expected, change] of rules) {
    const made = parts();
    seal(made);
    change(made.manifest);
    assert.deepEqual(shown(checkManifest(made.manifest)), [expected]);
  }
});

Deno.test("manifest and operation must agree", () => {
  const rows: [string, (manifest: Bendable) => void][] = [
    ["$.compatible_operations[0].runtime_entrypoint", (m) => m.compatible_operations[0].runtime_entrypoint = "other"],
    ["$.compatible_operations[0].required_inputs", (m) => m.compatible_operations[0].required_inputs = ["truth"]],
    ["$.compatible_operations[0].role", (m) => m.compatible_operations[0].role = "detector"],
    ["$.compatible_operations[0].params.mode", (m) => m.compatible_operations[0].params.mode = "reference"],
    ["$.components[0].role", (m) => m.components[0].role = "detector"],
    ["$.runtime.entrypoints[0].component", (m) => {
      m.components[0].id = "network";
      m.runtime.entrypoints[0].component = "network";
    }],
    ["$.runtime.entrypoints[0].inputs[0]", (m) => m.runtime.entrypoints[0].inputs[0].dtype = "float64"],
    ["$.runtime.entrypoints[0].inputs[0]", (m) => m.runtime.entrypoints[0].inputs[0].shape = ["batch", 2]],
    ["$.runtime.entrypoints[0].inputs[0]", (m) => m.runtime.entrypoints[0].inputs[0].shape[2] = "two"],
    ["$.runtime.entrypoints[0].outputs[0]", (m) => m.runtime.entrypoints[0].outputs[0].shape[1] = 4],
    ["$.runtime.entrypoints[0].outputs", (m) => m.runtime.entrypoints[0].outputs[0].name = "bits"],
  ];
  for (const [expected, change] of rows) {
    assert.ok(manifestWith(change).includes(`artifact_abi_mismatch ${expected}`), expected);
  }
});

Deno.test("an open size may be fixed, as long as it is fixed everywhere", () => {
  const fixed = ["batch", 4, 2];
  assert.deepEqual(
    found(({ manifest, files }) => {
      const [entrypoint] = manifest.runtime.entrypoints;
      entrypoint.inputs[0].shape = entrypoint.outputs[0].shape = fixed;
      files.set("models/receiver.onnx", scalingModel(fixed, 2, { input: "symbols_ri", output: "llr" }));
    }),
    [],
  );
});

Deno.test("manifest and graph must agree", () => {
  const model = (model: Uint8Array) => found(({ files }) => files.set("models/receiver.onnx", model));
  const shape = ["batch", "antenna", 2], names = { input: "symbols_ri", output: "llr" };
  const graph = (inputs: Bendable[], outputs: Bendable[] = [{ name: "llr", shape }]) => onnxModel({ inputs, outputs });
  const first = "artifact_abi_mismatch $.runtime.entrypoints[0].inputs";
  assert.deepEqual(model(scalingModel([1, "antenna", 2], 2, names)).slice(0, 1), [`${first}[0]`]);
  assert.deepEqual(model(scalingModel(["n", "n", 2], 2, names)).slice(0, 1), [`${first}[0]`]);
  assert.deepEqual(model(scalingModel(["batch", 2], 2, names)).slice(0, 1), [`${first}[0]`]);
  assert.deepEqual(model(scalingModel(shape, 2, { output: "llr" })), [`${first}[0].name`, first]);
  assert.deepEqual(model(graph([{ name: "symbols_ri", type: 11, shape }])), [`${first}[0]`]);
  assert.deepEqual(model(graph([{ name: "symbols_ri", shape }, { name: "state", shape }])), [first]);
  assert.deepEqual(model(graph([{ name: "symbols_ri", shape }], [])), [
    "artifact_abi_mismatch $.runtime.entrypoints[0].outputs[0].name",
  ]);
  // A graph may promise less than the manifest asks and give more than anybody takes.
  assert.deepEqual(
    model(graph([{ name: "symbols_ri", shape }], [{ name: "llr", shape }, { name: "extra", shape }])),
    [],
  );
  assert.deepEqual(model(graph([{ name: "symbols_ri", shape: ["n", "k", null] }])), []);
});

Deno.test("a network without shapes, for a fixed number of rows or for another runtime is not supported", () => {
  const model = (model: TestModel, bend = (_manifest: Bendable) => {}) =>
    found(({ files, manifest }) => {
      bend(manifest);
      files.set("models/receiver.onnx", onnxModel(model));
    });
  const at = "artifact_unsupported $.components[0]", shape = ["batch", "antenna", 2], fixed = [1, "antenna", 2];
  const of = (input: TestValue["shape"], output: TestValue["shape"], more: TestModel = {}): TestModel => ({
    inputs: [{ name: "symbols_ri", shape: input }],
    outputs: [{ name: "llr", shape: output }],
    ...more,
  });
  assert.deepEqual(model(of(shape, shape)), []);
  assert.deepEqual(model(of(undefined, shape)), [at]);
  assert.deepEqual(model(of(shape, undefined)), [at]);
  const claims = (manifest: Bendable) => {
    for (const side of ["inputs", "outputs"]) manifest.runtime.entrypoints[0][side][0].shape = fixed;
  };
  assert.deepEqual(model(of(fixed, fixed), claims), [at, at]);
  const values = { initializers: [{ name: "symbols_ri", shape: [1, 1, 2], data: new Float32Array(2) }] };
  // An initializer that is listed as an input is none.
  assert.ok(!model({ ...of(shape, shape), ...values }).includes(at));
  for (const versions of [{ opset: 99 }, { opset: MAX_OPSET + 1 }, { irVersion: MAX_IR_VERSION + 1 }]) {
    assert.deepEqual(model(of(shape, shape, versions)), [at], JSON.stringify(versions));
  }
  assert.deepEqual(model(of(shape, shape, { opset: MAX_OPSET, irVersion: MAX_IR_VERSION })), []);
});

Deno.test("a network that draws numbers or is in training mode is no function, also inside of control flow", () => {
  const shape = ["batch", "antenna", 2], at = "artifact_not_deterministic $.components[0]";
  const model = (nodes: TestNode[], initializers: TestModel["initializers"] = []) =>
    inspect(({ files }) => {
      const values = { inputs: [{ name: "symbols_ri", shape }], outputs: [{ name: "llr", shape }] };
      files.set("models/receiver.onnx", onnxModel({ nodes, initializers, ...values }));
    }).diagnostics;
  const random = ["RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"];
  const seed = { seed: { float: 3 } };
  for (const op of random) {
    const [{ message, hint }, ...more] = model([{ op, inputs: ["symbols_ri"], outputs: ["llr"], attributes: seed }]);
    assert.equal(more.length, 0);
    assert.match(message, new RegExp(`^Cannot use models/receiver.onnx: it draws random numbers \\(${op}\\)`));
    assert.match(hint!, /by an operation of the recipe/);
    const body = graph({ nodes: [{ op, outputs: ["r"] }], outputs: [{ name: "r", shape }] });
    for (const [outer, name] of [["If", "then_branch"], ["If", "else_branch"], ["Loop", "body"], ["Scan", "body"]]) {
      const nested = graph({ nodes: [{ op: outer, attributes: { [name]: body } }] });
      assert.deepEqual(shown(model([{ op: "If", attributes: { else_branch: nested } }])), [at], `${op} in ${outer}`);
    }
  }
  const dropout = { op: "Dropout", inputs: ["symbols_ri", "ratio", "mode"], outputs: ["llr"] };
  const mode = (value: number) => ({ name: "mode", shape: [], data: Uint8Array.of(value) });
  assert.match(model([dropout], [mode(1)])[0].message, /Dropout is in training mode/);
  assert.deepEqual(model([dropout], [mode(0)]), []);
  const constant = (value: number) => ({
    op: "Constant",
    outputs: ["mode"],
    attributes: { value: { ...mode(value), name: "" } },
  });
  assert.deepEqual(shown(model([constant(1), dropout])), [at]);
  assert.deepEqual(model([constant(0), dropout]), []);
  const training = (value: number) => ({ op: "BatchNormalization", attributes: { training_mode: value } });
  assert.match(model([training(1)])[0].hint!, /model\.eval\(\)/);
  assert.deepEqual(model([training(0)]), []);
});

Deno.test("an optional input may be lacking, but only as it is", () => {
  const shape = ["batch", "antenna", 2];
  const withInput = (size: string[]) =>
    found(({ manifest, files }) => {
      manifest.runtime.entrypoints[0].inputs.push({ name: "snr_db", dtype: "float32", shape: size, semantic: "SNR" });
      const inputs = [{ name: "symbols_ri", shape }, { name: "snr_db", shape: size }];
      files.set("models/receiver.onnx", onnxModel({ inputs, outputs: [{ name: "llr", shape }] }));
    });
  assert.deepEqual(withInput(["batch"]), []);
  assert.ok(withInput(["batch", "antenna"]).includes("artifact_abi_mismatch $.runtime.entrypoints[0].inputs[1]"));
  // The operation got the input after the artifact was trained.
  assert.deepEqual(found(({ contract }) => delete contract.slots[0].inputs.snr_db), []);
  assert.deepEqual(found(({ contract }) => contract.slots[0].inputs.snr_db.shape = []), [
    "artifact_abi_mismatch $.compatible_operations[0].operation",
  ]);
});

Deno.test("a slot contract of another operation, or of what the operation was, is refused", () => {
  const at = "artifact_abi_mismatch $.compatible_operations[0].operation";
  assert.deepEqual(found(({ contract }) => contract.slots[0].operation = "toy.encode"), [at]);
  assert.deepEqual(found(({ contract }) => contract.slots[0].inputs.symbols_ri.shape = ["batch", 2]), [at]);
  assert.deepEqual(found(({ contract }) => contract.slots[0].required_operation_inputs = []), [at]);
  assert.deepEqual(found(({ contract }) => contract.id = "other"), ["artifact_abi_mismatch $.contract.id"]);
  assert.deepEqual(found(({ contract }) => contract.version = 1), ["artifact_abi_mismatch $.contract.version"]);
  assert.deepEqual(found(({ contract }) => delete contract.slots), ["artifact_schema_invalid $.contract.path"]);
});

Deno.test("an operation without a slot is refused, one that is not here makes the package unavailable", () => {
  const at = "artifact_operation_incompatible $.compatible_operations[0].operation";
  assert.deepEqual(manifestWith((m) => m.compatible_operations[0].operation = "toy.plain"), [at]);
  const { status, diagnostics } = inspect(({ manifest }) => manifest.compatible_operations[0].operation = "toy.absent");
  assert.deepEqual([status, shown(diagnostics)], ["unavailable", [at]]);
});

Deno.test("a model that reaches outside of itself is refused", () => {
  const model = (model: Uint8Array) => found(({ files }) => files.set("models/receiver.onnx", model))[0];
  const at = "artifact_onnx_unsafe $.components[0]";
  const weights = { name: "w", shape: [1], data: new Float32Array(1), external: "/etc/passwd" };
  assert.equal(model(onnxModel({ initializers: [weights] })), at);
  assert.equal(model(onnxModel({ nodes: [{ op: "Evil", domain: "com.example" }] })), at);
  assert.equal(model(new TextEncoder().encode("not a model")), at);
  const many = onnxModel({ extra: field(25, field(7, new Uint8Array(0))) });
  assert.equal(model(many), at);
  const nodes = new Uint8Array(2 * 100_001).map((_, index) => (index % 2 ? 0 : 10));
  assert.equal(model(field(7, nodes)), "artifact_limit_exceeded $.components[0]");
});
