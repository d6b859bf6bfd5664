/** What a Python adapter gets and may return, its context, its errors, its interpreter. */
import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { inspectAdapter } from "../../../../lib/adapter/inspect.ts";
import { callAdapter } from "../../../../lib/adapter/runtime.ts";
import { meets } from "../../../../lib/adapter/python/interpreter.ts";
import { WRAPS } from "../../../../lib/adapter/manifest_schema.ts";
import { readAdapter } from "../../../../lib/adapter/read_manifest.ts";
import { trustAdapter } from "../../../../lib/adapter/write_trust.ts";
import { SvcError } from "../../../../lib/contract/error.ts";
import type { Cancellation } from "../../../../lib/contract/operation.ts";
import { isObject, type JsonObject, toPlain } from "../../../../lib/contract/value.ts";
import { open } from "../../../../mod.ts";
import { type GivenInput, runOperation } from "../../../ops/harness.ts";
import { needsPython, pythonWith } from "../../../support/python.ts";
import { failure, images, placed, withFolder, writeFolder } from "../support.ts";
import { pythonBindings, pythonManifest, pythonOperations } from "./support.ts";
import { tables } from "../../../support/tables.ts";

const DATA = tables(import.meta.url);

const python = await pythonWith("numpy");
const pythonTest = (name: string, body: (project: string) => Promise<void>) =>
  Deno.test({ name, ...needsPython(python), fn: () => withFolder(body) });

const write = (project: string, manifest: string, code: string, more: Record<string, string> = {}) =>
  writeFolder(join(project, "probe"), { "svc_adapter.yaml": manifest, "code.py": code, ...more });

pythonTest("every array goes to Python and back with its bits, its shape and its dtype", async (project) => {
  const manifest = pythonManifest(["back"], { wraps: "model.external_encode_latents", style: "dict" });
  const folder = write(
    project,
    manifest,
    "def back(*args):\n    for one in args[:-1]:\n        print(one.dtype, one.shape, one.flags.c_contiguous)\n    return list(args[:-1])\n",
  );
  const binding = (await pythonBindings(folder, { python: python! })).get("probe.back")!;
  const data = Float32Array.of(1, -0, NaN, Infinity, 1e-45, 2);
  const args = [
    { dtype: "uint8", shape: [2, 3], data: Uint8Array.of(0, 1, 2, 3, 4, 255) },
    { dtype: "int32", shape: [2], data: Int32Array.of(-(2 ** 31), 7) },
    { dtype: "int64", shape: [1], data: BigInt64Array.of(-(2n ** 63n)) },
    { dtype: "float32", shape: [6], data },
    { dtype: "float64", shape: [0, 4], data: new Float64Array(0) },
    { dtype: "complex64", shape: [3, 1], data },
  ];
  const { value, log } = await callAdapter(binding, { args, seed: null });
  assert.deepEqual(value, args);
  assert.deepEqual(log.slice(0, 2), ["uint8 (2, 3) True", "int32 (2,) True"]);
  assert.equal(log[5], "complex64 (3, 1) True");
});

pythonTest("what NumPy makes by itself is narrowed, other layouts are copied, scalars are numbers", async (project) => {
  const folder = write(
    project,
    pythonManifest(["make"], { wraps: "model.external_encode_latents", style: "dict" }),
    `import numpy as np
def make(context):
    return {"bool": np.array([True, False]), "complex": np.exp(1j * np.zeros(2)), "turned": np.arange(6).reshape(2, 3).T,
            "big": np.array([1, 2], ">f4"), "part": np.arange(10, dtype="u1")[1::3], "scalar": np.float32(0.5),
            "point": np.array(3), "list": [np.int64(7), (1, 2)], "large": 2 ** 60, "none": None}
`,
  );
  const binding = (await pythonBindings(folder, { python: python! })).get("probe.make")!;
  const { value } = await callAdapter(binding, { args: [], seed: null });
  assert.deepEqual(value, {
    bool: { dtype: "uint8", shape: [2], data: Uint8Array.of(1, 0) },
    complex: { dtype: "complex64", shape: [2], data: Float32Array.of(1, 0, 1, 0) },
    turned: { dtype: "int64", shape: [3, 2], data: BigInt64Array.of(0n, 3n, 1n, 4n, 2n, 5n) },
    big: { dtype: "float32", shape: [2], data: Float32Array.of(1, 2) },
    part: { dtype: "uint8", shape: [3], data: Uint8Array.of(1, 4, 7) },
    scalar: 0.5,
    point: 3,
    list: [7, [1, 2]],
    large: 2n ** 60n,
    none: null,
  });
});

pythonTest("parameters, metadata and context reach the callable; a context may be left out", async (project) => {
  const code = DATA.FULL;
  const sha256 = "5e8848f2f5a2b0a2d6a1b0ed7a3f1c2b6f6f4c1c7f5e5d4a3b2c1d0e9f8a7b6c";
  const extra = (digest: string) => `models: [{ id: weights, path: w.bin, sha256: ${digest} }]`;
  const names = ["full", "short", "unseeded", "instance", "method"];
  const manifest = (digest: string) =>
    pythonManifest(names, { wraps: "model.external_encode_bits", style: "dict", extra: extra(digest) });
  const folder = write(project, manifest(sha256), code, { "w.bin": "heavy" });
  const { diagnostics } = readAdapter(folder);
  assert.equal(diagnostics[0].code, "adapter_model_hash_mismatch");
  writeFolder(folder, { "svc_adapter.yaml": manifest(/SHA-256 ([0-9a-f]{64})/.exec(diagnostics[0].hint!)![1]) });
  const operations = await pythonOperations(folder, { python: python! });
  const run = (name: string, params: JsonObject = {}) =>
    runOperation(operations.get(`probe.${name}`)!, { inputs: { images: images() }, params });
  const { metadata, metrics } = await run("full", { seed: 11, level: 2, count: 3 });
  // numpy.random.default_rng(11).integers(0, 1000, 4)
  assert.deepEqual((toPlain(metadata.adapter_output) as { lines: string[] }).lines, [
    "float int (1, 4, 4, 3) ['array', 'boundary_contract']",
    "11 [133, 128, 797, 499] ['weights'] False",
    "b'heavy' 1 True",
  ]);
  assert.ok("encoder.external_call" in metrics);
  for (const name of ["short", "instance", "method"]) await run(name);
  const { code: failed, message } = await failure(run("unseeded"));
  assert.equal(failed, "adapter_call_failed");
  assert.match(message, /context.rng needs a seed: declare the parameter seed/);
});

pythonTest("progress comes out, and a cancellation ends a call that looks for it", async (project) => {
  const code = `import time
def watch(context):
    context.report_progress(1, 4, "begun")
    while not context.is_cancelled():
        time.sleep(0.005)
    context.report_progress(2, 4)
    return "never"
`;
  const folder = write(project, pythonManifest(["watch"]), code);
  const binding = (await pythonBindings(folder, { python: python! })).get("probe.watch")!;
  const seen: unknown[] = [];
  let cancelled = false;
  const cancellation: Cancellation = {
    get isCancelled() {
      return cancelled;
    },
    throwIfCancelled() {
      if (cancelled) throw new SvcError("operation_canceled", "stop");
    },
  };
  const call = callAdapter(binding, {
    args: [],
    seed: null,
    cancellation,
    progress: (...all) => {
      seen.push(all);
      cancelled = true;
    },
  });
  await assert.rejects(call, { code: "operation_canceled", message: "stop" });
  assert.deepEqual(seen, [[1, 4, "begun"]]);
});

pythonTest(
  "an error in Python names file, line and column of its code, in the summary and its message",
  async (project) => {
    const code = DATA.NESTED;
    const names = ["plain", "helped", "nested", "cause"];
    const folder = write(
      project,
      pythonManifest(names, { wraps: "model.external_encode_bits", style: "dict" }),
      code,
      {
        "helper.py": "def half(value):\n    return value / 2\n",
        "pack/__init__.py": "",
        "pack/part.py": "def deep(call):\n\n    return 1 / 0\n",
      },
    );
    await using svc = await open({ projectRoot: project, adapters: [{ folder }], python: python! });
    const expected: Record<string, [string, number, RegExp]> = {
      plain: ["probe/code.py", 5, /AttributeError: .*no_such_field/],
      helped: ["probe/code.py", 8, /KeyError: 'nothing'/],
      nested: ["probe/pack/part.py", 3, /ZeroDivisionError: division by zero/],
      cause: ["probe/code.py", 15, /ValueError: outer/],
    };
    for (const [name, [file, line, text]] of Object.entries(expected)) {
      const run = await svc.recipes.run(placed(`probe.${name}`));
      const summary = JSON.parse(await Deno.readTextFile(join(run.directory, "summary.json")));
      assert.equal(summary.failure.code, "adapter_call_failed");
      assert.match(String(summary.error), text, name);
      const { location } = summary.failure;
      assert.deepEqual([location.file, location.line], [file, line], name);
      assert.ok(location.column >= 1);
    }
  },
);

pythonTest("a module that cannot be loaded is refused before a run, with its place", async (project) => {
  const manifest = pythonManifest(["code"]);
  const load = async (code: string, more: Record<string, string> = {}) => {
    const folder = write(project, manifest, code, more);
    await using svc = await open({ projectRoot: project, python: python! });
    try {
      await svc.adapters.validate(folder);
    } catch (error) {
      assert.ok(error instanceof SvcError);
      const [{ location }] = error.diagnostics;
      return [error.code, error.message, location === undefined ? null : [location.file, location.line]] as const;
    }
    return ["valid", "", null] as const;
  };
  assert.deepEqual((await load("def code():\n    return 1\n"))[0], "valid");
  const [syntax, message, place] = await load("def code():\n    return (1,\n\nx = = 2\n");
  assert.equal(syntax, "adapter_load_failed");
  assert.match(message, /SyntaxError|invalid syntax|was never closed/);
  assert.equal(place![0], "probe/code.py");
  const [raised, why, where] = await load("import json\n\nraise RuntimeError('not today')\n");
  assert.deepEqual([raised, where], ["adapter_load_failed", ["probe/code.py", 3]]);
  assert.match(why, /not today/);
  const [missing, which] = await load("def other():\n    pass\n");
  assert.deepEqual([missing, /code.py has no function code/.test(which)], ["adapter_callable_missing", true]);
  const [absent] = await load("import no_such_package\ndef code():\n    pass\n");
  assert.equal(absent, "adapter_load_failed");
  const [helper, , at] = await load("import helper\ndef code():\n    pass\n", { "helper.py": "\n\n1 / 0\n" });
  assert.deepEqual([helper, at], ["adapter_load_failed", ["probe/helper.py", 3]]);
});

pythonTest("requests are granted as for other adapters: read binds, env is set, net is refused", async (project) => {
  const weights = writeFolder(join(project, "weights"), { "w.txt": "heavy" });
  const extra = `permissions:\n  read: [../weights]\n  env: [SVC_TEST_LEVEL]`;
  const code = `import os
def read(context):
    print(open(${JSON.stringify(join(weights, "w.txt"))}).read(), open("../weights/w.txt").read())
    return {"texts": [{"id": "a", "text": "x"}]}
def look(context):
    print(os.environ["SVC_TEST_LEVEL"])
    return {"texts": [{"id": "a", "text": "x"}]}
def change(context):
    open(${JSON.stringify(join(weights, "w.txt"))}, "w").write("light")
`;
  const folder = write(project, pythonManifest(["read", "look", "change"], { extra }), code);
  const call = async (grants: string[], name: string) =>
    await runOperation((await pythonOperations(folder, { python: python!, grants })).get(`probe.${name}`)!, {});
  Deno.env.set("SVC_TEST_LEVEL", "seven");
  try {
    const refused = await failure(call([], "read"));
    assert.equal(refused.code, "adapter_permission_refused");
    assert.match(refused.hint!, /permissions.read/);
    assert.equal((await failure(call([], "look"))).code, "adapter_call_failed");
    const granted = [`read=${weights}`, "env=SVC_TEST_LEVEL"];
    for (const [name, text] of [["read", "heavy heavy"], ["look", "seven"]]) {
      const { metadata } = await call(granted, name);
      assert.deepEqual((metadata.adapter_output as { lines: string[] }).lines, [text]);
    }
    assert.equal((await failure(call(granted, "change"))).code, "adapter_permission_refused");
    assert.equal(Deno.readTextFileSync(join(weights, "w.txt")), "heavy");
  } finally {
    Deno.env.delete("SVC_TEST_LEVEL");
  }
});

Deno.test("a manifest in Python is checked: runtime, modules, permissions, interpreter", () =>
  withFolder(async (project) => {
    await Promise.resolve();
    const found = (manifest: string, files: Record<string, string> = {}) => {
      const folder = write(project, manifest, "def code():\n    pass\n", files);
      return readAdapter(folder).diagnostics.map(({ code, message, hint }) => `${code}: ${message} (${hint})`).join(
        "\n",
      );
    };
    const manifest = (extra: string) => pythonManifest(["code"], { extra });
    assert.equal(found(manifest("")), "");
    assert.match(
      found(manifest("").replace("runtime: python\n", "")),
      /adapter_manifest_invalid: Cannot run code.py with Deno \(Add runtime: python/,
    );
    assert.match(found(manifest("").replace("runtime: python", "runtime: ruby")), /adapter_manifest_invalid/);
    assert.match(
      found(manifest("").replace("code.py", "code.ts"), { "code.ts": "" }),
      /Cannot use code.ts as a Python module/,
    );
    assert.match(found(manifest("").replace("code.py", "cod.py")), /adapter_module_missing.*Did you mean code.py/);
    assert.match(found(manifest("").replace("code.py", "../code.py")), /adapter_module_missing/);
    assert.match(
      found(manifest("permissions: { net: [example.org] }")),
      /adapter_permission_unsupported: Cannot request net/,
    );
    assert.match(found(manifest("permissions: { env: [LD_PRELOAD] }")), /adapter_permission_unsupported.*LD_PRELOAD/);
    assert.match(found(manifest("python: { interpreter: /tmp/python3 }")), /adapter_manifest_invalid/);
    assert.match(found(manifest("python: { interpreter: python2 }")), /adapter_manifest_invalid/);
    assert.match(found(manifest('python: { requires: ["numpy; rm -rf /"] }')), /adapter_manifest_invalid/);
    assert.equal(found(manifest('python: { interpreter: python3.11, requires: ["numpy>=1.24,<3", torch] }')), "");
    assert.match(
      found(manifest("python: {}").replace("runtime: python\n", "").replace("code.py", "code.ts"), { "code.ts": "" }),
      /Cannot use python without its runtime/,
    );
    const { adapter } = readAdapter(write(project, manifest(""), ""));
    assert.deepEqual(adapter!.manifest.limits, { timeout_s: 60, memory_mb: 1024 });
    assert.deepEqual(adapter!.manifest.python, { requires: [], interpreter: "python3" });
  }));

Deno.test("versions meet requirements as pip reads them", () => {
  const yes = [
    "numpy",
    "numpy>=1.24",
    "numpy>=1.24,<2",
    "numpy==1.26.4",
    "numpy==1.26.*",
    "numpy~=1.26",
    "numpy~=1.26.1",
    "numpy!=1.25",
    "numpy>1.26",
    "numpy>=1.26.4",
  ];
  const no = [
    "numpy>=2",
    "numpy<1.26.4",
    "numpy==1.26",
    "numpy~=1.25.0",
    "numpy!=1.26.*",
    "numpy>=1.24,<1.26",
    "numpy>1.26.4",
  ];
  for (const one of yes) assert.ok(meets("1.26.4", one), one);
  for (const one of no) assert.ok(!meets("1.26.4", one), one);
  assert.ok(meets("2.13.0+cpu", "torch>=2.13"));
  assert.ok(meets("2", "torch==2.0"));
  assert.ok(!meets(undefined, "torch"));
});

pythonTest("what the manifest requires is looked for before anything runs", async (project) => {
  const needing = (requires: string) => pythonManifest(["code"], { extra: `python: { requires: ["${requires}"] }` });
  const refused = async (manifest: string, interpreter: string) => {
    const folder = write(project, manifest, "def code():\n    pass\n");
    return await failure(pythonOperations(folder, { python: interpreter }));
  };
  const absent = await refused(needing("svc-no-such-package>=1"), python!);
  assert.equal(absent.code, "adapter_requirement_missing");
  assert.match(absent.message, /does not have svc-no-such-package>=1 \(it has none\)/);
  assert.match(absent.hint!, /-m pip install 'svc-no-such-package>=1'/);
  const old = await refused(needing("numpy>=900"), python!);
  assert.match(old.message, /numpy>=900 \(it has [0-9.]+\)/);
  const nowhere = await refused(needing("numpy"), join(project, "no-python"));
  assert.equal(nowhere.code, "adapter_python_missing");
  const unnamed = await refused(needing("numpy"), "svc-no-such-python");
  assert.match(unnamed.message, /svc-no-such-python is not on PATH/);
  const wrong = await refused(needing("numpy"), "/bin/false");
  assert.equal(wrong.code, "adapter_python_missing");
});

pythonTest("plan and manifest name interpreter and packages; two runs give the same bytes", async (project) => {
  const code = `import numpy as np
def encode(images, params, context):
    names = {"b", "a", "c", str(params["level"])}
    noise = context.rng.normal(size=images.size)
    order = [hash(name) for name in names]
    return ((noise + np.array(order).sum() % 7) > 0).astype(np.uint8)
`;
  const manifest = pythonManifest(["encode"], {
    wraps: "model.external_encode_bits",
    style: "array_params",
    extra: 'python: { requires: ["numpy>=1.20"] }',
  }).replaceAll("seed: { type: integer }", "seed: { type: integer, default: 3 }");
  const folder = write(project, manifest, code);
  await using svc = await open({ projectRoot: project, adapters: [{ folder }], python: python! });
  const digests: string[] = [];
  for (let i = 0; i < 2; i++) {
    const run = await svc.recipes.run(placed("probe.encode"));
    const read = async (name: string) => JSON.parse(await Deno.readTextFile(join(run.directory, name)));
    const { steps, failure: why } = await read("summary.json");
    assert.equal(why, undefined, JSON.stringify(why));
    digests.push(JSON.stringify(steps[1].outputs));
    for (const document of [await read("execution-plan.json"), await read("manifest.json")]) {
      const step = (document.steps as JsonObject[])[1];
      const record = (isObject(step.implementation_metadata) ? step.implementation_metadata : step)
        .external_adapter_sdk as JsonObject;
      assert.equal(record.isolation, "process+bubblewrap");
      const { version, path, packages } = record.python as { version: string; path: string; packages: JsonObject[] };
      assert.match(version, /^3\.[0-9]+\.[0-9]+/);
      assert.equal(path, python);
      assert.deepEqual(packages.map(({ name }) => name), ["numpy"]);
      assert.match(String(packages[0].sha256), /^[0-9a-f]{64}$/);
    }
    const verified = await svc.runs.verify(basename(run.directory));
    assert.equal(verified.status, "valid");
  }
  assert.equal(digests[0], digests[1]);
});

Deno.test("the grant for an adapter without a sandbox is for Python, and for the folder that was trusted", () =>
  withFolder(async (project) => {
    await Promise.resolve();
    const folder = write(project, pythonManifest(["code"]), "def code():\n    pass\n");
    const inspect = (path: string, grants: string[]) =>
      inspectAdapter({ folder: path, grants }, { projectRoot: project });
    const granted = inspect(folder, ["probe:unsandboxed"]);
    assert.deepEqual([granted.unsandboxed, granted.grant_source], [true, "flag"]);
    assert.equal(inspect(folder, []).unsandboxed, false);
    const other = writeFolder(join(project, "other"), {
      "svc_adapter.yaml": pythonManifest(["code"]).replace("runtime: python\n", "").replace("code.py", "code.ts"),
      "code.ts": "export const code = () => 1;",
    });
    assert.throws(() => inspect(other, ["probe:unsandboxed"]), { code: "adapter_permission_unsupported" });
    const before = Deno.env.get("SVC_TRUST");
    Deno.env.set("SVC_TRUST", join(project, "trust.json"));
    try {
      trustAdapter(folder, { unsandboxed: true });
      assert.throws(() => trustAdapter(other, { unsandboxed: true }), { code: "adapter_permission_unsupported" });
      const trusted = inspect(folder, []);
      assert.deepEqual([trusted.unsandboxed, trusted.grant_source], [true, "trust_file"]);
      Deno.writeTextFileSync(join(folder, "code.py"), "def code():\n    return 1\n");
      assert.equal(inspect(folder, []).unsandboxed, false);
    } finally {
      if (before === undefined) Deno.env.delete("SVC_TRUST");
      else Deno.env.set("SVC_TRUST", before);
    }
  }));

/** A callable for every contract: the sender's arrays come back, datasets and metrics are small. */
const EVERY = DATA.WRAPPED;
const CONTRACTS: [callable: string, wraps: string, extra?: string][] = [
  ["bits", "model.external_encode_bits"],
  ["packed", "model.external_encode_bits", ", bit_storage: packed_bytes"],
  ["from_bits", "model.external_decode_bits", ", call_style: dict"],
  ["from_packed", "model.external_decode_bits", ", call_style: dict, bit_storage: packed_bytes"],
  ["indices", "model.external_encode_indices"],
  ["from_indices", "model.external_decode_indices", ", call_style: dict"],
  ["latents", "model.external_encode_latents"],
  ["from_latents", "model.external_decode_latents", ", call_style: dict"],
  ["symbols", "model.deepjscc_external_encode"],
  ["from_symbols", "model.deepjscc_external_decode", ", call_style: dict"],
  ["read", "model.external_read_texts"],
  ["examples", "source.external_classification_dataset", ", call_style: none"],
  ["accuracy", "metrics.external_classification"],
  ["texts", "source.external_texts", ", call_style: none"],
  ["equal", "metrics.external_text"],
];

pythonTest("every contract of adapters can be Python", async (project) => {
  assert.deepEqual(new Set(CONTRACTS.map(([, wraps]) => wraps)), new Set(WRAPS));
  const operations = CONTRACTS.map(([name, wraps, extra = ""]) =>
    `  - { id: probe.${name}, name: ${name}, wraps: ${wraps}, adapter: { path: code.py, callable: ${name}${extra} } }`
  );
  const manifest = `schema_version: 1\nname: probe\nversion: "1"\nruntime: python\noperations:\n${
    operations.join("\n")
  }\n`;
  const every = await pythonOperations(write(project, manifest, EVERY), { python: python! });
  const run = (name: string, inputs: Record<string, GivenInput> = {}) =>
    runOperation(every.get(`probe.${name}`)!, { inputs });
  const sent = images(2), pixels = sent.array!.data;
  for (
    const [encode, port, decode] of [
      ["bits", "bits", "from_bits"],
      ["packed", "bits", "from_packed"],
      ["indices", "indices", "from_indices"],
      ["latents", "latents", "from_latents"],
      ["symbols", "symbols", "from_symbols"],
    ]
  ) {
    const { outputs } = await run(encode, { images: sent });
    const { outputs: received } = await run(decode, { [port]: outputs[port] });
    assert.deepEqual([...received.images.array().data], [...pixels], encode);
  }
  const { outputs: { texts: readings } } = await run("read", { images: sent });
  assert.equal((toPlain(readings.json().items) as unknown[]).length, 2);
  const { outputs: { candidate, reference } } = await run("examples");
  const { metrics } = await run("accuracy", { candidate, reference });
  assert.equal(metrics["external.probe.task.accuracy"], 0.5);
  const { outputs: { texts } } = await run("texts");
  const scored = await run("equal", { candidate: texts, reference: texts });
  assert.equal(Number(scored.metrics["external.probe.equal"]), 2);
});
