/**
 * Reads a manifest and reports all findings at once, each with its line.
 *
 * Reading only looks at files: no code of the adapter runs, and nothing outside the folder is read.
 */
import { join } from "node:path";
import { type Code, type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import * as kinds from "../contract/kinds.ts";
import { didYouMean, editDistance } from "../contract/nearest.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { attachLocations, decodeRecipeText, readRecipeText } from "../recipe/read.ts";
import type { Locate } from "../recipe/types.ts";
import { MANIFEST_FILES, plainPath, readFolder } from "./folder.ts";
import { resolveModule, resolvePython } from "./modules.ts";
import { isTaskWrap } from "./wraps.ts";
import { type AdapterFolder, type AdapterManifest, type AdapterOperation, type AdapterPackage } from "./types.ts";
import {
  type AdapterLimits,
  type AdapterModel,
  ARRAY_CALL_STYLES,
  type BitOrder,
  type BitStorage,
  type CallStyle,
  checkManifestForm,
  type PermissionSet,
  type PythonNeeds,
  TASK_CALL_STYLES,
  type Wrap,
  WRAPS,
  type WrittenManifest,
  type WrittenOperation,
} from "./manifest_schema.ts";

const DEFAULT_LIMITS: Readonly<AdapterLimits> = Object.freeze({ timeout_s: 60, memory_mb: 512 });
const PYTHON_MEMORY_MB = 1024;

/** Permissions of Deno that no adapter can have. */
const UNSUPPORTED = ["write", "run", "ffi", "sys", "import"];

/** A folder as far as it is readable. */
export interface ReadAdapter {
  /** Absolute path of the folder, or the given path if it does not exist. */
  root: string;
  folder: AdapterFolder | null;
  /** Null if the manifest is missing or unreadable. */
  text: { file: string; sha256: string; locate: Locate } | null;
  /** The manifest as written, if it is a mapping. */
  raw: JsonObject | null;
  /** Null if there is an error. */
  adapter: AdapterPackage | null;
  diagnostics: Diagnostic[];
}

/**
 * Reads the folder of an adapter.
 * @param path the folder
 * @returns the adapter, or all findings: codes `adapter_manifest_missing`, `adapter_manifest_invalid`,
 *   `adapter_wraps_unsupported`, `adapter_permission_unsupported`, `adapter_module_missing`, `adapter_module_remote`,
 *   `adapter_model_missing`, `adapter_model_hash_mismatch`, `adapter_load_failed`
 */
export function readAdapter(path: string): ReadAdapter {
  const { folder, diagnostics } = readFolder(path);
  const read: ReadAdapter = { root: folder?.root ?? path, folder, text: null, raw: null, adapter: null, diagnostics };
  if (folder === null) return read;
  const file = MANIFEST_FILES.find((name) => folder.files.some((entry) => entry.path === name))!;
  const decoded = decodeManifest(join(folder.root, file), file, diagnostics);
  if (decoded === null) return read;
  const { value, locate, bytes } = decoded;
  // The bytes read here must be those that were hashed with the folder.
  const sha256 = sha256Hex(bytes);
  read.text = { file, sha256, locate };
  if (folder.files.find((entry) => entry.path === file)?.sha256 !== sha256) {
    diagnostics.push(
      diagnostic("adapter_changed", [], `Cannot read ${file}: it changed while it was read`, { hint: "Try again" }),
    );
    return read;
  }
  const found = checkManifestForm(value);
  if (isObject(value)) {
    read.raw = value;
    found.push(...checkPermissions(value));
    if (!found.some(({ severity }) => severity === "error")) {
      const manifest = completeManifest(value as unknown as WrittenManifest, folder, found);
      if (found.length === 0) {
        read.adapter = { folder, manifest_file: file, manifest_sha256: sha256, manifest, locate };
      }
    }
  }
  diagnostics.push(...attachLocations(found, locate));
  return read;
}

function decodeManifest(path: string, file: string, diagnostics: Diagnostic[]) {
  try {
    const bytes = Deno.readFileSync(path);
    return { bytes, ...readRecipeText(decodeRecipeText(bytes, file), { file }) };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const found = error.diagnostics.length > 0 ? error.diagnostics : [diagnostic(error.code, [], error.message)];
    diagnostics.push(...found.map((item): Diagnostic => ({
      ...item,
      code: "adapter_manifest_invalid",
      message: item.message.replaceAll("a recipe has", "a manifest has"),
    })));
    return null;
  }
}

function checkPermissions(manifest: JsonObject): Diagnostic[] {
  const { permissions } = manifest;
  if (!isObject(permissions)) return [];
  const known = ["net", "read", "env"];
  return Object.keys(permissions).filter((name) => !known.includes(name)).map((name) =>
    UNSUPPORTED.includes(name)
      ? diagnostic("adapter_permission_unsupported", ["permissions", name], `Cannot request the permission ${name}`, {
        hint: "An adapter can request net, read and env only",
      })
      : diagnostic("adapter_manifest_invalid", ["permissions", name], `Cannot find a permission named ${name}`, {
        hint: didYouMean(name, known),
      })
  );
}

/** Adds defaults and checks rules that the schema cannot express. */
function completeManifest(value: WrittenManifest, folder: AdapterFolder, found: Diagnostic[]): AdapterManifest {
  const requested: Partial<PermissionSet> = value.permissions ?? {};
  const models = (value.models ?? []).map((model, index) => checkModel(model, ["models", index], folder, found));
  refuseDuplicates(models.map(({ id }) => id), (index) => ["models", index, "id"], "model", found);
  const python = pythonNeeds(value, found);
  const operations = value.operations.map((row, index) =>
    completeOperation(row, index, { folder, python: python !== undefined, found })
  );
  refuseDuplicates(operations.map(({ id }) => id), (index) => ["operations", index, "id"], "operation", found);
  return {
    schema_version: 1,
    name: value.name,
    version: value.version,
    description: value.description ?? "",
    ...(python === undefined ? {} : { python }),
    permissions: {
      net: [...new Set(requested.net ?? [])],
      read: [...new Set(requested.read ?? [])],
      env: [...new Set(requested.env ?? [])],
    },
    limits: {
      ...DEFAULT_LIMITS,
      ...(python === undefined ? {} : { memory_mb: PYTHON_MEMORY_MB }),
      ...value.limits,
    },
    models,
    ...(value.training === undefined ? {} : { training: value.training }),
    operations,
  };
}

/** The needs of a Python adapter; undefined for another one. */
function pythonNeeds({ runtime, python, permissions }: WrittenManifest, found: Diagnostic[]): PythonNeeds | undefined {
  if (runtime !== "python") {
    if (python === undefined) return undefined;
    const hint = "Add runtime: python, or remove it";
    found.push(diagnostic("adapter_manifest_invalid", ["python"], "Cannot use python without its runtime", { hint }));
    return undefined;
  }
  const { net = [], env = [] } = permissions ?? {};
  if (net.length > 0) {
    found.push(
      diagnostic("adapter_permission_unsupported", ["permissions", "net"], "Cannot request net for a Python adapter", {
        hint: "It has no network; fetch data before, and request read",
      }),
    );
  }
  // They change which code the interpreter runs.
  for (const [index, name] of env.entries()) {
    if (!/^(?:PYTHON|LD_)/.test(name)) continue;
    const place = ["permissions", "env", index], message = `Cannot request the environment variable ${name}`;
    found.push(
      diagnostic("adapter_permission_unsupported", place, message, { hint: "Its code must be in the folder" }),
    );
  }
  return { requires: [], interpreter: "python3", ...python };
}

function refuseDuplicates(ids: string[], place: (index: number) => Place, what: string, found: Diagnostic[]): void {
  ids.forEach((id, index) => {
    if (ids.indexOf(id) === index) return;
    found.push(diagnostic("adapter_manifest_invalid", place(index), `Cannot declare the ${what} ${id} twice`, {
      hint: `Give every ${what} a unique id`,
    }));
  });
}

function checkModel(model: AdapterModel, place: Place, folder: AdapterFolder, found: Diagnostic[]): AdapterModel {
  const path = plainPath(model.path);
  const file = folder.files.find((entry) => entry.path === path);
  if (path === null) {
    found.push(
      diagnostic(
        "adapter_model_missing",
        [...place, "path"],
        `Cannot use ${model.path}: models must be in the folder`,
        {
          hint: "Give a path inside the folder, without ..",
        },
      ),
    );
  } else if (file === undefined) {
    found.push(diagnostic("adapter_model_missing", [...place, "path"], `Cannot find the model file ${path}`, {
      hint: didYouMean(path, folder.files.map((entry) => entry.path)),
    }));
  } else if (file.sha256 !== model.sha256) {
    found.push(
      diagnostic("adapter_model_hash_mismatch", [...place, "sha256"], `Cannot use ${path}: its SHA-256 differs`, {
        hint: `The file has the SHA-256 ${file.sha256}`,
      }),
    );
  }
  return { id: model.id, path: path ?? model.path, sha256: model.sha256 };
}

function isBitWrap(wraps: Wrap): boolean {
  return wraps === "model.external_encode_bits" || wraps === "model.external_decode_bits";
}

function completeOperation(
  row: WrittenOperation,
  index: number,
  { folder, python, found }: { folder: AdapterFolder; python: boolean; found: Diagnostic[] },
): AdapterOperation {
  const place = ["operations", index];
  const refuse = (code: Code, at: Place, message: string, hint: string | null = null) =>
    found.push(diagnostic(code, [...place, ...at], message, { hint }));
  const wraps = row.wraps as Wrap;
  const known = [...WRAPS, "custom"], custom = wraps === "custom";
  if (!known.includes(wraps)) {
    const hint = didYouMean(wraps, known) ?? `Known: ${known.join(", ")}`;
    refuse("adapter_wraps_unsupported", ["wraps"], `Cannot wrap ${wraps}`, hint);
  }
  const ports = custom ? customPorts(row, refuse) : {};
  for (const name of custom ? [] : ["inputs", "outputs", "params"] as const) {
    if (row[name] === undefined) continue;
    const hint = name === "params" ? "Name its parameters in params_schema" : "Ports of your own need wraps: custom";
    refuse("adapter_manifest_invalid", [name], `Cannot use ${name} with ${wraps}`, hint);
  }
  if (row.params !== undefined && row.params_schema !== undefined) {
    refuse("adapter_manifest_invalid", ["params"], "Cannot use both params and params_schema", "Keep one of the two");
  }
  const call = row.adapter, fixed = row.fixed_params ?? {};
  const schema = withClosedEnd(row.params_schema ?? row.params ?? { type: "object", properties: {} });
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const name of Object.keys(fixed)) {
    if (Object.hasOwn(properties, name)) {
      refuse(
        "adapter_manifest_invalid",
        ["fixed_params", name],
        `Cannot fix ${name}: it is also in params_schema`,
        "Keep one of the two",
      );
    }
  }
  const styles: readonly string[] = custom
    ? ["array_params", "dict"]
    : isTaskWrap(wraps)
    ? TASK_CALL_STYLES
    : ARRAY_CALL_STYLES;
  const style = call.call_style ?? (isTaskWrap(wraps) ? "dict" : "array_params");
  if (!styles.includes(style)) {
    refuse(
      "adapter_manifest_invalid",
      ["adapter", "call_style"],
      `Cannot call ${wraps} in the style ${style}`,
      `Known: ${styles.join(", ")}`,
    );
  }
  return {
    index,
    id: row.id,
    name: row.name,
    ...(row.description === undefined ? {} : { description: row.description }),
    wraps,
    ...ports,
    adapter: {
      path: resolvedModule(call, { folder, python, found }, place),
      callable: call.callable,
      call_style: style as CallStyle,
      bit_storage: bitChoice<BitStorage>("bit_storage", "unpacked_bits", ["unpacked_bits", "packed_bytes"]),
      bit_order: bitChoice<BitOrder>("bit_order", "big", ["big", "little"]),
    },
    fixed_params: fixed,
    params_schema: schema,
    ...optional(row, ["differentiability", "backends", "equivalence", "formats", "materializations"]),
  };

  /** Declared for the callable, or in the fixed parameters. */
  function bitChoice<T extends string>(name: "bit_storage" | "bit_order", fallback: T, choices: T[]): T {
    const declared = call[name] ?? fixed[name];
    if (declared === undefined) return fallback;
    const at = call[name] === undefined ? ["fixed_params", name] : ["adapter", name];
    if (!isBitWrap(wraps)) {
      refuse(
        "adapter_manifest_invalid",
        at,
        `Cannot use ${name} with ${wraps}`,
        "it is for contracts with bits",
      );
    } else if (!choices.includes(declared as T)) {
      refuse("adapter_manifest_invalid", at, `Cannot use this value as ${name}`, `Known: ${choices.join(", ")}`);
    } else if (call[name] !== undefined && fixed[name] !== undefined && call[name] !== fixed[name]) {
      refuse("adapter_manifest_invalid", at, `Cannot declare two values of ${name}`, "Keep one of the two");
    }
    return declared as T;
  }
}

const PORT = /^[a-z][a-z0-9_]*$/;
const KIND = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*\.(?:numpy|complex_numpy|json)$/;
/** Kinds of the program that a misspelt one is compared with; operations have further ones of their field. */
const KNOWN_KINDS: readonly string[] = [...Object.values(kinds).flat(), kinds.REPORT]
  .filter((kind) => typeof kind === "string" && (KIND.test(kind) || kind === kinds.REPORT)).map(String);

/** The ports of an operation that wraps no contract. */
function customPorts(
  row: WrittenOperation,
  refuse: (code: Code, at: Place, message: string, hint?: string | null) => void,
): Pick<AdapterOperation, "inputs" | "outputs"> {
  const kind = (value: Value, at: Place): string => {
    const text = String(value);
    if (KNOWN_KINDS.includes(text)) return text;
    const misspelt = KNOWN_KINDS.some((name) => editDistance(name, text.slice(0, 100)) <= 2);
    if (typeof value !== "string" || !KIND.test(text) || misspelt) {
      const hint = "A kind ends in .numpy, .complex_numpy or .json, such as channel.symbols.complex_numpy";
      const message = `Cannot use ${JSON.stringify(text.slice(0, 100))} as the kind of a port`;
      refuse("adapter_manifest_invalid", at, message, didYouMean(text, KNOWN_KINDS) ?? hint);
    }
    return text;
  };
  const each = <T>(name: "inputs" | "outputs", read: (value: Value, at: Place) => T): Record<string, T> =>
    Object.fromEntries(
      Object.entries(row[name] ?? {}).map(([port, value]) => {
        if (!PORT.test(port)) {
          const hint = "A port has lower-case letters, digits and _";
          refuse("adapter_manifest_invalid", [name, port], `Cannot name a port ${port}`, hint);
        }
        return [port, read(value, [name, port])];
      }),
    );
  const inputs = each("inputs", (value, at) => {
    const given = Array.isArray(value) ? value : [value];
    if (given.length === 0) refuse("adapter_manifest_invalid", at, "Cannot use an input without a kind");
    const found = given.map((one, index) => kind(one, Array.isArray(value) ? [...at, index] : at));
    if (new Set(found.map(kinds.formatOfKind)).size > 1) {
      refuse("adapter_manifest_invalid", at, "Cannot use kinds of arrays and of documents at one input");
    }
    return found;
  });
  const outputs = each("outputs", kind);
  if (Object.keys(outputs).length === 0) {
    const hint = "outputs: {symbols: channel.symbols.complex_numpy}, or {report: metrics.report} for a metric";
    refuse("adapter_manifest_invalid", ["outputs"], "Cannot use an operation without an output", hint);
  }
  return { inputs, outputs };
}

/** Undeclared parameters are refused unless the author allows them. */
function withClosedEnd(schema: JsonObject): JsonObject {
  return schema.additionalProperties === undefined ? { ...schema, additionalProperties: false } : schema;
}

function optional<Name extends keyof WrittenOperation>(
  row: WrittenOperation,
  names: Name[],
): Pick<WrittenOperation, Name> {
  return Object.fromEntries(
    names.filter((name) => row[name] !== undefined).map((name) => [name, row[name]]),
  ) as Pick<WrittenOperation, Name>;
}

/** The path of the callable's module, checked with all of its imports. */
function resolvedModule(
  { path, module }: WrittenOperation["adapter"],
  { folder, python, found }: { folder: AdapterFolder; python: boolean; found: Diagnostic[] },
  place: Place,
): string {
  const at = [...place, "adapter"];
  if ((path === undefined) === (module === undefined)) {
    found.push(diagnostic("adapter_manifest_invalid", at, "Cannot find the module of the callable", {
      hint: "Give path, a file of the folder, or module, a name of its import map",
    }));
    return path ?? "";
  }
  if (!python && path?.endsWith(".py")) {
    const hint = "Add runtime: python to the manifest";
    found.push(diagnostic("adapter_manifest_invalid", [...at, "path"], `Cannot run ${path} with Deno`, { hint }));
    return path;
  }
  const resolved = python ? resolvePython(folder, { path, module }, at, found) : null;
  return resolved ?? (python ? null : resolveModule(folder, { path, module }, at, found)) ?? path ?? "";
}
