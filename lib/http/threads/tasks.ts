/** What the main thread hands over besides whole requests. Inputs and outputs are JSON values. */
import { loadPack } from "../../benchmark/load_pack.ts";
import { resolveResultId } from "../../benchmark/store.ts";
import { SvcError } from "../../contract/error.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { planRecipe } from "../../plan/planner.ts";
import { compileRecipe } from "../../recipe/compile.ts";
import { refusal } from "../../run/run.ts";
import { showRun } from "../../run/store.ts";
import { viewTrainingProject } from "../../capture/project.ts";
import { previewArtifact } from "../artifact_file.ts";
import { admitCapture, type AdmittedCapture, type CaptureRequest } from "../capture_request.ts";
import { packFile } from "../pack_file.ts";
import { readRecipeAt } from "../recipe_file.ts";
import type { Library } from "../service.ts";
import { projectFolder } from "../training_paths.ts";

/** A recipe as a request names it: itself, or a file in `recipes/`. */
export interface RecipeSource {
  recipe?: Value;
  path?: string;
}

export const TASKS = {
  /**
   * Finds out whether a recipe can run, before a job is made of it.
   *
   * @throws SvcError `recipe_invalid` or `plan_invalid` with every diagnostic, or what is wrong with the path
   */
  async admit(library: Library, source: RecipeSource): Promise<{ recipe: Value; name: string }> {
    const registry = await library.registry();
    const { value, locate } = source.path === undefined
      ? { value: source.recipe!, locate: undefined }
      : await readRecipeAt(library.workspace, source.path);
    const compilation = compileRecipe(value, { mode: "strict", registry, locate });
    const { readiness, planCache } = library;
    const planned = await planRecipe(compilation, { registry, readiness, cache: planCache, singleRun: true, locate });
    if (planned.status === "refused") {
      throw compilation.status === "invalid"
        ? refusal("recipe_invalid", "Cannot compile the recipe", planned.diagnostics)
        : refusal("plan_invalid", "Cannot plan the recipe", planned.diagnostics);
    }
    return { recipe: value, name: planned.recipe.name };
  },

  /**
   * Finds out whether a pack can run.
   *
   * @throws SvcError `pack_not_found`, `path_forbidden`, `result_not_found`, or `pack_invalid` with every diagnostic
   */
  async admitPack(
    library: Library,
    { path, replicates, resume }: { path: string; replicates?: number; resume?: string },
  ): Promise<{ file: string; name: string }> {
    const { workspace, readiness } = library;
    const found = packFile(workspace.projectRoot, path);
    if (resume !== undefined) resolveResultId(workspace, resume);
    const { valid, diagnostics } = await loadPack(found.file, {
      registry: await library.registry(),
      projectRoot: workspace.projectRoot,
      planning: { readiness },
      ...(replicates === undefined ? {} : { replicates }),
    });
    if (!valid) throw refusal("pack_invalid", `Cannot run the pack ${path}`, diagnostics);
    return found;
  },

  /**
   * Finds out whether a capture can be made, and where it goes.
   *
   * @throws SvcError with every problem of the recipe, the plan and the configuration
   */
  async admitCapture(library: Library, source: CaptureRequest): Promise<AdmittedCapture> {
    return await admitCapture(library, source);
  },

  /** A training project as it is now. @throws SvcError `path_forbidden`, `training_project_not_found` */
  // deno-lint-ignore require-await -- every task is asynchronous to its caller
  async viewProject({ workspace }: Library, { path }: { path: string }): Promise<JsonObject> {
    return viewTrainingProject(projectFolder(workspace, path), path);
  },

  /** The beginning of an artifact file. @throws SvcError `path_forbidden`, `artifact_not_found`, `artifact_invalid` */
  // deno-lint-ignore require-await -- every task is asynchronous to its caller
  async preview({ workspace }: Library, { path }: { path: string }): Promise<JsonObject> {
    return previewArtifact(workspace, path);
  },

  /**
   * Finds a run that can be reproduced.
   *
   * @throws SvcError `run_not_found`, `run_still_executing`
   */
  // deno-lint-ignore require-await -- every task is asynchronous to its caller
  async findRun(
    library: Library,
    { run_id: wanted }: { run_id: string },
  ): Promise<{ run_id: string; recipe_name: string | null }> {
    const { run_id, summary } = showRun(library.workspace, wanted);
    if (summary.status === "running") {
      throw new SvcError("run_still_executing", `Cannot reproduce ${run_id} while it is executing`, {
        hint: "Wait for its end, or cancel it",
        extra: { run_id },
      });
    }
    return { run_id, recipe_name: (summary as JsonObject).recipe_name as string | null };
  },
};

export type TaskName = keyof typeof TASKS;
export type TaskInput<Name extends TaskName> = Parameters<typeof TASKS[Name]>[1];
export type TaskOutput<Name extends TaskName> = Awaited<ReturnType<typeof TASKS[Name]>>;
