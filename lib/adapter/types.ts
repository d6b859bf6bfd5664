/**
 * Adapters as data: what a folder's manifest says, what an operator grants, and what an inspection reports.
 *
 * Names in these types are those of the manifest and of the wire.
 */
import type { Diagnostic } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import type { Locate } from "../recipe/types.ts";

/** What an adapter asks for, or is granted. Nothing else can be asked for. */
export type PermissionSet = {
  /** `host` or `host:port`. */
  net: string[];
  /** Paths besides the folder itself; relative ones start at the folder. */
  read: string[];
  /** Names of environment variables. */
  env: string[];
};

/** The bounds of one call. */
export type AdapterLimits = {
  /** Seconds a call may take: 1 to 3600. */
  timeout_s: number;
  /** Mebibytes that the adapter's own thread may hold: 16 to 8192. */
  memory_mb: number;
};

/** A file that the callable gets as bytes. */
export type AdapterModel = {
  id: string;
  /** From the folder, with `/`. */
  path: string;
  sha256: string;
};

/** The built-in contracts that an adapter's operation may stand in for. */
export const WRAPS = [
  "model.external_encode_bits",
  "model.external_encode_indices",
  "model.external_encode_latents",
  "model.deepjscc_external_encode",
  "model.external_decode_bits",
  "model.external_decode_indices",
  "model.external_decode_latents",
  "model.deepjscc_external_decode",
  "source.external_classification_dataset",
  "metrics.external_classification",
] as const;
export type Wrap = typeof WRAPS[number];

/** How a callable of a coder is called. */
export const ARRAY_CALL_STYLES = ["array_params", "array", "dict"] as const;
/** How a callable of a dataset or a metric is called. */
export const TASK_CALL_STYLES = ["dict", "params", "none"] as const;
export type CallStyle = typeof ARRAY_CALL_STYLES[number] | typeof TASK_CALL_STYLES[number];

/** What the callable takes and gives as bits: one element a bit, or eight bits a byte. */
export type BitStorage = "unpacked_bits" | "packed_bytes";
/** Which bit of a packed byte comes first: the most (big) or the least (little) significant. */
export type BitOrder = "big" | "little";

/** Where the callable of an operation is found and how it is called. */
export type AdapterCallable = {
  /** File inside the folder, from the folder. */
  path: string;
  /** Name of the export. */
  callable: string;
  call_style: CallStyle;
  bit_storage: BitStorage;
  bit_order: BitOrder;
};

/** An operation of a manifest, with all that was left out filled in. */
export type AdapterOperation = {
  /** Place in the manifest's list. */
  index: number;
  id: string;
  name: string;
  description?: string;
  wraps: Wrap;
  adapter: AdapterCallable;
  fixed_params: JsonObject;
  params_schema: JsonObject;
  /** As the manifest has them; the operation contract checks them. */
  differentiability?: JsonObject;
  backends?: JsonObject;
  equivalence?: JsonObject;
  formats?: JsonObject;
  materializations?: JsonObject[];
};

/** A manifest that was read and found in order. */
export interface AdapterManifest {
  schema_version: 1;
  name: string;
  version: string;
  description: string;
  permissions: PermissionSet;
  limits: AdapterLimits;
  models: AdapterModel[];
  /** Where the model came from; recorded, never acted on. */
  training?: JsonObject;
  operations: AdapterOperation[];
}

/** A file of the folder. */
export interface FolderFile {
  /** From the folder, with `/`. */
  path: string;
  sha256: string;
  size_bytes: number;
}

/** A folder as it stood when it was read. */
export interface AdapterFolder {
  /** Absolute path, symbolic links resolved. */
  root: string;
  /** Sorted by path. */
  files: FolderFile[];
  folder_sha256: string;
}

/** A folder with a manifest in order: what can be registered. */
export interface AdapterPackage {
  folder: AdapterFolder;
  /** Name of the manifest's file. */
  manifest_file: string;
  manifest_sha256: string;
  manifest: AdapterManifest;
  /** The way back to the manifest's lines. */
  locate: Locate;
}

/** Where granted permissions came from. Flags, where there are any for an adapter, stand instead of its trust entry. */
export type GrantSource = "flag" | "trust_file" | "none";

/** A grant of the operator for the adapter of one name. */
export interface Grant {
  adapter: string;
  kind: keyof PermissionSet;
  value: string;
}

/** What an adapter may do: its requests as far as they were granted. */
export interface EffectiveGrants {
  /** `read` holds absolute paths. */
  granted: PermissionSet;
  /** Requests that nothing granted, as the manifest writes them. */
  missing: PermissionSet;
  source: GrantSource;
}

/** An adapter of a call: its folder, and grants in the form of `--grant` with or without `<adapter>:` in front. */
export interface AdapterSource {
  folder: string;
  grants?: readonly string[];
}

/** An operation in an inspection. */
export interface InspectedOperation {
  id: string;
  name: string;
  wraps: Wrap;
  call_style: CallStyle;
  path: string;
  callable: string;
  /** Digest over the module and all that it imports; null when a file of it is missing. */
  module_sha256: string | null;
}

/** Everything there is to say about a folder, whether or not it can be used. */
export interface AdapterInspection {
  /** Absolute path. */
  folder: string;
  status: "valid" | "invalid";
  /** Null where the manifest cannot be read. */
  manifest_file: string | null;
  manifest_sha256: string | null;
  folder_sha256: string | null;
  name: string | null;
  version: string | null;
  description: string | null;
  limits: AdapterLimits | null;
  permissions_requested: PermissionSet;
  permissions_granted: PermissionSet;
  /** Requested and not granted. */
  permissions_missing: PermissionSet;
  grant_source: GrantSource;
  operations: InspectedOperation[];
  models: AdapterModel[];
  training: JsonObject | null;
  files: FolderFile[];
  /** All findings; `adapter_trust_mismatch` is a warning. */
  diagnostics: Diagnostic[];
}
