import assert from "node:assert/strict";
import { join } from "node:path";
import type { Diagnostic } from "../../../lib/contract/error.ts";
import { commonHost, effectiveGrants, parseGrant } from "../../../lib/adapter/grants.ts";
import { readAdapter } from "../../../lib/adapter/read_manifest.ts";
import { readTrustFile, TRUST_FILE, withoutTrust, withTrust } from "../../../lib/adapter/trust.ts";
import { FILES, withFolder, writeFolder } from "./support.ts";

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
    assert.deepEqual(effectiveGrants(adapter, [...grants, parseGrant("other:env=MY_CODEC_LEVEL")], null, project), {
      granted: { net: ["models.example.org:443"], read: [Deno.realPathSync(join(project, "weights/big"))], env: [] },
      missing: { net: [], read: [], env: ["MY_CODEC_LEVEL"] },
      source: "flag",
    });
    assert.equal(effectiveGrants(adapter, [], null, project).source, "none");
  }));

Deno.test("a trust entry grants to the very folder it names", () =>
  withFolder((project) => {
    const folder = writeFolder(join(project, "codec"), FILES);
    const adapter = readAdapter(folder).adapter!;
    const entry = {
      name: "my-codec",
      folder_sha256: adapter.folder.folder_sha256,
      permissions: { net: [], read: [], env: ["MY_CODEC_LEVEL", "HOME"] },
    };
    Deno.writeTextFileSync(join(project, TRUST_FILE), JSON.stringify(withTrust(null, entry)));
    const trusted = effectiveGrants(adapter, [], readTrustFile(project), project);
    assert.deepEqual([trusted.granted.env, trusted.source], [["MY_CODEC_LEVEL"], "trust_file"]);

    writeFolder(folder, { "encode.ts": FILES["encode.ts"] + "// changed\n" });
    const found: Diagnostic[] = [];
    const changed = effectiveGrants(readAdapter(folder).adapter!, [], readTrustFile(project), project, found);
    assert.deepEqual([changed.granted.env, changed.source], [[], "none"]);
    assert.deepEqual(found.map(({ code, severity }) => [code, severity]), [["adapter_trust_mismatch", "warning"]]);
    assert.deepEqual(withoutTrust(readTrustFile(project), "my-codec").adapters, []);
  }));

Deno.test("a trust file that is half understood grants nothing", () =>
  withFolder((project) => {
    assert.equal(readTrustFile(project), null);
    for (const text of ["{", "{}", '{"schema_version":1,"kind":"svc.adapter_trust","adapters":[{"name":"a"}]}']) {
      Deno.writeTextFileSync(join(project, TRUST_FILE), text);
      assert.throws(() => readTrustFile(project), { code: "adapter_manifest_invalid" });
    }
  }));
