/**
 * svc as a library: compile, plan and run recipes from a script, and verify, compare and publish their results.
 *
 * {@link open} gives a session with every capability; {@link compile}, {@link plan} and {@link run} open one for a single
 * call. The other names serve scripts that define operations or read artifacts.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { float, open } from "./mod.ts";
 *
 * await using svc = await open({ stateDir: await Deno.makeTempDir() });
 * const link = (snr_db: number) => ({
 *   name: "link",
 *   metadata: { seed: 23 },
 *   steps: [
 *     { id: "data", op: "source.random_bits", params: { bit_count: 1000 } },
 *     { id: "link", op: "wireless.digital_link", params: { snr_db: float(snr_db) }, inputs: { bits: "data.bits" } },
 *     { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "link.bits" } },
 *   ],
 * });
 * const { run_id } = await svc.recipes.run(link(6));
 * assert.equal((await svc.runs.verify(run_id)).status, "valid");
 * assert.deepEqual((await svc.recipes.diff(link(6), link(9))).changes.map(({ path }) => path), [
 *   "$.steps[1].params.snr_db",
 * ]);
 * ```
 *
 * @module
 */
import type { SessionOptions } from "./lib/api/core.ts";
import type { PlanResult } from "./lib/plan/planner.ts";
import type { Compilation, CompileMode } from "./lib/recipe/types.ts";
import type { RunResult } from "./lib/run/run.ts";
import type { RecipeInput } from "./lib/api/authored_recipe.ts";
import type { PlanOptions, RunOptions } from "./lib/api/calls/recipes.ts";
import { open, type Session } from "./lib/api/session.ts";

// The session.
export { open, type Session, type SessionOptions };
export type { AdapterSource } from "./lib/adapter/types.ts";
export type { RecipeInput } from "./lib/api/authored_recipe.ts";
export type {
  CrossingOptions,
  MatrixRunOptions,
  PlanOptions,
  RunOptions,
  Validation,
} from "./lib/api/calls/recipes.ts";
export type { BenchmarkOptions } from "./lib/api/calls/benchmarks.ts";
export type { CaptureOptions, ExportOptions, TrainingOptions } from "./lib/api/calls/training.ts";
export { createCancellation } from "./lib/execute/cancellation.ts";
export { version } from "./lib/run/version.ts";

// Types of its replies.
export type { BenchmarkEvent, BenchmarkRunResult } from "./lib/study/run_benchmark.ts";
export type { BenchmarkResult } from "./lib/study/pack/types.ts";
export type { CaptureResult } from "./lib/capture/capture.ts";
export type { LintReport } from "./lib/plan/lint.ts";
export type { PlanResult } from "./lib/plan/planner.ts";
export type { RecipeGraph } from "./lib/figure/graph/graph.ts";
export type { MatrixExpansion } from "./lib/recipe/expand_matrix.ts";
export type { Compilation } from "./lib/recipe/types.ts";
export type { RunEvent, RunResult } from "./lib/run/run.ts";
export type { MatrixRunResult } from "./lib/study/run_matrix.ts";
export type { CrossingPoint, CrossingResult, Side } from "./lib/study/crossing.ts";
export type { Instantiation } from "./lib/template/instantiate.ts";
export type { ArtifactRow } from "./lib/training/store.ts";
export { graphSvg } from "./lib/figure/graph/svg.ts";
export { STYLES as FIGURE_STYLES } from "./lib/figure/style.ts";

// Values and errors.
export { type Code, ownCode } from "./lib/contract/codes.ts";
export { type Diagnostic, SvcError } from "./lib/contract/error.ts";
export { canonicalJson, parseJson, prettyJson } from "./lib/contract/json.ts";
export { Float, float, type JsonObject, type Value } from "./lib/contract/value.ts";

// Operations of one's own, and their artifacts.
export { defineOperation } from "./lib/contract/define.ts";
export * as kinds from "./lib/contract/kinds.ts";
export type {
  FineTuningProvider,
  InputArtifact,
  Operation,
  OperationContract,
  OutputArtifact,
} from "./lib/contract/operation.ts";
export type { ConformanceCase } from "./lib/conformance/case.ts";
export { runOperation } from "./lib/conformance/run_operation.ts";
export { seedParameter } from "./lib/contract/schema.ts";
export { z } from "./lib/contract/zod.ts";
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
export { type NdArray, ndarray } from "./lib/numeric/array/ndarray.ts";
export { Generator } from "./lib/numeric/random/random.ts";
export { bitErrorRateAwgn, bitErrorRateRayleigh } from "./lib/numeric/link/theory.ts";

/**
 * Compiles a recipe.
 *
 * @param recipe JavaScript value, or YAML or JSON text
 * @param options of the session; `mode` is strict when left out
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
  options: SessionOptions & { mode?: CompileMode } = {},
): Promise<Compilation> {
  await using svc = await open(options);
  return await svc.recipes.compile(recipe, options);
}

/**
 * Compiles and plans a recipe, without side effects.
 *
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
export async function plan(recipe: RecipeInput, options: SessionOptions & PlanOptions = {}): Promise<PlanResult> {
  await using svc = await open(options);
  return await svc.recipes.plan(recipe, options);
}

/**
 * Runs a recipe.
 *
 * @returns the outcome and its bundle; a failed or canceled run has a bundle too
 * @throws SvcError `recipe_invalid` or `plan_invalid` with every diagnostic, before anything is written
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { run } from "./mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
 * const { status, directory } = await run(recipe, { stateDir });
 * assert.ok(status === "completed" && directory.startsWith(stateDir));
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export async function run(recipe: RecipeInput, options: SessionOptions & RunOptions = {}): Promise<RunResult> {
  await using svc = await open(options);
  return await svc.recipes.run(recipe, options);
}
