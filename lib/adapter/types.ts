/**
 * Data types of adapters: the manifest of a folder, grants of an operator, and the report of an inspection.
 *
 * Names in these types are those of the manifest and the HTTP API.
 */
import type { Diagnostic } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import type { Locate } from "../recipe/types.ts";

/** Requested or granted permissions of an adapter; there are no others. */
export type PermissionSet = {
  /** `host` or `host:port`. */
  net: string[];
  /** Paths besides the folder itself, absolute or relative to the folder. */
  read: string[];
  /** Names of environment variables. */
  env: string[];
};

/** Permissions in a line. */
export function permissionsText({ net, read, env }: PermissionSet): string {
  const values = Object.entries({ net, read, env }).flatMap(([kind, of]) => of.map((value) => `${kind}=${value}`));
  return values.join(" ") || "nothing";
}

/** The limits of one call. */
export type AdapterLimits = {
  /** Maximum seconds of a call: 1 to 3600. */
  timeout_s: number;
  /** Maximum MiB of the process, beside those of the runtime: 16 to 8192. */
  memory_mb: number;
};

/** A file that the callable receives as bytes. */
export type AdapterModel = {
  id: string;
  /** Relative to the folder, with `/`. */
  path: string;
  sha256: string;
};

/** The built-in contracts that an adapter's operation can wrap. */
export const WRAPS = [
  "model.external_encode_bits",
  "model.external_encode_indices",
  "model.external_encode_latents",
  "model.deepjscc_external_encode",
  "model.external_decode_bits",
  "model.external_decode_indices",
  "model.external_decode_latents",
  "model.deepjscc_external_decode",
  "model.external_read_texts",
  "source.external_classification_dataset",
  "metrics.external_classification",
  "source.external_texts",
  "metrics.external_text",
] as const;
/** `custom` has the ports of its manifest. */
export type Wrap = typeof WRAPS[number] | "custom";

/** Call style of a coder. */
export const ARRAY_CALL_STYLES = ["array_params", "array", "dict"] as const;
/** Call style of a dataset or a metric. */
export const TASK_CALL_STYLES = ["dict", "params", "none"] as const;
export type CallStyle = typeof ARRAY_CALL_STYLES[number] | typeof TASK_CALL_STYLES[number];

/** Form of bits in arguments and results of the callable: one element per bit, or eight bits per byte. */
export type BitStorage = "unpacked_bits" | "packed_bytes";
/** Which bit of a packed byte comes first: the most (big) or the least (little) significant. */
export type BitOrder = "big" | "little";

/** Location and call style of an operation's callable. */
export type AdapterCallable = {
  /** File relative to the folder. */
  path: string;
  /** Name of the export. */
  callable: string;
  call_style: CallStyle;
  bit_storage: BitStorage;
  bit_order: BitOrder;
};

/** An operation of a manifest, with all defaults. */
export type AdapterOperation = {
  /** Index in the manifest's list. */
  index: number;
  id: string;
  name: string;
  description?: string;
  wraps: Wrap;
  /** Of `custom`: accepted kinds by port. */
  inputs?: Record<string, string[]>;
  /** Of `custom`: the kind of each port. */
  outputs?: Record<string, string>;
  adapter: AdapterCallable;
  fixed_params: JsonObject;
  params_schema: JsonObject;
  /** As written in the manifest; the operation contract checks them. */
  differentiability?: JsonObject;
  backends?: JsonObject;
  equivalence?: JsonObject;
  formats?: JsonObject;
  materializations?: JsonObject[];
};

/** The language of an adapter's code. */
export const RUNTIMES = ["deno", "python"] as const;

/** What an adapter needs of its interpreter. */
export type PythonNeeds = {
  /** Packages with conditions on their versions, such as `numpy>=1.24`. */
  requires: string[];
  /** `python3` or `python3.N`; a path comes from the user. */
  interpreter: string;
};

/** A manifest without errors. */
export interface AdapterManifest {
  schema_version: 1;
  name: string;
  version: string;
  description: string;
  /** Given for `runtime: python`. */
  python?: PythonNeeds;
  permissions: PermissionSet;
  limits: AdapterLimits;
  models: AdapterModel[];
  /** Origin of the model; recorded, never used. */
  training?: JsonObject;
  operations: AdapterOperation[];
}

/** A file of the folder. */
export interface FolderFile {
  /** Relative to the folder, with `/`. */
  path: string;
  sha256: string;
  size_bytes: number;
}

/** A folder at the time of reading. */
export interface AdapterFolder {
  /** Absolute path, symbolic links resolved. */
  root: string;
  /** Sorted by path. */
  files: FolderFile[];
  /** Paths that have no digest and that its code cannot read. */
  hidden: string[];
  folder_sha256: string;
}

/** A folder with a valid manifest, which can be registered. */
export interface AdapterPackage {
  folder: AdapterFolder;
  /** Name of the manifest's file. */
  manifest_file: string;
  manifest_sha256: string;
  manifest: AdapterManifest;
  /** Maps places to lines of the manifest. */
  locate: Locate;
}

/** Source of granted permissions. Flags for an adapter replace its trust entry. */
export type GrantSource = "flag" | "trust_file" | "none";

/** Sources as the command that grants. */
export const GRANTED_BY: Readonly<Record<GrantSource, string>> = {
  flag: "--grant",
  trust_file: "svc adapter trust",
  none: "no grant",
};

/** A grant of the operator for an adapter name. */
export interface Grant {
  adapter: string;
  kind: keyof PermissionSet | "unsandboxed";
  /** Empty for `unsandboxed`. */
  value: string;
}

/** Effective permissions of an adapter: its granted requests. */
export interface EffectiveGrants {
  /** `read` contains absolute paths. */
  granted: PermissionSet;
  /** Requests without a grant, as written in the manifest. */
  missing: PermissionSet;
  /** Whether a Python adapter may run with the rights of the user where no sandbox works. */
  unsandboxed: boolean;
  source: GrantSource;
}

/** An adapter to load: its folder, and grants in the form of `--grant` with or without the prefix `<adapter>:`. */
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
  /** Digest over the module and all of its imports; null if a file is missing. */
  module_sha256: string | null;
}

/** The inspection of a folder, usable or not. */
export interface AdapterInspection {
  /** Absolute path. */
  folder: string;
  status: "valid" | "invalid";
  /** Null if the manifest cannot be read. */
  manifest_file: string | null;
  manifest_sha256: string | null;
  folder_sha256: string | null;
  name: string | null;
  version: string | null;
  description: string | null;
  /** Of a Python adapter. */
  python: PythonNeeds | null;
  limits: AdapterLimits | null;
  permissions_requested: PermissionSet;
  permissions_granted: PermissionSet;
  /** Requested but not granted. */
  permissions_missing: PermissionSet;
  unsandboxed: boolean;
  grant_source: GrantSource;
  operations: InspectedOperation[];
  models: AdapterModel[];
  training: JsonObject | null;
  files: FolderFile[];
  /** All findings; `adapter_trust_mismatch` and `trust_file_ignored` are warnings. */
  diagnostics: Diagnostic[];
}
