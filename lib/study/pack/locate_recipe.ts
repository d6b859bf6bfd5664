/**
 * Locates the recipes of a pack: paths start at the pack, then at the project root, and never leave either. Where no file is there,
 * the name of a recipe of the project or the program, or the id of a template, stands for its file.
 */
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { programFolder } from "../../artifact/program.ts";
import { type Diagnostic, diagnostic, type Place } from "../../contract/error.ts";
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
  { path, index }: PackEntry,
  files: { packFile: string; projectRoot: string },
  diagnostics: Diagnostic[],
): string | null {
  return locateFile(path, ["recipes", index, "path"], "recipe", files, diagnostics);
}

/** {@link locateRecipe} of any file. @param what is named in the finding of a missing one */
export function locateFile(
  wanted: string,
  place: Place,
  what: string,
  { packFile, projectRoot }: { packFile: string; projectRoot: string },
  diagnostics: Diagnostic[],
): string | null {
  const folders = [dirname(packFile), projectRoot];
  const program = programFolder();
  // Recipes of the program are everybody's; its other files are for its own packs.
  const shipped = program === null ? [] : [within(program, packFile) ? program : join(program, RECIPES_FOLDER)];
  const roots = [...folders, ...shipped].map(real).filter((folder) => folder !== null);
  const outside = (path: string) => {
    const message = `Cannot use ${path}: it lies outside the project and the folder of the pack`;
    const hint = "Put the file into the project, or name its root with --project-root";
    diagnostics.push(diagnostic("pack_path_outside", place, message, { hint }));
    return null;
  };
  for (const folder of isAbsolute(wanted) ? [""] : folders) {
    const path = folder === "" ? resolve(wanted) : join(folder, wanted);
    const found = real(path);
    if (found === null) continue;
    return roots.some((root) => within(root, found)) ? found : outside(wanted);
  }
  if (!folders.some((folder) => roots.some((root) => within(root, join(folder, wanted))))) {
    return outside(wanted);
  }
  if (what !== "recipe") {
    const hint = "Paths start at the pack file, then at the project root";
    diagnostics.push(diagnostic("file_not_found", place, `Cannot find the ${what} ${wanted}`, { hint }));
    return null;
  }
  const named = recipeByName(wanted, projectRoot);
  if (named !== null) return real(named.file);
  const message = `Cannot find the recipe ${wanted}`;
  const hint = didYouMean(wanted, recipeNames(projectRoot)) ??
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
