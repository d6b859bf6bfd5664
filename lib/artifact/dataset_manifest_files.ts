/** Image-dataset manifests and their files: checks the files, and describes a folder of images. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { type Code, type Diagnostic, diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { type ImageManifest, type ImageSample, isPlainPath, summary } from "./dataset_manifest_rules.ts";
import { hashFile } from "./hash_file.ts";
import { inside, readFile } from "./inside.ts";

/**
 * Checks the files of a manifest: each exists inside the root without symbolic links and has its digests.
 * @param folder folder of the manifest file
 * @param options `decode` also decodes images with `post_transform_sha256` and no transform
 * @returns every problem: `manifest_path_unsafe`, `manifest_file_missing`, `manifest_hash_mismatch`,
 *   `image_file_invalid`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fileURLToPath } from "node:url";
 * import { checkManifestFiles, parseImageManifest } from "./dataset_manifest.ts";
 *
 * const folder = new URL("../../recipes/samples/", import.meta.url);
 * const manifest = parseImageManifest(await Deno.readFile(new URL("manifest.json", folder)));
 * manifest.samples[0].sha256 = "0".repeat(64);
 * const problems = await checkManifestFiles(manifest, fileURLToPath(folder));
 * const [{ code, path }] = problems;
 * assert.deepEqual([code, path], ["manifest_hash_mismatch", "$.samples[0].sha256"]);
 * ```
 */
export async function checkManifestFiles(
  manifest: ImageManifest,
  folder: string,
  options: { decode?: boolean } = {},
): Promise<Diagnostic[]> {
  const problems: Diagnostic[] = [];
  const root = resolve(folder, manifest.root);
  for (const [index, sample] of manifest.samples.entries()) {
    const report = (code: Code, key: string, message: string, hint: string | null = null) =>
      problems.push(diagnostic(code, ["samples", index, key], message, { hint }));
    const file = join(root, ...sample.path.split("/"));
    try {
      // Equal real paths mean that no part below the root is a link.
      if (realpathSync(file) !== join(realpathSync(root), ...sample.path.split("/"))) {
        report("manifest_path_unsafe", "path", `Cannot use ${sample.path}: a part of it is a symbolic link`);
        continue;
      }
    } catch {
      report("manifest_file_missing", "path", `Cannot find the file ${sample.path}`, `Expected in ${root}`);
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
        const { decodeImage, MAX_IMAGE_FILE_BYTES } = await import("./image_file.ts");
        const decoded = sha256Hex(
          decodeImage(readFile(inside(realpathSync(root), sample.path), MAX_IMAGE_FILE_BYTES)).data,
        );
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
  /** Id of the dataset; default the name of the folder. */
  id?: string;
  /** Default "1". */
  version?: string | number;
  /** Name of the one split with all samples; default "test". */
  split?: string;
  /** Leave out files that cannot be read. */
  skipUnreadable?: boolean;
  /** Receives each file that is left out, and each that has a fault. */
  onWarning?(finding: Diagnostic): void;
}

/**
 * Describes the PNG and JPEG files of a folder and its subfolders, in order of their paths, as a manifest for that
 * folder. Hidden files and other types are skipped; every image is decoded once.
 * @returns the manifest, valid by {@link checkImageManifest}
 * @throws SvcError `dataset_manifest_invalid` with all unusable files, or for a folder without images
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { makeImageManifest } from "./dataset_manifest.ts";
 *
 * const folder = await Deno.makeTempDir();
 * await Deno.copyFile(new URL("../../recipes/samples/camera.png", import.meta.url), `${folder}/camera.png`);
 * const manifest = await makeImageManifest(folder, { id: "my_photographs", split: "train" });
 * assert.deepEqual(manifest.splits, { train: ["camera"] });
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export async function makeImageManifest(folder: string, options: MakeManifestOptions = {}): Promise<ImageManifest> {
  const refuse = (why: string, diagnostics: Diagnostic[] = []): never => {
    throw new SvcError("dataset_manifest_invalid", `Cannot create a manifest of ${folder}: ${why}`, { diagnostics });
  };
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) refuse("it is not a folder");
  const problems: Diagnostic[] = [];
  const paths = listImages(folder, "", problems).sort(compareCodePoints);
  if (paths.length === 0 && problems.length === 0) refuse("it holds no PNG or JPEG files");

  const { decodeImage, MAX_IMAGE_FILE_BYTES } = await import("./image_file.ts");
  const taken = new Map<string, number>();
  const transform: JsonObject = { name: "identity" };
  const samples: ImageSample[] = [];
  for (const path of paths) {
    try {
      const bytes = readFile(inside(folder, path), MAX_IMAGE_FILE_BYTES);
      const image = decodeImage(bytes), sha256 = sha256Hex(bytes), id = uniqueId(path, taken);
      for (const fault of image.warnings) {
        options.onWarning?.(diagnostic("image_file_damaged", [path], `${path} has a fault: ${fault}`, WARNING));
      }
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
        post_transform_sha256: sha256Hex(image.data),
      });
    } catch (error) {
      const code = error instanceof SvcError ? error.code : "manifest_file_missing";
      const message = `${path}: ${messageOf(error)}`, known = error instanceof SvcError;
      if (options.skipUnreadable && known) options.onWarning?.(diagnostic(code, [path], message, WARNING));
      else problems.push(diagnostic(code, [path], message, { hint: known ? SKIP_HINT : undefined }));
    }
  }
  if (samples.length === 0 && problems.length === 0) refuse("it holds no readable image");
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

const WARNING = { severity: "warning" } as const;
const SKIP_HINT = "Replace the file, or leave such files out with --skip-unreadable";

const IMAGE_SUFFIXES = [".png", ".jpg", ".jpeg"];

function listImages(folder: string, prefix: string, problems: Diagnostic[]): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    if (entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return listImages(folder, path + "/", problems);
    if (!IMAGE_SUFFIXES.includes(extname(entry.name).toLowerCase())) return [];
    if (entry.isFile() && isPlainPath(path)) return [path];
    problems.push(
      diagnostic(
        "manifest_path_unsafe",
        [path],
        `Cannot list ${path}: it is not a regular file or has an unsafe name`,
        {
          hint: entry.isSymbolicLink() ? "Replace the link by a copy of the image" : "Rename it, or move it elsewhere",
        },
      ),
    );
    return [];
  });
}

/** The stem of a file without characters that id lists reserve, numbered if taken. @param taken ids, with the last number of each */
function uniqueId(path: string, taken: Map<string, number>): string {
  const stem = basename(path, extname(path)).replace(/[\s,#]+/g, "_") || "image";
  let id = stem, number = taken.get(stem) ?? 1;
  while (taken.has(id)) id = `${stem}_${++number}`;
  taken.set(stem, number).set(id, taken.get(id) ?? 1);
  return id;
}
