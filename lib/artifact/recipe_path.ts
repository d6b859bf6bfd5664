/**
 * Paths in recipes. A relative path starts at the project root and stays inside it; a leading `.svc/` means the state
 * directory; an absolute path is used unchanged. URI schemes and symbolic links are refused.
 */
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { SvcError } from "../contract/error.ts";

const STATE_PREFIX = ".svc/";

/** Resolves a path of a recipe. @throws SvcError `path_refused` for a scheme or a path outside its root */
export function resolveRecipePath(path: string, roots: { projectRoot: string; stateDir: string }): string {
  if (path === "" || path.includes("\0") || /^[A-Za-z][A-Za-z0-9+.-]+:/.test(path)) {
    throw new SvcError("path_refused", `Cannot read ${JSON.stringify(path)}: it must be a path of the file system`);
  }
  if (isAbsolute(path)) return resolve(path);
  const [root, rest] = path.startsWith(STATE_PREFIX)
    ? [roots.stateDir, path.slice(STATE_PREFIX.length)]
    : [roots.projectRoot, path];
  const full = resolve(root, rest);
  const inside = relative(root, full);
  if (inside === ".." || inside.startsWith(".." + sep) || isAbsolute(inside)) {
    throw new SvcError("path_refused", `Cannot read ${path}: it leaves the project`, {
      hint: "Set --project-root, or use an absolute path",
    });
  }
  refuseSymlinks(root, inside, path);
  return full;
}

function refuseSymlinks(root: string, inside: string, shown: string): void {
  let place = root;
  for (const part of inside.split(sep)) {
    place = join(place, part);
    let info: Deno.FileInfo;
    try {
      info = Deno.lstatSync(place);
    } catch {
      return; // The read that follows reports a missing file.
    }
    if (info.isSymlink) throw new SvcError("path_refused", `Cannot read ${shown}: a part of it is a symbolic link`);
  }
}
