/** Work of library threads that is not a whole request. Inputs and outputs are JSON values. */
import type { CompileMode } from "../../recipe/types.ts";
import type { ProjectView } from "../../capture/project.ts";
import { seal, type SealedText } from "../../contract/sealed.ts";
import type { Value } from "../../contract/value.ts";
import { SvcError } from "../../contract/error.ts";
import { selectPoints } from "../../recipe/select_points.ts";
import { type KeepOptions, keptArtifacts } from "../../run/prune.ts";
import { checkResources, readCapacity, writtenResources } from "../../run/resources.ts";
import { stillExecuting } from "../../run/store.ts";
import type { Session } from "../../api/session.ts";
import { type ArtifactPreview, previewArtifact } from "../artifact_file.ts";
import { admitCapture } from "../capture_request.ts";
import { packFile } from "../pack_file.ts";
import { type RecipeSource, sourceOf } from "../recipe_file.ts";

export const TASKS = {
  /**
   * Prepares the run of a recipe, before a job is made of it.
   * @throws SvcError `recipe_invalid`, `plan_invalid` with every diagnostic, `path_forbidden`, `recipe_not_found`,
   *   `resources_insufficient` for a run larger than the machine
   */
  async admit(
    session: Session,
    { mode, use_plan_cache: usePlanCache, ignore_estimate, strict_lint: strictLint, keep, drop, ...request }:
      & RecipeSource
      & KeepOptions
      & { mode?: CompileMode; use_plan_cache?: boolean; ignore_estimate?: boolean; strict_lint?: boolean },
  ): Promise<{ recipe: Value; name: string; prepared: SealedText }> {
    const source = await sourceOf(session, request);
    const prepared = await session.recipes.prepare(source, { mode, usePlanCache, strictLint });
    const { plan } = prepared.planned;
    const isKept = keptArtifacts({ keep, drop }, plan.steps.map(({ step_id }) => step_id));
    const written = writtenResources(plan, prepared.planned.recipe, isKept);
    if (!ignore_estimate) checkResources(written, session.workspace.stateDir, readCapacity);
    return { recipe: source.value, name: prepared.planned.recipe.name, prepared: seal(prepared) };
  },

  /**
   * Checks the matrix of a recipe, before a job is made of it.
   * @throws SvcError `recipe_invalid` with every diagnostic, `matrix_definition_invalid` without a matrix,
   *   `usage_invalid` for unknown points, `path_forbidden`, `recipe_not_found`
   */
  async admitMatrix(
    session: Session,
    { mode, points, keep, drop, ...request }: RecipeSource & KeepOptions & { mode?: CompileMode; points?: string[] },
  ): Promise<{ recipe: Value; name: string }> {
    const source = await sourceOf(session, request);
    const { expansion } = await session.recipes.validate(source, { mode });
    if (expansion.points.length === 0) {
      throw new SvcError("matrix_definition_invalid", "Cannot run a matrix: the recipe has none", {
        hint: "Run it by POST /api/run-jobs",
      });
    }
    if (points !== undefined) selectPoints(expansion.points, points);
    const { name, steps } = expansion.recipe!;
    keptArtifacts({ keep, drop }, steps.map(({ id }) => id));
    return { recipe: source.value, name };
  },

  /**
   * Loads a pack, before a job is made of it.
   * @returns `prepared` is null for a result that is resumed, whose replication counts, and for a study
   * @throws SvcError `pack_not_found`, `path_forbidden`, `result_not_found`, `pack_invalid` with every diagnostic
   */
  async admitPack(
    { benchmarks, workspace }: Session,
    { path, replicates, resume, strict_lint: strictLint }: {
      path: string;
      replicates?: number;
      resume?: string;
      strict_lint?: boolean;
    },
  ): Promise<{ file: string; name: string; prepared: SealedText | null }> {
    const found = await packFile({ benchmarks, workspace }, path);
    if (resume !== undefined) await benchmarks.result(resume);
    const { recipes, ...loaded } = await benchmarks.loaded(found.file, { name: path, replicates, strictLint });
    // The points of a study are made where they run.
    if (resume !== undefined || recipes.some(({ study }) => study !== undefined)) return { ...found, prepared: null };
    // Places in the text have served: the diagnostics name them.
    const plain = { ...loaded, recipes: recipes.map(({ locate: _locate, ...recipe }) => recipe) };
    return { ...found, prepared: seal(plain) };
  },

  /** Checks a capture, before a job is made of it. @throws SvcError with every problem */
  admitCapture,

  /** A training project. @throws SvcError `path_forbidden`, `training_project_not_found` */
  viewProject: async ({ training }: Session, { path }: { path: string }): Promise<ProjectView> =>
    await training.project(path, { confined: true }),

  /** The beginning of an artifact file. @throws SvcError `path_forbidden`, `artifact_not_found`, `artifact_invalid` */
  preview: async (session: Session, { path }: { path: string }): Promise<ArtifactPreview> =>
    await previewArtifact(session, path),

  /** A finished run, for a job that executes it again. @throws SvcError `run_not_found`, `run_still_executing` */
  async findRun(
    { runs }: Session,
    { run_id: wanted, verb }: { run_id: string; verb: string },
  ): Promise<{ run_id: string; recipe_name: string | null }> {
    const { run_id, summary } = await runs.show(wanted);
    if (summary.status === "running") throw stillExecuting(run_id, verb);
    return { run_id, recipe_name: summary.recipe_name as string | null };
  },
};

export type TaskName = keyof typeof TASKS;
export type TaskInput<Name extends TaskName> = Parameters<typeof TASKS[Name]>[1];
export type TaskOutput<Name extends TaskName> = Awaited<ReturnType<typeof TASKS[Name]>>;
