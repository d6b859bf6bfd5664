/** Training: trainable components of a recipe, projects to train them, and captured datasets. */
import { join, relative, sep } from "../../contract/paths.ts";
import type { CaptureOptions as Capture, CaptureResult } from "../../capture/capture.ts";
import { SPLITS } from "../../capture/config.ts";
import type { ExportedProject } from "../../capture/export_project.ts";
import type { PreparedCapture } from "../../capture/prepare.ts";
import { newPlace, projectFolder, PROJECTS_FOLDER } from "../../capture/places.ts";
import type { ProjectView } from "../../capture/project.ts";
import type { CaptureSize } from "../../capture/size.ts";
import { sha256Json } from "../../contract/hash.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import type { TrainingInspection } from "../../training/inspect_recipe.ts";
import type { TrainingPlan } from "../../training/training_plan.ts";
import type { RecipeInput } from "../authored_recipe.ts";
import { call, type CallOptions, camelKeys, type Cancellable, type Origin } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { documentOf, OBJECT, ownDiagnostics, ownWarnings, valueOf } from "../documents.ts";
import { flag, IGNORE_ESTIMATE, LINT, oneOf, RECIPE, text, WORKERS } from "../fields.ts";
import { artifacts } from "./artifacts.ts";

/** An inspection with the size of each split that its plan captures. */
export type SizedInspection = TrainingInspection & { capture_sizes: (CaptureSize & { split: Split })[] };

type Split = typeof SPLITS[number];

/** A plan as a script writes it, or one that was read; what it leaves open is derived from the recipe. */
type Plan = Record<string, unknown> | TrainingPlan;
const PLANNED = {
  recipe: RECIPE,
  plan: valueOf<Plan>("training plan; members that are left out are derived from the recipe").optional(),
};
const PLAN_NAME = { plan: "training_plan" } as const;
const PROJECT_PATH = { path: z.string().describe("folder of a project; over HTTP training_projects/<name>") };

const HOW = {
  samples: z.int().min(0).max(999_999_999).optional().describe("number of records (default: as configured)"),
  max_bytes: z.int().min(1).optional().describe(
    "maximum size of the arrays of a split; the number of records is reduced to fit",
  ),
  force: flag("replace an earlier capture in the folder"),
  ignore_estimate: IGNORE_ESTIMATE,
  lint: LINT,
  strict_lint: flag("refuse a recipe with lint errors"),
  parallel_workers: WORKERS.unwrap().default(1).describe(
    "run up to N runs at once, 1 to 32; the bytes do not depend on N",
  ),
};
const SPLIT = oneOf("split to capture (default: train; all splits of a project)", SPLITS);
const CAPTURED = {
  ...PLANNED,
  split: SPLIT,
  taps: valueOf<JsonObject[]>("arrays to capture, in place of those of plan and recipe").optional(),
  out: text("folder of the split (default: dataset_captures/<recipe>/<split> of the state directory)", "folder"),
  ...HOW,
};
const PROJECT_SPLIT = { ...PROJECT_PATH, split: SPLIT, ...HOW };
type How = Cancellable & Origin & Pick<Capture, "shownOut" | "onEvent">;
type CaptureInput = Omit<Capture, "registry" | "workspace" | "readiness" | "pool" | "cancellation"> & Cancellable;

const IDENTITIES = { scenario_sha256: z.string(), training_plan_sha256: z.string() };
const INSPECTION = documentOf<SizedInspection>(z.object({
  kind: z.enum(["svc.training_inspection"]),
  recipe: z.string(),
  ...IDENTITIES,
  status: z.enum(["full_gradient_possible", "partial_gradient_possible", "dataset_capture_only", "not_trainable"]),
  recommendations: z.array(z.object({
    id: z.enum(["differentiable_export", "receiver_only", "dataset_capture", "benchmark_run"]),
    reason: z.string(),
  })),
  boundaries: z.array(z.object({ step_id: z.string(), selectable: z.boolean(), reason: z.string().nullable() })),
  selected_steps: z.array(z.string()),
  evaluation_sinks: z.array(OBJECT),
  routes: z.array(z.object({ from_step: z.string(), loss_step: z.string(), open: z.boolean() })),
  suggested_taps: z.array(z.object({ id: z.string(), from: z.string() })),
  training_plan: OBJECT,
  capture_sizes: z.array(z.object({ split: z.enum(SPLITS), records: z.int(), bytes: z.int(), text: z.string() })),
}));
const PROJECT = documentOf<ProjectView>(z.object({
  path: z.string(),
  id: z.string(),
  recipe: z.string(),
  identities: z.object(IDENTITIES),
  capture_jobs: z.array(z.object({ split: z.enum(SPLITS), state: z.enum(["missing", "captured", "outdated"]) })),
  components: z.array(z.object({ id: z.string(), path: z.string(), present: z.boolean() })),
  curve: z.array(z.object({ epoch: z.number(), train_loss: z.number(), validation_loss: z.number() })),
  checkpoint: z.boolean(),
  package: z.object({ path: z.string(), state: z.enum(["missing", "exported", "sealed"]) }),
  files: z.array(z.object({ path: z.string(), state: z.enum(["unchanged", "changed", "missing"]) })),
}));

export const training = {
  /**
   * The trainable components of a recipe, the evaluations that they reach, whether gradients reach them, and the sizes of the
   * splits to capture.
   * @throws SvcError `recipe_invalid`, `training_plan_invalid`, with every problem
   */
  inspect: call("Show trainable components, the evaluations that they affect, and whether gradients reach them", {
    fields: PLANNED,
    args: ["recipe"],
    output: INSPECTION,
    refuses: [400],
    http: { route: "post /api/recipe/differentiable-inspect", returns: "The inspection", names: PLAN_NAME },
    cli: { name: "differentiable inspect", usage: "<file>", without: ["plan"] },
    async run(core, { recipe, plan: given }): Promise<SizedInspection> {
      const { captureSizes, deriveTrainingPlan } = await import("../../capture/derive.ts");
      const source = await sourceOf(core, recipe, given), { plan, inspection } = deriveTrainingPlan(source);
      return { ...inspection, capture_sizes: captureSizes(source.raw, { ...source, plan }) };
    },
  }),

  /** The graph that `export` writes. @throws SvcError as `export` */
  graph: call("Show the graph of a recipe, each step with its part in the training", {
    fields: PLANNED,
    args: ["recipe"],
    output: documentOf<JsonObject>(
      z.object({ kind: z.enum(["svc.scenario_graph"]), nodes: z.array(OBJECT), edges: z.array(OBJECT) }),
    ),
    refuses: [400],
    http: { route: "post /api/recipe/differentiable-export-graph", returns: "The graph", names: PLAN_NAME },
    run: async (core, { recipe, plan }) =>
      (await import("../../capture/export_project.ts")).exportedGraph(await sourceOf(core, recipe, plan)),
  }),

  /**
   * Writes a project to train a component of a recipe elsewhere: capture recipes, data and interface contracts, a draft of
   * the artifact's manifest, and for `framework: "torch"` Python sources, which are never run here.
   * @throws SvcError `recipe_invalid`, `training_plan_invalid`, `dataset_capture_invalid` with every problem;
   *   `training_project_conflict` where the folder has other contents
   */
  export: call("Export a training project: capture recipes, contracts, a draft artifact manifest and a README", {
    fields: {
      ...PLANNED,
      samples: HOW.samples.describe("number of records over all splits (default: from the plan)"),
      out: text(
        "folder of the project; over HTTP a name (default: training_projects/<recipe> of the state directory)",
        "folder",
      ),
      force: flag("replace the exported files of the project; its data and other files are kept"),
    },
    args: ["recipe"],
    output: documentOf<ExportedProject>(
      z.object({ id: z.string(), out: z.string(), ...IDENTITIES, files: z.array(z.string()) }),
    ),
    refuses: [400, 403, 409],
    http: {
      route: "post /api/recipe/differentiable-export",
      returns: "The written files",
      names: PLAN_NAME,
      without: ["samples"],
    },
    cli: { name: "differentiable export", usage: "<file>", without: ["plan"] },
    findings: ownDiagnostics,
    async run(core, { recipe, plan: given, samples, out, force }, { confined }: Origin): Promise<ExportedProject> {
      const [{ exportTrainingProject }, { withTotalSamples }] = await Promise.all([
        import("../../capture/export_project.ts"),
        import("../../capture/derive.ts"),
      ]);
      const { workspace } = core;
      const place = confined && out !== undefined ? newPlace(workspace, PROJECTS_FOLDER, out) : undefined;
      const { plan, ...source } = await sourceOf(core, recipe, given);
      const made = await exportTrainingProject({
        ...source,
        plan: samples === undefined ? plan : withTotalSamples(plan, samples),
        workspace,
        out: place?.full ?? out,
        shownOut: place?.shown,
        force,
      });
      if (!confined) return made;
      return { ...made, out: relative(workspace.stateDir, made.out).split(sep).join("/") };
    },
  }),

  /**
   * Captures a split of a dataset: runs of the part of a recipe that its taps depend on, as shards of NumPy arrays with one
   * record per row. An earlier capture stays as it was until the new one is complete.
   * @throws SvcError `recipe_invalid`, `plan_invalid`, `dataset_capture_invalid` with every problem, `capture_conflict`,
   *   `capture_splits_overlap`, `disk_reserve_reached`, and the code of a step that failed
   */
  capture: call("Run the part of a recipe that its taps need, and capture the arrays as NumPy shards", {
    fields: CAPTURED,
    args: ["recipe"],
    findings: ownDiagnostics,
    run: async (core, input, means: How) => await capture(core, { ...await captured(core, input), ...means }),
  }),

  /** Checks what `capture` would capture; nothing is written. @throws SvcError as `capture` */
  prepareCapture: call("Check a capture without running it", {
    fields: CAPTURED,
    args: ["recipe"],
    findings: ownWarnings,
    run: async (core, input) => await prepare(core, await captured(core, input)),
  }),

  /** Captures a split of an exported project into its place there. @throws SvcError as `capture` */
  captureProject: call("Capture a split of an exported project into its place there", {
    fields: PROJECT_SPLIT,
    args: ["path"],
    findings: ownDiagnostics,
    run: async (core, input, { confined, ...means }: How) =>
      await capture(core, { ...await projectSource(core, input, confined), ...means }),
  }),

  /** Checks what `captureProject` would capture; nothing is written. @throws SvcError as `capture` */
  prepareProject: call("Check a capture of an exported project without running it", {
    fields: PROJECT_SPLIT,
    args: ["path"],
    findings: ownWarnings,
    async run(core, input, { confined }: Origin): Promise<PreparedCapture & { out: string }> {
      const source = await projectSource(core, input, confined);
      return { ...await prepare(core, source), out: source.out };
    },
  }),

  /** The projects of the state directory. */
  projects: call("List the training projects of the state directory", {
    output: z.object({ projects: z.array(PROJECT) }),
    http: { route: "get /api/workbench/exported-projects", returns: "A view each" },
    publish: (projects: ProjectView[]) => ({ projects }),
    run: async ({ workspace }) => (await import("../../capture/project.ts")).listTrainingProjects(workspace.stateDir),
  }),

  /** An exported project and the state of its splits. @throws SvcError `training_project_not_found` */
  project: call("Show a training project: exported files, captured splits, trained components", {
    fields: PROJECT_PATH,
    args: ["path"],
    output: PROJECT,
    refuses: [403, 404],
    http: { route: "get /api/workbench/exported-project", returns: "The project" },
    run: async (core, { path }, { confined }: Origin): Promise<ProjectView> =>
      (await import("../../capture/project.ts")).viewTrainingProject(placeOf(core, path, confined), path),
  }),

  /**
   * Packages the trained networks of a project and imports the package.
   * @throws SvcError `training_project_not_found`, or codes `artifact_*` with every problem
   */
  seal: call("Seal the trained networks of a project and put them into the store, compared with their stored outputs", {
    fields: PROJECT_PATH,
    args: ["path"],
    output: z.object({
      id: z.string(),
      artifact_package_sha256: z.string(),
      operations: z.array(z.string()),
      largest_relative_difference: z.number().nullable().describe("to the stored outputs; null without them"),
    }),
    refuses: [400, 403, 404, 422],
    http: {
      route: "post /api/workbench/exported-project-package",
      returns: "The package is in the store",
      status: 201,
    },
    async run(core, { path }, { confined }: Origin) {
      const folder = placeOf(core, path, confined);
      const { viewTrainingProject } = await import("../../capture/project.ts");
      const { package: { path: inside } } = viewTrainingProject(folder, path);
      const input = { folder: join(folder, inside), out: join(folder, "package.zip"), force: true };
      const made = await artifacts.package.run(core, input, {});
      const { artifact } = await artifacts.import.run(core, { package: made.archive }, {});
      const differences = made.parity.map(({ largest_relative_difference }) => largest_relative_difference);
      return {
        id: made.id,
        artifact_package_sha256: made.package_sha256,
        operations: artifact.operations,
        largest_relative_difference: differences.length === 0 ? null : Math.max(...differences),
      };
    },
  }),
};

export type TrainingOptions = CallOptions<typeof training.inspect>;
export type ExportOptions = CallOptions<typeof training.export>;
export type CaptureOptions = CallOptions<typeof training.capture>;

async function sourceOf(core: SessionCore, recipe: RecipeInput, plan: Plan | undefined) {
  const [{ authored }, { readTrainingPlan }, { recipeFromValue }] = await Promise.all([
    import("../authored_recipe.ts"),
    import("../../training/training_plan.ts"),
    import("../../recipe/from_value.ts"),
  ]);
  const { value: raw, locate } = authored(recipe);
  return { raw, locate, plan: readTrainingPlan(recipeFromValue(plan ?? {})), registry: await core.registry(raw) };
}

async function captured(
  core: SessionCore,
  { recipe, plan: given, taps, ...fields }: z.output<z.ZodObject<typeof CAPTURED>>,
): Promise<CaptureInput> {
  const { captureConfigFor } = await import("../../capture/derive.ts");
  const { plan, ...source } = await sourceOf(core, recipe, given);
  const own = given === undefined ? undefined : plan;
  return {
    ...camelKeys(fields),
    raw: source.raw,
    locate: source.locate,
    config: captureConfigFor(source.raw, { ...source, plan: own, taps }),
    trainingPlanSha256: own && sha256Json(own),
  };
}

const placeOf = ({ workspace }: SessionCore, path: string, confined: boolean | undefined): string =>
  confined ? projectFolder(workspace, path) : path;

async function projectSource(
  core: SessionCore,
  { path, split = "train", ...fields }: z.output<z.ZodObject<typeof PROJECT_SPLIT>>,
  confined: boolean | undefined,
) {
  const { projectCapture } = await import("../../capture/project.ts");
  const { raw, out } = projectCapture(placeOf(core, path, confined), split);
  return { ...camelKeys(fields), raw, out, split };
}

async function prepare(core: SessionCore, input: CaptureInput): Promise<PreparedCapture> {
  const { registry, readiness } = await core.means();
  return await (await import("../../capture/prepare.ts")).prepareCapture({ ...input, registry, readiness });
}

async function capture(
  core: SessionCore,
  { cancellation = createCancellation(), ...input }: CaptureInput,
): Promise<CaptureResult> {
  const { captureDataset } = await import("../../capture/capture.ts");
  const { planCache: _, ...means } = await core.means();
  return await core.withPool((_execute, pool) => captureDataset({ ...input, ...means, cancellation, pool }));
}
