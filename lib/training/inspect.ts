/** Checks every claim of a package's manifest against its files, and reports all problems. Runs and writes nothing. */
import { parseNpyHeader } from "../artifact/npy_header.ts";
import { openZip } from "../artifact/zip_read.ts";
import { type Code, type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { Value } from "../contract/value.ts";
import { type OnnxGraph, readOnnxGraph } from "../onnx/graph.ts";
import { functionProblems } from "../onnx/function.ts";
import { onnxProblems } from "../onnx/safety.ts";
import { attachLocations } from "../recipe/positions.ts";
import { checkAgainstContract, checkAgainstGraph, checkAgainstOperation, checkFirstAxes } from "./abi.ts";
import { asSlotContract, checkManifest, checkSlotContract, readDocument, supportFiles } from "./documents.ts";
import { packageIdentity, treeSha256 } from "./identity.ts";
import {
  MAX_COMPONENT_BYTES,
  MAX_CONTRACT_BYTES,
  MAX_EXPANDED_BYTES,
  MAX_MEMBERS,
  MAX_NPZ_BYTES,
  MAX_NPZ_EXPANDED_BYTES,
  MAX_NPZ_MEMBERS,
  MAX_SUPPORT_BYTES,
} from "./limits.ts";
import { unsafeName } from "./member_names.ts";
import { publicationReadiness } from "./selection.ts";
import { type PackageSource, readManifestBytes } from "./source.ts";
import type { PackageIdentity, PublicationReadiness, SlotContract, TrainedManifest } from "./types.ts";

export type ArtifactStatus = "ready" | "unavailable" | "invalid";

/** A file found in a package. */
export interface PackageFile {
  sha256: string;
  size_bytes: number;
}

/** The result of an inspection. */
export interface InspectedPackage {
  /** `unavailable`: files or operations are missing; the present ones are valid. */
  status: ArtifactStatus;
  /** Null when the text or its schema was refused. */
  manifest: TrainedManifest | null;
  contract: SlotContract | null;
  /** Null when a file is missing or unreadable, for then there is nothing to name. */
  identity: PackageIdentity | null;
  /** Digest of the archive or of the listed files, for release records. */
  package_file_sha256: string | null;
  /** Facts of each component by its id. */
  graphs: ReadonlyMap<string, OnnxGraph>;
  readiness: PublicationReadiness | null;
  /** The manifest and every file it lists, by path. */
  files: ReadonlyMap<string, PackageFile>;
  /** Files that are there and listed nowhere; they are no part of the package. */
  unlisted: string[];
  diagnostics: Diagnostic[];
}

export interface InspectOptions {
  /** Contracts of the operations that are registered; without it they are not compared. */
  contractOf?: (operation: string) => OperationContract | undefined;
  /** Only rows of this operation are compared with its contract. */
  only?: string;
  /** Whether the package came from elsewhere. */
  imported?: boolean;
}

/**
 * Inspects a package.
 * @returns the findings, with every problem
 * @throws SvcError `artifact_manifest_missing` or `artifact_limit_exceeded` when there is no manifest to begin with
 */
export function inspectPackage(source: PackageSource, options: InspectOptions = {}): InspectedPackage {
  const manifestBytes = readManifestBytes(source);
  const { value, locate, diagnostics } = readDocument(manifestBytes, source.manifestShown);
  const found = diagnostics.length > 0 ? diagnostics : checkManifest(value!, source.manifestName);
  const inspection = new Inspection(source, options);
  if (found.some(({ code }) => STRUCTURAL.has(code))) inspection.diagnostics.push(...found);
  else inspection.run(value as TrainedManifest, manifestBytes, found);
  const result = inspection.result();
  return locate === undefined ? result : { ...result, diagnostics: attachLocations(result.diagnostics, locate) };
}

/** After these nothing that the manifest says can be followed. */
const STRUCTURAL = new Set([
  "artifact_schema_invalid",
  "artifact_version_unsupported",
  "artifact_member_unsafe",
  "artifact_manifest_ambiguous",
  "artifact_limit_exceeded",
]);

class Inspection {
  readonly diagnostics: Diagnostic[] = [];
  readonly #files = new Map<string, PackageFile>();
  readonly #graphs = new Map<string, OnnxGraph>();
  #manifest: TrainedManifest | null = null;
  #contract: SlotContract | null = null;
  #identity: PackageIdentity | null = null;
  #readiness: PublicationReadiness | null = null;
  #unregistered = false;
  #expanded = 0;

  constructor(readonly source: PackageSource, readonly options: InspectOptions) {}

  result(): InspectedPackage {
    const errors = this.diagnostics.filter(({ severity }) => severity === "error");
    const absent = errors.every(({ code }) => code === "artifact_file_missing");
    const listed = new Map([...this.#files].map(([path, { sha256 }]) => [path, sha256]));
    return {
      status: errors.length === 0 && !this.#unregistered ? "ready" : absent ? "unavailable" : "invalid",
      manifest: this.#manifest,
      contract: this.#contract,
      identity: this.#identity,
      package_file_sha256: this.#identity === null ? null : this.source.archiveSha256 ?? treeSha256(listed),
      graphs: this.#graphs,
      readiness: this.#readiness,
      files: this.#files,
      unlisted: (this.source.members ?? []).filter((path) => !this.#files.has(path)),
      diagnostics: this.diagnostics,
    };
  }

  run(manifest: TrainedManifest, manifestBytes: Uint8Array, found: readonly Diagnostic[]): void {
    this.#manifest = manifest;
    this.diagnostics.push(...found);
    this.#note(this.source.manifestName, manifestBytes);
    const listed = 2 + manifest.components.length + supportFiles(manifest).length;
    if (listed > MAX_MEMBERS) {
      const message = `Cannot use a manifest that lists ${listed} files: the limit is ${MAX_MEMBERS}`;
      this.#report("artifact_limit_exceeded", [], message);
      return;
    }
    const semantic = this.#readContract(manifest);
    this.#readComponents(manifest);
    const history = this.#readSupport(manifest);
    this.#compare(manifest);

    const digest = (path: string) => this.#files.get(path)?.sha256;
    const digests = [manifest.contract, ...manifest.components, ...supportFiles(manifest)].map(({ path }) =>
      digest(path)
    );
    if (semantic === null || digests.includes(undefined)) return;
    this.#identity = packageIdentity({
      manifest_sha256: sha256Hex(manifestBytes),
      contract: { semantic_sha256: semantic, file_sha256: digest(manifest.contract.path)! },
      components: manifest.components.map((component) => ({ ...component, sha256: digest(component.path)! })),
      support_files: supportFiles(manifest).map((file) => ({ ...file, sha256: digest(file.path)! })),
    });
    this.#readiness = publicationReadiness({
      history,
      supportFiles: supportFiles(manifest),
      read: (path) => this.source.read(path, MAX_SUPPORT_BYTES),
      runtime_component_set_sha256: this.#identity.runtime_component_set_sha256,
      imported: this.options.imported === true || manifest.source.origin === "imported",
    });
  }

  #report(code: Code, place: Place, message: string, hint: string | null = null): void {
    this.diagnostics.push(diagnostic(code, place, message, { hint }));
  }

  #note(path: string, bytes: Uint8Array): string {
    const sha256 = sha256Hex(bytes);
    this.#files.set(path, { sha256, size_bytes: bytes.length });
    return sha256;
  }

  /** Reads a listed file and compares its digest; null when the file cannot be used. */
  #read(path: string, place: Place, limit: number, expected: { key: string; sha256: string }): Uint8Array | null {
    let bytes: Uint8Array | null;
    try {
      bytes = this.source.read(path, limit);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      this.#report(error.code, [...place, "path"], error.message, error.hint);
      return null;
    }
    if (bytes === null) {
      this.#report("artifact_file_missing", [...place, "path"], `Cannot find the file ${path}`);
      return null;
    }
    this.#expanded += bytes.length;
    if (this.#expanded > MAX_EXPANDED_BYTES) {
      const message = `Cannot use ${path}: the files of the package exceed ${MAX_EXPANDED_BYTES} bytes`;
      this.#report("artifact_limit_exceeded", [...place, "path"], message);
      return null;
    }
    const sha256 = this.#note(path, bytes);
    if (sha256 !== expected.sha256) {
      const message = `Cannot accept ${path}: its SHA-256 is ${sha256}`;
      this.#report("artifact_hash_mismatch", [...place, expected.key], message);
    }
    return bytes;
  }

  /** Digest of the meaning of the slot contract, or null. */
  #readContract(manifest: TrainedManifest): string | null {
    const { path, sha256, file_sha256, id, version } = manifest.contract;
    const bytes = this.#read(path, ["contract"], MAX_CONTRACT_BYTES, { key: "file_sha256", sha256: file_sha256 });
    if (bytes === null) return null;
    const { value, diagnostics } = readDocument(bytes, path);
    const problems = diagnostics.length > 0
      ? diagnostics.map((item) => diagnostic(item.code, ["contract", "path"], `${item.message} (${path})`, item))
      : checkSlotContract(value!, path);
    this.diagnostics.push(...problems);
    if (diagnostics.length > 0) return null;
    const semantic = sha256Json(value);
    if (semantic !== sha256) {
      const message = `Cannot accept ${path}: the SHA-256 of its canonical JSON is ${semantic}`;
      this.#report("artifact_hash_mismatch", ["contract", "sha256"], message);
    }
    if (problems.length > 0) return semantic;
    this.#contract = asSlotContract(value);
    if (this.#contract.id !== id) {
      this.#report(
        "artifact_abi_mismatch",
        ["contract", "id"],
        `Cannot use ${path} as ${id}: it is ${this.#contract.id}`,
      );
    }
    if (this.#contract.version !== version) {
      const message = `Cannot use ${path} as version ${version}: it is ${this.#contract.version}`;
      this.#report("artifact_abi_mismatch", ["contract", "version"], message);
    }
    return semantic;
  }

  #readComponents(manifest: TrainedManifest): void {
    manifest.components.forEach(({ id, path, sha256 }, index) => {
      const place = ["components", index];
      const bytes = this.#read(path, place, MAX_COMPONENT_BYTES, { key: "sha256", sha256 });
      if (bytes === null) return;
      try {
        const graph = readOnnxGraph(bytes, path);
        this.#graphs.set(id, graph);
        this.diagnostics.push(...onnxProblems(graph, place, path), ...functionProblems(graph, place, path));
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        this.#report(error.code, place, error.message, error.hint);
      }
    });
  }

  /** The selection history, when the manifest names one and it can be read. */
  #readSupport(manifest: TrainedManifest): Value | undefined {
    let history: Value | undefined;
    const wanted = (manifest.publication as { selection_history: { path: string } } | undefined)?.selection_history
      .path;
    supportFiles(manifest).forEach(({ path, sha256 }, index) => {
      const place = ["support_files", index], npz = /\.npz$/i.test(path);
      const bytes = this.#read(path, place, npz ? MAX_NPZ_BYTES : MAX_SUPPORT_BYTES, { key: "sha256", sha256 });
      if (bytes === null) return;
      if (npz) this.#checkNpz(bytes, path, place);
      // A history that is no document fails its schema as null.
      if (path === wanted) history = readDocument(bytes, path).value;
    });
    return history;
  }

  #checkNpz(bytes: Uint8Array, path: string, place: Place): void {
    try {
      const limits = { maxEntries: MAX_NPZ_MEMBERS, maxExpandedBytes: MAX_NPZ_EXPANDED_BYTES };
      for (const entry of openZip(bytes, path, limits)) {
        const why = unsafeName(entry.name);
        if (why !== null) {
          throw new SvcError("artifact_member_unsafe", `Cannot accept ${entry.name} in ${path}: ${why}`);
        }
        // Its header says whether it is plain numbers or asks to be unpickled.
        parseNpyHeader(entry.read(), `${entry.name} of ${path}`);
      }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      const code = error.code === "artifact_limit_exceeded" ? error.code : "artifact_member_unsafe";
      this.#report(code, [...place, "path"], error.message, error.hint);
    }
  }

  /** Compares the ABI of the operations, the claims of the manifest and the tensors of the graphs. */
  #compare(manifest: TrainedManifest): void {
    manifest.runtime.entrypoints.forEach((entrypoint, index) => {
      const graph = this.#graphs.get(entrypoint.component);
      if (graph !== undefined) this.diagnostics.push(...checkAgainstGraph(entrypoint, index, graph));
    });
    const { contractOf, only } = this.options;
    if (contractOf === undefined) return;
    manifest.compatible_operations.forEach((row, index) => {
      if (only !== undefined && row.operation !== only) return;
      const place = ["compatible_operations", index, "operation"];
      const operation = contractOf(row.operation);
      if (operation === undefined) {
        this.#unregistered = true;
        const message = `Cannot find the operation ${row.operation}`;
        const hint = "Here it cannot be bound; another version or an adapter may bring it";
        this.diagnostics.push(
          diagnostic("artifact_operation_incompatible", place, message, { severity: "warning", hint }),
        );
        return;
      }
      const { trained_artifact_abi: abi } = operation;
      if (abi === undefined) {
        this.#report(
          "artifact_operation_incompatible",
          place,
          `Cannot bind ${row.operation}: it takes no trained artifact`,
        );
        return;
      }
      this.diagnostics.push(...checkAgainstOperation(manifest, index, abi));
      this.diagnostics.push(...checkFirstAxes(manifest, abi, this.#graphs));
      if (this.#contract !== null) this.diagnostics.push(...checkAgainstContract(row, index, this.#contract, abi));
    });
  }
}
