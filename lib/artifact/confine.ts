/**
 * Paths that come in a request. A path is relative, has plain components and is looked up below one folder; no part of it
 * may be a symbolic link, and what it resolves to must lie in that folder. It was decoded once, by the reader of the query;
 * whatever is still encoded in it stands for itself.
 */
import { inside, type InsidePath } from "./inside.ts";
import { entryInfo } from "./path_kind.ts";
import { type Code, SvcError } from "../contract/error.ts";
import { pathProblem, quoted } from "../contract/names.ts";

/**
 * Resolves a path of a request.
 * @param root absolute folder
 * @param path with `/` between its components
 * @param missing code of the error where nothing is there
 * @returns absolute path of a regular file or folder
 * @throws SvcError `path_forbidden`, or `missing`
 */
export function confine(root: string, path: string, missing: Code): InsidePath {
  checkPath(path);
  let full: InsidePath, info: Deno.FileInfo | null;
  try {
    full = inside(root, path);
    info = entryInfo(full);
  } catch (error) {
    throw forbidden(path, error instanceof SvcError ? "a part of it is a symbolic link" : "it cannot be read", error);
  }
  if (info === null) throw new SvcError(missing, `Cannot find ${path}`, { hint: "Check the path" });
  // Reading a pipe or a device may not end.
  if (!info.isFile && !info.isDirectory) throw forbidden(path, "it is neither a file nor a folder");
  return full;
}

/** @returns the path itself. @throws SvcError `path_forbidden` for one that has more than plain components */
export function checkPath(path: string): string {
  const why = pathProblem(path);
  if (why !== null) throw forbidden(path, why);
  return path;
}

function forbidden(path: string, why: string, cause?: unknown): SvcError {
  return new SvcError("path_forbidden", `Cannot use the path ${quoted(path)}: ${why}`, {
    hint: "Give a path below the folder that the endpoint is for",
    cause,
  });
}
