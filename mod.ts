/**
 * svc as a library: compile, plan and run recipes from a script, add operations of one's own, and verify what runs left.
 *
 * @example
 * ```ts
 * import { compile } from "./mod.ts";
 *
 * const compilation = await compile({
 *   name: "bits",
 *   steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 64 } }],
 * });
 * console.assert(compilation.status === "valid");
 * ```
 *
 * @module
 */
import { SvcError } from "./lib/contract/error.ts";
import type { Registry } from "./lib/contract/registry.ts";
import type { JsonObject } from "./lib/contract/value.ts";
import { createCancellation } from "./lib/execute/cancellation.ts";
import { executePlan } from "./lib/execute/execute.ts";
import { readinessOf } from "./lib/execute/readiness.ts";
import type { CancellationToken } from "./lib/execute/types.ts";
import { planRecipe, type PlanResult } from "./lib/plan/planner.ts";
import { compileRecipe } from "./lib/recipe/compile.ts";
import { readRecipeText, recipeFromValue } from "./lib/recipe/read.ts";
import type { Compilation, CompileMode, DecodedText } from "./lib/recipe/types.ts";
import { recipeSpecs as specsOf } from "./lib/research/specs.ts";
import { type RunEvent, runRecipe, type RunResult } from "./lib/run/run.ts";
import { openWorkspace } from "./lib/run/workspace.ts";
import { inspectTemplates, type TemplateInspection } from "./lib/template/inspect.ts";
import { instantiateTemplate as instantiate, type Instantiation } from "./lib/template/instantiate.ts";
import { createRegistry } from "./ops/registry.ts";

export { fetchBundledDataset } from "./lib/artifact/bundled.ts";
export {
  bitsArtifact,
  bitsOf,
  imagesArtifact,
  imagesOf,
  reportResult,
  symbolsArtifact,
  symbolsOf,
  textsArtifact,
  textsOf,
  travel,
} from "./lib/artifact/values.ts";
export { defineOperation } from "./lib/contract/define.ts";
export { type Diagnostic, SvcError } from "./lib/contract/error.ts";
export { canonicalJson, parseJson, prettyJson } from "./lib/contract/json.ts";
export * as kinds from "./lib/contract/kinds.ts";
export type { InputArtifact, Operation, OperationContract, OutputArtifact } from "./lib/contract/operation.ts";
export { seedParameter } from "./lib/contract/schema.ts";
export { Float, float, type JsonObject, type Value } from "./lib/contract/value.ts";
export { z } from "./lib/contract/zod.ts";
export { createCancellation } from "./lib/execute/cancellation.ts";
export { type NdArray, ndarray } from "./lib/numeric/ndarray.ts";
export { Generator } from "./lib/numeric/random.ts";
export type { Compilation } from "./lib/recipe/types.ts";
export { researchCatalog } from "./lib/research/catalog.ts";
export { diffRuns } from "./lib/run/diff.ts";
export { reproduceRun } from "./lib/run/reproduce.ts";
export type { RunEvent, RunResult } from "./lib/run/run.ts";
export { listRuns, removeRuns, showRun } from "./lib/run/store.ts";
export { verifyRun } from "./lib/run/verify.ts";
export { version } from "./lib/run/version.ts";
export { openWorkspace, type Workspace } from "./lib/run/workspace.ts";
export type { TemplateInspection, TemplateRow } from "./lib/template/inspect.ts";
export type { Instantiation, TemplateProvenance } from "./lib/template/instantiate.ts";
export { replaceWorkingCopy } from "./lib/template/working_copy.ts";
export { createRegistry, type Registry };

/**
 * A recipe as a script has it: a JavaScript value, or the text of a YAML or JSON file.
 *
 * In a JavaScript value integral numbers are integers; write `float(6)` for `6.0`.
 */
export type RecipeInput = string | Record<string, unknown>;

export interface LibraryOptions {
  /** Modules whose default export is an operation; workers load them, and the plan records their digest. */
  operations?: readonly (URL | string)[];
  /** Relative paths in parameters start here; the current directory when left out. */
  projectRoot?: string;
  /** Where runs are left; `.svc` under the project root when left out. */
  stateDir?: string;
}

export interface RunOptions extends LibraryOptions {
  /** Steps that may overlap, 1 to 32; 1 when left out. The results do not depend on it. */
  parallelWorkers?: number;
  usePlanCache?: boolean;
  backend?: string;
  implementation?: string;
  /** Stops the run cooperatively; see {@link createCancellation}. */
  cancellation?: CancellationToken;
  onEvent?(event: RunEvent): void;
}

function decode(recipe: RecipeInput): Pick<DecodedText, "value"> & Partial<DecodedText> {
  return typeof recipe === "string" ? readRecipeText(recipe, { file: "<recipe>" }) : { value: recipeFromValue(recipe) };
}

/**
 * Compiles a recipe.
 *
 * @param recipe JavaScript value, or YAML or JSON text
 * @param options `mode` is strict unless said otherwise
 * @returns the compilation record; problems are diagnostics in it
 * @throws SvcError when the text cannot be read at all
 */
export async function compile(
  recipe: RecipeInput,
  options: LibraryOptions & { mode?: CompileMode } = {},
): Promise<Compilation> {
  const { value, locate } = decode(recipe);
  const registry = await createRegistry(options.operations);
  return compileRecipe(value, { mode: options.mode ?? "strict", registry, locate });
}

/**
 * What a recipe says about its research, in normal form: data set, task, metrics and benchmark. What it does not declare
 * is told from its operations, and what the research catalogue fixes is filled in.
 *
 * @param recipe JavaScript value, or YAML or JSON text
 * @param options `strict` judges data sets, tasks and metrics that the catalogue does not know as errors
 * @returns `{schema_version, source, dataset, task, metrics, benchmark, catalog_validation}`
 * @throws SvcError `recipe_invalid` with every diagnostic when it does not compile
 *
 * @example
 * ```ts
 * import { recipeSpecs } from "./mod.ts";
 *
 * const { dataset, task } = await recipeSpecs({
 *   name: "link",
 *   steps: [
 *     { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
 *     { id: "sent", op: "wireless.digital_link", inputs: { bits: "data.bits" } },
 *     { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "sent.bits" } },
 *   ],
 * }) as Record<string, { id: string }>;
 * console.assert(dataset.id === "synthetic_random_bits" && task.id === "bit_transport");
 * ```
 */
export async function recipeSpecs(
  recipe: RecipeInput,
  options: LibraryOptions & { strict?: boolean } = {},
): Promise<JsonObject> {
  const compilation = await compile(recipe, options);
  if (compilation.effective === null) {
    throw new SvcError("recipe_invalid", "Cannot compile the recipe", { diagnostics: compilation.diagnostics });
  }
  return specsOf(compilation.effective, options);
}

/**
 * Compiles and plans a recipe, without side effects.
 *
 * @returns the plan, or every diagnostic of compiler and planner when the recipe is refused
 * @throws SvcError when the text cannot be read at all
 */
export async function plan(recipe: RecipeInput, options: LibraryOptions = {}): Promise<PlanResult> {
  const { value, locate } = decode(recipe);
  const registry = await createRegistry(options.operations);
  const compilation = compileRecipe(value, { mode: "strict", registry, locate });
  const readiness = readinessOf(openWorkspace(options));
  return await planRecipe(compilation, { registry, locate, singleRun: true, readiness });
}

/**
 * Runs a recipe and leaves a run bundle.
 *
 * @returns the run id, its outcome, and the summary; a failed step is an outcome, not an exception
 * @throws SvcError with every diagnostic when the recipe is refused; nothing is written then
 */
export async function run(recipe: RecipeInput, options: RunOptions = {}): Promise<RunResult> {
  const { value, locate } = decode(recipe);
  const workspace = openWorkspace(options);
  return await runRecipe({
    raw: value,
    locate,
    registry: await createRegistry(options.operations),
    workspace,
    readiness: readinessOf(workspace),
    parallelWorkers: options.parallelWorkers,
    usePlanCache: options.usePlanCache,
    backend: options.backend,
    implementation: options.implementation,
    cancellation: options.cancellation ?? createCancellation(),
    onEvent: options.onEvent,
    execute: executePlan,
  });
}

/**
 * Inspects the templates: scenarios to start a recipe from. Recipes of the project are read anew on every call, and one
 * that stands where a template expects it takes the place of the template's own.
 *
 * @returns every template, whether it can be used here, and if not, why
 *
 * @example
 * ```ts
 * import { templates } from "./mod.ts";
 *
 * const { templates: rows } = await templates();
 * const usable = rows.filter((row) => row.available).map((row) => row.id);
 * console.assert(usable.includes("semantic_comm.image_reconstruction.default"));
 * ```
 */
export async function templates(options: LibraryOptions = {}): Promise<TemplateInspection> {
  const workspace = openWorkspace(options);
  const registry = await createRegistry(options.operations);
  return await inspectTemplates({
    registry,
    projectRoot: workspace.projectRoot,
    readiness: readinessOf(workspace),
  });
}

/** What an instantiation changes; everything else is the template's. */
export interface InstantiateOptions extends LibraryOptions {
  /** Step id to parameter to value; write `float(6)` for `6.0`. */
  step_params?: Record<string, Record<string, unknown>>;
  name?: string;
  description?: string;
}

/**
 * Makes a recipe of a template. It stands alone: nothing depends on the template afterwards.
 *
 * @returns the recipe, the record of where it came from, and its text as YAML
 * @throws SvcError `template_not_found`, `template_unavailable`, or `template_override_invalid` with every diagnostic
 *
 * @example
 * ```ts
 * import { instantiateTemplate, plan } from "./mod.ts";
 *
 * const { recipe, text } = await instantiateTemplate("semantic_comm.text_semantic_similarity.default", {
 *   name: "my_texts",
 *   step_params: { wireless_channel: { label: "ideal" } },
 * });
 * console.assert(text.startsWith("#") && recipe.name === "my_texts");
 * console.assert((await plan(recipe)).status === "planned");
 * ```
 */
export async function instantiateTemplate(id: string, options: InstantiateOptions = {}): Promise<Instantiation> {
  const { operations, projectRoot, stateDir, ...overrides } = options;
  const workspace = openWorkspace({ projectRoot, stateDir });
  return await instantiate(id, overrides, {
    registry: await createRegistry(operations),
    projectRoot: workspace.projectRoot,
  });
}
