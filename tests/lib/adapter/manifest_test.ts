import assert from "node:assert/strict";
import { join } from "node:path";
import { inspectAdapter } from "../../../lib/adapter/inspect.ts";
import { readAdapter } from "../../../lib/adapter/read_manifest.ts";
import { moduleSha256 } from "../../../lib/adapter/modules.ts";
import { sha256Json } from "../../../lib/contract/hash.ts";
import { FILES, MANIFEST, sha256, withFolder, writeFolder } from "./support.ts";
import { tables } from "../../support/tables.ts";

Deno.test("a folder in order is read with everything filled in", () =>
  withFolder((folder) => {
    writeFolder(folder, FILES);
    const { adapter, diagnostics } = readAdapter(folder);
    assert.deepEqual(diagnostics, []);
    const { manifest } = adapter!;
    assert.deepEqual(manifest.limits, { timeout_s: 5, memory_mb: 64 });
    assert.deepEqual(manifest.permissions.net, ["models.example.org:443"]);
    assert.deepEqual(manifest.operations[0].adapter, {
      path: "encode.ts",
      callable: "encode",
      call_style: "array_params",
      bit_storage: "unpacked_bits",
      bit_order: "big",
    });
    assert.equal(adapter!.manifest_sha256, sha256(MANIFEST));
  }));

Deno.test("the folder's digest is SHA-256 of canonical JSON of its sorted files, without .git", () =>
  withFolder((folder) => {
    writeFolder(folder, { ...FILES, ".git/config": "x", "lib/.git/kept": "y" });
    const expected = Object.entries({ ...FILES, "lib/.git/kept": "y" })
      .map(([path, text]): [string, string] => [path, sha256(text)])
      .sort(([a], [b]) => a < b ? -1 : 1);
    assert.equal(readAdapter(folder).folder!.folder_sha256, sha256Json(expected));
  }));

Deno.test("the module's digest covers what it imports and nothing else", () =>
  withFolder((folder) => {
    writeFolder(folder, FILES);
    const before = readAdapter(folder).adapter!;
    const digest = moduleSha256(before.folder, "encode.ts");
    writeFolder(folder, { "notes.txt": "new" });
    const noted = readAdapter(folder).adapter!;
    assert.equal(moduleSha256(noted.folder, "encode.ts"), digest);
    assert.notEqual(noted.folder.folder_sha256, before.folder.folder_sha256);
    writeFolder(folder, { "lib/half.ts": "export const half = (value: number) => value & 3;\n" });
    assert.notEqual(moduleSha256(readAdapter(folder).adapter!.folder, "encode.ts"), digest);
  }));

Deno.test("the names of a manifest are tried in order", () =>
  withFolder((folder) => {
    writeFolder(folder, { "adapter.json": "{}", "adapter.yml": "name: other", ...FILES });
    assert.equal(readAdapter(folder).adapter!.manifest_file, "svc_adapter.yaml");
    Deno.removeSync(join(folder, "svc_adapter.yaml"));
    assert.equal(readAdapter(folder).text!.file, "adapter.yml");
  }));

const broken = (change: (text: string) => string, files: Record<string, string> = {}) => {
  let found: ReturnType<typeof readAdapter>["diagnostics"] = [];
  const done = withFolder((folder) => {
    writeFolder(folder, { ...FILES, ...files, "svc_adapter.yaml": change(MANIFEST) });
    const read = readAdapter(folder);
    assert.equal(read.adapter, null);
    found = read.diagnostics;
  });
  return done.then(() => found);
};

interface Case {
  title: string;
  code: string;
  from?: string | RegExp;
  to?: string;
  add?: string;
  message: string;
  line: number;
  files?: Record<string, string>;
}
for (const { title, code, from, to = "", add = "", message, line, files } of tables(import.meta.url).CASES as Case[]) {
  Deno.test(`refuses ${title}, with its line`, async () => {
    const found = await broken((text) => (from === undefined ? text : text.replace(from, to)) + add, files);
    const item = found.find((diagnostic) => diagnostic.code === code && diagnostic.message.includes(message));
    assert.ok(item, JSON.stringify(found, null, 1));
    assert.equal(item.location?.line, line, JSON.stringify(item));
    assert.equal(item.location?.file, "svc_adapter.yaml");
  });
}

Deno.test("all findings come at once", async () => {
  const found = await broken((t) =>
    t.replace("\nversion:", "\nverson:").replace("encode_bits", "encode").replace("limits:", "limit:")
  );
  assert.deepEqual(found.map(({ path }) => path).sort(), ["$.limit", "$.version", "$.verson"]);
});

Deno.test("models must be there and have their digests", () =>
  withFolder((folder) => {
    const models = `models:
  - { id: a, path: models/a.onnx, sha256: ${sha256("a")} }
  - { id: b, path: models/b.onnx, sha256: ${sha256("a")} }
  - { id: c, path: models/c.onnx, sha256: ${sha256("c")} }
  - { id: c, path: ../d.onnx, sha256: ${sha256("d")} }
`;
    writeFolder(folder, {
      ...FILES,
      "svc_adapter.yaml": MANIFEST + models,
      "models/a.onnx": "a",
      "models/b.onnx": "b",
    });
    assert.deepEqual(readAdapter(folder).diagnostics.map(({ code, location }) => [code, location!.line]), [
      ["adapter_model_hash_mismatch", 19],
      ["adapter_model_missing", 20],
      ["adapter_model_missing", 21],
      ["adapter_manifest_invalid", 21],
    ]);
  }));

Deno.test("a symbolic link makes a folder no adapter", () =>
  withFolder((folder) => {
    writeFolder(folder, FILES);
    Deno.symlinkSync("/etc/passwd", join(folder, "data.txt"));
    const { adapter, diagnostics } = readAdapter(folder);
    assert.equal(adapter, null);
    assert.match(diagnostics[0].message, /symbolic link data\.txt/);
  }));

Deno.test("a folder that is too large is refused while it is listed, before anything in it is read", () =>
  withFolder((root) => {
    const refused = (what: string) => {
      const { folder, diagnostics: [{ code, message }] } = readAdapter(root);
      assert.equal(folder, null);
      assert.deepEqual([code, message], [
        "adapter_load_failed",
        `Cannot use ${root} as an adapter: it has more than ${what}`,
      ]);
    };
    writeFolder(root, FILES);
    Deno.mkdirSync(join(root, "many/deep"), { recursive: true });
    const count = 1000 - Object.keys(FILES).length;
    for (let i = 0; i < count; i++) Deno.writeTextFileSync(join(root, `many/${i}`), "");
    assert.equal(readAdapter(root).folder?.files.length, 1000);
    Deno.writeTextFileSync(join(root, "many/deep/one"), "");
    refused("1000 files");
    Deno.removeSync(join(root, "many"), { recursive: true });
    for (let i = 0; i < 998; i++) Deno.mkdirSync(join(root, `empty/${i}`), { recursive: true });
    assert.equal(readAdapter(root).folder, null);
    refused("1000 folders");
    Deno.removeSync(join(root, "empty"), { recursive: true });
    // A file without content of its own; hashing it would be read in full.
    Deno.writeTextFileSync(join(root, "large"), "");
    Deno.truncateSync(join(root, "large"), 2 ** 40);
    refused("256 MiB");
  }));

Deno.test("a folder without a manifest is not listed", () => {
  for (const root of ["/", "/proc", "/dev"]) {
    assert.deepEqual(readAdapter(root).diagnostics.map(({ code }) => code), ["adapter_manifest_missing"], root);
  }
});

Deno.test("no folder, and a folder without a manifest", () =>
  withFolder((folder) => {
    assert.equal(readAdapter(join(folder, "none")).diagnostics[0].code, "adapter_manifest_missing");
    assert.equal(readAdapter(folder).diagnostics[0].code, "adapter_manifest_missing");
  }));

Deno.test("a module name is looked up in the folder's import map", () =>
  withFolder((folder) => {
    writeFolder(folder, { ...FILES, "deno.json": '{"imports": {"codec": "./encode.ts"}}' });
    writeFolder(folder, { "svc_adapter.yaml": MANIFEST.replace("path: encode.ts", "module: codec") });
    assert.equal(readAdapter(folder).adapter!.manifest.operations[0].adapter.path, "encode.ts");
    writeFolder(folder, { "deno.json": '{"imports": {"codec": "npm:zod"}}' });
    assert.equal(readAdapter(folder).diagnostics[0].code, "adapter_module_remote");
  }));

Deno.test("an inspection tells files, digests, requests and grants", () =>
  withFolder((folder) => {
    writeFolder(folder, FILES);
    const inspection = inspectAdapter({ folder, grants: ["env=MY_CODEC_LEVEL"] }, { projectRoot: folder });
    assert.equal(inspection.status, "valid");
    assert.deepEqual(inspection.permissions_granted, { net: [], read: [], env: ["MY_CODEC_LEVEL"] });
    assert.deepEqual(inspection.permissions_missing.net, ["models.example.org:443"]);
    assert.equal(inspection.grant_source, "flag");
    assert.equal(inspection.operations[0].module_sha256?.length, 64);
    assert.equal(inspection.files.length, 3);
  }));
