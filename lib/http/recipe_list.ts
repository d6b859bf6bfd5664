/** The recipe files of a project, each with what a list shows of it. */
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { isStorageFault, systemCodeOf } from "../contract/system_error.ts";
import { isObject } from "../contract/value.ts";
import { NO_OVERVIEW } from "../session/recipes.ts";
import type { Session } from "../session/session.ts";
import { readRecipeAt, RECIPES_FOLDER } from "./recipe_file.ts";

/** Files beyond this many are left out; a folder of recipes has dozens. */
const MAX_FILES = 2000;

/** Lists recipes/, subfolders included, sorted by path. A JSON file counts when it has steps; links are not followed. */
export async function listRecipes(session: Session): Promise<RecipeFileRow[]> {
  const rows: RecipeFileRow[] = [];
  for (const path of recipeFiles(session.workspace.projectRoot)) {
    const row = await readRow(session, path);
    if (row !== null) rows.push(row);
  }
  return rows;
}

function recipeFiles(projectRoot: string): string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    let entries: Deno.DirEntry[];
    try {
      entries = [...Deno.readDirSync(join(projectRoot, folder))];
    } catch (error) {
      if (isStorageFault(systemCodeOf(error) ?? "")) throw error;
      return; // No recipes, or a folder without permission to read.
    }
    for (const { name, isDirectory, isFile } of entries) {
      if (name.startsWith(".") || found.length >= MAX_FILES) continue;
      if (isDirectory) visit(`${folder}/${name}`);
      else if (isFile && /\.(ya?ml|json)$/i.test(name)) found.push(`${folder}/${name}`);
    }
  };
  visit(RECIPES_FOLDER);
  return found.sort();
}

/** A file as a list shows it; members that need a recipe are null where it cannot be read. */
export type RecipeFileRow = NonNullable<Awaited<ReturnType<typeof readRow>>>;

async function readRow(session: Session, path: string) {
  const maybe = /\.json$/i.test(path);
  try {
    const source = await readRecipeAt(session, path);
    if (maybe && !(isObject(source.value) && Object.hasOwn(source.value, "steps"))) return null;
    return { path, ...await session.recipes.overview(source) };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (maybe || error.code === "recipe_not_found") return null;
    return { path, ...NO_OVERVIEW, diagnostics: error.diagnostics };
  }
}
