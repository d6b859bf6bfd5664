/**
 * Files of an adapter's folder with their digests, and one digest over all of them: SHA-256 of canonical JSON
 * `[[relative path, file sha256], …]` sorted by path. A `.git` at the top and caches of Python are excluded, and the adapter
 * cannot read them. Symbolic links are refused because their targets may lie outside the folder.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { hashFile } from "../artifact/hash_file.ts";
import { type Code, type Diagnostic, diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import type { AdapterFolder, FolderFile } from "./types.ts";

const MIB = 2 ** 20;

/** Names of a manifest, in search order. */
export const MANIFEST_FILES = [
  "svc_adapter.yaml",
  "svc_adapter.yml",
  "adapter.yaml",
  "adapter.yml",
  "svc_adapter.json",
  "adapter.json",
] as const;

/** Limits that exclude folders given by mistake, such as a home directory. */
const MAX_FILES = 1000, MAX_FOLDERS = 1000, MAX_MIB = 256;
/** Excluded from the digest and from the readable files: at the top, and folders at any depth. */
const UNHASHED = ".git", UNHASHED_FOLDERS = ["__pycache__", ".pytest_cache"];

/**
 * Lists and hashes a folder. Nothing is read from a folder without a manifest, or from one that is too large.
 * @returns the folder with its digest, or every finding (code `adapter_manifest_missing` for no folder or no manifest)
 */
export function readFolder(folder: string): { folder: AdapterFolder | null; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  try {
    const root = rootOf(folder);
    if (!MANIFEST_FILES.some((name) => lstatSync(join(root, name), { throwIfNoEntry: false }))) throw noManifest(root);
    const { paths, hidden } = listFiles(root, diagnostics);
    if (diagnostics.length > 0) return { folder: null, diagnostics };
    if (!MANIFEST_FILES.some((name) => paths.includes(name))) throw noManifest(root);
    const files = paths.map((path): FolderFile => ({ path, ...hashFile(join(root, path), MAX_MIB * MIB) }));
    return { folder: { root, files, hidden, folder_sha256: folderSha256(files) }, diagnostics };
  } catch (error) {
    const { code, hint }: { code: Code; hint: string | null } =
      error instanceof SvcError && error.code !== "file_unreadable"
        ? error
        : { code: "adapter_load_failed", hint: "Make every file of the folder readable" };
    return { folder: null, diagnostics: [diagnostic(code, [], messageOf(error), { hint })] };
  }
}

function noManifest(root: string): SvcError {
  return new SvcError("adapter_manifest_missing", `Cannot find a manifest in ${root}`, {
    hint: `Write ${MANIFEST_FILES[0]}, or begin with svc adapter scaffold`,
  });
}

/** The real path of a folder. @throws SvcError `adapter_manifest_missing` */
function rootOf(folder: string): string {
  try {
    const root = Deno.realPathSync(folder);
    if (Deno.statSync(root).isDirectory) return root;
    throw new TypeError("it is not a folder");
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "it does not exist" : messageOf(error);
    throw new SvcError("adapter_manifest_missing", `Cannot read the adapter folder ${folder}: ${why}`, {
      hint: "Name the folder that contains svc_adapter.yaml",
    });
  }
}

/**
 * The paths of all files in a folder, sorted, and those that are excluded.
 * @param found receives `adapter_load_failed` for links and special files
 * @throws SvcError `adapter_load_failed` as soon as the folder is too large
 */
function listFiles(root: string, found: Diagnostic[]): { paths: string[]; hidden: string[] } {
  const tooLarge = (what: string) =>
    new SvcError("adapter_load_failed", `Cannot use ${root} as an adapter: it has more than ${what}`, {
      hint: "Name the folder that contains svc_adapter.yaml, and remove files that the adapter does not need",
    });
  const files: string[] = [], hidden: string[] = [], folders = [""];
  let bytes = 0;
  for (const folder of folders) {
    for (const { name, isDirectory, isFile, isSymlink } of Deno.readDirSync(join(root, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (path === UNHASHED || (isDirectory && UNHASHED_FOLDERS.includes(name))) {
        hidden.push(path);
        continue;
      }
      if (isDirectory) {
        if (folders.push(path) > MAX_FOLDERS) throw tooLarge(`${MAX_FOLDERS} folders`);
        continue;
      }
      if (files.push(path) > MAX_FILES) throw tooLarge(`${MAX_FILES} files`);
      bytes += lstatSync(join(root, path)).size;
      if (bytes > MAX_MIB * MIB) throw tooLarge(`${MAX_MIB} MiB`);
      if (isFile) continue;
      const [what, hint] = isSymlink
        ? ["symbolic link", "Put the file itself into the folder"]
        : ["special file", "Remove it from the folder"];
      found.push(diagnostic("adapter_load_failed", [], `Cannot use an adapter with the ${what} ${path}`, { hint }));
    }
  }
  return { paths: files.sort(compareCodePoints), hidden };
}

/** The digest of a folder. */
function folderSha256(files: readonly Pick<FolderFile, "path" | "sha256">[]): string {
  const rows = files.map(({ path, sha256 }): [string, string] => [path, sha256]);
  return sha256Json(rows.sort(([a], [b]) => compareCodePoints(a, b)));
}

/** The normal form of a path inside the folder, or null for a path that leaves it or is not in a plain form. */
export function plainPath(path: string): string | null {
  if (path === "" || path.startsWith("/") || /[\\\0]/.test(path) || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path)) return null;
  const parts = path.split("/").filter((part, index) => !(part === "." && index === 0));
  return parts.length === 0 || parts.some((part) => part === "" || part === "." || part === "..")
    ? null
    : parts.join("/");
}
