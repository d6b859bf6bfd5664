import assert from "node:assert/strict";
import { join } from "node:path";
import type { Diagnostic } from "../../../lib/contract/error.ts";
import { commonHost, effectiveGrants, parseGrant } from "../../../lib/adapter/grants.ts";
import { readAdapter } from "../../../lib/adapter/read_manifest.ts";
import { PROJECT_TRUST_FILE, readTrustFile, type TrustFile } from "../../../lib/adapter/trust.ts";
import { FILES, withFolder, writeFolder } from "./support.ts";

const NO_TRUST = readTrustFile(null);

Deno.test("a grant is read, with or without the adapter's name", () => {
  assert.deepEqual(parseGrant("my-codec:net=[::1]:80"), { adapter: "my-codec", kind: "net", value: "[::1]:80" });
  assert.deepEqual(parseGrant("read=C:weights", "my-codec"), { adapter: "my-codec", kind: "read", value: "C:weights" });
  for (const text of ["my-codec:run=ls", "my-codec:write=/", "net", "net=a.b", "my-codec:net=*", "my-codec:env=A B"]) {
    assert.throws(() => parseGrant(text), { code: "adapter_permission_unsupported" }, text);
  }
});

Deno.test("a host is granted as narrowly as request and grant together say", () => {
  assert.equal(commonHost("a.org:443", "a.org"), "a.org:443");
  assert.equal(commonHost("a.org", "A.org:443"), "a.org:443");
  assert.equal(commonHost("a.org:80", "a.org:443"), null);
  assert.equal(commonHost("a.org", "b.a.org"), null);
  assert.equal(commonHost("[::1]:80", "[::1]"), "[::1]:80");
});

Deno.test("what was not asked for is not granted, what was not granted is missing", () =>
  withFolder((project) => {
    const folder = writeFolder(join(project, "codec"), FILES);
    writeFolder(join(project, "weights"), { "big/w.bin": "w" });
    const adapter = readAdapter(folder).adapter!;
    const grants = ["net=evil.org", "net=models.example.org", "read=/etc", "read=weights/big"]
      .map((text) => parseGrant(text, "my-codec"));
    assert.deepEqual(effectiveGrants(adapter, [...grants, parseGrant("other:env=MY_CODEC_LEVEL")], NO_TRUST, project), {
      granted: { net: ["models.example.org:443"], read: [Deno.realPathSync(join(project, "weights/big"))], env: [] },
      missing: { net: [], read: [], env: ["MY_CODEC_LEVEL"] },
      unsandboxed: false,
      source: "flag",
    });
    assert.equal(effectiveGrants(adapter, [], NO_TRUST, project).source, "none");
  }));

const trusting = (digest: string): TrustFile => ({
  ...NO_TRUST,
  adapters: { [digest]: { name: "my-codec", permissions: { net: [], read: [], env: ["MY_CODEC_LEVEL", "HOME"] } } },
});

Deno.test("a trust entry grants to the very folder it names", () =>
  withFolder((project) => {
    const folder = writeFolder(join(project, "codec"), FILES);
    const adapter = readAdapter(folder).adapter!, trust = trusting(adapter.folder.folder_sha256);
    const trusted = effectiveGrants(adapter, [], trust, project);
    assert.deepEqual([trusted.granted.env, trusted.source], [["MY_CODEC_LEVEL"], "trust_file"]);

    writeFolder(folder, { "encode.ts": FILES["encode.ts"] + "// changed\n" });
    const found: Diagnostic[] = [];
    const changed = effectiveGrants(readAdapter(folder).adapter!, [], trust, project, found);
    assert.deepEqual([changed.granted.env, changed.source], [[], "none"]);
    assert.deepEqual(found.map(({ code, severity }) => [code, severity]), [["adapter_trust_mismatch", "warning"]]);
  }));

Deno.test("a trust file of a project grants nothing, and a warning says who grants", () =>
  withFolder((project) => {
    const adapter = readAdapter(writeFolder(join(project, "codec"), FILES)).adapter!;
    const { folder_sha256, root } = adapter.folder;
    const [entry] = Object.values(trusting(folder_sha256).adapters);
    const contents = [
      { ...trusting(folder_sha256) },
      { ...trusting(folder_sha256), adapters: [{ ...entry, folder_sha256 }] },
      "no JSON",
    ];
    for (const content of contents) {
      Deno.writeTextFileSync(join(project, PROJECT_TRUST_FILE), JSON.stringify(content));
      const found: Diagnostic[] = [];
      assert.equal(effectiveGrants(adapter, [], NO_TRUST, project, found).source, "none");
      assert.deepEqual(found.map(({ code, severity, hint }) => [code, severity, hint]), [[
        "trust_file_ignored",
        "warning",
        `Review the adapter, then run svc adapter trust ${root}`,
      ]]);
    }
  }));
