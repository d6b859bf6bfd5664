/**
 * Recipes that requests name: sent along, or a file in `recipes/` of the project; where the project has none, of the program.
 */
import { join } from "node:path";
import { isFolder } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import type { Value } from "../contract/value.ts";
import { AuthoredRecipe } from "../api/authored_recipe.ts";
import { recipeRoots, RECIPES_FOLDER, recipesBeside } from "../recipe/recipe_files.ts";
import type { Session } from "../api/session.ts";
import { checkPath, confine } from "../artifact/confine.ts";

/** A recipe of a request: itself, or a file in `recipes/`. */
export type RecipeSource = {
  recipe?: Value;
  path?: string;
};

/** The recipe of a request. @throws SvcError `body_field_missing` for none or both, and as {@link readRecipeAt} */
export async function sourceOf(session: Session, { recipe, path }: RecipeSource): Promise<AuthoredRecipe> {
  if ((recipe === undefined) === (path === undefined)) {
    throw new SvcError("body_field_missing", "Cannot choose the recipe: send either recipe or path");
  }
  return path === undefined ? new AuthoredRecipe(recipe!) : await readRecipeAt(session, path);
}

/** Reads a recipe file. @throws SvcError `path_forbidden`, `recipe_not_found`, or the errors of its text */
export async function readRecipeAt(session: Session, path: string): Promise<AuthoredRecipe> {
  const { recipes, workspace: { projectRoot } } = session;
  // Files that the start of the server named, and no others outside recipes/.
  const beside = recipesBeside(session.options(), projectRoot).find((file) => file.path === path);
  return await recipes.read(beside?.file ?? confineRecipe(recipeRoots(projectRoot), path), { name: path });
}

/**
 * The path of a recipe file, relative to the project root.
 * @param path with or without a leading `recipes/`, where `bare` allows that
 * @throws SvcError `path_forbidden` for one that lies elsewhere or is no recipe file
 */
export function recipePath(path: string, options: { bare?: boolean } = {}): string {
  checkPath(path);
  const full = path.startsWith(`${RECIPES_FOLDER}/`) || !options.bare ? path : `${RECIPES_FOLDER}/${path}`;
  if (!full.startsWith(`${RECIPES_FOLDER}/`)) {
    throw new SvcError("path_forbidden", `Cannot use ${path}: recipes lie in ${RECIPES_FOLDER}/`, {
      hint: `Write ${RECIPES_FOLDER}/<file>.yaml`,
    });
  }
  if (!/\.(ya?ml|json)$/i.test(full)) {
    throw new SvcError("path_forbidden", `Cannot use ${path} as a recipe: it must end in .yaml, .yml or .json`);
  }
  return full;
}

/** Absolute path of a recipe file that exists, in the first root that has it. @throws SvcError `recipe_not_found` */
export function confineRecipe(roots: readonly { root: string }[], path: string): string {
  let missing: unknown;
  for (const { root } of roots) {
    try {
      return confineIn(root, path);
    } catch (error) {
      if (!(error instanceof SvcError && error.code === "recipe_not_found")) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

function confineIn(projectRoot: string, path: string): string {
  const inside = recipePath(path).slice(RECIPES_FOLDER.length + 1);
  const folder = join(projectRoot, RECIPES_FOLDER);
  // The folder of recipes may be a link of the project; its files may not.
  const root = isFolder(folder) ? Deno.realPathSync(folder) : folder;
  return confine(root, inside, "recipe_not_found");
}
