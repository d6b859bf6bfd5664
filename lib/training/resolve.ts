/**
 * From the parameters that bind a slot (`artifact_manifest_path`, `artifact_package_sha256`, `artifact_entrypoint`) to
 * the component that fills it, hash checked, or to all problems.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { resolveRecipePath } from "../artifact/recipe_path.ts";
import { type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { canonicalJson, sameValue } from "../contract/json.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { sessionLimits } from "../onnx/limits.ts";
import type { InspectedPackage } from "./inspect.ts";
import { inspectOnce } from "./inspect_once.ts";
import { openPackage } from "./source.ts";
import {
  type ArtifactComponent,
  type Entrypoint,
  madeFor,
  type PackageIdentity,
  type TrainedManifest,
} from "./types.ts";

/** The artifact parameters of a step. */
export interface ArtifactBinding {
  /** `artifact_manifest_path`: a manifest or the folder of a package; empty to search the managed store. */
  manifestPath: string;
  /** `artifact_package_sha256`. */
  packageSha256: string;
  /** `artifact_entrypoint`; empty for the one that the operation calls. */
  entrypoint: string;
  /** Contract of the operation whose slot it is. */
  contract: OperationContract;
  /** Effective parameters of the step; compared with those the artifact was trained for. */
  params?: JsonObject;
  /** Place of those parameters in the recipe, for diagnostics; default `["params"]`. */
  place?: Place;
}

/** Where packages are looked for. */
export interface ArtifactPlaces {
  projectRoot: string;
  stateDir: string;
  /** Folder of the program, whose bundled packages any project may name; left out, there is none. */
  programRoot?: string;
}

/** An artifact that may be run. */
export interface ResolvedArtifact {
  /** The binding for the plan: digests, entrypoint and ABI; no path of this machine. */
  record: JsonObject;
  /** The model file and the digest it must have when it is loaded. */
  component: { path: string; sha256: string };
  entrypoint: Entrypoint;
  packageSha256: string;
  manifest: TrainedManifest;
}

/** Finds the artifact of a slot on this machine, its files hashed, or says everything that is wrong with it. */
export type ArtifactLookup = (binding: ArtifactBinding) => ResolvedArtifact | Diagnostic[];

/** Folder of the managed store in a state directory. */
export const STORE_NAME = "trained_artifacts";

/** Folder of the managed store. */
export function storeFolder(stateDir: string): string {
  return join(stateDir, STORE_NAME);
}

/** Whether a resolution succeeded. */
export function isResolved(found: ResolvedArtifact | Diagnostic[]): found is ResolvedArtifact {
  return !Array.isArray(found);
}

/**
 * Resolves the artifact of a slot: finds the package, checks it whole, compares it with the operation, and compares its
 * digest with the one the recipe states. Nothing is run.
 * @returns the artifact, or every reason against it (codes `artifact_*`), each at its parameter
 */
export function resolveTrainedArtifact(
  binding: ArtifactBinding,
  places: ArtifactPlaces,
): ResolvedArtifact | Diagnostic[] {
  const { contract, manifestPath, packageSha256 } = binding;
  const place = binding.place ?? ["params"];
  const at = (parameter: string) => [...place, parameter];
  if (contract.trained_artifact_abi === undefined) {
    const message = `Cannot bind ${contract.id}: it takes no trained artifact`;
    return [diagnostic("artifact_operation_incompatible", at("artifact_manifest_path"), message)];
  }
  if (packageSha256 !== "" && !/^[0-9a-f]{64}$/.test(packageSha256)) {
    const message = `Cannot use ${JSON.stringify(packageSha256)} as the digest of a package`;
    const hint = "Give its SHA-256, 64 lower-case hex digits; svc artifact list prints it";
    return [diagnostic("artifact_package_mismatch", at("artifact_package_sha256"), message, { hint })];
  }
  const named = manifestPath === "" ? "artifact_package_sha256" : "artifact_manifest_path";
  const shown = manifestPath === "" ? `package ${packageSha256.slice(0, 12)}` : manifestPath;
  let inspected: InspectedPackage;
  let placeOf: (path: string) => string;
  try {
    const { path, imported } = locate(binding, places);
    const source = openPackage(path, manifestPath === "" ? undefined : manifestPath);
    if (source.kind === "archive") {
      const message = `Cannot run ${manifestPath} from inside a ZIP file`;
      const hint = `Run svc artifact import ${manifestPath}, and leave artifact_manifest_path empty`;
      return [diagnostic("artifact_manifest_missing", at(named), message, { hint })];
    }
    placeOf = (file) => source.placeOf(file)!;
    inspected = inspectOnce(source, contract, imported);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const code = error.code === "path_refused" ? "artifact_member_unsafe" : error.code;
    return [diagnostic(code, at(named), error.message, { hint: error.hint })];
  }
  const problems = inspected.diagnostics.filter(({ severity }) => severity === "error").map((item) =>
    diagnostic(item.code, at(named), `${item.message} (${shown}, ${item.path})`, { hint: item.hint })
  );
  const { manifest, identity } = inspected;
  if (identity !== null && identity.package_sha256 !== packageSha256) {
    const message = packageSha256 === ""
      ? `Cannot run ${shown} without the digest of the package`
      : `Cannot run ${shown}: it is another package, ${identity.package_sha256}`;
    const hint = packageSha256 === ""
      ? `Set artifact_package_sha256 to ${identity.package_sha256}`
      : "Was the artifact trained again? Then state its new digest";
    problems.push(diagnostic("artifact_package_mismatch", at("artifact_package_sha256"), message, { hint }));
  }
  if (manifest === null || identity === null) return problems;
  const bound = bindRow(manifest, binding, at, shown);
  if (Array.isArray(bound)) return [...problems, ...bound];
  if (problems.length > 0) return problems;
  const { row, entrypoint, component } = bound;
  return {
    record: recordOf(manifest, identity, component, entrypoint, row),
    component: { path: placeOf(component.path), sha256: component.sha256 },
    entrypoint,
    packageSha256: identity.package_sha256,
    manifest,
  };
}

/**
 * Finds the package: at the given path, else in the store under its digest, else among the bundled packages.
 * Only the digest decides whether it is accepted.
 */
function locate(binding: ArtifactBinding, places: ArtifactPlaces): { path: string; imported: boolean } {
  const { manifestPath, packageSha256 } = binding;
  const there = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  const store = storeFolder(places.stateDir);
  const stored = packageSha256 === "" ? null : join(store, packageSha256);
  if (manifestPath !== "") {
    const path = resolveRecipePath(manifestPath, places);
    if (there(path)) return { path, imported: path.startsWith(store) };
    if (places.programRoot !== undefined && manifestPath.startsWith("recipes/models/")) {
      const roots = { projectRoot: places.programRoot, stateDir: places.stateDir };
      const bundled = resolveRecipePath(manifestPath, roots);
      if (there(bundled)) return { path: bundled, imported: false };
    }
  }
  if (stored !== null && there(stored)) return { path: stored, imported: true };
  const what = manifestPath === "" ? `the package ${packageSha256 || "of a learned slot"}` : manifestPath;
  throw new SvcError("artifact_manifest_missing", `Cannot find ${what}`, {
    hint: manifestPath === "" && packageSha256 === ""
      ? "Set artifact_manifest_path, or artifact_package_sha256 after svc artifact import"
      : "Bring it with svc artifact import <package>; svc artifact list shows the installed artifacts",
  });
}

interface BoundRow {
  row: TrainedManifest["compatible_operations"][number];
  entrypoint: Entrypoint;
  component: ArtifactComponent;
}

/** The row, entrypoint and component that fill the slot. */
function bindRow(
  manifest: TrainedManifest,
  { contract, entrypoint: asked, params }: ArtifactBinding,
  at: (parameter: string) => Place,
  shown: string,
): BoundRow | Diagnostic[] {
  const refuse = (parameter: string, message: string, hint: string | null = null) =>
    diagnostic("artifact_operation_incompatible", at(parameter), message, { hint });
  const rows = manifest.compatible_operations.filter(({ operation }) => operation === contract.id);
  if (rows.length === 0) {
    return [refuse("artifact_manifest_path", `Cannot bind ${shown} to ${contract.id}`, madeFor(manifest))];
  }
  const wanted = asked === "" ? rows[0].runtime_entrypoint : asked;
  const offering = rows.filter(({ runtime_entrypoint }) => runtime_entrypoint === wanted);
  if (offering.length === 0) {
    const hint = `Set artifact_entrypoint to ${rows[0].runtime_entrypoint}`;
    return [refuse("artifact_entrypoint", `Cannot find the entrypoint ${wanted} for ${contract.id} in ${shown}`, hint)];
  }
  const conflicts = offering.map((row) =>
    Object.entries((row.params ?? {}) as JsonObject).flatMap(([name, value]) =>
      conflictOf(name, value, params, at, shown)
    )
  );
  const fitting = conflicts.findIndex((found) => found.length === 0);
  if (fitting < 0) return conflicts[0];
  const row = offering[fitting];
  const entrypoint = manifest.runtime.entrypoints.find(({ id }) => id === row.runtime_entrypoint);
  const component = manifest.components.find(({ id }) => id === entrypoint?.component);
  // The inspection has reported the missing parts.
  return entrypoint === undefined || component === undefined ? [] : { row, entrypoint, component };
}

function conflictOf(
  name: string,
  value: Value,
  params: JsonObject | undefined,
  at: (parameter: string) => Place,
  shown: string,
): Diagnostic[] {
  // The slot is bound in another way than the artifact was trained for.
  if (params === undefined || name.startsWith("artifact_")) return [];
  const actual = params[name];
  if (sameValue(actual, value)) return [];
  const message = `Cannot run ${shown} with ${name}: ${actual === undefined ? "unset" : canonicalJson(actual)}`;
  const hint = `It was trained for ${name}: ${canonicalJson(value)}`;
  return [diagnostic("artifact_operation_incompatible", at(name), message, { hint })];
}

function recordOf(
  manifest: TrainedManifest,
  identity: PackageIdentity,
  { id, role, format, sha256 }: ArtifactComponent,
  entrypoint: Entrypoint,
  row: BoundRow["row"],
): JsonObject {
  const { contract, runtime, application } = manifest;
  return {
    schema_version: 1,
    artifact_id: manifest.id,
    package_sha256: identity.package_sha256,
    manifest_sha256: identity.manifest_sha256,
    contract: {
      id: contract.id,
      version: contract.version,
      semantic_sha256: identity.contract_semantic_sha256,
      file_sha256: identity.contract_file_sha256,
    },
    runtime_component_set_sha256: identity.runtime_component_set_sha256,
    component: { id, role, format, sha256 },
    runtime: { backend: runtime.backend, abi_version: runtime.abi_version },
    limits: sessionLimits(runtime.limits),
    entrypoint: { ...entrypoint },
    application_mode: application.mode,
    ...(row.binding_group === undefined ? {} : { binding_group: row.binding_group }),
  };
}

/** A slot of a recipe that holds an artifact. */
export interface BoundSlot {
  operation: string;
  /** Step id, for messages. */
  step_id: string;
  artifact: ResolvedArtifact;
  /** Place of the parameters of the step. */
  place: Place;
}

/**
 * Checks across steps: an artifact that is applied as a group fills every slot of that group, from one package.
 * An encoder whose decoder is another network would produce numbers that mean nothing.
 * @param slots all slots of a recipe that hold artifacts
 */
export function checkBindingGroups(slots: readonly BoundSlot[]): Diagnostic[] {
  return slots.flatMap(({ operation, step_id, artifact, place }) => {
    const { manifest, packageSha256, record } = artifact;
    if (manifest.application.mode !== "all_group_bindings") return [];
    const partners = manifest.compatible_operations.filter((row) =>
      row.binding_group === record.binding_group && row.operation !== operation
    );
    return partners.flatMap((partner) => {
      const bound = slots.some((slot) =>
        slot.operation === partner.operation && slot.artifact.packageSha256 === packageSha256
      );
      if (bound) return [];
      const message = `Cannot use half of ${manifest.id}: ${partner.operation} does not run the same package`;
      const hint = `Set artifact_package_sha256 of that step to ${packageSha256}`;
      const where = [...place, "artifact_package_sha256"];
      return [diagnostic("artifact_component_missing", where, message, { hint, step_id })];
    });
  });
}
