/**
 * Paths in recipes. A relative path starts at the project root and stays inside it; a leading `.svc/` means the state
 * directory; an absolute path is used unchanged. URI schemes and symbolic links are refused.
 */
import { isAbsolute, relative, resolve, sep } from "../contract/paths.ts";
import { SvcError } from "../contract/error.ts";
import { inside } from "./inside.ts";

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
  const below = relative(root, full);
  if (below === ".." || below.startsWith(".." + sep) || isAbsolute(below)) {
    throw new SvcError("path_refused", `Cannot read ${path}: it leaves the project`, {
      hint: "Set --project-root, or use an absolute path",
    });
  }
  return below === "" ? full : inside(root, below.replaceAll(sep, "/"));
}
