/**
 * Data types of adapters: the manifest of a folder, grants of an operator, and the report of an inspection.
 *
 * Names in these types are those of the manifest and the HTTP API.
 */
import type { Diagnostic } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import type { Locate } from "../recipe/types.ts";
import type {
  AdapterLimits,
  AdapterModel,
  BitOrder,
  BitStorage,
  CallStyle,
  PermissionSet,
  PythonNeeds,
  Wrap,
} from "./manifest_schema.ts";

/** Permissions in a line. */
export function permissionsText({ net, read, env }: PermissionSet): string {
  const values = Object.entries({ net, read, env }).flatMap(([kind, of]) => of.map((value) => `${kind}=${value}`));
  return values.join(" ") || "nothing";
}

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
