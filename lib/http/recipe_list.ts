/** The recipe files of a project, each with what a list shows of it. */
import { join } from "node:path";
import { type Diagnostic, SvcError } from "../contract/error.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { inspectProfile } from "../plan/profile_inspect.ts";
import { runReadiness } from "../plan/run_readiness.ts";
import { compileRecipe } from "../recipe/compile.ts";
import { declaredTask } from "../research/specs.ts";
import { inferTask } from "../research/tasks.ts";
import { readRecipeAt, RECIPES_FOLDER } from "./recipe_file.ts";
import type { Library } from "./service.ts";

/** Files beyond this many are left out; a folder of recipes has dozens. */
const MAX_FILES = 2000;

/** Lists recipes/, subfolders included, sorted by path. A JSON file counts when it has steps; links are not followed. */
export async function listRecipes(library: Library): Promise<JsonObject[]> {
  const registry = await library.registry();
  const rows: JsonObject[] = [];
  for (const path of recipeFiles(library.workspace.projectRoot)) {
    const row = await readRow(library, registry, path);
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
    } catch {
      return; // No recipes, or a folder that must not be read.
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

async function readRow(library: Library, registry: Registry, path: string): Promise<JsonObject | null> {
  const maybe = /\.json$/i.test(path);
  let value: Value, diagnostics: Diagnostic[];
  try {
    const read = await readRecipeAt(library.workspace, path);
    if (maybe && !(isObject(read.value) && Object.hasOwn(read.value, "steps"))) return null;
    value = read.value;
    const compilation = compileRecipe(value, { mode: "strict", registry, locate: read.locate });
    const recipe = compilation.effective ?? compilation.normalized;
    diagnostics = compilation.diagnostics;
    if (recipe !== null) {
      const { reference, status, stage_bindings, issues } = inspectProfile(recipe.execution_profile, recipe.steps);
      return {
        name: recipe.name,
        path,
        description: typeof recipe.description === "string" ? recipe.description : null,
        step_count: recipe.steps.length,
        metadata: recipe.metadata,
        purpose: declaredTask(recipe) ?? inferTask(recipe.steps.map(({ op }) => op)),
        execution_profile: recipe.execution_profile,
        execution_profile_report: { reference, status, stage_bindings, issues: issues as unknown as JsonObject[] },
        run_readiness: runReadiness(recipe.steps, { registry, readiness: library.readiness }),
        status: compilation.status,
        diagnostics: diagnostics as unknown as JsonObject[],
      };
    }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (maybe || error.code === "recipe_not_found") return null;
    value = null;
    diagnostics = error.diagnostics;
  }
  return {
    name: isObject(value) && typeof value.name === "string" ? value.name : null,
    path,
    description: null,
    step_count: 0,
    metadata: {},
    purpose: null,
    execution_profile: null,
    execution_profile_report: null,
    run_readiness: null,
    status: "invalid",
    diagnostics: diagnostics as unknown as JsonObject[],
  };
}
