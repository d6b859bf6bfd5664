/**
 * A run as a Workflow Run RO-Crate: the files of the bundle, and `ro-crate-metadata.json` with time,
 * program, parameters and results of the run.
 *
 * Source: RO-Crate 1.1 (w3id.org/ro/crate/1.1); Workflow Run Crate 0.5 (w3id.org/ro/wfrun/workflow/0.5), which contains
 * Process Run Crate 0.5 and Workflow RO-Crate 1.0.
 */
import { basename, dirname, resolve } from "node:path";
import { hashFile } from "../artifact/hash_file.ts";
import { copyFile, inside, makeUserFolder, readFile, writeFile } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { MAX_ARCHIVE_BYTES } from "../artifact/zip_format.ts";
import { writeZip } from "../artifact/zip_write.ts";
import { SvcError } from "../contract/error.ts";
import { canonicalJson, prettyJson } from "../contract/json.ts";
import { bundlePath } from "../contract/names.ts";
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { coordinatesText } from "../recipe/variant_name.ts";
import type { SummaryDocument } from "./bundle_schema.ts";
import { type ByPath, openRun } from "./bundle_place.ts";
import { ARTIFACTS_FOLDER, CRATE_FILE, IMPORT_FILE, RECIPE_FILE } from "./documents.ts";
import { listFiles } from "./files.ts";
import { readDocument } from "./read.ts";
import { version } from "./version.ts";
import type { Workspace } from "./workspace.ts";

/** Profiles that the crate conforms to. */
const PROFILES = [
  ["https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate", "0.5"],
  ["https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"],
  ["https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"],
] as const;
const LANGUAGE = "#svc-recipe", ENGINE = "#svc", ACTION = "#run";

export interface CrateOptions extends ByPath {
  /** A new or empty folder, or a new ZIP file. */
  out: string;
  /** Default `ro-crate`, a folder. */
  format?: "ro-crate" | "zip";
  /** URL or name of the licence of the data; the crate says that none was declared when left out. */
  licence?: string;
}

export interface WrittenCrate {
  run_id: string;
  /** Absolute: the folder, or the ZIP file. */
  directory: string;
  /** Relative to it, sorted. */
  files: string[];
}

const reference = (id: string): JsonObject => ({ "@id": id });
/** A path as a URI reference. */
const uriOf = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/**
 * Writes a finished run as a crate.
 * @param wanted run id or a unique prefix
 * @throws SvcError `run_not_found`, `run_still_executing` for a run without an end, `usage_invalid` for an occupied folder
 */
export function exportCrate(
  workspace: Workspace,
  wanted: string,
  { out, licence, format, paths }: CrateOptions,
): WrittenCrate {
  const { run_id, directory, summary } = openRun(workspace, wanted, { paths });
  if (summary.status === "running") {
    throw new SvcError("run_still_executing", `Cannot export ${run_id}: it has not ended`, {
      hint: "Wait for its end",
    });
  }
  const files = listFiles(directory).map(({ path }) => bundlePath(path))
    .filter((path) => path !== IMPORT_FILE && path !== CRATE_FILE);
  const crate = prettyJson(crateOf(directory, summary, files, licence));
  const target = resolve(out), written = { run_id, directory: target, files: [CRATE_FILE, ...files].sort() };
  if (format === "zip") {
    writeArchive(target, run_id, [[CRATE_FILE, new TextEncoder().encode(crate)], ...contentsOf(directory, files)]);
    return written;
  }
  makeUserFolder(target);
  if (!Deno.readDirSync(target)[Symbol.iterator]().next().done) {
    throw new SvcError("usage_invalid", `Cannot write a crate to ${out}: the folder is not empty`, {
      hint: "Name a new folder with --out",
    });
  }
  for (const path of files) copyFile(inside(directory, path), inside(target, path));
  writeFile(inside(target, CRATE_FILE), crate);
  return written;
}

function* contentsOf(directory: string, files: readonly string[]): Generator<[string, Uint8Array]> {
  for (const path of files) yield [path, readFile(inside(directory, path), MAX_ARCHIVE_BYTES)];
}

/** Writes a ZIP file with one folder, named as the run. @throws SvcError `usage_invalid` where the file exists */
function writeArchive(target: string, folder: string, contents: readonly (readonly [string, Uint8Array])[]): void {
  if (exists(target)) {
    throw new SvcError("usage_invalid", `Cannot write ${target}: it exists`, { hint: "Name a new file with --out" });
  }
  makeUserFolder(dirname(target));
  writeFileAtomic(target, writeZip(contents.map(([path, bytes]) => ({ name: `${folder}/${path}`, parts: [bytes] }))));
}

function crateOf(
  directory: string,
  summary: SummaryDocument,
  files: readonly string[],
  licence: string | undefined,
): JsonObject {
  const recipe = readDocument(directory, RECIPE_FILE);
  const started = summary.created_at_utc, ended = summary.completed_at_utc;
  const parameters = recipe.steps.flatMap(({ id, params }) =>
    Object.entries(params).map(([name, value]) => property("parameter", `${id}.${name}`, value))
  );
  const metrics = summary.steps.flatMap(({ id, metrics }) =>
    Object.entries(metrics).map(([name, value]) => property("metric", `${id}/${name}`, value))
  );
  const artifacts = files.filter((path) => path.startsWith(`${ARTIFACTS_FOLDER}/`));
  const failed = summary.status !== "completed";
  return {
    "@context": ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"],
    "@graph": [
      {
        "@id": CRATE_FILE,
        "@type": "CreativeWork",
        conformsTo: [reference("https://w3id.org/ro/crate/1.1"), reference(PROFILES[2][0])],
        about: reference("./"),
      },
      {
        "@id": "./",
        "@type": "Dataset",
        name: `Run ${summary.run_id}`,
        description: recipe.description || `A run of the svc recipe ${title(recipe)}`,
        datePublished: ended ?? started,
        license: licence ?? "No licence was declared",
        conformsTo: PROFILES.map(([id]) => reference(id)),
        mainEntity: reference(RECIPE_FILE),
        mentions: [reference(ACTION)],
        hasPart: files.map((path) => reference(uriOf(path))),
      },
      ...PROFILES.map(([id, name, version]): JsonObject => ({ "@id": id, "@type": "CreativeWork", name, version })),
      { "@id": LANGUAGE, "@type": "ComputerLanguage", name: "svc recipe", version: String(recipe.schema_version) },
      { "@id": ENGINE, "@type": "SoftwareApplication", name: "svc", softwareVersion: version },
      {
        "@id": ACTION,
        "@type": "CreateAction",
        name: `Run of ${title(recipe)}`,
        instrument: reference(RECIPE_FILE),
        agent: reference(ENGINE),
        startTime: started,
        ...(ended === null ? {} : { endTime: ended }),
        actionStatus: reference(`http://schema.org/${failed ? "FailedActionStatus" : "CompletedActionStatus"}`),
        ...(failed ? { error: String(summary.error ?? summary.status) } : {}),
        object: parameters.map(({ "@id": id }) => reference(String(id))),
        result: [...artifacts.map(uriOf), ...metrics.map(({ "@id": id }) => String(id))].map(reference),
      },
      ...files.map((path) => fileEntity(directory, path, recipe)),
      ...parameters,
      ...metrics,
    ],
  };
}

/** The name of a recipe; of a variant, that of its recipe with the coordinates. */
function title({ name, metadata }: RecipeDocument): string {
  const { matrix_recipe, matrix_selection } = metadata;
  if (typeof matrix_recipe !== "string") return name;
  return isObject(matrix_selection) ? `${matrix_recipe} (${coordinatesText(matrix_selection)})` : matrix_recipe;
}

function property(what: string, name: string, value: Value): JsonObject {
  const plain = isNumber(value)
    ? toNumber(value)
    : typeof value === "string" || typeof value === "boolean"
    ? value
    : canonicalJson(value);
  return { "@id": `#${what}/${uriOf(name)}`, "@type": "PropertyValue", name, value: plain };
}

const FORMATS: Readonly<Record<string, string>> = {
  json: "application/json",
  npz: "application/zip",
  onnx: "application/octet-stream",
};

function fileEntity(directory: string, path: string, recipe: RecipeDocument): JsonObject {
  const format = FORMATS[/\.(\w+)$/.exec(path)?.[1] ?? ""] ?? "text/plain";
  const stored = hashFile(inside(directory, path));
  const file: JsonObject = {
    "@id": uriOf(path),
    "@type": "File",
    name: basename(path),
    contentSize: String(stored.size_bytes),
    encodingFormat: format,
    sha256: stored.sha256,
  };
  if (path !== RECIPE_FILE) return file;
  return {
    ...file,
    "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
    name: title(recipe),
    programmingLanguage: reference(LANGUAGE),
  };
}
