/** From a folder with a model and a draft of a manifest to a sealed package: the completed manifest and a ZIP file. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { writeZip } from "../artifact/zip_write.ts";
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { OperationContract } from "../contract/operation.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { editRecipeText } from "../recipe/edit_text.ts";
import { completeManifest } from "./complete.ts";
import { readDocument, supportFiles } from "./documents.ts";
import { inspectPackage } from "./inspect.ts";
import { MAX_COMPONENT_BYTES, MAX_MANIFEST_BYTES } from "./limits.ts";
import { MANIFEST_NAMES } from "./member_names.ts";
import { openFolder, openPackage } from "./source.ts";
import { tryNetworks } from "./try_networks.ts";

/** Name of a draft that is completed into `trained_artifact.yaml` beside it. */
const TEMPLATE_NAME = "trained_artifact.template.yaml";

export interface PackageOptions {
  /** Contracts of the operations that are registered. */
  contractOf: (operation: string) => OperationContract | undefined;
  /** Operations whose slots the models fill, for a folder without a draft. */
  operations?: readonly string[];
  /** Path of the ZIP file; default `<id>.zip` beside the folder. */
  out?: string;
  /** Replaces a ZIP file with other contents. */
  force?: boolean;
}

/** The result of packaging. */
export interface PackagedArtifact extends JsonObject {
  id: string;
  /** Value for `artifact_package_sha256`. */
  package_sha256: string;
  runtime_component_set_sha256: string;
  /** SHA-256 of the ZIP file. */
  package_file_sha256: string;
  archive: string;
  manifest: string;
  /** Paths that were written or changed in the folder. */
  written: string[];
  file_count: number;
  size_bytes: number;
  /** Warnings. */
  diagnostics: Diagnostic[];
}

/**
 * Seals a package: completes the manifest in its folder (digests, and all fields that the operations determine), checks all of
 * it as an import would, tries the networks, and writes a ZIP file whose bytes depend on nothing but the files. Comments and order of a
 * manifest stay. Nothing is written unless everything is right.
 * @param from folder, or its manifest or draft
 * @returns digests and written files
 * @throws SvcError `artifact_invalid` with every problem; `artifact_manifest_missing` without a draft or operations;
 *   `artifact_conflict` when another file is in the way
 */
export async function packageTrainedArtifact(from: string, options: PackageOptions): Promise<PackagedArtifact> {
  const { folder, draftName, manifestName } = findDraft(from, options.operations ?? []);
  const source = openFolder(folder, manifestName, from);
  const draftBytes = draftName === null ? null : source.read(draftName, MAX_MANIFEST_BYTES);
  const draft = draftBytes === null ? blankDraft(options.operations!) : parseDraft(draftBytes, draftName!);
  refuseErrors(from, unfitOperations(draft, options.contractOf));
  const { manifest, files } = completeManifest(draft, {
    read: (path) => source.read(path, MAX_COMPONENT_BYTES),
    contractOf: options.contractOf,
    models: readdirSync(folder).filter((name) => /\.onnx$/i.test(name)),
    id: basename(folder).replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "artifact",
  });
  const text = manifestText(draftBytes, manifest, manifestName);
  files.set(manifestName, new TextEncoder().encode(text));

  const contents = new Map<string, Uint8Array>();
  const absent: Diagnostic[] = [];
  for (const path of listedPaths(manifest)) {
    const bytes = files.get(path) ?? source.read(path, MAX_COMPONENT_BYTES);
    if (bytes !== null) contents.set(path, bytes);
    else {
      const hint = "Put it into the folder, or name another one in the manifest";
      absent.push(diagnostic("artifact_file_missing", [], `Cannot find the file ${path} in ${from}`, { hint }));
    }
  }
  refuseErrors(from, absent);
  contents.set(manifestName, files.get(manifestName)!);
  const archiveBytes = writeZip([...contents].map(([name, bytes]) => ({ name, parts: [bytes] })));
  const packed = openPackage(archiveBytes, from);
  const inspected = inspectPackage(packed, { contractOf: options.contractOf });
  refuseErrors(from, inspected.diagnostics);
  refuseErrors(from, await tryNetworks(packed, inspected));
  const identity = inspected.identity!;

  const archive = resolve(options.out ?? join(dirname(folder), `${manifest.id}.zip`));
  refuseOverwrite(archive, archiveBytes, options.force === true);
  const written = [...files].filter(([path, bytes]) => !holds(join(folder, path), bytes)).map(([path]) => path);
  // The manifest names the other files: write it last.
  for (const path of written) writeFileAtomic(join(folder, path), files.get(path)!);
  if (!holds(archive, archiveBytes)) writeFileAtomic(archive, archiveBytes);
  return {
    id: String(manifest.id),
    package_sha256: identity.package_sha256,
    runtime_component_set_sha256: identity.runtime_component_set_sha256,
    package_file_sha256: sha256Hex(archiveBytes),
    archive,
    manifest: join(folder, manifestName),
    written,
    file_count: contents.size,
    size_bytes: archiveBytes.length,
    diagnostics: inspected.diagnostics,
  };
}

/** Operations that a draft names and that take no artifact: nothing could be completed from them. */
function unfitOperations(draft: JsonObject, contractOf: PackageOptions["contractOf"]): Diagnostic[] {
  const rows = Array.isArray(draft.compatible_operations) ? draft.compatible_operations : [];
  return rows.flatMap((row, index) => {
    const id = isObject(row) ? row.operation : undefined;
    const contract = typeof id === "string" ? contractOf(id) : undefined;
    if (contract === undefined || contract.trained_artifact_abi !== undefined) return [];
    const place = ["compatible_operations", index, "operation"];
    return [
      diagnostic("artifact_operation_incompatible", place, `Cannot fill ${contract.id}: it takes no trained artifact`),
    ];
  });
}

function findDraft(
  from: string,
  operations: readonly string[],
): { folder: string; draftName: string | null; manifestName: string } {
  const path = resolve(from);
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) throw missing(`Cannot find ${from}`, "Name a folder with a model, or its manifest");
  if (!info.isDirectory()) {
    const name = basename(path);
    return { folder: dirname(path), draftName: name, manifestName: name.replace(".template.", ".") };
  }
  const present = readdirSync(path);
  const drafts = [...MANIFEST_NAMES, TEMPLATE_NAME].filter((name) => present.includes(name));
  // A template that was completed before stays beside its result.
  const found = drafts.filter((name) => name !== TEMPLATE_NAME || drafts.length === 1);
  if (found.length > 1) {
    throw new SvcError("artifact_manifest_ambiguous", `Cannot choose between ${found.join(" and ")} in ${from}`, {
      hint: "Name one of them",
    });
  }
  if (found.length === 1) {
    return { folder: path, draftName: found[0], manifestName: found[0].replace(".template.", ".") };
  }
  if (operations.length > 0) return { folder: path, draftName: null, manifestName: MANIFEST_NAMES[0] };
  throw missing(
    `Cannot find a ${MANIFEST_NAMES[0]} in ${from}`,
    "Name the operations that the models are for: --operation <id>",
  );
}

const missing = (message: string, hint: string) => new SvcError("artifact_manifest_missing", message, { hint });

const blankDraft = (operations: readonly string[]): JsonObject => ({
  compatible_operations: operations.map((operation) => ({ operation })),
});

function parseDraft(bytes: Uint8Array, name: string): JsonObject {
  const { value, diagnostics } = readDocument(bytes, name);
  refuseErrors(name, diagnostics);
  if (isObject(value)) return value;
  throw new SvcError("artifact_schema_invalid", `Cannot use ${name} as a manifest: it is not a mapping`);
}

/** The text of the completed manifest, with the comments and the order of the draft. */
function manifestText(draft: Uint8Array | null, manifest: JsonObject, name: string): string {
  const text = draft === null
    ? (name.endsWith(".json") ? "{}" : "schema_version: 2\n")
    : new TextDecoder().decode(draft);
  return editRecipeText(text, manifest, { file: name });
}

function listedPaths(manifest: JsonObject): string[] {
  const paths = (value: unknown) => (Array.isArray(value) ? value : []).filter(isObject).map(({ path }) => path);
  const contract = isObject(manifest.contract) ? [manifest.contract.path] : [];
  const listed = [...contract, ...paths(manifest.components), ...paths(supportFiles(manifest as never))];
  return [...new Set(listed)].filter((path) => typeof path === "string" && path !== "") as string[];
}

function refuseErrors(name: string, diagnostics: readonly Diagnostic[]): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  throw new SvcError("artifact_invalid", `Cannot package ${name}: ${errors[0].message}${more}`, {
    hint: errors[0].hint,
    diagnostics: [...diagnostics],
  });
}

function holds(path: string, bytes: Uint8Array): boolean {
  try {
    const present = Deno.readFileSync(path);
    return present.length === bytes.length && sha256Hex(present) === sha256Hex(bytes);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function refuseOverwrite(path: string, bytes: Uint8Array, force: boolean): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined || force || (there.isFile() && holds(path, bytes))) return;
  throw new SvcError("artifact_conflict", `Cannot write ${path}: it exists with other contents`, {
    hint: "Add --force to replace it, or choose another place with --out",
  });
}
