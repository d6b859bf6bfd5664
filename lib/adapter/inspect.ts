/** The inspection of an adapter's folder, for `svc adapter inspect`, `validate` and `list`. */
import type { Diagnostic } from "../contract/error.ts";
import { effectiveGrants, noPermissions, parseGrant } from "./grants.ts";
import { moduleSha256 } from "./modules.ts";
import { readAdapter } from "./read_manifest.ts";
import { readTrustFile } from "./trust.ts";
import type { AdapterInspection, AdapterSource } from "./types.ts";

/**
 * Inspects a folder without running its code.
 * @param source the folder, and grants as given on the command line
 * @param options `projectRoot` is the base of relative grants
 * @returns requests, grants, files, digests and all findings, also for a folder that cannot be used
 * @throws SvcError `trust_file_invalid` for a trust file that cannot be read, `adapter_permission_unsupported`
 *   for a malformed grant
 */
export function inspectAdapter(source: AdapterSource, options: { projectRoot: string }): AdapterInspection {
  const trust = readTrustFile();
  const read = readAdapter(source.folder);
  const { adapter, folder } = read;
  const diagnostics: Diagnostic[] = [...read.diagnostics];
  const name = adapter?.manifest.name ?? textOf(read.raw?.name);
  const grants = (source.grants ?? []).map((text) => parseGrant(text, name ?? undefined));
  const effective = adapter === null
    ? { granted: noPermissions(), missing: noPermissions(), unsandboxed: false, source: "none" as const }
    : effectiveGrants(adapter, grants, trust, options.projectRoot, diagnostics);
  return {
    folder: read.root,
    status: adapter === null ? "invalid" : "valid",
    manifest_file: read.text?.file ?? null,
    manifest_sha256: read.text?.sha256 ?? null,
    folder_sha256: folder?.folder_sha256 ?? null,
    name,
    version: adapter?.manifest.version ?? textOf(read.raw?.version),
    description: adapter?.manifest.description ?? textOf(read.raw?.description),
    python: adapter?.manifest.python ?? null,
    limits: adapter?.manifest.limits ?? null,
    permissions_requested: adapter?.manifest.permissions ?? noPermissions(),
    permissions_granted: effective.granted,
    permissions_missing: effective.missing,
    unsandboxed: effective.unsandboxed,
    grant_source: effective.source,
    operations: (adapter?.manifest.operations ?? []).map((
      { id, name, wraps, adapter: { path, callable, call_style } },
    ) => ({
      id,
      name,
      wraps,
      call_style,
      path,
      callable,
      module_sha256: moduleSha256(adapter!.folder, path),
    })),
    models: adapter?.manifest.models ?? [],
    training: adapter?.manifest.training ?? null,
    files: folder?.files ?? [],
    diagnostics,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
