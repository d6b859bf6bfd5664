/**
 * Finds the files of a named model: a bundled package, a fetched model, or a file or folder of the project, in this
 * order. Every file is hashed; nothing is run or fetched.
 */
import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRacy } from "../artifact/file_age.ts";
import { hashFile } from "../artifact/hash_file.ts";
import { checkValue } from "../contract/schema.ts";
import { resolveRecipePath } from "../artifact/recipe_path.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import type { ModelRequest } from "../contract/operation.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { parseYaml } from "../contract/yaml.ts";
import { SESSION_LIMITS_SCHEMA, type SessionLimits, sessionLimits } from "../onnx/limits.ts";
import { type KnownModel, knownModel } from "./known_models.ts";
import { fetchedRevisions, isModelName, modelFolder, readFetchRecord } from "./store.ts";
import type { ModelFile, ModelLack, ModelPlaces, ResolvedModel } from "./types.ts";

const NOT_FETCHED = "it is not fetched to this machine";

export function isModel(found: ResolvedModel | ModelLack): found is ResolvedModel {
  return "files" in found;
}

interface Found {
  source: "program" | "fetched" | "project";
  folder: string;
  revision?: string;
  /** The file for an id of a single file, which stands for the first requested file. */
  single?: string;
  /** Digests recorded by the fetch. */
  recorded?: Readonly<Record<string, { sha256: string }>>;
}

/**
 * Finds a model.
 * @returns its files with their digests, or why it is unusable
 */
export function resolveModel(request: ModelRequest, places: ModelPlaces): ResolvedModel | ModelLack {
  let found: Found | ModelLack;
  try {
    found = locate(request, places);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return lack(error.message, { hint: error.hint });
  }
  if ("code" in found) return found;
  try {
    return collect(request, found, limitsOf(found.folder));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return lack(error.message, { code: error.code, hint: error.hint });
  }
}

/** The manifest of a package, with the limits of its models. */
const MANIFEST = "trained_artifact.yaml", MAX_MANIFEST_BYTES = 2 * 2 ** 20;

/** Limits by the text of the manifest: one is asked for by many recipes of a list, and at every point of a matrix. */
const knownLimits = new Map<string, SessionLimits>();

/** The limits that a package requests, or the defaults. @throws SvcError `artifact_schema_invalid` */
function limitsOf(folder: string): SessionLimits {
  const path = join(folder, MANIFEST), info = lstatSync(path, { throwIfNoEntry: false });
  if (!info?.isFile()) return sessionLimits();
  const invalid = (why: string, hint: string | null = null) =>
    new SvcError("artifact_schema_invalid", `Cannot read ${path}: ${why}`, { hint });
  if (info.size > MAX_MANIFEST_BYTES) throw invalid(`it has more than ${MAX_MANIFEST_BYTES} bytes`);
  let manifest: Value, text: string;
  try {
    text = Deno.readTextFileSync(path);
    const known = knownLimits.get(text);
    if (known !== undefined) return known;
    manifest = parseYaml(text);
  } catch (error) {
    throw invalid(messageOf(error));
  }
  const runtime = isObject(manifest) && isObject(manifest.runtime) ? manifest.runtime : {};
  const asked = runtime.limits === undefined ? {} : runtime.limits;
  const [problem] = checkValue(SESSION_LIMITS_SCHEMA, asked, [], { code: "artifact_schema_invalid" });
  if (problem !== undefined) throw invalid(`runtime.limits: ${problem.message}`, problem.hint);
  const limits = sessionLimits(asked as Partial<SessionLimits>);
  if (knownLimits.size >= MAX_DIGESTS) knownLimits.clear();
  knownLimits.set(text, limits);
  return limits;
}

function locate(request: ModelRequest, places: ModelPlaces): Found | ModelLack {
  const { id } = request;
  if (id.trim() === "") return lack("no model is named");
  if (/^https?:/.test(id)) return locateUrl(request, places);
  if (isModelName(id)) {
    const bundled = places.programRoot && join(places.programRoot, "recipes", "models", id);
    if (bundled && !id.includes("/") && isFolder(bundled)) return { source: "program", folder: bundled };
    const fetched = locateFetched(request, places);
    if (fetched !== null) return fetched;
  }
  const path = resolveRecipePath(id, places);
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info?.isDirectory()) return { source: "project", folder: path };
  if (info?.isFile()) return { source: "project", folder: dirname(path), single: basename(path) };
  const known = knownModel(id);
  if (known) return lack(NOT_FETCHED, remedyOf(known));
  return lack("it is neither a bundled nor a fetched model, nor a file or folder of the project");
}

function locateFetched(request: ModelRequest, { stateDir }: ModelPlaces): Found | ModelLack | null {
  const { id, revision = "" } = request;
  const revisions = fetchedRevisions(stateDir, id);
  if (revisions.length === 0) return null;
  const wanted = revision || knownModel(id)?.revision || (revisions.length === 1 ? revisions[0] : "");
  if (wanted === "") {
    return lack(`it was fetched in several revisions: ${revisions.join(", ")}`, {
      hint: "Select one with model_revision",
    });
  }
  if (!revisions.includes(wanted)) {
    return lack(`its revision ${wanted} is not fetched; fetched are ${revisions.join(", ")}`, {
      fetch: `svc models fetch ${id} --revision ${wanted}`,
    });
  }
  const folder = join(modelFolder(stateDir, id), wanted);
  return { source: "fetched", folder, revision: wanted, recorded: readFetchRecord(folder).files };
}

/** A model at an address is identified by the digest in the recipe. */
function locateUrl(request: ModelRequest, { stateDir }: ModelPlaces): Found | ModelLack {
  const { id, sha256 = "" } = request;
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    return lack("a model at an address needs the SHA-256 of its file", { hint: "Set expected_model_sha256" });
  }
  const folder = join(stateDir, "models", "url", sha256);
  const name = basename(new URL(id).pathname) || "model.onnx";
  if (lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile()) {
    return { source: "fetched", folder, single: name, revision: sha256 };
  }
  return lack(NOT_FETCHED, { fetch: `svc models fetch ${id} --sha256 ${sha256}` });
}

function collect(request: ModelRequest, found: Found, limits: SessionLimits): ResolvedModel | ModelLack {
  const { files: required, optionalFiles = [], sha256 = "" } = request;
  if (found.single !== undefined && required.length > 1) {
    const others = required.slice(1).join(", ");
    return lack(`it is a single file, and ${others} ${required.length > 2 ? "are" : "is"} also required`);
  }
  const files: Record<string, ModelFile> = {};
  const missing: string[] = [];
  const names = found.single === undefined ? [...required, ...optionalFiles] : [required[0]];
  for (const name of names) {
    const path = join(found.folder, found.single ?? name);
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info === undefined || !info.isFile()) {
      if (required.includes(name)) missing.push(name);
      continue;
    }
    files[name] = { path, sha256: digestOf(path, info), size_bytes: info.size };
    const recorded = found.recorded?.[name]?.sha256;
    if (recorded !== undefined && recorded !== files[name].sha256) {
      return lack(`${name} differs from the fetched file`, {
        code: "artifact_hash_mismatch",
        hint: `Its SHA-256 is ${files[name].sha256}, the fetched file's is ${recorded}; fetch it again`,
      });
    }
  }
  if (missing.length > 0) {
    return lack(`it lacks ${missing.join(", ")}`, { hint: `Expected in ${found.folder}` });
  }
  const main = files[required[0]];
  if (sha256 !== "" && main.sha256 !== sha256.toLowerCase()) {
    return lack(`the SHA-256 of ${required[0]} is ${main.sha256}`, {
      code: "artifact_hash_mismatch",
      hint: `The recipe states ${sha256}`,
    });
  }
  const digests = Object.fromEntries(
    Object.entries(files).map(([name, { sha256, size_bytes }]) => [name, { sha256, size_bytes }]),
  );
  const record: JsonObject = {
    id: request.id,
    source: found.source,
    ...(found.revision === undefined ? {} : { revision: found.revision }),
    files: digests,
    limits,
  };
  return { record, files };
}

/** Digests of unchanged files: large models are requested for every point of a matrix. */
const digests = new Map<string, string>();
const MAX_DIGESTS = 512;

function digestOf(path: string, { size, mtimeMs, ino }: { size: number; mtimeMs: number; ino: number }): string {
  const key = canonicalJson([path, String(size), String(mtimeMs), String(ino)]);
  let digest = digests.get(key);
  if (digest === undefined) {
    if (digests.size >= MAX_DIGESTS) digests.clear();
    const racy = isRacy(mtimeMs);
    digest = hashFile(path).sha256;
    if (!racy) digests.set(key, digest);
  }
  return digest;
}

function lack(reason: string, remedy: Partial<ModelLack> = {}): ModelLack {
  return { code: "model_unavailable", reason, hint: null, fetch: null, ...remedy };
}

/** The command or hint that provides a published model. */
function remedyOf({ id, repository, revision, remedy }: KnownModel): Pick<ModelLack, "hint" | "fetch"> {
  if (repository === null) return { hint: `${remedy[0].toUpperCase()}${remedy.slice(1)}`, fetch: null };
  const fetch = `svc models fetch ${id}${revision === null ? " --revision <commit>" : ""}`;
  return { hint: `Run ${fetch}, or ${remedy}`, fetch };
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
