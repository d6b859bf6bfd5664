/** Recipe files that requests name: relative to the project root, below its folder `recipes/`. */
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { MAX_TEXT_BYTES } from "../recipe/limits.ts";
import { decodeRecipeText, readRecipeText, readTextFile } from "../recipe/read.ts";
import type { DecodedText } from "../recipe/types.ts";
import type { Workspace } from "../run/workspace.ts";
import { checkPath, confine } from "./confine.ts";

export const RECIPES_FOLDER = "recipes";

/** A recipe file, read. */
export interface RecipeAt extends DecodedText {
  /** As it was asked for. */
  path: string;
  text: string;
  /** Of the file's bytes; its ETag. */
  sha256: string;
}

/**
 * The path of a recipe file, relative to the project root.
 *
 * @param path with or without a leading `recipes/`, where `bare` allows that
 * @throws SvcError `path_forbidden` for one that lies elsewhere or is no recipe file
 */
export function recipePath(path: string, options: { bare?: boolean } = {}): string {
  checkPath(path);
  const full = path.startsWith(`${RECIPES_FOLDER}/`) || !options.bare ? path : `${RECIPES_FOLDER}/${path}`;
  if (!full.startsWith(`${RECIPES_FOLDER}/`)) {
    throw new SvcError("path_forbidden", `Cannot use ${path}: a recipe lies in ${RECIPES_FOLDER}/`, {
      hint: `Write ${RECIPES_FOLDER}/<file>.yaml`,
    });
  }
  if (!/\.(ya?ml|json)$/i.test(full)) {
    throw new SvcError("path_forbidden", `Cannot use ${path} as a recipe: it must end in .yaml, .yml or .json`);
  }
  return full;
}

/** Reads a recipe file. @throws SvcError `path_forbidden`, `recipe_not_found`, or what is wrong with its text */
export async function readRecipeAt(workspace: Workspace, path: string): Promise<RecipeAt> {
  const full = confineRecipe(workspace, path);
  // The digest is of the very bytes that the text was read from; a longer file is refused by its size alone.
  const { size } = await Deno.stat(full);
  const bytes = await Deno.readFile(size > MAX_TEXT_BYTES ? await refuseSize(full) : full);
  const text = decodeRecipeText(bytes, path);
  return { path, text, sha256: sha256Hex(bytes), ...readRecipeText(text, { file: path }) };
}

/** Throws what reading so long a file throws. */
async function refuseSize(path: string): Promise<string> {
  await readTextFile(path);
  return path;
}

/** Absolute path of a recipe file that is there. */
export function confineRecipe(workspace: Workspace, path: string): string {
  const inside = recipePath(path).slice(RECIPES_FOLDER.length + 1);
  const folder = join(workspace.projectRoot, RECIPES_FOLDER);
  // A project may have linked its folder of recipes; what lies in it may not be a link.
  const root = exists(folder) ? Deno.realPathSync(folder) : folder;
  return confine(root, inside, "recipe_not_found");
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
