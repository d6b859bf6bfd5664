/**
 * Paths that come in a request. A path is relative, has plain components and is looked up below one folder; no part of it
 * may be a symbolic link, and what it resolves to must lie in that folder. It was decoded once, by the reader of the query;
 * whatever is still encoded in it stands for itself.
 */
import { join, relative, sep } from "node:path";
import { SvcError } from "../contract/error.ts";

/** What file systems take as one name. */
const MAX_NAME_BYTES = 255;

/**
 * Resolves a path of a request.
 * @param root absolute folder
 * @param path with `/` between its components
 * @param missing code of the error where nothing is there
 * @returns absolute path of a regular file or folder
 * @throws SvcError `path_forbidden`, or `missing`
 */
export function confine(root: string, path: string, missing: string): string {
  const full = join(root, checkPath(path));
  let place = root;
  for (const part of path.split("/")) {
    place = join(place, part);
    let info: Deno.FileInfo;
    try {
      info = Deno.lstatSync(place);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
        throw new SvcError(missing, `Cannot find ${path}`, { hint: "Check the path" });
      }
      throw forbidden(path, "it cannot be read", error);
    }
    if (info.isSymlink) throw forbidden(path, "a part of it is a symbolic link");
    // Reading a pipe or a device may not end.
    if (!info.isFile && !info.isDirectory) throw forbidden(path, "it is neither a file nor a folder");
  }
  // Links above the root are the administrator's; those below were refused.
  const inside = relative(Deno.realPathSync(root), Deno.realPathSync(full));
  if (inside === ".." || inside.startsWith(`..${sep}`) || inside.startsWith(sep)) {
    throw forbidden(path, "it leaves its folder");
  }
  return full;
}

/** @returns the path itself. @throws SvcError `path_forbidden` for one that has more than plain components */
export function checkPath(path: string): string {
  // deno-lint-ignore no-control-regex -- control characters are refused
  if (path === "" || path.length > 4096 || /[\\\u0000-\u001f\u007f]/.test(path) || /^[A-Za-z]:/.test(path)) {
    throw forbidden(path, "it is no relative path with / between its parts");
  }
  for (const part of path.split("/")) {
    if (part === "" || part === "." || part === ".." || new TextEncoder().encode(part).length > MAX_NAME_BYTES) {
      throw forbidden(path, `its parts must be plain names of at most ${MAX_NAME_BYTES} bytes`);
    }
  }
  return path;
}

function forbidden(path: string, why: string, cause?: unknown): SvcError {
  return new SvcError("path_forbidden", `Cannot use the path ${JSON.stringify(path)}: ${why}`, {
    hint: "Give a path below the folder that the endpoint is for",
    cause,
  });
}
