/** Recipe files: those of the project's `recipes/`, and those of the program. */
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { programFolder } from "../artifact/program.ts";
import { isPlainFile } from "../artifact/path_kind.ts";
import catalog from "../template/catalog.json" with { type: "json" };
import { isStorageFault, systemCodeOf } from "../contract/system_error.ts";

export const RECIPES_FOLDER = "recipes";
/** What lists show of the shipped recipes, by the digest of the file. */
export const STORED_FACTS = `${RECIPES_FOLDER}/recipe.facts.json`;
/** Folders and files in it that hold other documents. */
const NO_RECIPES = new Set([
  ...["models", "scaffolds", "recipe.schema.json"].map((name) => `${RECIPES_FOLDER}/${name}`),
  STORED_FACTS,
]);

/** A recipe file that has a name. */
export interface RecipeFile {
  /** The path under `recipes/`, without the extension. */
  name: string;
  /** `recipes/` and the path under it, with `/`. */
  path: string;
  /** Absolute. */
  file: string;
  place: "project" | "program";
}

const RECIPE_FILE = /\.(ya?ml|json)$/i;
/** Files beyond this many are left out; a folder of recipes has dozens. */
const MAX_FILES = 2000;

/** The roots of recipes, the project's first; the program's own is omitted if it is the same. */
export function recipeRoots(projectRoot: string): { root: string; place: RecipeFile["place"] }[] {
  const program = programFolder();
  const roots: { root: string; place: RecipeFile["place"] }[] = [{ root: projectRoot, place: "project" }];
  if (program !== null && join(program, ".") !== join(projectRoot, ".")) {
    roots.push({ root: program, place: "program" });
  }
  return roots;
}

/**
 * The files in `recipes/`, subfolders included, sorted by path; a file of the project hides one of the program. Links are not
 * followed. Models have a folder there, but are no recipes.
 */
export function recipeFiles(projectRoot: string): RecipeFile[] {
  const found = new Map<string, RecipeFile>();
  const visit = (root: string, folder: string, place: RecipeFile["place"]) => {
    for (const { name, isDirectory, isFile } of entries(join(root, folder))) {
      const path = `${folder}/${name}`;
      if (name.startsWith(".") || found.size >= MAX_FILES || NO_RECIPES.has(path)) continue;
      if (isDirectory) visit(root, path, place);
      else if (isFile && RECIPE_FILE.test(name) && !found.has(path)) {
        found.set(path, { name: nameOf(path), path, file: join(root, path), place });
      }
    }
  };
  for (const { root, place } of recipeRoots(projectRoot)) visit(root, RECIPES_FOLDER, place);
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

const nameOf = (path: string) => path.slice(RECIPES_FOLDER.length + 1).replace(RECIPE_FILE, "");

/** Own operations of a session: modules, as paths or URLs, and folders of adapters. */
export interface OwnOperations {
  operations?: readonly string[];
  adapters?: readonly { folder: string }[];
}

/**
 * Recipes that stand beside own operations: `limiter.yaml` beside `limiter.ts`, and `recipe.yaml` in the folder of an adapter.
 * Paths are relative to the project, or begin at the folder of a file elsewhere.
 */
export function recipesBeside({ operations = [], adapters = [] }: OwnOperations, projectRoot: string): RecipeFile[] {
  const local = (module: string) => module.startsWith("file:") ? fileURLToPath(module) : module;
  const beside = [
    ...operations.filter((module) => !/^(https?|data|blob):/.test(module))
      .map((module) => resolve(local(module)).replace(/\.\w+$/, ".yaml")),
    ...adapters.map(({ folder }) => resolve(folder, "recipe.yaml")),
  ];
  return [...new Set(beside)].filter(isPlainFile).map((file) => {
    const inside = relative(projectRoot, file).replaceAll("\\", "/");
    const path = inside.startsWith("../") || isAbsolute(inside)
      ? `${basename(dirname(file))}/${basename(file)}`
      : inside;
    return { name: path.replace(RECIPE_FILE, ""), path, file, place: "project" as const };
  }).filter(({ path }) => !path.startsWith(`${RECIPES_FOLDER}/`));
}

/** Names that {@link locateRecipe} knows, for hints. */
export const recipeNames = (projectRoot: string): string[] => [
  ...recipeFiles(projectRoot).map(({ name }) => name),
  ...catalog.templates.map(({ id }) => id),
];

function entries(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch (error) {
    if (isStorageFault(systemCodeOf(error) ?? "")) throw error;
    return []; // No recipes, or a folder without permission to read.
  }
}

/**
 * The file of a recipe by its name or path, with or without `recipes/` and the extension, or by the id of a template; null where
 * none has it.
 */
export function locateRecipe(wanted: string, projectRoot: string): RecipeFile | null {
  if (isAbsolute(wanted) || wanted.split(/[/\\]/).includes("..")) return null;
  const template = catalog.templates.find(({ id }) => id === wanted);
  if (template !== undefined) {
    // A file of the project takes the place of the starter.
    const { recipe_path: own, starter_resource: starter } = template as {
      recipe_path: string;
      starter_resource?: string;
    };
    return locateRecipe(own, projectRoot) ?? (starter === undefined ? null : locateRecipe(starter, projectRoot));
  }
  const path = wanted.startsWith(`${RECIPES_FOLDER}/`) ? wanted : `${RECIPES_FOLDER}/${wanted}`;
  return recipeFiles(projectRoot).find((row) => row.path === path || row.name === nameOf(path)) ?? null;
}
