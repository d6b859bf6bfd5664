/**
 * The binding of a step to an adapter: all data that a worker thread needs to run one of its operations, and the record
 * of it in plans and manifests.
 */
import type { JsonObject } from "../contract/value.ts";
import type { Locate } from "../recipe/types.ts";
import { DEFAULT_SESSION_LIMITS, MIN_SESSION_MEMORY_MB, type SessionLimits } from "../onnx/limits.ts";
import { moduleSha256 } from "./modules.ts";
import { isolationForm } from "./process/entry.ts";
import type { PythonRuntime } from "./python/interpreter.ts";
import type { AdapterOperation, AdapterPackage, EffectiveGrants } from "./types.ts";
import type { AdapterLimits, AdapterModel, PermissionSet } from "./manifest_schema.ts";

export type AdapterBinding = {
  name: string;
  version: string;
  /** Absolute path of the folder. */
  root: string;
  folder_sha256: string;
  limits: AdapterLimits;
  models: AdapterModel[];
  granted: PermissionSet;
  requested: PermissionSet;
  /** Of a Python adapter. */
  python?: PythonRuntime;
  /** Lines of the manifest for hints about permissions. */
  manifest: { file: string; lines: Record<keyof PermissionSet, number> };
  operation: AdapterOperation;
};

/** The binding of one operation. */
export function bindingOf(
  adapter: AdapterPackage,
  operation: AdapterOperation,
  grants: EffectiveGrants,
  python?: PythonRuntime,
): AdapterBinding {
  const { folder, manifest, manifest_file, locate } = adapter;
  return {
    name: manifest.name,
    version: manifest.version,
    root: folder.root,
    folder_sha256: folder.folder_sha256,
    limits: manifest.limits,
    models: manifest.models,
    granted: grants.granted,
    requested: manifest.permissions,
    ...(python === undefined ? {} : { python }),
    manifest: {
      file: manifest_file,
      lines: { net: lineOf(locate, "net"), read: lineOf(locate, "read"), env: lineOf(locate, "env") },
    },
    operation,
  };
}

/** The line of a permission in the manifest, or of the nearest enclosing key. */
function lineOf(locate: Locate, kind: keyof PermissionSet): number {
  return locate(["permissions", kind], "key")?.line ?? 1;
}

/** Limits of an adapter's models: the defaults of a session, at most those of the adapter. */
export function modelLimits({ timeout_s, memory_mb }: AdapterLimits): SessionLimits {
  return {
    call_timeout_s: Math.min(timeout_s, DEFAULT_SESSION_LIMITS.call_timeout_s),
    memory_mb: Math.max(MIN_SESSION_MEMORY_MB, Math.min(memory_mb, DEFAULT_SESSION_LIMITS.memory_mb)),
  };
}

/** The interpreter of a record, the one local path in it, and the packages that the manifest requires. */
const pythonRecord = ({ program, version, implementation, packages }: PythonRuntime): JsonObject => ({
  implementation,
  version,
  path: program,
  packages: packages.map((one) => ({ ...one })),
});

/** The record `external_adapter_sdk` of plans and manifests, with all digests. */
export function adapterRecord(
  adapter: AdapterPackage,
  operation: AdapterOperation,
  grants: EffectiveGrants,
  python?: PythonRuntime,
): JsonObject {
  const { folder, manifest, manifest_sha256 } = adapter;
  return {
    name: manifest.name,
    version: manifest.version,
    folder_sha256: folder.folder_sha256,
    manifest_sha256,
    module_sha256: moduleSha256(folder, operation.adapter.path),
    models: manifest.models.map((model) => ({ ...model })),
    call_style: operation.adapter.call_style,
    isolation: python === undefined ? isolationForm() : python.confined ? "process+bubblewrap" : "none",
    ...(python === undefined ? {} : { python: pythonRecord(python) }),
    limits: { ...manifest.limits },
    ...(manifest.models.length === 0 ? {} : { model_limits: modelLimits(manifest.limits) }),
    permissions_requested: { ...manifest.permissions },
    permissions_granted: { ...grants.granted },
    grant_source: grants.source,
  };
}
