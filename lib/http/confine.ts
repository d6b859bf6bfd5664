/**
 * Paths that come in a request. A path is relative, has plain components and is looked up below one folder; no part of it
 * may be a symbolic link, and what it resolves to must lie in that folder. It was decoded once, by the reader of the query;
 * whatever is still encoded in it stands for itself.
 */
import { join, relative, sep } from "node:path";
import { SvcError } from "../contract/error.ts";
import { pathProblem } from "../contract/names.ts";

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
  const why = pathProblem(path);
  if (why !== null) throw forbidden(path, why);
  return path;
}

function forbidden(path: string, why: string, cause?: unknown): SvcError {
  return new SvcError("path_forbidden", `Cannot use the path ${JSON.stringify(path)}: ${why}`, {
    hint: "Give a path below the folder that the endpoint is for",
    cause,
  });
}
