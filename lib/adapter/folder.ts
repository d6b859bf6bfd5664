/**
 * The folder of an adapter as evidence: every file with its digest, and one digest over them all, SHA-256 of canonical
 * JSON `[[relative path, file sha256], …]` sorted by path. A `.git` at the top is left out, and is not readable for the
 * adapter either. Symbolic links are refused: what they lead to is not the folder's.
 */
import { join } from "node:path";
import { hashFile } from "../artifact/hash_file.ts";
import { type Diagnostic, diagnostic, messageOf } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import type { AdapterFolder, FolderFile } from "./types.ts";

/** A folder with more files is not an adapter but a mistake, such as a home directory. */
const MAX_FILES = 10_000;
/** Left out of the digest, and of what an adapter may read. */
export const UNHASHED = ".git";

/**
 * Reads and hashes a folder.
 *
 * @returns the folder with its digest, or every finding (code `adapter_manifest_missing` when there is no such folder)
 */
export function readFolder(folder: string): { folder: AdapterFolder | null; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const refuse = (code: string, message: string, hint: string) =>
    diagnostics.push(diagnostic(code, [], message, { hint }));
  let root: string;
  try {
    root = Deno.realPathSync(folder);
    if (!Deno.statSync(root).isDirectory) throw new TypeError("it is no folder");
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "there is none" : messageOf(error);
    refuse(
      "adapter_manifest_missing",
      `Cannot read the adapter folder ${folder}: ${why}`,
      "Name the folder that holds svc_adapter.yaml",
    );
    return { folder: null, diagnostics };
  }
  const files: FolderFile[] = [];
  const walk = (path: string): void => {
    for (const entry of [...Deno.readDirSync(join(root, path))].sort((a, b) => compareCodePoints(a.name, b.name))) {
      if (path === "" && entry.name === UNHASHED) continue;
      const inner = path === "" ? entry.name : `${path}/${entry.name}`;
      if (files.length + diagnostics.length > MAX_FILES) return;
      if (entry.isSymlink) {
        refuse(
          "adapter_load_failed",
          `Cannot use an adapter with the symbolic link ${inner}`,
          "Put the file itself into the folder",
        );
      } else if (entry.isDirectory) walk(inner);
      else if (!entry.isFile) {
        refuse(
          "adapter_load_failed",
          `Cannot use an adapter with the special file ${inner}`,
          "Remove it from the folder",
        );
      } else {
        try {
          files.push({ path: inner, ...hashFile(join(root, inner)) });
        } catch (error) {
          refuse("adapter_load_failed", messageOf(error), "Make every file of the folder readable");
        }
      }
    }
  };
  try {
    walk("");
  } catch (error) {
    refuse("adapter_load_failed", `Cannot read the adapter folder ${folder}: ${messageOf(error)}`, "Make it readable");
  }
  if (files.length > MAX_FILES) {
    refuse(
      "adapter_load_failed",
      `Cannot use ${folder} as an adapter: it has more than ${MAX_FILES} files`,
      "Name the folder that holds svc_adapter.yaml",
    );
  }
  if (diagnostics.length > 0) return { folder: null, diagnostics };
  files.sort((a, b) => compareCodePoints(a.path, b.path));
  return { folder: { root, files, folder_sha256: folderSha256(files) }, diagnostics };
}

/** The digest of a folder. */
export function folderSha256(files: readonly Pick<FolderFile, "path" | "sha256">[]): string {
  const rows = files.map(({ path, sha256 }): [string, string] => [path, sha256]);
  return sha256Json(rows.sort(([a], [b]) => compareCodePoints(a, b)));
}

/** A path inside the folder in its plain form, or null for one that leads out of it or is written oddly. */
export function plainPath(path: string): string | null {
  if (path === "" || path.startsWith("/") || /[\\\0]/.test(path) || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(path)) return null;
  const parts = path.split("/").filter((part, index) => !(part === "." && index === 0));
  return parts.length === 0 || parts.some((part) => part === "" || part === "." || part === "..")
    ? null
    : parts.join("/");
}
