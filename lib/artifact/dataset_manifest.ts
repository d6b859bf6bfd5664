/**
 * Image-dataset manifests: which picture files a data set consists of, where each comes from, and which split it is in.
 *
 * Rules beyond the schema: a sample id is unique; a split names samples that exist; a sample is in at most one split;
 * samples that share a group, a source or an ancestor are in the same split, so that nothing seen in training returns in
 * a test; samples in no split are allowed and unused; `path` stays inside `root`, which is relative to the manifest.
 * Digests: `sha256` of the file, `source_sha256` of the untransformed original, `post_transform_sha256` of the decoded
 * 8-bit samples in C order, `transform_fingerprint_sha256` of the canonical JSON of `transform`.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, extname, join, posix, resolve } from "node:path";
import { type Diagnostic, diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { compareCodePoints, parseJson } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { IMAGE_MANIFEST_SCHEMA } from "./dataset_manifest_schema.ts";
import { hashFile } from "./hash_file.ts";
import { checkDocument, repeatedKey } from "./json_schema.ts";

/** A sample; `post_transform_sha256` may be there as well. */
export interface ImageSample extends JsonObject {
  sample_id: string;
  path: string;
  sha256: string;
  source_id: string;
  group_id: string;
  source_sha256: string;
  ancestry_ids: string[];
  transform: JsonObject;
  transform_fingerprint_sha256: string;
}

/** A manifest that was checked; `source_page`, `license` and the publication members may be there as well. */
export interface ImageManifest extends JsonObject {
  schema_version: 1;
  kind: "svc.image_dataset_manifest";
  id: string;
  version: string | number | bigint;
  root: string;
  splits: { [name: string]: string[] };
  samples: ImageSample[];
}

/**
 * Checks a manifest against its schema and rules; files are not looked at.
 *
 * @returns every problem: `manifest_schema_invalid`; when the schema holds, `manifest_sample_duplicate`,
 * `manifest_split_sample_unknown`, `manifest_split_overlap`, `manifest_split_leak`, `manifest_path_unsafe`,
 * `manifest_fingerprint_mismatch`
 */
export function checkImageManifest(document: Value): Diagnostic[] {
  const problems = checkDocument(IMAGE_MANIFEST_SCHEMA, document, "manifest_schema_invalid");
  return problems.length > 0 ? problems : checkRules(document as ImageManifest);
}

function checkRules(manifest: ImageManifest): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const report = (code: string, place: (string | number)[], message: string, hint: string | null = null) =>
    problems.push(diagnostic(code, place, message, { hint }));

  const samples = new Map<string, ImageSample>();
  manifest.samples.forEach((sample, index) => {
    const place = ["samples", index];
    const { sample_id: id, path, transform } = sample;
    if (samples.has(id)) report("manifest_sample_duplicate", [...place, "sample_id"], `Cannot name two samples ${id}`);
    samples.set(id, sample);
    if (!isPlainPath(path)) {
      report("manifest_path_unsafe", [...place, "path"], `Cannot use the path ${path}: it must stay inside the root`);
    }
    if (sha256Json(transform) !== sample.transform_fingerprint_sha256) {
      report(
        "manifest_fingerprint_mismatch",
        [...place, "transform_fingerprint_sha256"],
        `Cannot accept the fingerprint of sample ${id}: its transform has another one`,
        `The SHA-256 of its canonical JSON is ${sha256Json(transform)}`,
      );
    }
  });

  const splitOf = new Map<string, string>();
  // Kind and id of an origin, and the split and sample that it was first seen in.
  const origins = new Map<string, { split: string; sample: string }>();
  for (const [split, ids] of Object.entries(manifest.splits)) {
    ids.forEach((id, index) => {
      const place = ["splits", split, index];
      const sample = samples.get(id);
      if (sample === undefined) {
        const hint = didYouMean(id, [...samples.keys()]);
        return report("manifest_split_sample_unknown", place, `Cannot find the sample ${id}`, hint);
      }
      const earlier = splitOf.get(id);
      if (earlier !== undefined) {
        return report("manifest_split_overlap", place, `Cannot put the sample ${id} in ${split}: it is in ${earlier}`);
      }
      splitOf.set(id, split);
      for (const origin of originsOf(sample)) {
        const first = origins.get(origin);
        if (first === undefined) origins.set(origin, { split, sample: id });
        else if (first.split !== split) {
          const shared = origin.replace(":", " ");
          report(
            "manifest_split_leak",
            place,
            `Cannot put the sample ${id} in ${split}: it shares the ${shared} with ${first.sample} in ${first.split}`,
            "Put both in the same split",
          );
          break;
        }
      }
    });
  }
  return problems;
}

function originsOf(sample: ImageSample): string[] {
  return [
    `group:${sample.group_id}`,
    `source:${sample.source_id}`,
    ...sample.ancestry_ids.map((ancestor) => `ancestor:${ancestor}`),
  ];
}

/** Relative, with `/` between parts, and without empty, `.` and `..` parts, schemes and control characters. */
function isPlainPath(path: string): boolean {
  // deno-lint-ignore no-control-regex -- control characters are what is refused
  if (/[\\\u0000-\u001f]/.test(path) || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path)) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/**
 * Reads a manifest.
 *
 * @throws SvcError `dataset_manifest_invalid` with every problem
 */
export function parseImageManifest(contents: Uint8Array | string): ImageManifest {
  const invalid = (why: string, diagnostics: Diagnostic[] = []) =>
    new SvcError("dataset_manifest_invalid", `Cannot use the image-dataset manifest: ${why}`, {
      diagnostics,
      hint: diagnostics[0]?.hint,
    });
  let document: Value;
  let text: string;
  try {
    text = typeof contents === "string" ? contents : new TextDecoder("utf-8", { fatal: true }).decode(contents.slice());
    document = parseJson(text);
  } catch (error) {
    throw invalid(messageOf(error));
  }
  const repeated = repeatedKey(text);
  if (repeated !== null) throw invalid(`the key ${repeated} stands twice in one object`);
  const problems = checkImageManifest(document);
  if (problems.length > 0) throw invalid(summary(problems), problems);
  return document as ImageManifest;
}

function summary(problems: readonly Diagnostic[]): string {
  const [{ path, message }] = problems, more = problems.length - 1;
  return `${path}: ${message}${more > 0 ? ` (and ${more} more)` : ""}`;
}

/**
 * The path of a sample's file in the form that recipes use, from the path of its manifest.
 *
 * @param manifestPath path of the manifest file, `/` between parts
 */
export function samplePath(manifestPath: string, manifest: ImageManifest, sample: ImageSample): string {
  if (posix.isAbsolute(manifest.root)) return posix.join(manifest.root, sample.path);
  return posix.join(posix.dirname(manifestPath), manifest.root, sample.path);
}

/**
 * The samples of a selection, in its order.
 *
 * @param selection sample ids; or, when there are none, the name of a split
 * @throws SvcError `dataset_sample_unknown`, `dataset_split_unknown`
 */
export function selectSamples(
  manifest: ImageManifest,
  selection: { ids?: readonly string[]; split?: string },
): ImageSample[] {
  const byId = new Map(manifest.samples.map((sample) => [sample.sample_id, sample]));
  let ids = selection.ids ?? [];
  if (ids.length === 0) {
    const split = selection.split ?? "";
    if (!Object.hasOwn(manifest.splits, split)) {
      throw new SvcError("dataset_split_unknown", `Cannot find the split ${JSON.stringify(split)} of ${manifest.id}`, {
        hint: `Its splits are ${Object.keys(manifest.splits).join(", ")}`,
      });
    }
    ids = manifest.splits[split];
  }
  return ids.map((id) => {
    const sample = byId.get(id);
    if (sample !== undefined) return sample;
    throw new SvcError("dataset_sample_unknown", `Cannot find the sample ${id} of ${manifest.id}`, {
      hint: didYouMean(id, [...byId.keys()]),
    });
  });
}

/**
 * Checks the files of a manifest: each is there, inside the root, no symbolic link on the way, and has its digests.
 *
 * @param folder folder of the manifest file
 * @param options `decode` also decodes pictures that record `post_transform_sha256` without a transform of their own
 * @returns every problem: `manifest_path_unsafe`, `manifest_file_missing`, `manifest_hash_mismatch`, `image_file_invalid`
 */
export async function checkManifestFiles(
  manifest: ImageManifest,
  folder: string,
  options: { decode?: boolean } = {},
): Promise<Diagnostic[]> {
  const problems: Diagnostic[] = [];
  const root = resolve(folder, manifest.root);
  for (const [index, sample] of manifest.samples.entries()) {
    const report = (code: string, key: string, message: string, hint: string | null = null) =>
      problems.push(diagnostic(code, ["samples", index, key], message, { hint }));
    const file = join(root, ...sample.path.split("/"));
    try {
      // Equal real paths mean that no part below the root is a link.
      if (realpathSync(file) !== join(realpathSync(root), ...sample.path.split("/"))) {
        report("manifest_path_unsafe", "path", `Cannot use ${sample.path}: a part of it is a symbolic link`);
        continue;
      }
    } catch {
      report("manifest_file_missing", "path", `Cannot find the file ${sample.path}`, `It was looked for in ${root}`);
      continue;
    }
    try {
      const { sha256 } = hashFile(file);
      if (sha256 !== sample.sha256) {
        report("manifest_hash_mismatch", "sha256", `Cannot accept ${sample.path}: its SHA-256 is ${sha256}`);
        continue;
      }
      const recorded = sample.post_transform_sha256;
      if (options.decode && recorded !== undefined && sample.transform.name === "identity") {
        const { decodeImage } = await import("./image_file.ts");
        const decoded = sha256Hex(decodeImage(readFileSync(file)).data);
        if (decoded !== recorded) {
          report("manifest_hash_mismatch", "post_transform_sha256", `Cannot accept the samples of ${sample.path}`);
        }
      }
    } catch (error) {
      report(error instanceof SvcError ? error.code : "manifest_file_missing", "path", messageOf(error));
    }
  }
  return problems;
}

export interface MakeManifestOptions {
  /** Name of the data set; the name of the folder when left out. */
  id?: string;
  /** "1" when left out. */
  version?: string | number;
  /** Name of the one split that holds all samples; "test" when left out. */
  split?: string;
}

/**
 * Describes the PNG and JPEG files of a folder and its subfolders, in order of their paths, as a manifest that lies in
 * that folder. Hidden files and files of other types are left out; every picture is decoded once.
 *
 * @returns the manifest as data, which passes {@link checkImageManifest}
 * @throws SvcError `dataset_manifest_invalid` with every file that cannot be used, or when there is none
 */
export async function makeImageManifest(folder: string, options: MakeManifestOptions = {}): Promise<ImageManifest> {
  const refuse = (why: string, diagnostics: Diagnostic[] = []): never => {
    throw new SvcError("dataset_manifest_invalid", `Cannot make a manifest of ${folder}: ${why}`, { diagnostics });
  };
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) refuse("it is no folder");
  const problems: Diagnostic[] = [];
  const paths = listImages(folder, "", problems).sort(compareCodePoints);
  if (paths.length === 0 && problems.length === 0) refuse("it holds no PNG or JPEG files");

  const { decodeImage } = await import("./image_file.ts");
  const taken = new Set<string>();
  const transform: JsonObject = { name: "identity" };
  const samples: ImageSample[] = [];
  for (const path of paths) {
    try {
      const bytes = readFileSync(join(folder, ...path.split("/")));
      const sha256 = sha256Hex(bytes), id = uniqueId(path, taken);
      samples.push({
        sample_id: id,
        path,
        sha256,
        source_id: id,
        group_id: id,
        source_sha256: sha256,
        ancestry_ids: [id],
        transform,
        transform_fingerprint_sha256: sha256Json(transform),
        post_transform_sha256: sha256Hex(decodeImage(bytes).data),
      });
    } catch (error) {
      const code = error instanceof SvcError ? error.code : "manifest_file_missing";
      problems.push(diagnostic(code, [path], messageOf(error)));
    }
  }
  if (problems.length > 0) refuse(summary(problems), problems);
  return {
    schema_version: 1,
    kind: "svc.image_dataset_manifest",
    id: options.id ?? basename(resolve(folder)),
    version: options.version ?? "1",
    root: ".",
    splits: { [options.split ?? "test"]: samples.map((sample) => sample.sample_id) },
    samples,
  };
}

const IMAGE_SUFFIXES = [".png", ".jpg", ".jpeg"];

function listImages(folder: string, prefix: string, problems: Diagnostic[]): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    if (entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return listImages(folder, path + "/", problems);
    if (!IMAGE_SUFFIXES.includes(extname(entry.name).toLowerCase())) return [];
    if (entry.isFile() && isPlainPath(path)) return [path];
    problems.push(
      diagnostic("manifest_path_unsafe", [path], `Cannot list ${path}: it is no regular file or has an unsafe name`),
    );
    return [];
  });
}

/** The stem of a file, without characters that a list of ids gives a meaning to, and numbered when it is taken. */
function uniqueId(path: string, taken: Set<string>): string {
  const stem = basename(path, extname(path)).replace(/[\s,#]+/g, "_") || "image";
  let id = stem;
  for (let number = 2; taken.has(id); number++) id = `${stem}_${number}`;
  taken.add(id);
  return id;
}
