/** Saves recipes: one writer at a time, no overwrite of a changed file, either the old or the new bytes. */
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { systemCodeOf } from "../contract/system_error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { Workspace } from "../run/workspace.ts";
import type { AuthoredRecipe } from "../api/authored_recipe.ts";
import { recipeRoots, RECIPES_FOLDER } from "../recipe/recipe_files.ts";
import type { Session } from "../api/session.ts";
import { checkPath } from "../artifact/confine.ts";
import { confineRecipe, recipePath } from "./recipe_file.ts";

export interface SaveOptions {
  /** In recipes/, with or without that folder's name. */
  filename?: string;
  /** Of the recipe; names the file when `filename` is left out. */
  name: string;
  /** An `If-Match` header: the present digest of the file. */
  ifMatch?: string;
}

/**
 * Saves a valid recipe.
 * @returns the path relative to the project root, and the digest of the file
 * @throws SvcError `path_forbidden`, `stale_overwrite`, `file_write_failed`
 */
export async function saveRecipe(
  { recipes, workspace }: Session,
  recipe: AuthoredRecipe,
  { filename, name, ifMatch }: SaveOptions,
): Promise<{ path: string; sha256: string }> {
  const path = savedPath(filename, name);
  if (path.split("/").some((part) => part.startsWith("."))) throw forbidden(path, "a part of it is hidden");
  const full = placeOf(workspace, path);
  using _lock = await lockSaving(workspace);
  // The first save of an opened recipe of the program makes a copy in the project.
  const before = read(full, path) ?? (ifMatch === undefined ? null : programBytes(workspace, path));
  if (ifMatch !== undefined) {
    const tags = ifMatch.split(",").map((tag) => tag.trim());
    const current = before === null ? null : `"${sha256Hex(before)}"`;
    if (current === null || !(tags.includes(current) || tags.includes("*"))) {
      throw new SvcError("stale_overwrite", `Cannot save ${path}: it changed since it was read`, {
        hint: "Read it again and merge the changes",
        extra: { file_sha256: before === null ? null : sha256Hex(before) },
      });
    }
  }
  const text = await recipes.textOf(recipe, before === null ? null : decoded(before), path);
  fitting(path, () => writeFileAtomic(full, text));
  return { path, sha256: sha256Hex(text) };
}

/** The path of the file that a recipe is saved in. @throws SvcError `path_forbidden` */
export const savedPath = (filename: string | undefined, name: string): string =>
  recipePath(filename ?? `${name.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "")}.yaml`, { bare: true });

/** Does something with a file. @throws SvcError `path_forbidden` for a path that is longer than the system allows */
function fitting(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw systemCodeOf(error) === "ENAMETOOLONG" ? forbidden(path, "its path is too long", error) : error;
  }
}

/** Absolute path of a file that may be new. Folders above it are made, and no link is followed. */
function placeOf({ projectRoot }: Workspace, path: string): string {
  const parts = checkPath(path).split("/");
  let place = projectRoot;
  for (const [index, part] of parts.entries()) {
    place = join(place, part);
    let info: Deno.FileInfo;
    try {
      info = Deno.lstatSync(place);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      throw forbidden(path, "it cannot be read", error);
    }
    const last = index === parts.length - 1;
    // Only the folder of recipes itself may be a link: it is the project's own choice.
    if (info.isSymlink && index > 0) throw forbidden(path, "a part of it is a symbolic link");
    if (last ? !info.isFile : !Deno.statSync(place).isDirectory) throw forbidden(path, "the path is taken");
  }
  fitting(path, () => Deno.mkdirSync(dirname(place), { recursive: true }));
  return place;
}

/** Threads and processes save one after the other: no save comes between the check and the write of another. */
export async function lockSaving({ stateDir }: Workspace): Promise<Disposable> {
  Deno.mkdirSync(stateDir, { recursive: true });
  const file = Deno.openSync(join(stateDir, ".save.lock"), { write: true, create: true });
  // Not the synchronous call, which would block the save of this thread that holds the lock.
  await file.lock(true);
  return { [Symbol.dispose]: () => file.close() };
}

/** The bytes of the program's recipe of this path, or null. */
function programBytes({ projectRoot }: Workspace, path: string): Uint8Array | null {
  const roots = recipeRoots(projectRoot).filter(({ place }) => place === "program");
  try {
    return roots.length === 0 ? null : Deno.readFileSync(confineRecipe(roots, path));
  } catch (error) {
    if (error instanceof SvcError && error.code === "recipe_not_found") return null;
    throw error;
  }
}

function read(full: string, path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(full);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw forbidden(path, "it cannot be read", error);
  }
}

/** The text of a file, or null where it is no text. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function forbidden(path: string, why: string, cause?: unknown): SvcError {
  return new SvcError("path_forbidden", `Cannot save ${path}: ${why}`, {
    hint: `Name a file in ${RECIPES_FOLDER}/, such as mine.yaml`,
    cause,
  });
}
