import assert from "node:assert/strict";
import { join } from "node:path";
import { inspectAdapter } from "../../../lib/adapter/inspect.ts";
import { TRUST_FILE } from "../../../lib/adapter/trust.ts";
import { trustAdapter, untrustAdapter } from "../../../lib/adapter/write_trust.ts";
import { FILES, MANIFEST, withFolder, writeFolder } from "./support.ts";

const inProject = (body: (projectRoot: string, folder: string) => void) =>
  withFolder((root) => {
    const projectRoot = Deno.realPathSync(root);
    Deno.mkdirSync(join(projectRoot, "weights"));
    return body(projectRoot, writeFolder(join(projectRoot, "codec"), FILES));
  });

Deno.test("trust grants every request, with paths that move with the project", () =>
  inProject((projectRoot, folder) => {
    const { entry, path } = trustAdapter(folder, { projectRoot, note: "reviewed" });
    assert.equal(path, join(projectRoot, TRUST_FILE));
    assert.deepEqual(entry?.permissions, {
      net: ["models.example.org:443"],
      read: ["weights"],
      env: ["MY_CODEC_LEVEL"],
    });
    const found = inspectAdapter({ folder }, { projectRoot });
    assert.deepEqual([found.grant_source, found.diagnostics], ["trust_file", []]);
    assert.deepEqual(found.permissions_missing, { net: [], read: [], env: [] });
    assert.deepEqual(found.permissions_granted.read, [join(projectRoot, "weights")]);
  }));

Deno.test("a changed folder has lost its grants until it is trusted again, in the same entry", () =>
  inProject((projectRoot, folder) => {
    trustAdapter(folder, { projectRoot });
    Deno.writeTextFileSync(join(folder, "encode.ts"), "export const encode = 1;\n");
    const found = inspectAdapter({ folder }, { projectRoot });
    assert.deepEqual(found.permissions_granted, { net: [], read: [], env: [] });
    assert.deepEqual(found.diagnostics.map(({ code }) => code), ["adapter_trust_mismatch"]);
    trustAdapter(folder, { projectRoot });
    assert.equal(inspectAdapter({ folder }, { projectRoot }).grant_source, "trust_file");
    assert.equal(JSON.parse(Deno.readTextFileSync(join(projectRoot, TRUST_FILE))).adapters.length, 1);
  }));

Deno.test("what changed while somebody thought about it is not granted", () =>
  inProject((projectRoot, folder) => {
    const { folder_sha256 } = inspectAdapter({ folder }, { projectRoot });
    Deno.writeTextFileSync(
      join(folder, "svc_adapter.yaml"),
      MANIFEST.replace("models.example.org", "evil.example.org"),
    );
    assert.throws(() => trustAdapter(folder, { projectRoot, folderSha256: folder_sha256! }), {
      code: "adapter_changed",
    });
    assert.throws(() => Deno.statSync(join(projectRoot, TRUST_FILE)), Deno.errors.NotFound);
  }));

Deno.test("untrust works by folder, by name where the folder is gone, and names what it does not find", () =>
  inProject((projectRoot, folder) => {
    trustAdapter(folder, { projectRoot });
    assert.deepEqual(untrustAdapter(folder, { projectRoot }).entry, null);
    assert.equal(inspectAdapter({ folder }, { projectRoot }).grant_source, "none");
    trustAdapter(folder, { projectRoot });
    Deno.removeSync(folder, { recursive: true });
    assert.throws(() => untrustAdapter("my-codek", { projectRoot }), { hint: "Did you mean my-codec?" });
    assert.equal(untrustAdapter("my-codec", { projectRoot }).name, "my-codec");
    assert.throws(() => untrustAdapter("my-codec", { projectRoot }), { code: "not_found", hint: "It has no entries" });
  }));

Deno.test("a folder that is not in order, or a trust file that cannot be read, is left as it is", () =>
  inProject((projectRoot, folder) => {
    Deno.removeSync(join(folder, "encode.ts"));
    assert.throws(() => trustAdapter(folder, { projectRoot }), { code: "adapter_manifest_invalid" });
    Deno.writeTextFileSync(join(projectRoot, TRUST_FILE), "{}");
    assert.throws(() => untrustAdapter(folder, { projectRoot }), { code: "adapter_manifest_invalid" });
    assert.equal(Deno.readTextFileSync(join(projectRoot, TRUST_FILE)), "{}");
  }));
