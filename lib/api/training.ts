/** Training: trainable components of a recipe, projects to train them, and captured datasets. */
import type { CaptureOptions as Capture, CaptureResult } from "../capture/capture.ts";
import type { Split } from "../capture/config.ts";
import type { PreparedCapture } from "../capture/prepare.ts";
import type { ExportedProject } from "../capture/export_project.ts";
import type { ProjectView } from "../capture/project.ts";
import type { CaptureSize } from "../capture/size.ts";
import { createCancellation } from "../execute/cancellation.ts";
import { sha256Json } from "../contract/hash.ts";
import type { JsonObject } from "../contract/value.ts";
import type { TrainingInspection } from "../training/inspect_recipe.ts";
import type { TrainingPlan } from "../training/training_plan.ts";
import type { AuthoredRecipe, RecipeInput } from "./authored_recipe.ts";
import type { SessionCore } from "./core.ts";

/** A plan as a script writes it, or one that was read; what it leaves open is derived from the recipe. */
export interface TrainingOptions {
  /** `selected_steps`, `loss_steps`, `objective`, `dataset_capture`, `framework`: all may be left out. */
  plan?: Record<string, unknown> | TrainingPlan;
}

/** An inspection with the size of each split that its plan captures. */
export type SizedInspection = TrainingInspection & { capture_sizes: (CaptureSize & { split: Split })[] };

export interface ExportOptions extends TrainingOptions {
  /** `training_projects/<recipe>` of the state directory when left out. */
  out?: string;
  /** The folder as messages name it. */
  shownOut?: string;
  force?: boolean;
  /** Records over all splits, instead of the number in the plan. */
  samples?: number;
}

type SetBySession =
  | "raw"
  | "locate"
  | "config"
  | "registry"
  | "workspace"
  | "readiness"
  | "pool"
  | "cancellation"
  | "split";

export interface CaptureOptions extends TrainingOptions, Omit<Capture, SetBySession | "trainingPlanSha256"> {
  split?: Split;
  /** Arrays to capture, in place of those of plan and recipe. */
  taps?: JsonObject[];
  cancellation?: Capture["cancellation"];
}

export type ProjectCaptureOptions = Omit<CaptureOptions, "plan" | "taps" | "out">;

type CaptureInput =
  & Omit<Capture, "registry" | "workspace" | "readiness" | "pool" | "cancellation">
  & Pick<CaptureOptions, "cancellation">;

const authored = async (recipe: RecipeInput): Promise<AuthoredRecipe> =>
  (await import("./authored_recipe.ts")).authored(recipe);

export class Training {
  constructor(private readonly core: SessionCore) {}

  /**
   * The trainable components of a recipe, the evaluations that they reach, whether gradients reach them, and the sizes of the
   * splits to capture.
   * @throws SvcError `recipe_invalid`, `training_plan_invalid`, with every problem
   */
  async inspect(recipe: RecipeInput, options: TrainingOptions = {}): Promise<SizedInspection> {
    const { captureSizes, deriveTrainingPlan } = await import("../capture/derive.ts");
    const source = await this.#source(recipe, options), { plan, inspection } = deriveTrainingPlan(source);
    return { ...inspection, capture_sizes: captureSizes(source.raw, { ...source, plan }) };
  }

  /** The graph of {@link export}: each step with its part in the training. @throws SvcError as {@link export} */
  async graph(recipe: RecipeInput, options: TrainingOptions = {}): Promise<JsonObject> {
    return (await import("../capture/export_project.ts")).exportedGraph(await this.#source(recipe, options));
  }

  /**
   * Writes a project to train a component of a recipe elsewhere: capture recipes, data and interface contracts, a draft of
   * the artifact's manifest, and for `framework: "torch"` Python sources, which are never run here.
   * @throws SvcError `recipe_invalid`, `training_plan_invalid`, `dataset_capture_invalid` with every problem;
   *   `training_project_conflict` where the folder has other contents
   */
  async export(recipe: RecipeInput, options: ExportOptions = {}): Promise<ExportedProject> {
    const [{ exportTrainingProject }, { withTotalSamples }] = await Promise.all([
      import("../capture/export_project.ts"),
      import("../capture/derive.ts"),
    ]);
    const { plan, ...source } = await this.#source(recipe, options);
    const { samples, out, shownOut, force } = options;
    return await exportTrainingProject({
      ...source,
      plan: samples === undefined ? plan : withTotalSamples(plan, samples),
      workspace: this.core.workspace,
      out,
      shownOut,
      force,
    });
  }

  /**
   * Captures a split of a dataset: runs of the part of a recipe that its taps depend on, as shards of NumPy arrays with one
   * record per row. An earlier capture stays as it was until the new one is complete.
   * @throws SvcError `recipe_invalid`, `plan_invalid`, `dataset_capture_invalid` with every problem, `capture_conflict`,
   *   `capture_splits_overlap`, `disk_reserve_reached`, and the code of a step that failed
   */
  async capture(recipe: RecipeInput, options: CaptureOptions = {}): Promise<CaptureResult> {
    return await this.#capture(await this.#captured(recipe, options));
  }

  /** Checks what {@link capture} would capture; nothing is written. @throws SvcError as {@link capture} */
  async prepareCapture(recipe: RecipeInput, options: CaptureOptions = {}): Promise<PreparedCapture> {
    return await this.#prepare(await this.#captured(recipe, options));
  }

  /** Captures a split of an exported project into its place there. @throws SvcError as {@link capture} */
  async captureProject(folder: string, options: ProjectCaptureOptions = {}): Promise<CaptureResult> {
    return await this.#capture(await projectSource(folder, options));
  }

  /** Checks what {@link captureProject} would capture; nothing is written. @throws SvcError as {@link capture} */
  async prepareProject(
    folder: string,
    options: ProjectCaptureOptions = {},
  ): Promise<PreparedCapture & { out: string }> {
    const source = await projectSource(folder, options);
    return { ...await this.#prepare(source), out: source.out };
  }

  /** An exported project and the state of its splits. @throws SvcError `training_project_not_found` */
  async project(folder: string, shown?: string): Promise<ProjectView> {
    return (await import("../capture/project.ts")).viewTrainingProject(folder, shown);
  }

  /** The projects of the state directory. */
  async projects(): Promise<ProjectView[]> {
    return (await import("../capture/project.ts")).listTrainingProjects(this.core.workspace.stateDir);
  }

  async #source(recipe: RecipeInput, { plan }: TrainingOptions) {
    const [{ readTrainingPlan }, { recipeFromValue }] = await Promise.all([
      import("../training/training_plan.ts"),
      import("../recipe/from_value.ts"),
    ]);
    const { value: raw, locate } = await authored(recipe);
    const registry = await this.core.registry();
    return { raw, locate, plan: readTrainingPlan(recipeFromValue(plan ?? {})), registry };
  }

  async #captured(recipe: RecipeInput, { taps, plan: given, ...options }: CaptureOptions): Promise<CaptureInput> {
    const { captureConfigFor } = await import("../capture/derive.ts");
    const { plan, ...source } = await this.#source(recipe, { plan: given });
    const own = given === undefined ? undefined : plan;
    return {
      ...options,
      raw: source.raw,
      locate: source.locate,
      config: captureConfigFor(source.raw, { ...source, plan: own, taps }),
      trainingPlanSha256: own && sha256Json(own),
    };
  }

  async #prepare(input: CaptureInput): Promise<PreparedCapture> {
    const { registry, readiness } = await this.core.means();
    return await (await import("../capture/prepare.ts")).prepareCapture({ ...input, registry, readiness });
  }

  async #capture({ cancellation = createCancellation(), ...input }: CaptureInput): Promise<CaptureResult> {
    const { captureDataset } = await import("../capture/capture.ts");
    const { planCache: _, ...means } = await this.core.means();
    return await this.core.withPool((_execute, pool) => captureDataset({ ...input, ...means, cancellation, pool }));
  }
}

async function projectSource(folder: string, { split = "train", ...options }: ProjectCaptureOptions) {
  const { raw, out } = (await import("../capture/project.ts")).projectCapture(folder, split);
  return { ...options, raw, out, split };
}
