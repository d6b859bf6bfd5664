/**
 * The managed store of trained artifacts: `<state_dir>/trained_artifacts/<package_sha256>/`, one folder a package, put
 * there whole. Listed beside it are the packages that lie in `recipes/models/` of the project and of the program.
 */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { isRacy } from "../artifact/file_age.ts";
import { hashFile } from "../artifact/hash_file.ts";
import { entryInside, type InsideEntry, moveEntry } from "../artifact/inside.ts";
import { licenceText } from "../artifact/licence.ts";
import { type Diagnostic, diagnostic, findingsOf, messageOf, SvcError } from "../contract/error.ts";
import { programFolder } from "../artifact/program.ts";
import { syncEntry } from "../artifact/write_file.ts";
import { parseJson, prettyJson } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { type ArtifactStatus, type InspectedPackage, inspectPackage } from "./inspect.ts";
import { MAX_EXPANDED_BYTES } from "./limits.ts";
import { IMPORT_RECORD, MANIFEST_NAMES } from "./member_names.ts";
import { STORE_NAME, storeFolder } from "./resolve.ts";
import { openPackage, type PackageSource } from "./source.ts";
import { stage } from "./transit.ts";
import { tryNetworks } from "./try_networks.ts";
import { madeFor, type SourceClass, type TrainedManifest } from "./types.ts";

/** Where artifacts are kept, and which operations they are compared with. */
export interface ArtifactStore {
  stateDir: string;
  /** Also lists the packages in `recipes/models/` of the project. */
  projectRoot?: string;
  /** Also lists the bundled packages. */
  programRoot?: string;
  /** Contracts of the operations that are registered; without it artifacts are not compared with them. */
  contractOf?: (operation: string) => OperationContract | undefined;
  /** Whether a reference may be a path; true when left out. */
  paths?: boolean;
}

/**
 * The store of a workspace, with the packages of the project and of the program beside it.
 * @param registry operations that artifacts are compared with
 */
export function artifactStore(
  { stateDir, projectRoot }: { stateDir: string; projectRoot: string },
  registry: Pick<Registry, "find">,
): ArtifactStore & Required<Pick<ArtifactStore, "contractOf">> {
  const contractOf = (id: string) => registry.find(id)?.operation.contract;
  return { stateDir, projectRoot, programRoot: programFolder() ?? undefined, contractOf };
}

/** An artifact in a list. */
export interface ArtifactRow extends JsonObject {
  id: string;
  name: string;
  label: string | null;
  /** Null when it cannot be computed. */
  package_sha256: string | null;
  status: ArtifactStatus;
  source_class: SourceClass;
  /** Its place: managed store, project, program, or a path given by the user. */
  place: "store" | "project" | "program" | "elsewhere";
  path: string;
  /** As a recipe names it: empty for the store, null elsewhere. */
  recipe_path: string | null;
  operations: string[];
  /** Values of parameters that each of the operations must have, by the operation; several rows are alternatives. */
  conditions: Record<string, JsonObject[]>;
  /** The data of its training, in words. */
  trained_for: string | null;
  size_bytes: number;
  imported_at_utc: string | null;
  publication: "ready" | "blocked" | null;
  diagnostics: Diagnostic[];
}

/** An artifact with everything that is known of it. */
export interface ArtifactDetail {
  row: ArtifactRow;
  inspected: InspectedPackage;
  /** Text of the file `LICENSE` beside the manifest. */
  licence: string | null;
}

export interface ImportOptions {
  /** Name for people. */
  label?: string;
  /** Refuses packages that do not fill the slot of this operation. */
  operation?: string;
  /** What bytes are called in messages and in the record. */
  filename?: string;
}

/** What an import did. */
export interface ImportedArtifact extends JsonObject {
  /** `imported`; `present` when it was stored before; `repaired` when the stored copy was damaged. */
  outcome: "imported" | "present" | "repaired";
  artifact: ArtifactRow;
  /** Digest of the archive, or of the listed files, as a release record names it. */
  package_file_sha256: string;
  /** Files that the manifest does not list; they were left out. */
  unlisted: string[];
}

/**
 * Imports a package into the store: everything is checked and the networks are tried before anything is written, the files are staged, hashed again
 * from the disk and renamed into place. Afterwards all of it is there, or nothing.
 * @param from folder, manifest or ZIP file; or the bytes of a ZIP file
 * @throws SvcError `artifact_invalid` with every problem, or what opening it throws
 */
export async function importTrainedArtifact(
  from: string | Uint8Array,
  store: ArtifactStore,
  options: ImportOptions = {},
): Promise<ImportedArtifact> {
  const name = options.filename ?? (typeof from === "string" ? from : "the package");
  const source = openPackage(from, name);
  const inspected = inspectPackage(source, { contractOf: store.contractOf, imported: true });
  const problems = [...inspected.diagnostics];
  const { manifest, identity } = inspected;
  const wanted = options.operation;
  if (wanted !== undefined && manifest?.compatible_operations.some(({ operation }) => operation === wanted) === false) {
    const message = `Cannot bind ${wanted}: the package was not made for it`;
    const hint = madeFor(manifest);
    problems.push(diagnostic("artifact_operation_incompatible", ["compatible_operations"], message, { hint }));
  }
  const failed = () => problems.some(({ severity }) => severity === "error");
  if (failed() || identity === null) throw refused(`Cannot import ${name}`, problems);

  const target = entryInside(store.stateDir, STORE_NAME, identity.package_sha256);
  const present = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  const sound = present && verifyAt(target, store, identity.package_sha256).status !== "invalid";
  let outcome: ImportedArtifact["outcome"] = "present";
  if (!sound) {
    problems.push(...await tryNetworks(source, inspected));
    if (failed()) throw refused(`Cannot import ${name}`, problems);
    const record: JsonObject = {
      schema_version: 1,
      kind: "svc.trained_artifact_import",
      package_sha256: identity.package_sha256,
      package_file_sha256: inspected.package_file_sha256,
      source_name: basename(name),
      label: options.label ?? null,
      imported_at_utc: new Date().toISOString(),
    };
    outcome = place(source, inspected, record, target, store) ? (present ? "repaired" : "imported") : "present";
  }
  return {
    outcome,
    artifact: describe({ path: target, place: "store" }, store).row,
    package_file_sha256: inspected.package_file_sha256!,
    unlisted: inspected.unlisted,
  };
}

function refused(what: string, diagnostics: Diagnostic[]): SvcError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new SvcError("artifact_invalid", `${what}: ${errors[0].message}${more}`, {
    hint: errors[0].hint,
    diagnostics,
  });
}

/** Stages the files and renames them into place; false when another process has stored the same package meanwhile. */
function place(
  source: PackageSource,
  inspected: InspectedPackage,
  record: JsonObject,
  target: InsideEntry,
  { stateDir }: ArtifactStore,
): boolean {
  const staging = stage(storeFolder(stateDir));
  try {
    for (const [path, { sha256 }] of inspected.files) {
      const bytes = source.read(path, MAX_EXPANDED_BYTES);
      // In the store a manifest has the name by which it is found.
      const own = path !== source.manifestName ? path : /\.json$/i.test(path) ? MANIFEST_NAMES[2] : MANIFEST_NAMES[0];
      if (bytes !== null) staging.write(join("package", own), bytes);
      if (bytes === null || hashFile(join(staging.folder, "package", own)).sha256 !== sha256) {
        throw new SvcError("artifact_hash_mismatch", `Cannot import ${source.name}: ${path} changed meanwhile`);
      }
    }
    staging.write(join("package", IMPORT_RECORD), new TextEncoder().encode(prettyJson(record)));
    const old = entryInside(staging.folder, "replaced");
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) moveEntry(target, old);
    try {
      moveEntry(entryInside(staging.folder, "package"), target);
    } catch (error) {
      if (lstatSync(target, { throwIfNoEntry: false }) === undefined) throw error;
      return false;
    }
    syncEntry(storeFolder(stateDir));
    return true;
  } finally {
    staging.release();
  }
}

interface Located {
  path: string;
  place: ArtifactRow["place"];
}

/** Every package that is here, those in the store first, each in order of its path. */
function locations({ stateDir, projectRoot, programRoot }: ArtifactStore): Located[] {
  const below = (folder: string, accept: (name: string) => boolean) => {
    let names: string[];
    try {
      names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) =>
        name
      );
    } catch {
      return [];
    }
    return names.filter(accept).sort().map((name) => join(folder, name));
  };
  const stored = below(storeFolder(stateDir), (name) => /^[0-9a-f]{64}$/.test(name));
  const found: Located[] = stored.map((path) => ({ path, place: "store" }));
  for (const [root, where] of [[projectRoot, "project"], [programRoot, "program"]] as const) {
    const same = where === "program" && projectRoot !== undefined && resolve(projectRoot) === resolve(root ?? "");
    if (root === undefined || same) continue;
    const folder = join(root, "recipes", "models");
    const held = (path: string) =>
      MANIFEST_NAMES.some((name) => lstatSync(join(path, name), { throwIfNoEntry: false }));
    found.push(...below(folder, () => true).filter(held).map((path): Located => ({ path, place: where })));
  }
  return found;
}

/** Inspects a package at its place; a folder of the store must match the digest in its name. */
function describe(located: Located, store: ArtifactStore): ArtifactDetail {
  const { path, place } = located;
  let inspected: InspectedPackage;
  try {
    inspected = inspectPackage(openPackage(path), { contractOf: store.contractOf, imported: place === "store" });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    inspected = broken(error);
  }
  const { manifest, identity, files, readiness } = inspected;
  if (place === "store" && identity !== null && identity.package_sha256 !== basename(path)) {
    const message = `Cannot trust ${basename(path)}: the files are those of ${identity.package_sha256}`;
    inspected.diagnostics.push(diagnostic("artifact_package_mismatch", [], message));
    inspected.status = "invalid";
  }
  const record = place === "store" ? importRecord(path) : {};
  const label = record.label ?? manifest?.label;
  return {
    inspected,
    licence: licenceText(path),
    row: {
      id: manifest?.id ?? basename(path).slice(0, 12),
      name: manifest?.name ?? basename(path),
      label: typeof label === "string" ? label : null,
      package_sha256: place === "store" ? basename(path) : identity?.package_sha256 ?? null,
      status: inspected.status,
      source_class: place === "store" ? "imported" : manifest?.source.origin ?? "imported",
      place,
      path,
      recipe_path: place === "store" ? "" : place === "elsewhere" ? null : `recipes/models/${basename(path)}`,
      operations: manifest?.compatible_operations.map(({ operation }) => operation) ?? [],
      conditions: conditionsOf(manifest),
      trained_for: typeof manifest?.training?.data === "string" ? manifest.training.data : null,
      size_bytes: [...files.values()].reduce((sum, { size_bytes }) => sum + size_bytes, 0),
      imported_at_utc: typeof record.imported_at_utc === "string" ? record.imported_at_utc : null,
      publication: readiness?.status ?? null,
      diagnostics: inspected.diagnostics,
    },
  };
}

function conditionsOf(manifest: TrainedManifest | null): Record<string, JsonObject[]> {
  const rows = manifest?.compatible_operations ?? [];
  const groups = Map.groupBy(rows, ({ operation }) => operation);
  return Object.fromEntries([...groups].map(([operation, own]) => [operation, own.map(({ params }) => params ?? {})]));
}

function broken(error: SvcError): InspectedPackage {
  return {
    status: "invalid",
    manifest: null,
    contract: null,
    identity: null,
    package_file_sha256: null,
    graphs: new Map(),
    readiness: null,
    files: new Map(),
    unlisted: [],
    diagnostics: [...findingsOf(error)],
  };
}

function importRecord(path: string): JsonObject {
  try {
    const record = parseJson(readFileSync(join(path, IMPORT_RECORD), "utf8"));
    return isObject(record) ? record : {};
  } catch (_error) {
    return {}; // Import time and label are informational.
  }
}

/**
 * The artifacts that are here, each read and hashed; one whose files are as they were is not read again.
 * @param options.operation only those that fill the slot of this operation
 */
export function listTrainedArtifacts(store: ArtifactStore, options: { operation?: string } = {}): ArtifactRow[] {
  return locations(store).map((located) => rowOf(located, store))
    .filter(({ operations }) => options.operation === undefined || operations.includes(options.operation));
}

/** A row of the list, with the state of the folder and the contracts that it came from. */
interface KeptRow {
  state: string;
  contracts: ReadonlyMap<string, OperationContract | undefined>;
  row: ArtifactRow;
}

/** The page asks for the list at every load, and the networks have megabytes. */
const keptRows = new Map<string, KeptRow>();
const MAX_KEPT = 256;

function rowOf(located: Located, store: ArtifactStore): ArtifactRow {
  const key = JSON.stringify([located.path, located.place]), before = keptRows.get(key), { contractOf } = store;
  const state = folderState(located.path);
  if (
    before !== undefined && before.state === state &&
    [...before.contracts].every(([id, contract]) => contractOf?.(id) === contract)
  ) return structuredClone(before.row);
  keptRows.delete(key);
  const contracts = new Map<string, OperationContract | undefined>();
  const noted = (id: string) => {
    const contract = contractOf?.(id);
    contracts.set(id, contract);
    return contract;
  };
  const { row } = describe(located, { ...store, contractOf: contractOf && noted });
  // Without contracts nothing is compared with them, which is another row.
  if (contractOf === undefined || state === null || folderState(located.path) !== state) return row;
  if (keptRows.size >= MAX_KEPT) keptRows.clear();
  keptRows.set(key, { state, contracts, row: structuredClone(row) });
  return row;
}

/** Deno gives the time of the last change of an entry in whole seconds; no program can set it. */
const CTIME_STEP_MS = 1000;

/** Identity and times of all that a folder has; null where one has just changed, or cannot be looked at. */
function folderState(folder: string): string | null {
  const found: string[] = [], nowMs = Date.now();
  const visit = (path: string): boolean => {
    const { dev, ino, mode, size, mtimeNs, ctimeMs } = lstatSync(path, { bigint: true });
    found.push([path, dev, ino, mode, size, mtimeNs, ctimeMs].join());
    if (isRacy(Number(ctimeMs) + CTIME_STEP_MS, nowMs)) return false;
    const isFolder = (Number(mode) & 0o170000) === 0o040000;
    return !isFolder || readdirSync(path).every((name) => visit(join(path, name)));
  };
  try {
    return visit(folder) ? found.join("\n") : null;
  } catch {
    return null; // The inspection says what is wrong with it.
  }
}

/**
 * Finds one artifact.
 * @param reference digest of the package or at least four of its first digits, id, or path of a package
 * @throws SvcError `artifact_not_found`, `artifact_ambiguous`
 */
export function showTrainedArtifact(reference: string, store: ArtifactStore): ArtifactDetail {
  const isPath = /[/\\]/.test(reference);
  const details = isPath ? [] : locations(store).map((located) => describe(located, store));
  const exact = details.filter(({ row }) => row.package_sha256 === reference || row.id === reference);
  const found = exact.length > 0 || !/^[0-9a-f]{4,}$/.test(reference)
    ? exact
    : details.filter(({ row }) => row.package_sha256?.startsWith(reference));
  const [first] = found;
  if (first === undefined) {
    if (store.paths !== false && existsSync(reference)) {
      return describe({ path: reference, place: "elsewhere" }, store);
    }
    throw new SvcError("artifact_not_found", `Cannot find an artifact named ${reference}`, {
      hint: didYouMean(reference, details.map(({ row }) => row.id)) ??
        "svc artifact list shows the installed artifacts",
    });
  }
  // The same package may lie in several places.
  const digests = new Set(found.map(({ row }) => row.package_sha256));
  if (digests.size === 1) return first;
  const choices = [...digests].map((digest) => digest?.slice(0, 12) ?? "?").join(", ");
  throw new SvcError("artifact_ambiguous", `Cannot choose between ${digests.size} artifacts named ${reference}`, {
    hint: `Give the beginning of a digest: ${choices}`,
  });
}

/** What `svc artifact verify` found. */
export interface ArtifactVerification extends JsonObject {
  status: "valid" | "invalid";
  id: string;
  package_sha256: string | null;
  path: string;
  files: { path: string; sha256: string; size_bytes: number }[];
  diagnostics: Diagnostic[];
}

/**
 * Reads and hashes every file of an artifact again and repeats every check of its import.
 * @param reference as for {@link showTrainedArtifact}
 */
export function verifyTrainedArtifact(reference: string, store: ArtifactStore): ArtifactVerification {
  const { row, inspected } = showTrainedArtifact(reference, store);
  return verification(row, inspected);
}

function verification(row: ArtifactRow, inspected: InspectedPackage): ArtifactVerification {
  const broken = inspected.diagnostics.some(({ severity }) => severity === "error");
  return {
    status: broken ? "invalid" : "valid",
    id: row.id,
    package_sha256: row.package_sha256,
    path: row.path,
    files: [...inspected.files].map(([path, file]) => ({ path, ...file })),
    diagnostics: row.diagnostics,
  };
}

function verifyAt(path: string, store: ArtifactStore, sha256: string): ArtifactVerification {
  const { row, inspected } = describe({ path, place: "store" }, store);
  const found = verification(row, inspected);
  return inspected.identity?.package_sha256 === sha256 ? found : { ...found, status: "invalid" };
}

/**
 * Removes an artifact from the managed store; those of a project or the program are their owners'.
 * @param reference digest, beginning of one, or id
 * @returns the row of the removed artifact
 * @throws SvcError `artifact_not_found`, `artifact_ambiguous`
 */
export function removeTrainedArtifact(reference: string, store: ArtifactStore): ArtifactRow {
  const { row } = showTrainedArtifact(reference, { stateDir: store.stateDir, contractOf: store.contractOf });
  if (row.place !== "store") {
    throw new SvcError("artifact_not_found", `Cannot remove ${reference}: it is not in the managed store`, {
      hint: `Remove the folder ${row.path} yourself`,
    });
  }
  const root = storeFolder(store.stateDir), path = entryInside(store.stateDir, STORE_NAME, basename(row.path));
  const staging = stage(root);
  try {
    // A rename removes it atomically; remains after a crash are cleared with the staging folder.
    moveEntry(path, entryInside(staging.folder, "removed"));
    syncEntry(root);
  } catch (error) {
    throw new SvcError("file_system_error", `Cannot remove ${row.id}: ${messageOf(error)}`, { cause: error });
  } finally {
    staging.release();
  }
  return row;
}
