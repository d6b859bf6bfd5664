import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { packageIdentity, treeSha256 } from "../../../lib/training/identity.ts";

const digests = () => ({
  manifest_sha256: sha256Hex("m"),
  contract: { semantic_sha256: sha256Hex("s"), file_sha256: sha256Hex("f") },
  components: [
    { id: "encoder", role: "encoder", format: "onnx" as const, sha256: sha256Hex("e"), path: "anywhere.onnx" },
    { id: "decoder", role: "decoder", format: "onnx" as const, sha256: sha256Hex("d"), path: "elsewhere.onnx" },
  ],
  support_files: [
    { role: "b_log", path: "\u{1f600}.csv", sha256: sha256Hex("3") },
    { role: "b_log", path: "é.csv", sha256: sha256Hex("2") },
    { role: "a_log", path: "z.csv", sha256: sha256Hex("1") },
  ],
});

// Reference: json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True) of Python 3.11, by hashlib.
Deno.test("the identity of a package equals that of the reference, whatever the order of its lists", () => {
  const identity = packageIdentity(digests());
  assert.equal(identity.package_sha256, "874e0ce687bc8a0eb0c4bcbe8a5442f6d9b83d87629241d8a2d553e0aa8dde3c");
  assert.equal(
    identity.runtime_component_set_sha256,
    "3c98631b44bc53fe68e0ff6a8081a4e16d52c5e262e9991d22d603fd013c2001",
  );
});

Deno.test("every digest, role and path counts, the place of a component does not", () => {
  const { package_sha256, runtime_component_set_sha256 } = packageIdentity(digests());
  const changes: ((made: ReturnType<typeof digests>) => void)[] = [
    (made) => made.manifest_sha256 = sha256Hex("x"),
    (made) => made.contract.semantic_sha256 = sha256Hex("x"),
    (made) => made.contract.file_sha256 = sha256Hex("x"),
    (made) => made.components[0].sha256 = sha256Hex("x"),
    (made) => made.components[0].role = "x",
    (made) => made.support_files[0].path = "x",
    (made) => made.support_files[0].role = "x",
    (made) => made.support_files[0].sha256 = sha256Hex("x"),
  ];
  const seen = new Set([package_sha256]);
  for (const change of changes) {
    const made = digests();
    change(made);
    seen.add(packageIdentity(made).package_sha256);
  }
  assert.equal(seen.size, changes.length + 1);
  const moved = digests();
  moved.components[0].path = "moved.onnx";
  moved.support_files.pop();
  assert.equal(packageIdentity(moved).runtime_component_set_sha256, runtime_component_set_sha256);
});

Deno.test("the digest of a folder is over its sorted paths and their digests", () => {
  const tree = new Map([["é", sha256Hex("2")], ["a/b", sha256Hex("1")]]);
  assert.equal(treeSha256(tree), "6ebd54e0261af0c720ed3bf3344cbafe6a42ff9cb6f90e5bc89ec603e88757f2");
});
