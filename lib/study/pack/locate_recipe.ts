/**
 * Locates the recipes of a pack: paths start at the pack, then at the project root, and never leave either. Where no file is there,
 * the name of a recipe of the project or the program, or the id of a template, stands for its file.
 */
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { programFolder } from "../../artifact/program.ts";
import { type Diagnostic, diagnostic } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { locateRecipe as recipeByName, recipeNames, RECIPES_FOLDER } from "../../recipe/recipe_files.ts";
import type { PackEntry } from "./pack.ts";

/** Whether a path is inside a folder; both without links. */
function within(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}

/**
 * Finds the file of an entry.
 * @param packFile absolute path
 * @param projectRoot absolute path
 * @returns the path without links, or null with the finding `pack_path_outside` or `recipe_not_found`
 */
export function locateRecipe(
  entry: PackEntry,
  { packFile, projectRoot }: { packFile: string; projectRoot: string },
  diagnostics: Diagnostic[],
): string | null {
  const place = ["recipes", entry.index, "path"];
  const folders = [dirname(packFile), projectRoot];
  const program = programFolder();
  // Recipes of the program are everybody's; its other files are for its own packs.
  const shipped = program === null ? [] : [within(program, packFile) ? program : join(program, RECIPES_FOLDER)];
  const roots = [...folders, ...shipped].map(real).filter((folder) => folder !== null);
  const outside = (path: string) => {
    const message = `Cannot use ${path}: it lies outside the project and the folder of the pack`;
    const hint = "Put the recipe into the project, or name its root with --project-root";
    diagnostics.push(diagnostic("pack_path_outside", place, message, { hint }));
    return null;
  };
  for (const folder of isAbsolute(entry.path) ? [""] : folders) {
    const path = folder === "" ? resolve(entry.path) : join(folder, entry.path);
    const found = real(path);
    if (found === null) continue;
    return roots.some((root) => within(root, found)) ? found : outside(entry.path);
  }
  if (!folders.some((folder) => roots.some((root) => within(root, join(folder, entry.path))))) {
    return outside(entry.path);
  }
  const named = recipeByName(entry.path, projectRoot);
  if (named !== null) return real(named.file);
  const message = `Cannot find the recipe ${entry.path}`;
  const hint = didYouMean(entry.path, recipeNames(projectRoot)) ??
    "Paths start at the pack file, then at the project root; svc recipe list has the names of recipes";
  diagnostics.push(diagnostic("recipe_not_found", place, message, { hint }));
  return null;
}

function real(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    return null;
  }
}
