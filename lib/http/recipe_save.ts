/** Saving a recipe: one writer at a time, nothing over a file that changed, the old bytes or the new ones. */
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { prettyJson, type Value } from "../contract/json.ts";
import { editRecipeText } from "../recipe/edit_text.ts";
import { formatRecipeText } from "../recipe/format.ts";
import type { Workspace } from "../run/workspace.ts";
import { checkPath } from "./confine.ts";
import { recipePath, RECIPES_FOLDER } from "./recipe_file.ts";

export interface SaveOptions {
  /** In recipes/, with or without that folder's name. */
  filename?: string;
  /** Of the recipe; names the file when nothing else does. */
  name: string;
  /** An `If-Match` header: the digest that the file must still have. */
  ifMatch?: string;
}

/**
 * Saves a recipe that was found valid.
 *
 * @returns the path relative to the project root, and the digest of what the file holds now
 * @throws SvcError `path_forbidden`, `stale_overwrite`, `file_write_failed`
 */
// deno-lint-ignore require-await -- one call of a route among others
export async function saveRecipe(
  workspace: Workspace,
  recipe: Value,
  { filename, name, ifMatch }: SaveOptions,
): Promise<{ path: string; sha256: string }> {
  const path = recipePath(filename ?? `${name.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "")}.yaml`, {
    bare: true,
  });
  if (path.split("/").some((part) => part.startsWith("."))) throw forbidden(path, "a part of it is hidden");
  const full = placeOf(workspace, path);
  using _lock = lockSaving(workspace);
  const before = read(full, path);
  if (ifMatch !== undefined) {
    const tags = ifMatch.split(",").map((tag) => tag.trim());
    const current = before === null ? null : `"${sha256Hex(before)}"`;
    if (current === null || !(tags.includes(current) || tags.includes("*"))) {
      throw new SvcError("stale_overwrite", `Cannot save ${path}: it changed since it was read`, {
        hint: "Read it again, and bring both versions together",
        extra: { file_sha256: before === null ? null : sha256Hex(before) },
      });
    }
  }
  const text = newText(path, recipe, before);
  writeFileAtomic(full, text);
  return { path, sha256: sha256Hex(text) };
}

/** The absolute place of a file that may be new; folders above it are made, and no link is followed. */
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
      throw forbidden(path, "it cannot be read");
    }
    const last = index === parts.length - 1;
    // Only the folder of recipes itself may be a link: it is the project's own choice.
    if (info.isSymlink && index > 0) throw forbidden(path, "a part of it is a symbolic link");
    if (last ? !info.isFile : !Deno.statSync(place).isDirectory) throw forbidden(path, "something else lies there");
  }
  Deno.mkdirSync(dirname(place), { recursive: true });
  return place;
}

/** Threads and processes save one after the other, so that nobody's check is outrun. */
function lockSaving({ stateDir }: Workspace): Disposable {
  Deno.mkdirSync(stateDir, { recursive: true });
  const file = Deno.openSync(join(stateDir, ".save.lock"), { write: true, create: true });
  file.lockSync(true);
  return { [Symbol.dispose]: () => file.close() };
}

function read(full: string, path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(full);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw forbidden(path, "it cannot be read");
  }
}

function newText(path: string, recipe: Value, before: Uint8Array | null): string {
  if (before !== null) {
    try {
      return editRecipeText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(before), recipe, {
        file: path,
      });
    } catch {
      // What lies there is no recipe that could be edited; a valid one takes its place.
    }
  }
  if (/\.json$/i.test(path)) return prettyJson(recipe);
  return formatRecipeText(editRecipeText("name: recipe\n", recipe, { file: path, format: "yaml" }), { file: path });
}

function forbidden(path: string, why: string): SvcError {
  return new SvcError("path_forbidden", `Cannot save ${path}: ${why}`, {
    hint: `Name a file in ${RECIPES_FOLDER}/, such as mine.yaml`,
  });
}
