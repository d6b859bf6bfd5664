import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import { isModel, resolveModel } from "../../../lib/model/resolve.ts";
import type { ModelLack, ResolvedModel } from "../../../lib/model/types.ts";

const COMMIT = "a".repeat(40), LATER = "b".repeat(40);

async function places() {
  const root = await Deno.makeTempDir({ prefix: "svc-resolve-" });
  const write = async (path: string, text: string) => {
    await Deno.mkdir(join(root, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  };
  return {
    root,
    write,
    fetched: async (id: string, revision: string, files: Record<string, string>) => {
      const folder = `project/.svc/models/${id.replace("/", "__")}/${revision}`;
      for (const [path, text] of Object.entries(files)) await write(`${folder}/${path}`, text);
      const table = Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path, { sha256: sha256Hex(text), size_bytes: text.length }]),
      );
      await write(`${folder}/fetch.json`, prettyJson({ id, version: revision, url: "", sha256: "", files: table }));
    },
    find: (id: string, more: { revision?: string; sha256?: string; files?: string[] } = {}) =>
      resolveModel({ role: "net", id, files: ["model.onnx"], ...more }, {
        projectRoot: join(root, "project"),
        stateDir: join(root, "project/.svc"),
        programRoot: join(root, "program"),
      }),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

const model = (found: ResolvedModel | ModelLack): ResolvedModel => {
  assert.ok(isModel(found), JSON.stringify(found));
  return found;
};
const lack = (found: ResolvedModel | ModelLack): ModelLack => {
  assert.ok(!isModel(found));
  return found;
};

Deno.test("a name is the program's model first, then a fetched one, then a path of the project", async () => {
  await using host = await places();
  await host.write("project/tiny/model.onnx", "of the project");
  assert.equal(model(host.find("tiny")).record.source, "project");
  await host.fetched("tiny", COMMIT, { "model.onnx": "fetched" });
  assert.deepEqual(model(host.find("tiny")).record, {
    id: "tiny",
    source: "fetched",
    revision: COMMIT,
    files: { "model.onnx": { sha256: sha256Hex("fetched"), size_bytes: 7 } },
    limits: { call_timeout_s: 120, memory_mb: 2048 },
  });
  await host.write("program/recipes/models/tiny/model.onnx", "of the program");
  assert.equal(model(host.find("tiny")).record.source, "program");
  // A path says plainly what it means.
  assert.equal(model(host.find("./tiny")).record.source, "project");
});

Deno.test("a package may ask for other limits, up to the greatest that there are", async () => {
  await using host = await places();
  await host.write("project/tiny/model.onnx", "a model");
  const limits = async (text: string) => {
    await host.write("project/tiny/trained_artifact.yaml", text);
    return host.find("tiny");
  };
  assert.deepEqual(model(await limits("runtime: { backend: onnxruntime }")).record.limits, {
    call_timeout_s: 120,
    memory_mb: 2048,
  });
  assert.deepEqual(model(await limits("runtime: { limits: { call_timeout_s: 3600 } }")).record.limits, {
    call_timeout_s: 3600,
    memory_mb: 2048,
  });
  for (const text of ["{ call_timeout_s: 3601 }", "{ memory_mb: 4097 }", "{ memory_mb: 63 }", "{ memory: 64 }", "[]"]) {
    const { code, reason } = lack(await limits(`runtime: { limits: ${text} }`));
    assert.equal(code, "artifact_schema_invalid", text);
    assert.match(reason, /trained_artifact\.yaml/);
  }
  assert.equal(lack(await limits("runtime: [")).code, "artifact_schema_invalid");
});

Deno.test("several revisions need one to be named, and only what was fetched counts", async () => {
  await using host = await places();
  await host.fetched("org/net", COMMIT, { "model.onnx": "one" });
  await host.fetched("org/net", LATER, { "model.onnx": "two" });
  assert.match(lack(host.find("org/net")).reason, /several revisions/);
  assert.equal(model(host.find("org/net", { revision: LATER })).files["model.onnx"].sha256, sha256Hex("two"));
  const missing = lack(host.find("org/net", { revision: "c".repeat(40) }));
  assert.equal(missing.fetch, `svc models fetch org/net --revision ${"c".repeat(40)}`);
});

Deno.test("a fetched file that was altered is refused", async () => {
  await using host = await places();
  await host.fetched("org/net", COMMIT, { "model.onnx": "one" });
  await host.write(`project/.svc/models/org__net/${COMMIT}/model.onnx`, "two");
  const found = lack(host.find("org/net"));
  assert.deepEqual([found.code, found.fetch], ["artifact_hash_mismatch", null]);
});

Deno.test("what is missing is named, and where it was looked for", async () => {
  await using host = await places();
  await host.write("project/net/model.onnx", "x");
  const found = lack(host.find("net", { files: ["model.onnx", "tokenizer.json", "config.json"] }));
  assert.match(found.reason, /lacks tokenizer\.json, config\.json/);
  assert.match(found.hint!, /project\/net/);
  await host.write("project/net.onnx", "x");
  const single = lack(host.find("net.onnx", { files: ["model.onnx", "tokenizer.json"] }));
  assert.match(single.reason, /single file/);
});

Deno.test("an address needs a digest, and no name leaves the project", async () => {
  await using host = await places();
  assert.match(lack(host.find("https://example.org/net.onnx")).hint!, /expected_model_sha256/);
  const sha256 = sha256Hex("net");
  const asked = lack(host.find("https://example.org/net.onnx", { sha256 }));
  assert.equal(asked.fetch, `svc models fetch https://example.org/net.onnx --sha256 ${sha256}`);
  await host.write(`project/.svc/models/url/${sha256}/net.onnx`, "net");
  assert.equal(model(host.find("https://example.org/net.onnx", { sha256 })).record.revision, sha256);

  await host.write("secret.onnx", "x");
  for (const id of ["../secret.onnx", "file:///etc/passwd", "a/../../secret.onnx"]) {
    assert.match(lack(host.find(id)).reason, /leaves the project|path of the file system/, id);
  }
  await Deno.symlink(join(host.root, "secret.onnx"), join(host.root, "project/link.onnx"));
  assert.match(lack(host.find("link.onnx")).reason, /symbolic link/);
});
