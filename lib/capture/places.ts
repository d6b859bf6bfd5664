/** Training projects and captured splits that requests name: relative to the state directory, each below its own folder. */
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import type { Workspace } from "../run/workspace.ts";
import { checkPath, confine } from "../artifact/confine.ts";

export const PROJECTS_FOLDER = "training_projects";
export const CAPTURES_FOLDER = "dataset_captures";

/** The folder of a project that is there. @throws SvcError `path_forbidden`, `training_project_not_found` */
export function projectFolder({ stateDir }: Workspace, path: string): string {
  return confine(join(stateDir, PROJECTS_FOLDER), below(PROJECTS_FOLDER, path), "training_project_not_found");
}

/**
 * A place for a new project or a new split.
 * @param path with or without the name of its folder before it
 * @returns absolute, and relative to the state directory
 * @throws SvcError `path_forbidden`
 */
export function newPlace({ stateDir }: Workspace, folder: string, path: string): { full: string; shown: string } {
  const inside = path.startsWith(`${folder}/`) ? below(folder, path) : checkPath(path);
  const shown = `${folder}/${inside}`;
  // An existing path must not be a link.
  const parts = shown.split("/");
  for (let count = 1; count <= parts.length; count++) {
    const place = join(stateDir, ...parts.slice(0, count));
    if (isLink(place)) {
      throw new SvcError(
        "path_forbidden",
        `Cannot use the path ${JSON.stringify(path)}: a part of it is a symbolic link`,
      );
    }
  }
  return { full: join(stateDir, shown), shown };
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

function below(folder: string, path: string): string {
  checkPath(path);
  if (path.startsWith(`${folder}/`)) return path.slice(folder.length + 1);
  throw new SvcError("path_forbidden", `Cannot use ${path}: it must lie in ${folder}/`, {
    hint: `Write ${folder}/<name>`,
  });
}
