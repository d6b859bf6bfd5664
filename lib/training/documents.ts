/** Reads the documents of a package: text to typed values, then schema, then the rules that a schema cannot say. */
import { type Code, type Diagnostic, diagnostic, findingsOf, type Place, SvcError } from "../contract/error.ts";
import { Suggestions } from "../contract/nearest.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { canonicalJson } from "../contract/json.ts";
import { readJson } from "../recipe/json_reader.ts";
import type { Locate } from "../recipe/types.ts";
import { readYaml } from "../recipe/yaml_reader.ts";
import { foldedName, MANIFEST_NAMES, unsafeName } from "./member_names.ts";
import {
  checkManifestForm,
  checkSlotContractForm,
  partnerRole,
  type SlotContract,
  type SupportFile,
  type TrainedManifest,
} from "./types.ts";

export interface ReadDocument {
  value: Value | null;
  locate?: Locate;
  diagnostics: Diagnostic[];
}

/**
 * Reads YAML, or JSON by its suffix; syntax errors become `artifact_schema_invalid`.
 * @param file name for messages and locations
 */
export function readDocument(bytes: Uint8Array, file: string): ReadDocument {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.slice());
    return { ...(/\.json$/i.test(file) ? readJson : readYaml)(text, file), diagnostics: [] };
  } catch (error) {
    if (error instanceof TypeError) {
      const message = `Cannot read ${file}: it is no UTF-8 text`;
      return { value: null, diagnostics: [diagnostic("artifact_schema_invalid", [], message)] };
    }
    if (!(error instanceof SvcError)) throw error;
    const code = (own: string) =>
      own === "recipe_limit_exceeded" ? "artifact_limit_exceeded" : "artifact_schema_invalid";
    return { value: null, diagnostics: findingsOf(error).map((item) => ({ ...item, code: code(item.code) })) };
  }
}

/**
 * Checks a manifest: version, schema, and that everything it names is named once and is there to be named.
 * @returns every problem: `artifact_version_unsupported` alone where the version is another, else
 *   `artifact_schema_invalid`, `artifact_version_unsupported`, `artifact_member_unsafe`, `artifact_component_missing`
 */
export function checkManifest(document: Value, manifestName = "trained_artifact.yaml"): Diagnostic[] {
  const version = isObject(document) ? document.schema_version : undefined;
  if (version !== undefined && version !== 2) {
    return [
      unsupported(["schema_version"], `Cannot read schema version ${canonicalJson(version)} of a trained artifact`, 2),
    ];
  }
  const problems = checkManifestForm(document);
  return problems.length > 0 ? problems : checkRules(document as TrainedManifest, manifestName);
}

function unsupported(place: Place, message: string, ...known: number[]): Diagnostic {
  const hint = `This version reads ${known.join(" and ")}`;
  return diagnostic("artifact_version_unsupported", place, message, { hint });
}

/** Support files of a manifest, which may leave them out. */
export function supportFiles(manifest: TrainedManifest): SupportFile[] {
  return manifest.support_files ?? [];
}

function checkRules(manifest: TrainedManifest, manifestName: string): Diagnostic[] {
  const problems: Diagnostic[] = [], suggestions = new Suggestions();
  const report = (code: Code, place: Place, message: string, hint: string | null = null) =>
    problems.push(diagnostic(code, place, message, { hint }));
  const { components, runtime, application, compatible_operations: rows, contract } = manifest;

  if (runtime.abi_version !== 1 && runtime.abi_version !== 2) {
    const message = `Cannot run an artifact of ABI version ${canonicalJson(runtime.abi_version)}`;
    problems.push(unsupported(["runtime", "abi_version"], message, 1, 2));
  }

  const paths = new Map<string, string>([[foldedName(manifestName), "the manifest"]]);
  const claim = (path: string, place: Place, what: string) => {
    const why = unsafeName(path);
    if (why !== null) return report("artifact_member_unsafe", place, `Cannot use ${JSON.stringify(path)}: ${why}`);
    if (MANIFEST_NAMES.includes(path.split("/").at(-1)!)) {
      return report(
        "artifact_manifest_ambiguous",
        place,
        `Cannot use ${path} for ${what}: its name is that of a manifest`,
      );
    }
    const taken = paths.get(foldedName(path));
    if (taken !== undefined) {
      report("artifact_schema_invalid", place, `Cannot use ${path} for ${what}: it is ${taken} already`);
    }
    paths.set(foldedName(path), what);
  };
  claim(contract.path, ["contract", "path"], "the slot contract");
  components.forEach(({ id, path }, index) => claim(path, ["components", index, "path"], `the component ${id}`));
  supportFiles(manifest).forEach(({ path }, index) => claim(path, ["support_files", index, "path"], "a support file"));

  const unique = (ids: readonly string[], place: (index: number) => Place, what: string) =>
    ids.forEach((id, index) => {
      if (ids.indexOf(id) !== index) report("artifact_schema_invalid", place(index), `Cannot name two ${what} ${id}`);
    });
  unique(components.map(({ id }) => id), (index) => ["components", index, "id"], "components");
  unique(runtime.entrypoints.map(({ id }) => id), (index) => ["runtime", "entrypoints", index, "id"], "entrypoints");
  unique(
    rows.map(({ operation, binding_group = "" }) =>
      `${operation}${binding_group === "" ? "" : ` in ${binding_group}`}`
    ),
    (index) => ["compatible_operations", index, "operation"],
    "bindings of",
  );

  const componentIds = components.map(({ id }) => id);
  runtime.entrypoints.forEach(({ component, inputs, outputs }, index) => {
    const place = ["runtime", "entrypoints", index];
    if (!componentIds.includes(component)) {
      report(
        "artifact_component_missing",
        [...place, "component"],
        `Cannot find the component ${component}`,
        suggestions.for(component, componentIds),
      );
    }
    for (const [side, values] of [["inputs", inputs], ["outputs", outputs]] as const) {
      unique(values.map(({ name }) => name), (at) => [...place, side, at, "name"], side);
      values.forEach(({ shape }, at) =>
        shape.forEach((size, axis) => {
          if (typeof size === "string" || size >= 1) return;
          report("artifact_schema_invalid", [...place, side, at, "shape", axis], `Cannot use ${size} as a size`);
        })
      );
    }
  });

  const entrypointIds = runtime.entrypoints.map(({ id }) => id);
  rows.forEach(({ runtime_entrypoint: wanted, binding_group: group }, index) => {
    const place = ["compatible_operations", index];
    if (!entrypointIds.includes(wanted)) {
      report(
        "artifact_abi_mismatch",
        [...place, "runtime_entrypoint"],
        `Cannot find the entrypoint ${wanted}`,
        suggestions.for(wanted, entrypointIds),
      );
    }
    if (application.mode === "all_group_bindings" && group === undefined) {
      report(
        "artifact_schema_invalid",
        [...place, "binding_group"],
        "Cannot apply all bindings of a group that is not named",
        "Set binding_group on every row",
      );
    }
  });
  problems.push(...checkJointCodecs(manifest), ...checkPublication(manifest));
  return problems;
}

function checkJointCodecs(manifest: TrainedManifest): Diagnostic[] {
  return manifest.components.flatMap(({ id, role }, index) => {
    const partner = partnerRole(role);
    if (partner === undefined || manifest.components.some((other) => other.role === partner)) return [];
    return [diagnostic(
      "artifact_component_missing",
      ["components", index],
      `Cannot use the component ${id} alone: it was trained together with a ${partner}`,
      { hint: `Add the component of role ${partner}` },
    )];
  });
}

function checkPublication(manifest: TrainedManifest): Diagnostic[] {
  if (manifest.publication === undefined) return [];
  const { path, sha256 } = manifest.publication.selection_history;
  const listed = supportFiles(manifest).find((file) => file.path === path);
  if (listed?.role === "model_selection_history" && listed.sha256 === sha256) return [];
  return [diagnostic(
    "artifact_schema_invalid",
    ["publication", "selection_history", "path"],
    `Cannot use ${path} as selection history: support_files does not list it with that role`,
    { hint: "List it among support_files with the role model_selection_history and the same sha256" },
  )];
}

/** Checks a slot contract against its schema; its content is compared elsewhere. */
export function checkSlotContract(document: Value, path: string): Diagnostic[] {
  const version = isObject(document) ? document.schema_version : undefined;
  if (version !== undefined && version !== 1) {
    return [unsupported(["contract", "path"], `Cannot read schema version ${canonicalJson(version)} of ${path}`, 1)];
  }
  // Its places are not places of the manifest.
  return checkSlotContractForm(document)
    .map((item) => ({
      ...diagnostic(item.code, ["contract", "path"], `${item.message} at ${item.path} of ${path}`, item),
    }));
}

/** Narrows a document that {@link checkSlotContract} has accepted. */
export const asSlotContract = (document: Value): SlotContract => document as JsonObject as SlotContract;
