/**
 * The digests that name a package. All are SHA-256 over the ASCII variant of canonical JSON, from digests of the files
 * themselves, never from those a manifest claims.
 */
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { canonicalJson, compareCodePoints } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import type { ArtifactComponent, PackageIdentity, SupportFile } from "./types.ts";

const digestOf = (value: JsonObject): string => sha256Hex(canonicalJson(value, { ascii: true }));

/** Digests of the files of a package. */
export interface PackageDigests {
  manifest_sha256: string;
  /** Of the canonical JSON of the slot contract, and of its exact bytes. */
  contract: { semantic_sha256: string; file_sha256: string };
  components: readonly Pick<ArtifactComponent, "id" | "role" | "format" | "sha256">[];
  support_files: readonly Pick<SupportFile, "role" | "path" | "sha256">[];
}

/**
 * The identity of a package.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { packageIdentity } from "./identity.ts";
 *
 * const sha256 = "0".repeat(64);
 * const digests = {
 *   manifest_sha256: sha256,
 *   contract: { semantic_sha256: sha256, file_sha256: sha256 },
 *   components: [{ id: "receiver", role: "neural_receiver", format: "onnx" as const, sha256 }],
 *   support_files: [],
 * };
 * const { package_sha256, runtime_component_set_sha256 } = packageIdentity(digests);
 * const edited = packageIdentity({ ...digests, manifest_sha256: "1".repeat(64) });
 * assert.notEqual(edited.package_sha256, package_sha256);
 * assert.equal(edited.runtime_component_set_sha256, runtime_component_set_sha256);
 * ```
 */
export function packageIdentity(digests: PackageDigests): PackageIdentity {
  const { manifest_sha256, contract } = digests;
  const components = digests.components
    .map(({ id, role, format, sha256 }) => ({ id, role, format, sha256 }))
    .sort((a, b) => compareCodePoints(a.id, b.id));
  const support_files = digests.support_files
    .map(({ role, path, sha256 }) => ({ role, path, sha256 }))
    .sort((a, b) =>
      compareCodePoints(a.role, b.role) || compareCodePoints(a.path, b.path) || compareCodePoints(a.sha256, b.sha256)
    );
  return {
    package_sha256: digestOf({
      schema_version: 2,
      kind: "svc.trained_block_artifact",
      manifest_sha256,
      contract: { semantic_sha256: contract.semantic_sha256, file_sha256: contract.file_sha256 },
      components,
      support_files,
    }),
    manifest_sha256,
    contract_semantic_sha256: contract.semantic_sha256,
    contract_file_sha256: contract.file_sha256,
    runtime_component_set_sha256: digestOf({
      schema_version: 1,
      kind: "svc.trained_artifact_runtime_components",
      components,
    }),
  };
}

/** Digest of a folder for release records: canonical JSON of its paths and their digests, sorted by path. */
export function treeSha256(files: ReadonlyMap<string, string>): string {
  return sha256Json([...files].sort(([a], [b]) => compareCodePoints(a, b)).map((entry) => [...entry]));
}
