/**
 * svc as a library: compile, plan and run recipes from a script, add operations of one's own, and verify what runs left.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compile } from "./mod.ts";
 *
 * const compilation = await compile({
 *   name: "bits",
 *   steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 64 } }],
 * });
 * assert.equal(compilation.status, "valid");
 * ```
 *
 * @module
 */
import type { AdapterSource } from "./lib/adapter/types.ts";
import { type LoadedPack, loadPack } from "./lib/benchmark/load_pack.ts";
import { packRefusal } from "./lib/benchmark/pack.ts";
import { resolvePack } from "./lib/benchmark/packs.ts";
import type { ReplicationOptions } from "./lib/benchmark/replication.ts";
import {
  type BenchmarkEvent,
  type BenchmarkRunResult,
  runBenchmark as runPack,
} from "./lib/benchmark/run_benchmark.ts";
import { captureDataset as captureSplit, type CaptureEvent, type CaptureResult } from "./lib/capture/capture.ts";
import type { Split } from "./lib/capture/config.ts";
import { captureConfigFor, deriveTrainingPlan } from "./lib/capture/derive.ts";
import { type ExportedProject, exportTrainingProject as exportProject } from "./lib/capture/export_project.ts";
import { projectCapture } from "./lib/capture/project.ts";
import { SvcError } from "./lib/contract/error.ts";
import type { Registry } from "./lib/contract/registry.ts";
import type { JsonObject } from "./lib/contract/value.ts";
import { createCancellation } from "./lib/execute/cancellation.ts";
import { executePlan } from "./lib/execute/execute.ts";
import { readinessOf } from "./lib/execute/readiness.ts";
import type { CancellationToken } from "./lib/execute/types.ts";
import { explainStep as explain, type StepExplanation } from "./lib/plan/explain_step.ts";
import { type RecipeGraph, recipeGraph as graphOf } from "./lib/plan/graph.ts";
import { lintRecipe, type LintReport } from "./lib/plan/lint.ts";
import { planRecipe, type PlanResult } from "./lib/plan/planner.ts";
import { recipeSchema as schemaOf } from "./lib/plan/recipe_schema.ts";
import { compileRecipe } from "./lib/recipe/compile.ts";
import { diffRecipes as difference, type RecipeDiff } from "./lib/recipe/diff.ts";
import { expandMatrix as expand, type MatrixExpansion } from "./lib/recipe/expand_matrix.ts";
import { readRecipeText, recipeFromValue } from "./lib/recipe/read.ts";
import type { Compilation, CompileMode, DecodedText } from "./lib/recipe/types.ts";
import { recipeSpecs as specsOf } from "./lib/research/specs.ts";
import { type RunEvent, runRecipe, type RunResult } from "./lib/run/run.ts";
import { type MatrixEvent, type MatrixRunResult, runMatrix as runVariants } from "./lib/run/run_matrix.ts";
import { openWorkspace } from "./lib/run/workspace.ts";
import { inspectTemplates, type TemplateInspection } from "./lib/template/inspect.ts";
import { instantiateTemplate as instantiate, type Instantiation } from "./lib/template/instantiate.ts";
import type { TrainingInspection } from "./lib/training/inspect_recipe.ts";
import { readTrainingPlan, trainingPlanSha256 } from "./lib/training/training_plan.ts";
import { createRegistry } from "./ops/registry.ts";

export type { AdapterInspection, AdapterSource, PermissionSet } from "./lib/adapter/types.ts";
export { inspectAdapter } from "./lib/adapter/inspect.ts";
export { fetchBundledDataset } from "./lib/artifact/bundled.ts";
export { checkManifestFiles, makeImageManifest, parseImageManifest } from "./lib/artifact/dataset_manifest.ts";
export { IMAGE_MANIFEST_SCHEMA } from "./lib/artifact/dataset_manifest_schema.ts";
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
export { type OfdmState, ofdmStateArtifact, ofdmStateOf } from "./lib/artifact/ofdm_state.ts";
export type { CaptureEvent, CaptureResult } from "./lib/capture/capture.ts";
export type { ExportedProject } from "./lib/capture/export_project.ts";
export { type ProjectView, viewTrainingProject } from "./lib/capture/project.ts";
export { compareResults as compareBenchmarkResults, type ResultDiff } from "./lib/benchmark/compare_results.ts";
export type { PlotRequest } from "./lib/benchmark/figure_of.ts";
export { listBenchmarkPacks, type PackListRow } from "./lib/benchmark/packs.ts";
export { listSuites, type Suite } from "./lib/benchmark/suites.ts";
export { PACK_SCHEMA } from "./lib/benchmark/pack_schema.ts";
export { exportBenchmark, plotBenchmark, publishBenchmark, type WrittenFiles } from "./lib/benchmark/reports.ts";
export type { BenchmarkEvent, BenchmarkRunResult } from "./lib/benchmark/run_benchmark.ts";
export { listBenchmarkResults, type ResultListRow, showBenchmarkResult } from "./lib/benchmark/store.ts";
export type { AggregateRow, BenchmarkResult, ComparisonRow, ResultRow } from "./lib/benchmark/types.ts";
export { type BenchmarkVerification, verifyBenchmark } from "./lib/benchmark/verify.ts";
export { type SubmissionReport, validateSubmission } from "./lib/benchmark/submission.ts";
export { defineOperation } from "./lib/contract/define.ts";
export { type Diagnostic, SvcError } from "./lib/contract/error.ts";
export { canonicalJson, parseJson, prettyJson } from "./lib/contract/json.ts";
export * as kinds from "./lib/contract/kinds.ts";
export type { InputArtifact, Operation, OperationContract, OutputArtifact } from "./lib/contract/operation.ts";
export { seedParameter } from "./lib/contract/schema.ts";
export { Float, float, type JsonObject, type Value } from "./lib/contract/value.ts";
export { z } from "./lib/contract/zod.ts";
export { createCancellation } from "./lib/execute/cancellation.ts";
export {
  cdlClusters,
  cdlProfile,
  type DelayProfile,
  frequencyResponse,
  movingTaps,
  staticTaps,
  tdlProfile,
} from "./lib/numeric/delay_profile.ts";
export { type FigureStyle, STYLES as FIGURE_STYLES } from "./lib/figure/style.ts";
export { styleOf as figureStyle } from "./lib/figure/style_file.ts";
export { holm, type MeanEstimate, pairedDifference, type PairedEstimate, studentT } from "./lib/numeric/inference.ts";
export { type NdArray, ndarray } from "./lib/numeric/ndarray.ts";
export { Generator } from "./lib/numeric/random.ts";
export { combineRepetition } from "./lib/numeric/repetition.ts";
export { bitErrorRateAwgn, bitErrorRateRayleigh } from "./lib/numeric/theory.ts";
export type { ParameterSource, StepExplanation } from "./lib/plan/explain_step.ts";
export type { RecipeGraph } from "./lib/plan/graph.ts";
export { graphSvg } from "./lib/plan/graph_svg.ts";
export type { LintReport } from "./lib/plan/lint.ts";
export { type Profile, profileCatalogue, type ProfileStage } from "./lib/plan/profiles.ts";
export type { RecipeChange, RecipeDiff } from "./lib/recipe/diff.ts";
export { editRecipeText } from "./lib/recipe/edit_text.ts";
export { formatRecipeText } from "./lib/recipe/format.ts";
export type { MatrixExpansion, MatrixPoint } from "./lib/recipe/expand_matrix.ts";
export type { Compilation } from "./lib/recipe/types.ts";
export { researchCatalog } from "./lib/research/catalog.ts";
export { diffRuns } from "./lib/run/diff.ts";
export { diagnose } from "./lib/run/doctor.ts";
export { reproduceRun } from "./lib/run/reproduce.ts";
export type { RunEvent, RunResult } from "./lib/run/run.ts";
export type { MatrixEvent, MatrixRow, MatrixRunResult } from "./lib/run/run_matrix.ts";
export { listRuns, removeRuns, showRun } from "./lib/run/store.ts";
export { verifyRun } from "./lib/run/verify.ts";
export { version } from "./lib/run/version.ts";
export { openWorkspace, type Workspace } from "./lib/run/workspace.ts";
export type { TrainingInspection } from "./lib/training/inspect_recipe.ts";
export { readTrainingPlan, type TrainingPlan } from "./lib/training/training_plan.ts";
export { type PackagedArtifact, packageTrainedArtifact } from "./lib/training/pack.ts";
export { TRAINED_ARTIFACT_SCHEMA } from "./lib/training/schema.ts";
export { trainableSlotContract } from "./lib/training/slot_contract.ts";
export {
  type ArtifactDetail,
  type ArtifactRow,
  type ArtifactStore,
  artifactStore,
  type ArtifactVerification,
  type ImportedArtifact,
  importTrainedArtifact,
  listTrainedArtifacts,
  removeTrainedArtifact,
  showTrainedArtifact,
  verifyTrainedArtifact,
} from "./lib/training/store.ts";
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
  /**
   * Folders of adapters, each with what it is granted in the form `net=<host[:port]>`, `read=<path>` or `env=<NAME>`.
   * Their operations are there like any other; their code runs in sandboxes that reach nothing else.
   */
  adapters?: readonly AdapterSource[];
  /** Relative paths in parameters start here; the current directory when left out. */
  projectRoot?: string;
  /** Where runs are left; `.svc` under the project root when left out. */
  stateDir?: string;
  /**
   * Runs trained artifacts on the native runtime instead of in the sandbox. Results differ in the last digits of binary32,
   * so the plan records it; without the package or `--allow-ffi` the step fails with `runtime_unavailable`.
   */
  onnxAccelerator?: "onnxruntime-node";
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

/** The operations of a call: the built-in ones, those of modules, and those of adapters. */
async function registryOf(options: Pick<LibraryOptions, "operations" | "adapters" | "projectRoot">): Promise<Registry> {
  const registry = await createRegistry(options.operations);
  const { adapters = [] } = options;
  if (adapters.length > 0) {
    const { loadAdapters } = await import("./lib/adapter/load.ts");
    await loadAdapters(registry, adapters, openWorkspace(options));
  }
  return registry;
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
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compile } from "./mod.ts";
 *
 * const bits = (bit_count: number) => ({
 *   name: "bits",
 *   steps: [{ id: "data", op: "source.random_bits", params: { bit_count } }],
 * });
 * const { status, effective } = await compile(bits(64));
 * assert.ok(status === "valid" && effective?.steps[0].params.seed !== undefined);
 * const [{ path }] = (await compile(bits(-1))).diagnostics;
 * assert.equal(path, "$.steps[0].params.bit_count");
 * ```
 */
export async function compile(
  recipe: RecipeInput,
  options: LibraryOptions & { mode?: CompileMode } = {},
): Promise<Compilation> {
  const { value, locate } = decode(recipe);
  const registry = await registryOf(options);
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
 * import assert from "node:assert/strict";
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
 * assert.ok(dataset.id === "synthetic_random_bits" && task.id === "bit_transport");
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
 * @param recipe JavaScript value, or YAML or JSON text
 * @returns the plan, or every diagnostic of compiler and planner when the recipe is refused
 * @throws SvcError when the text cannot be read at all
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { plan } from "./mod.ts";
 *
 * const result = await plan(`
 * name: bits
 * steps:
 *   - {id: data, op: source.random_bits, params: {bit_count: 64}}
 * `);
 * assert.ok(result.status === "planned");
 * assert.deepEqual(result.plan.steps.map((step) => step.operation_id), ["source.random_bits"]);
 * ```
 */
export async function plan(recipe: RecipeInput, options: LibraryOptions = {}): Promise<PlanResult> {
  const { value, locate } = decode(recipe);
  const registry = await registryOf(options);
  const compilation = compileRecipe(value, { mode: "strict", registry, locate });
  const readiness = readinessOf(openWorkspace(options));
  return await planRecipe(compilation, { registry, locate, singleRun: true, readiness });
}

/**
 * Lints a recipe: all that can be said against it without running it, in terms of links, powers and rates.
 *
 * @param recipe JavaScript value, or YAML or JSON text
 * @param options `strict` is true unless said otherwise; false only warns of what the research catalogue does not know
 * @returns the report, whose status is `failed` when it holds an error
 * @throws SvcError when the text cannot be read at all
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { lint } from "./mod.ts";
 *
 * const { status, issues } = await lint({
 *   name: "link",
 *   steps: [
 *     { id: "data", op: "source.random_bits" },
 *     { id: "modulator", op: "modulation.digital_modulate", params: { modulation: "qam16" }, inputs: { bits: "data.bits" } },
 *     { id: "channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
 *     {
 *       id: "demodulator",
 *       op: "demodulation.digital_demodulate",
 *       params: { modulation: "qpsk" },
 *       inputs: { rx_symbols: "channel.rx_symbols" },
 *     },
 *   ],
 * });
 * assert.ok(status === "failed" && issues.some(({ code }) => code === "modulation_mismatch"));
 * ```
 */
export async function lint(
  recipe: RecipeInput,
  options: LibraryOptions & { strict?: boolean } = {},
): Promise<LintReport> {
  const { value, locate } = decode(recipe);
  const registry = await registryOf(options);
  const compilation = compileRecipe(value, { mode: "strict", registry, locate });
  return lintRecipe(compilation, { registry, strict: options.strict, locate });
}

/**
 * Explains a step: what it does, where its inputs come from and who reads its outputs, where the value of every
 * parameter comes from, and how it runs.
 *
 * @param step id of the step
 * @throws SvcError `recipe_invalid` with every diagnostic when the recipe does not compile, `not_found` for an unknown
 *   step
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { explainStep } from "./mod.ts";
 *
 * const { params } = await explainStep(
 *   { name: "bits", metadata: { seed: 23 }, steps: [{ id: "data", op: "source.random_bits" }] },
 *   "data",
 * );
 * assert.ok(params.find(({ name }) => name === "seed")?.source === "derived seed");
 * ```
 */
export async function explainStep(
  recipe: RecipeInput,
  step: string,
  options: LibraryOptions = {},
): Promise<StepExplanation> {
  const { value, locate } = decode(recipe);
  const registry = await registryOf(options);
  const compilation = compileRecipe(value, { mode: "strict", registry, locate });
  if (compilation.status === "invalid") {
    throw new SvcError("recipe_invalid", "Cannot compile the recipe", { diagnostics: compilation.diagnostics });
  }
  const readiness = readinessOf(openWorkspace(options));
  return explain(compilation, await planRecipe(compilation, { registry, locate, readiness }), registry, step);
}

/**
 * The graph of a recipe, as data; `graphSvg` draws it.
 *
 * @throws SvcError `recipe_invalid` with every diagnostic when there are no steps to speak of
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { graphSvg, recipeGraph } from "./mod.ts";
 *
 * const graph = await recipeGraph({ name: "bits", steps: [{ id: "data", op: "source.random_bits" }] });
 * assert.equal(graph.nodes[0].name, "Random bit source");
 * assert.ok(graphSvg(graph).startsWith("<svg"));
 * ```
 */
export async function recipeGraph(recipe: RecipeInput, options: LibraryOptions = {}): Promise<RecipeGraph> {
  const { value, locate } = decode(recipe);
  const registry = await registryOf(options);
  const { effective, normalized, diagnostics } = compileRecipe(value, { mode: "strict", registry, locate });
  if (normalized === null) throw new SvcError("recipe_invalid", "Cannot draw the recipe", { diagnostics });
  return graphOf(effective ?? normalized, registry);
}

/**
 * What differs between two recipes: only changes, with typed numbers, steps known by their ids.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { diffRecipes } from "./mod.ts";
 *
 * const link = (snr: string) => `name: link\nsteps: [{id: channel, op: wireless.channel, params: {snr_db: ${snr}}}]`;
 * const { equal, changes } = diffRecipes(link("6.0"), link("6"));
 * assert.ok(!equal && changes[0].path === "$.steps[0].params.snr_db");
 * ```
 */
export function diffRecipes(a: RecipeInput, b: RecipeInput): RecipeDiff {
  return difference(decode(a).value, decode(b).value);
}

/**
 * The JSON Schema of recipes, by which editors complete and check them.
 *
 * @param options `operations` brings in operations of one's own
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { recipeSchema } from "./mod.ts";
 *
 * assert.equal((await recipeSchema()).title, "svc recipe");
 * ```
 */
export async function recipeSchema(
  options: Pick<LibraryOptions, "operations" | "adapters" | "projectRoot"> = {},
): Promise<JsonObject> {
  return schemaOf(await registryOf(options));
}

/**
 * Runs a recipe and leaves a run bundle.
 *
 * @param recipe JavaScript value, or YAML or JSON text
 * @returns the run id, its outcome, and the summary; a failed step is an outcome, not an exception
 * @throws SvcError with every diagnostic when the recipe is refused; nothing is written then
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { float, run } from "./mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const { status, summary } = await run({
 *   name: "link",
 *   metadata: { seed: 23 },
 *   steps: [
 *     { id: "data", op: "source.random_bits", params: { bit_count: 1000 } },
 *     { id: "link", op: "wireless.digital_link", params: { snr_db: float(30) }, inputs: { bits: "data.bits" } },
 *     { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "link.bits" } },
 *   ],
 * }, { stateDir });
 * const [, , ber] = summary.steps as { metrics: Record<string, unknown> }[];
 * assert.equal(status, "completed");
 * assert.equal(Number(ber.metrics["channel.ber"]), 0);
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export async function run(recipe: RecipeInput, options: RunOptions = {}): Promise<RunResult> {
  const { value, locate } = decode(recipe);
  const workspace = openWorkspace(options);
  return await runRecipe({
    raw: value,
    locate,
    registry: await registryOf(options),
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
 * Expands the matrix of a recipe, without side effects: every point as a recipe of its own, compiled like any other.
 *
 * @param recipe JavaScript value, or YAML or JSON text
 * @param options `mode` is strict unless said otherwise; `strictLegacy` makes errors of the forms before
 *   `metadata.matrix`
 * @returns the expansion; problems are diagnostics in it, and a recipe without a matrix has no points
 * @throws SvcError when the text cannot be read at all
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { expandMatrix, float } from "./mod.ts";
 *
 * const { recipes } = await expandMatrix({
 *   name: "bits",
 *   metadata: {
 *     matrix: {
 *       dimensions: { bit_count: [64, 128], snr_db: [float(0), 2.5] },
 *       step_params: {
 *         data: { bit_count: { matrix: "bit_count" } },
 *         channel: { snr_db: { matrix: "snr_db" } },
 *       },
 *     },
 *   },
 *   steps: [
 *     { id: "data", op: "source.random_bits" },
 *     { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
 *     { id: "channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
 *   ],
 * });
 * assert.ok(recipes.length === 4 && recipes[1].name === "bits__bit_count_64__snr_db_2.5");
 * ```
 */
export async function expandMatrix(
  recipe: RecipeInput,
  options: LibraryOptions & { mode?: CompileMode; strictLegacy?: boolean } = {},
): Promise<MatrixExpansion> {
  const { value, locate } = decode(recipe);
  const { mode, strictLegacy } = options;
  return expand(value, { registry: await registryOf(options), locate, mode, strictLegacy });
}

export interface MatrixRunOptions extends Omit<RunOptions, "onEvent"> {
  /** Indices, variant ids or their beginnings, names of variants, or `dimension=value`; all points when left out. */
  points?: readonly string[];
  /** Whether the variants behind a failed one run; false when left out. */
  continueOnError?: boolean;
  /** Whether variants that have a verified complete run are run again; false when left out. */
  rerun?: boolean;
  strictLegacy?: boolean;
  onEvent?(event: MatrixEvent): void;
}

/**
 * Runs the variants of a recipe with a matrix, in order. A variant that has a verified complete run of the same recipe
 * is not run again, so that a matrix that was interrupted goes on where it stopped.
 *
 * @returns how each variant ended, with its run id and metrics
 * @throws SvcError with every diagnostic when the recipe or any point is refused; nothing is written then
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { float, runMatrix } from "./mod.ts";
 *
 * const recipe = {
 *   name: "link",
 *   metadata: {
 *     seed: 23,
 *     matrix: {
 *       dimensions: { snr_db: [float(0), float(30)] },
 *       step_params: { channel: { snr_db: { matrix: "snr_db" } } },
 *     },
 *   },
 *   steps: [
 *     { id: "data", op: "source.random_bits", params: { bit_count: 1000 } },
 *     { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
 *     { id: "channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
 *     { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "channel.rx_symbols" } },
 *     { id: "ber", op: "metrics.bit_error_rate", inputs: { candidate: "demodulator.bits", reference: "data.bits" } },
 *   ],
 * };
 * const stateDir = await Deno.makeTempDir();
 * const { rows } = await runMatrix(recipe, { stateDir });
 * const [noisy, clean] = rows.map((row) => Number(row.metrics.ber["channel.ber"]));
 * assert.ok(noisy > 0.1 && clean === 0);
 *
 * const again = await runMatrix(recipe, { stateDir });
 * assert.ok(again.rows.every((row) => row.reused));
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export async function runMatrix(recipe: RecipeInput, options: MatrixRunOptions = {}): Promise<MatrixRunResult> {
  const { value, locate } = decode(recipe);
  const { operations, adapters, projectRoot, stateDir, cancellation = createCancellation(), ...rest } = options;
  const workspace = openWorkspace({ projectRoot, stateDir });
  return await runVariants({
    ...rest,
    raw: value,
    locate,
    registry: await registryOf({ operations, adapters, projectRoot }),
    workspace,
    readiness: readinessOf(workspace),
    cancellation,
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
 * import assert from "node:assert/strict";
 * import { templates } from "./mod.ts";
 *
 * const { templates: rows } = await templates();
 * const usable = rows.filter((row) => row.available).map((row) => row.id);
 * assert.ok(usable.includes("semantic_comm.image_reconstruction.default"));
 * ```
 */
export async function templates(options: LibraryOptions = {}): Promise<TemplateInspection> {
  const workspace = openWorkspace(options);
  const registry = await registryOf(options);
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
 * import assert from "node:assert/strict";
 * import { instantiateTemplate, plan } from "./mod.ts";
 *
 * const { recipe, text } = await instantiateTemplate("semantic_comm.text_semantic_similarity.default", {
 *   name: "my_texts",
 *   step_params: { wireless_channel: { label: "ideal" } },
 * });
 * assert.ok(text.startsWith("#") && recipe.name === "my_texts");
 * assert.equal((await plan(recipe)).status, "planned");
 * ```
 */
export async function instantiateTemplate(id: string, options: InstantiateOptions = {}): Promise<Instantiation> {
  const { operations, adapters, projectRoot, stateDir, ...overrides } = options;
  const workspace = openWorkspace({ projectRoot, stateDir });
  return await instantiate(id, overrides, {
    registry: await registryOf({ operations, adapters, projectRoot }),
    projectRoot: workspace.projectRoot,
  });
}

export interface BenchmarkOptions extends LibraryOptions, ReplicationOptions {
  /** Steps of a run that may overlap, 1 to 32; 1 when left out. The results do not depend on it. */
  parallelWorkers?: number;
  backend?: string;
  implementation?: string;
  /** Whether the rows behind a failed one run; false when left out. */
  continueOnError?: boolean;
  /** Id of an unfinished result to go on with, or a unique beginning of one. */
  resume?: string;
  /** Whether the runs are kept beside their snapshots; false when left out. */
  retainBackingRuns?: boolean;
  /** Stops the benchmark cooperatively; it can be resumed. */
  cancellation?: CancellationToken;
  onEvent?(event: BenchmarkEvent): void;
}

/**
 * Loads a benchmark pack with the recipes it names, and checks all that can be checked without running anything.
 *
 * @param pack file, or a name or id as `listBenchmarkPacks` gives them
 * @returns the pack, its concrete recipes, and every finding; `valid` says whether it can be run
 * @throws SvcError `pack_not_found`, `pack_invalid` where its text has no such shape
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadBenchmarkPack } from "./mod.ts";
 *
 * const { valid, recipes, replication } = await loadBenchmarkPack("bit_transport/ber_theory_v1");
 * assert.ok(valid && recipes.length === 36 && replication?.until_errors === 100);
 * ```
 */
export async function loadBenchmarkPack(
  pack: string,
  options: LibraryOptions & ReplicationOptions = {},
): Promise<LoadedPack> {
  const workspace = openWorkspace(options);
  const { replicates, untilErrors, untilHalfwidth, maxBits } = options;
  const loaded = await loadPack(resolvePack(pack, workspace.projectRoot), {
    registry: await createRegistry(options.operations),
    projectRoot: workspace.projectRoot,
    planning: { readiness: readinessOf(workspace) },
    replicates,
    untilErrors,
    untilHalfwidth,
    maxBits,
  });
  if (loaded.pack === null) throw packRefusal(loaded.diagnostics, pack);
  return loaded;
}

/**
 * Runs a benchmark pack: every recipe in every replicate, as ordinary runs, with intervals and paired comparisons.
 * What finished is never lost: an interrupted benchmark goes on with `resume`, and ends with the numbers that it would
 * have had.
 *
 * @param pack file, or a name or id as `listBenchmarkPacks` gives them
 * @returns the result, whose failed and rejected rows are findings in it, and the folder where it lies
 * @throws SvcError `pack_invalid` with every diagnostic, `benchmark_resume_mismatch`; nothing is written then
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { join } from "node:path";
 * import { openWorkspace, runBenchmark, verifyBenchmark } from "./mod.ts";
 *
 * const projectRoot = await Deno.makeTempDir();
 * await Deno.writeTextFile(join(projectRoot, "link.yaml"), `
 * name: link
 * metadata: {research: {task: {id: bit_transport}}}
 * steps:
 *   - {id: data, op: source.random_bits, params: {bit_count: 1000}}
 *   - {id: link, op: wireless.digital_link, params: {snr_db: 0.0}, inputs: {bits: data.bits}}
 *   - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
 * `);
 * const pack = join(projectRoot, "pack.yaml");
 * await Deno.writeTextFile(pack, `
 * schema_version: 1
 * id: two_links
 * version: "1"
 * dataset: {id: synthetic_random_bits}
 * task: {id: bit_transport}
 * metrics: [channel.ber]
 * baselines: [at_0_db]
 * replication: {replicates: 3}
 * recipes:
 *   - {id: at_0_db, path: link.yaml}
 *   - {id: at_6_db, path: link.yaml, params: {step_params: {link: {snr_db: 6.0}}}}
 * `);
 * const { result } = await runBenchmark(pack, { projectRoot });
 * assert.equal(result.status, "completed");
 * assert.equal(result.recipes.length, 6);
 * const [{ candidate_id, mean_difference }] = result.comparisons;
 * assert.ok(candidate_id === "at_6_db" && Number(mean_difference) < 0);
 *
 * const { status } = await verifyBenchmark(openWorkspace({ projectRoot }), result.result_id);
 * assert.equal(status, "valid");
 * await Deno.remove(projectRoot, { recursive: true });
 * ```
 */
export async function runBenchmark(pack: string, options: BenchmarkOptions = {}): Promise<BenchmarkRunResult> {
  const { operations, projectRoot: _, stateDir: __, cancellation = createCancellation(), ...rest } = options;
  const workspace = openWorkspace(options);
  return await runPack({
    ...rest,
    pack: resolvePack(pack, workspace.projectRoot),
    registry: await createRegistry(operations),
    workspace,
    readiness: readinessOf(workspace),
    cancellation,
  });
}

/** A plan as a script writes it; what it leaves open is derived from the recipe. */
export interface TrainingOptions extends LibraryOptions {
  /** `selected_steps`, `loss_steps`, `objective`, `dataset_capture`, `framework`: all may be left out. */
  plan?: Record<string, unknown>;
}

/** What a training call starts from. */
async function trainingSource(recipe: RecipeInput, options: TrainingOptions) {
  const { value: raw, locate } = decode(recipe);
  const plan = readTrainingPlan(recipeFromValue(options.plan ?? {}));
  return { raw, locate, plan, registry: await registryOf(options) };
}

/**
 * What can be trained in a recipe: the blocks that a trained artifact can take the place of, the evaluations they reach, and
 * whether a loss can be followed back to them. What the plan leaves open is filled in, so that its identity is that of an
 * export.
 *
 * @throws SvcError `recipe_invalid`, `training_plan_invalid`, with every problem
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { inspectTraining } from "./mod.ts";
 *
 * const recipe = await Deno.readTextFile(new URL("./recipes/neural_receiver_qpsk_iq_learned.yaml", import.meta.url));
 * const { status, selected_steps, suggested_taps } = await inspectTraining(recipe);
 * assert.equal(status, "dataset_capture_only");
 * assert.deepEqual(selected_steps, ["demodulator"]);
 * assert.equal(suggested_taps[0].from, "receiver_frontend.rx_symbols");
 * ```
 */
export async function inspectTraining(recipe: RecipeInput, options: TrainingOptions = {}): Promise<TrainingInspection> {
  return deriveTrainingPlan(await trainingSource(recipe, options)).inspection;
}

/**
 * Writes a project to train a block of a recipe elsewhere: capture recipes, contracts of data and interfaces, the draft of an
 * artifact's manifest, and for `framework: "torch"` Python text for the trainer, which is never run here.
 *
 * @param options `out` is `training_projects/<recipe>` of the state directory when left out
 * @throws SvcError `recipe_invalid`, `training_plan_invalid`, `dataset_capture_invalid` with every problem;
 *   `training_project_conflict` where something lies already
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { exportTrainingProject, viewTrainingProject } from "./mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const recipe = await Deno.readTextFile(new URL("./recipes/neural_receiver_qpsk_iq_learned.yaml", import.meta.url));
 * const { out, files } = await exportTrainingProject(recipe, { stateDir, plan: { framework: "torch" } });
 * assert.ok(files.includes("capture_train_recipe.yaml") && files.includes("interfaces.py"));
 * const [train] = viewTrainingProject(out).capture_jobs;
 * assert.deepEqual([train.split, train.requested_samples, train.state], ["train", 800, "missing"]);
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export async function exportTrainingProject(
  recipe: RecipeInput,
  options: TrainingOptions & { out?: string; force?: boolean } = {},
): Promise<ExportedProject> {
  const { out, force } = options;
  return await exportProject({
    ...await trainingSource(recipe, options),
    workspace: openWorkspace(options),
    out,
    force,
  });
}

export interface CaptureOptions extends TrainingOptions {
  /** Folder of a project, in place of a recipe's own taps and places; then `split` is asked for. */
  project?: string;
  /** `train` when left out. */
  split?: Split;
  /** Records, in place of what the plan or the recipe says. */
  samples?: number;
  /** `dataset_captures/<recipe>/<split>` of the state directory when left out; a project has its own place. */
  out?: string;
  /** Whether an earlier capture there gives way. */
  force?: boolean;
  /** Runs that may go on at once, 1 to 32; they never change a byte. */
  parallelWorkers?: number;
  cancellation?: CancellationToken;
  onEvent?(event: CaptureEvent): void;
}

/**
 * Captures a split of a data set: runs of the part of a recipe that its taps depend on, as shards of NumPy arrays with a
 * record per row.
 *
 * @param recipe with a `dataset_capture`, or with what `plan` says; null for a project
 * @throws SvcError `recipe_invalid`, `plan_invalid`, `dataset_capture_invalid` with every problem, `capture_conflict`,
 *   `capture_splits_overlap`, `disk_reserve_reached`, `run_failed`; what lay there before stays as it was
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { captureDataset } from "./mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 8 } }] };
 * const plan = { dataset_capture: { taps: [{ id: "bits", from: "data.bits" }] } };
 * const made = await captureDataset(recipe, { stateDir, plan, split: "train", samples: 3 });
 * assert.deepEqual([made.captured_samples, made.number_of_shards, made.duplicate_records], [3, 1, 0]);
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export async function captureDataset(recipe: RecipeInput | null, options: CaptureOptions = {}): Promise<CaptureResult> {
  const { project, split = "train", samples, force, parallelWorkers, onEvent } = options;
  const workspace = openWorkspace(options);
  const means = {
    workspace,
    readiness: readinessOf(workspace),
    samples,
    force,
    parallelWorkers,
    onEvent,
    cancellation: options.cancellation ?? createCancellation(),
  };
  if (project !== undefined || recipe === null) {
    const { raw, out } = projectCapture(project ?? ".", split);
    return await captureSplit({ ...means, raw, out, split, registry: await registryOf(options) });
  }
  const source = await trainingSource(recipe, options);
  const plan = options.plan === undefined ? undefined : source.plan;
  const config = captureConfigFor(source.raw, { ...source, plan });
  const trainingPlan = plan === undefined ? undefined : trainingPlanSha256(plan);
  return await captureSplit({ ...means, ...source, config, trainingPlanSha256: trainingPlan, split, out: options.out });
}
