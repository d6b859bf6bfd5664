/**
 * Exports a training project: a folder with all that is needed to train a block of a recipe elsewhere and to import the result.
 * Recipes of its captures, contracts of data and interfaces, a draft of the artifact's manifest, and for PyTorch text for the
 * trainer, which nothing here ever runs.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { type Diagnostic, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, prettyJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { recipeGraph } from "../figure/graph/graph.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { Workspace } from "../run/workspace.ts";
import { captureRecipe } from "./capture_recipe.ts";
import { invalidConfig, readCaptureConfig, releasedSeeds, SPLITS } from "./config.ts";
import { compiled, deriveTrainingPlan, type ProjectSource } from "./derive.ts";
import {
  artifactDraft,
  dataContract,
  type ProjectFacts,
  projectManifest,
  pythonContract,
  readme,
  scenarioGraph,
  trainingContract,
  twinScenario,
} from "./project_documents.ts";
import { PROJECT_FILE, readProjectManifest } from "./project.ts";
import { twinsMissing } from "../training/gradient_routes.ts";
import { recordStep, type TwinVector } from "./twin_vectors.ts";
import { type CaptureSize, captureSize } from "./size.ts";
import { yamlDocument } from "./yaml_document.ts";

const REMARK = ["Written by svc differentiable export; a new export replaces it."];
const PLACEHOLDER = ".gitkeep";

/** The trainer's texts with the contract in place of `@CONTRACT@`, and names of the project in its example. */
const PYTHON: Record<string, () => Promise<{ default: string }>> = {
  "interfaces.py": () => import("./python/interfaces.py", { with: { type: "text" } }),
  "scenario.py": () => import("./python/scenario.py", { with: { type: "text" } }),
  "train.py": () => import("./python/train.py", { with: { type: "text" } }),
  "validate_contract.py": () => import("./python/validate_contract.py", { with: { type: "text" } }),
  "package_artifact.py": () => import("./python/package_artifact.py", { with: { type: "text" } }),
};

/** PyTorch twins of operations, with the tables that they read, and their test. */
const TWINS: Record<string, () => Promise<{ default: unknown }>> = {
  "twins/__init__.py": () => import("./python/twins/__init__.py", { with: { type: "text" } }),
  "twins/core.py": () => import("./python/twins/core.py", { with: { type: "text" } }),
  "twins/fading.py": () => import("./python/twins/fading.py", { with: { type: "text" } }),
  "twins/link.py": () => import("./python/twins/link.py", { with: { type: "text" } }),
  "twins/ofdm.py": () => import("./python/twins/ofdm.py", { with: { type: "text" } }),
  "twins/images.py": () => import("./python/twins/images.py", { with: { type: "text" } }),
  "twins/csi.py": () => import("./python/twins/csi.py", { with: { type: "text" } }),
  "twins/downlink.py": () => import("./python/twins/downlink.py", { with: { type: "text" } }),
  "twins/estimation.py": () => import("./python/twins/estimation.py", { with: { type: "text" } }),
  "twins/power.py": () => import("./python/twins/power.py", { with: { type: "text" } }),
  "twins/check.py": () => import("./python/twins/check.py", { with: { type: "text" } }),
  "twins/data/tdl_models.json": () => import("../numeric/data/tdl_models.json", { with: { type: "json" } }),
  "twins/data/cdl_models.json": () => import("../numeric/data/cdl_models.json", { with: { type: "json" } }),
  "tests/test_twins.py": () => import("./python/test_twins.py", { with: { type: "text" } }),
};
/** A file of the trainer, written by the first export only. */
const NETWORKS = "networks.py";

export interface ExportOptions extends ProjectSource {
  workspace: Workspace;
  /** Folder of the project; `training_projects/<recipe>` of the state directory when left out. */
  out?: string;
  /** That folder as messages name it. */
  shownOut?: string;
  /** Whether the files of an earlier export there are replaced; data and other files stay in any case. */
  force?: boolean;
}

/** The result of an export. */
export interface ExportedProject extends JsonObject {
  id: string;
  /** Absolute. */
  out: string;
  scenario_sha256: string;
  training_plan_sha256: string;
  status: string;
  /** Paths in the folder. */
  files: string[];
  /** The size of every split. */
  sizes: (CaptureSize & { split: string })[];
  /** Warnings. */
  diagnostics: Diagnostic[];
}

/**
 * Exports a project. All of it is made before the first file is written.
 * @throws SvcError `recipe_invalid`, `training_plan_invalid` and `dataset_capture_invalid` with every problem;
 *   `training_project_conflict` for a place with other content
 */
export async function exportTrainingProject(options: ExportOptions): Promise<ExportedProject> {
  const facts = projectFacts(options);
  const files = await projectFiles(facts);
  const { inspection, id } = facts;
  const out = resolve(options.out ?? join(options.workspace.stateDir, "training_projects", id));
  checkPlace(out, options.force === true, options.shownOut);
  mkdirSync(out, { recursive: true });
  for (const { split } of facts.captures) {
    const folder = join(out, "data", split);
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length === 0) writeFileAtomic(join(folder, PLACEHOLDER), "");
  }
  if (facts.plan.framework !== "" && !existsSync(join(out, NETWORKS))) {
    writeFileAtomic(
      join(out, NETWORKS),
      await textOf(() => import("./python/networks.py", { with: { type: "text" } })),
    );
  }
  // The manifest names the other files: write it last.
  for (const [path, text] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileAtomic(join(out, path), text);
  }
  return {
    id,
    out,
    scenario_sha256: inspection.scenario_sha256,
    training_plan_sha256: inspection.training_plan_sha256,
    status: inspection.status,
    files: [...files.keys()],
    sizes: facts.captures.map(({ split, config }) => ({
      split,
      ...captureSize(config, facts.effective, facts.registry),
    })),
    diagnostics: [...releasedSeeds(facts.captures[0].released_seeds), ...twinsMissing(inspection.routes)],
  };
}

/** The graph of a project without its folder: nodes with their part in the training. */
export function exportedGraph(options: ProjectSource): JsonObject {
  return scenarioGraph(projectFacts(options));
}

function projectFacts(options: ProjectSource): ProjectFacts {
  const { raw, locate, registry } = options;
  const { plan, inspection } = deriveTrainingPlan(options);
  if (inspection.selected_steps.length === 0) {
    throw new SvcError(
      "training_plan_invalid",
      `Cannot export ${inspection.recipe}: none of its steps can be replaced`,
      {
        hint: "svc differentiable inspect says why",
      },
    );
  }
  const { normalized, effective } = compiled(raw, { registry, locate });
  const { dataset_capture: _capture, ...rest } = normalized;
  const recipe = rest as RecipeDocument;
  const problems: Diagnostic[] = [];
  const captures = SPLITS.flatMap((split): ProjectFacts["captures"] => {
    const { split: _split, samples: _samples, ...shared } = plan.dataset_capture;
    const read = readCaptureConfig(shared, { recipe, registry, split });
    if (read.config === null) {
      if (problems.length === 0) problems.push(...read.diagnostics);
      return [];
    }
    const { scenario_sha256, training_plan_sha256 } = inspection;
    const made = captureRecipe(recipe, read.config, { scenario_sha256, training_plan_sha256 });
    const file = `capture_${split}_recipe.yaml`;
    const sha256 = sha256Hex(yamlDocument(made.recipe, REMARK));
    const { recipe: captured, released_seeds } = made;
    return [{ split, config: read.config, recipe: captured, released_seeds, file, sha256 }];
  });
  if (problems.length > 0) throw invalidConfig(problems);
  const id = recipe.name.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[^A-Za-z0-9]+/, "") || "project";
  const graph = recipeGraph(effective, registry);
  return { id, recipe, effective, plan, inspection, registry, graph, captures };
}

async function projectFiles(facts: ProjectFacts): Promise<Map<string, string>> {
  const files = new Map<string, string>([
    ["svc_recipe.yaml", yamlDocument(facts.recipe, ["The scenario as it was exported."])],
    ["training_plan.yaml", yamlDocument(facts.plan, REMARK)],
    ["training_contract.yaml", yamlDocument(trainingContract(facts), REMARK)],
    ["data_contract.yaml", yamlDocument(dataContract(facts), REMARK)],
    ["scenario_graph.json", prettyJson(scenarioGraph(facts))],
    ["trained_artifact.template.yaml", yamlDocument(artifactDraft(facts), ["Completed by svc artifact package."])],
    ["README.md", readme(facts)],
  ]);
  for (const { file, recipe } of facts.captures) files.set(file, yamlDocument(recipe, REMARK));
  const digests = () => Object.fromEntries([...files].map(([path, text]) => [path, sha256Hex(text)]));
  if (facts.plan.framework !== "") {
    const scenario = twinScenario(facts);
    files.set("scenario.json", prettyJson(scenario));
    for (const [path, load] of Object.entries(TWINS)) files.set(path, await textOf(load));
    files.set("tests/twin_vectors.json", canonicalJson(await twinVectors(facts, scenario)));
    const contract = pythonContract(facts, digests());
    for (const [name, load] of Object.entries(PYTHON)) {
      const text = await textOf(load);
      // A raw string ends at three quotes only, and JSON escapes every quote in it.
      files.set(name, withExample(text, contract).replace("@CONTRACT@", () => canonicalJson(contract)));
    }
  }
  files.set(PROJECT_FILE, yamlDocument(projectManifest(facts, digests()), REMARK));
  return files;
}

/** The example of a text with the first block and the first captured array of the project. */
function withExample(text: string, { blocks, taps }: ReturnType<typeof pythonContract>): string {
  const [block] = blocks as JsonObject[], [tap] = taps as JsonObject[];
  const names = { STEP: block.step_id, COMPONENT: block.component_id, TAP: tap?.id ?? "" };
  return Object.entries(names).reduce((made, [mark, name]) => made.replaceAll(`@${mark}@`, () => String(name)), text);
}

/** The stored vectors of the operations of a frozen graph, and one of each frozen step with its own parameters. */
async function twinVectors(
  { registry, inspection, effective }: ProjectFacts,
  graph: JsonObject,
): Promise<TwinVector[]> {
  const file = await textOf(() => import("./python/twin_vectors.json", { with: { type: "text" } }));
  const steps = (graph.steps as { id: string }[]).map(({ id }) => effective.steps.find((step) => step.id === id)!);
  const operations = new Set(steps.map(({ op }) => op));
  const stored = (JSON.parse(file) as TwinVector[]).filter(({ operation }) => operations.has(operation));
  const own: TwinVector[] = [];
  for (const step of steps) {
    if (inspection.selected_steps.includes(step.id)) continue;
    const vectors = stored.filter(({ operation }) => operation === step.op);
    const vector = await recordStep(registry.get(step.op).operation, step, vectors);
    if (vector !== null) own.push(vector);
  }
  return [...own, ...stored];
}

async function textOf(load: () => Promise<{ default: unknown }>): Promise<string> {
  const { default: content } = await load();
  return typeof content === "string" ? content : JSON.stringify(content);
}

function checkPlace(out: string, force: boolean, shown = out): void {
  const info = lstatSync(out, { throwIfNoEntry: false });
  if (info === undefined) return;
  const conflict = (why: string, hint: string) =>
    new SvcError("training_project_conflict", `Cannot export into ${shown}: ${why}`, { hint });
  if (!info.isDirectory()) throw conflict("it is no folder", "Choose another place");
  if (readdirSync(out).length === 0) return;
  if (readProjectManifest(out) === null) {
    throw conflict("it holds files of something else", "Choose another place");
  }
  if (!force) {
    throw conflict("a project lies there", "Replace its exported files with --force; captured data stays");
  }
}
