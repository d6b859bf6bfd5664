/** Recipes: read, check, plan and run them. */
import { codeRow } from "../../contract/codes.ts";
import { type Diagnostic, isWarning, refusal, SvcError } from "../../contract/error.ts";
import { sha256Hex, sha256Json } from "../../contract/hash.ts";
import { prettyJson } from "../../contract/json.ts";
import type { Registry } from "../../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import type { LoadedOperation } from "../../execute/protocol.ts";
import { displayed } from "../../figure/display.ts";
import type { RecipeGraph } from "../../figure/graph/graph.ts";
import type { StepExplanation } from "../../plan/explain_step.ts";
import type { LintReport } from "../../plan/lint.ts";
import type { Planned, PlanResult } from "../../plan/planner.ts";
import type { ExecutionPlan, PlanCacheEvidence, Readiness } from "../../plan/types.ts";
import type { RecipeChange, RecipeDiff } from "../../recipe/diff.ts";
import type { MatrixExpansion } from "../../recipe/expand_matrix.ts";
import type { RecipeFile } from "../../recipe/recipe_files.ts";
import type { Compilation, CompileMode, RecipeDocument } from "../../recipe/types.ts";
import type { RecipeSpecs } from "../../research/specs.ts";
import type { PreparedRun, RunOptions as RecipeRun, RunResult } from "../../run/run.ts";
import type { RunEstimate } from "../../run/run_estimate.ts";
import type { MatrixRunOptions as MatrixRun, MatrixRunResult } from "../../study/run_matrix.ts";
import type { CrossingOptions as Crossing, CrossingResult } from "../../study/crossing.ts";
import { templateAt } from "../../template/catalog.ts";
import type { AuthoredRecipe, RecipeInput } from "../authored_recipe.ts";
import { call, type CallOptions, type Camel, camelKeys, type Cancellable } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { DIAGNOSTIC, documentOf, OBJECT, ownDiagnostics, ownWarnings, rowFindings, valueOf } from "../documents.ts";
import { DROP, flag, IGNORE_ESTIMATE, LINT, MODE, oneOf, PLAN_CACHE, RECIPE, text, WORKERS } from "../fields.ts";
import type { FileFacts, RecipeFacts } from "../recipe_facts.ts";

/** Supplied by the session. */
type SetBySession =
  | "raw"
  | "locate"
  | "name"
  | "registry"
  | "workspace"
  | "readiness"
  | "planCache"
  | "execute"
  | "implementationSources"
  | "cancellation"
  | "onReserved";
/** What a run takes besides its fields. */
type Means<Run, Fields> = Omit<Run, SetBySession | "against" | Camel<keyof Fields & string>> & Cancellable;

const COMPILED = { recipe: RECIPE, mode: MODE };
const LEGACY = flag("refuse matrix forms older than metadata.matrix");
const STRICT = {
  strict: z.boolean().optional().describe("refuse entries that the catalogue does not know or only plans"),
};
const STRICT_LINT = flag("refuse a recipe with lint errors");
const SET = z.array(z.string()).optional().describe("overrides: step.param=value, dimension=value");
const PLANNED = {
  ...COMPILED,
  backend: text("backend for every step that declares it", "name"),
  implementation: text("implementation for every step that declares it", "name"),
  use_plan_cache: PLAN_CACHE,
  lint: LINT,
  strict_lint: STRICT_LINT,
};
const RUN = {
  ...PLANNED,
  parallel_workers: WORKERS,
  ignore_estimate: IGNORE_ESTIMATE,
  keep: oneOf("artifacts to keep after a completed run (default: all)", ["all", "metrics"], "what"),
  drop: DROP,
};
const SWEEP = {
  ...RUN,
  parallel_points: z.int().min(1).max(32).default(1).describe("run up to N points at once (1-32)"),
};
const MATRIX = {
  ...SWEEP,
  points: z.array(z.string()).optional().describe("points to run: indices, variant ids, names or dimension=value"),
  rerun: flag("run all variants again, also those with a verified complete run"),
  continue_on_error: flag("continue with the next variant after a failure"),
  strict_legacy: LEGACY,
};
const CROSSING = {
  ...SWEEP,
  over: z.string().describe("parameter to search over, step.parameter"),
  between: valueOf<readonly [Value, Value]>("smallest and largest value of the parameter"),
  resolution: valueOf<Value>("width of the bracket at which the search ends"),
  until_bler: valueOf<number>("search where a block error rate reaches this target").optional(),
  until_difference: valueOf<number>("search where the difference to against reaches this target").optional(),
  against: valueOf<RecipeInput>("the recipe that is subtracted").optional(),
  metric: text("metric to search for (default: the block error rate of the recipe)", "id"),
  max_runs: z.int().min(1).optional().describe("runs of a point before it counts as undecided (default: 1024)"),
};

/** How a recipe is planned. */
export type PlanOptions = Pick<
  RecipeRun,
  "mode" | "backend" | "implementation" | "usePlanCache" | "lint" | "strictLint"
>;

/** A recipe that passed strict validation. */
export interface Validation {
  compilation: Compilation;
  /** Its matrix; without points where it has none. */
  expansion: MatrixExpansion;
  diagnostics: Diagnostic[];
}

/** A recipe in a list; members that need its normal form are null where there is none. */
export type RecipeFileRow =
  & { id: string; path: string; place: RecipeFile["place"]; recipe_sha256: string | null; template: string | null }
  & Awaited<ReturnType<typeof overview>>;

export const VALIDATION = z.object({
  status: z.string(),
  mode: z.enum(["strict", "compat"]),
  defaults_materialized: z.boolean(),
  diagnostics: z.array(DIAGNOSTIC),
});
const VALID = z.object({
  status: z.enum(["valid"]),
  recipe: documentOf<RecipeDocument>(),
  validation: VALIDATION,
  effective: documentOf<RecipeDocument>(),
  specs: documentOf<RecipeSpecs>(),
  seed_policy: documentOf<JsonObject>(),
});
const CHECKED = z.object({
  status: z.enum(["valid", "invalid"]),
  diagnostics: z.array(DIAGNOSTIC).describe("of the recipe and of its plan"),
  forms: VALID.nullable(),
  estimate: documentOf<RunEstimate>().nullable().describe("null where there is no plan"),
});
const EXPANSION = z.object({
  canonical_matrix: OBJECT.nullable(),
  recipe: OBJECT,
  expanded_count: z.int(),
  recipes: z.array(documentOf<RecipeDocument>()),
});
/** Completed runs that an estimate of time reads. */
const PAST_RUNS = 5;

/** Loaded on need: the YAML reader is most of the start-up of a command that reads a recipe. */
const reading = () => import("../authored_recipe.ts");
const authored = async (recipe: RecipeInput): Promise<AuthoredRecipe> => (await reading()).authored(recipe);
const planner = () => import("../../plan/planner.ts");

/** A run with the remarks on its metrics. */
type FoundRun = RunResult & { found: Diagnostic[] };

export const recipes = {
  /**
   * The recipes beside own operations, and those of the project and of the program, sorted by path. A file of the project
   * counts when it is YAML or has steps, others when they have steps.
   */
  list: call("List the recipes of the project and of svc; every command that takes a recipe accepts these names", {
    output: z.object({ recipes: z.array(documentOf<RecipeFileRow>()) }),
    http: { route: "get /api/recipes", returns: "All of recipes/ in both, each with its place and problems" },
    publish: (rows: RecipeFileRow[]) => ({ recipes: rows }),
    cli: {},
    tool: true,
    findings: (rows: RecipeFileRow[]) => rows.flatMap(({ path, diagnostics }) => rowFindings(path, diagnostics)),
    run: (core) => listed(core),
  }),

  /**
   * Reads a file, or a recipe of the project or the program by its name; `name` names the file in messages.
   * @throws SvcError `recipe_not_found`, syntax codes
   */
  read: call("Read a recipe file with overrides", {
    fields: { file: z.string(), name: z.string().optional(), set: SET },
    args: ["file"],
    async run(core, { file, name = file, set }): Promise<AuthoredRecipe> {
      return await parsed(await (await reading()).recipeBytes(file, core.workspace.projectRoot, name), name, set);
    },
  }),

  /** The text of a recipe file, or of a recipe by its name. @throws SvcError `recipe_not_found` with the nearest name */
  text: call("Read the text of a recipe file", {
    fields: { file: z.string() },
    args: ["file"],
    async run({ workspace }, { file }) {
      const { decodeRecipeText, recipeBytes } = await reading();
      return decodeRecipeText(await recipeBytes(file, workspace.projectRoot), file);
    },
  }),

  /** Reads a text. @throws SvcError syntax codes */
  parse: call("Read the text of a recipe with overrides", {
    fields: { text: z.string(), file: z.string().optional(), set: SET },
    args: ["text"],
    run: async (_core, { text, ...options }): Promise<AuthoredRecipe> => (await reading()).parseRecipe(text, options),
  }),

  /** Compiles a recipe. @returns the compilation record; problems are diagnostics in it */
  compile: call("Compile a recipe", {
    fields: COMPILED,
    args: ["recipe"],
    findings: ownDiagnostics,
    run: (core, input) => compile(core, input),
  }),

  /** Compiles a recipe. @throws SvcError `recipe_invalid` with every diagnostic */
  compiled: call("Compile a valid recipe", {
    fields: COMPILED,
    args: ["recipe"],
    findings: ownDiagnostics,
    run: (core, input) => compiled(core, input),
  }),

  /** Compiles a recipe, with its research declaration in normal form. @throws SvcError as `compiled` */
  inspect: call("Compile a valid recipe, and normalise its research specs", {
    fields: { ...COMPILED, ...STRICT },
    args: ["recipe"],
    run: (core, input) => inspect(core, input),
  }),

  /** What a list shows of a recipe; members that need its normal form are null where there is none. */
  overview: call("Show what a list shows of a recipe", {
    fields: { recipe: RECIPE },
    args: ["recipe"],
    findings: ownDiagnostics,
    run: async (core, { recipe }) =>
      await overview(core, await factsOf(core, await authored(recipe)), await core.readiness()),
  }),

  /**
   * The text of a file that is to hold a recipe. Comments and spelling of what did not change stay. `before` is the present
   * text, null for a new file; the extension of `file` selects YAML or JSON.
   */
  textOf: call("Write a recipe as the text of a file", {
    fields: { recipe: RECIPE, before: z.string().nullable(), file: z.string() },
    args: ["recipe", "before", "file"],
    async run(_core, { recipe, before, file }) {
      const { value } = await authored(recipe);
      const [{ editRecipeText }, { formatRecipeText }] = await Promise.all([
        import("../../recipe/edit_text.ts"),
        import("../../recipe/format.ts"),
      ]);
      try {
        if (before !== null) return editRecipeText(before, value, { file });
      } catch (error) {
        // The present text is no recipe, and is replaced.
        if (!(error instanceof SvcError)) throw error;
      }
      if (/\.json$/i.test(file)) return prettyJson(value);
      return formatRecipeText(editRecipeText("name: recipe\n", value, { file, format: "yaml" }), { file });
    },
  }),

  /**
   * Checks a recipe: compilation, wiring and kinds, every matrix point, research. The verdict is the same on every machine:
   * it does not depend on available models and data.
   * @throws SvcError `recipe_invalid` with every diagnostic
   */
  validate: call("Compile a recipe strictly and check its plan", {
    fields: { ...COMPILED, strict_legacy: LEGACY },
    args: ["recipe"],
    output: VALID,
    refuses: [400],
    http: {
      route: "post /api/recipe/validate",
      returns: "The recipe in its forms",
      without: ["strict_legacy"],
      writes: false,
    },
    publish: formsOf,
    findings: ownDiagnostics,
    cli: { usage: "<file>" },
    tool: true,
    run: (core, input) => validate(core, input),
  }),

  /**
   * What is known of a recipe in any state, for editors: a recipe that is refused is answered too.
   * @returns findings of the recipe and of its plan, its forms, and an estimate of its runs; null where there is none
   */
  check: call("Show the findings on a recipe in any state, its forms, and what its runs need; nothing is written", {
    fields: { ...COMPILED, plan: z.boolean().default(true).describe("plan a valid recipe too") },
    args: ["recipe"],
    output: CHECKED,
    refuses: [400],
    http: { route: "post /api/recipe/check", returns: "What is known of the recipe", writes: false },
    findings: ownDiagnostics,
    async run(core, { recipe, mode, plan }): Promise<z.output<typeof CHECKED>> {
      const source = await authored(recipe);
      const forms = await orRefusal(validate(core, { recipe: source, mode }).then(formsOf));
      if (forms instanceof SvcError) {
        return { status: "invalid", diagnostics: diagnosticsOf(forms), forms: null, estimate: null };
      }
      const own = forms.validation.diagnostics, valid = { status: "valid" as const, forms };
      if (!plan) return { ...valid, diagnostics: own, estimate: null };
      const planned = await orRefusal(planWhole(core, source, {}));
      const known = new Set(own.map(keyOf));
      const found = planned instanceof SvcError ? diagnosticsOf(planned) : planned.diagnostics;
      const diagnostics = [...own, ...found.filter((one) => !known.has(keyOf(one)))];
      if (planned instanceof SvcError) return { ...valid, diagnostics, estimate: null };
      const [{ runs }, { runEstimate }] = await Promise.all([
        import("./runs.ts"),
        import("../../run/run_estimate.ts"),
      ]);
      const query = { recipe: forms.recipe.name, status: "completed" as const, limit: PAST_RUNS };
      const past = await runs.list.run(core, query, {});
      return { ...valid, diagnostics, estimate: runEstimate(core.workspace, planned.plans, past) };
    },
  }),

  /** Plans a recipe, without side effects. @returns the plan, or every diagnostic of compiler and planner */
  plan: call("Plan a recipe in any state", {
    fields: PLANNED,
    args: ["recipe"],
    findings: ownDiagnostics,
    async run(core, { recipe, mode, lint, strict_lint, ...fields }): Promise<PlanResult> {
      const source = await authored(recipe);
      const { lintSeverity, planRecipe } = await planner();
      const { registry, readiness, planCache: cache } = await core.means();
      const options = { ...camelKeys(fields), registry, readiness, cache, locate: source.locate, singleRun: true };
      const compilation = await compile(core, { recipe: source, mode });
      return await planRecipe(compilation, { ...options, lint: lintSeverity({ lint, strictLint: strict_lint }) });
    },
  }),

  /**
   * Plans a recipe as it runs: a matrix by all its points, whose plans are not kept.
   * @returns the plan, of a matrix that of its first point, the findings about all points, and the plans of all
   * @throws SvcError as `prepare`
   */
  planWhole: call("Plan a recipe; of a matrix show the first point, and the findings about all", {
    fields: { ...COMPILED, strict_lint: STRICT_LINT },
    args: ["recipe"],
    output: z.object({
      plan: documentOf<ExecutionPlan>(),
      cache: documentOf<PlanCacheEvidence>(),
      diagnostics: z.array(DIAGNOSTIC),
    }),
    refuses: [400],
    http: { route: "post /api/recipe/plan", returns: "The plan of a run", writes: false },
    tool: "recipes_plan",
    publish: ({ plan, cache, diagnostics }: WholePlan) => ({ plan, cache, diagnostics }),
    findings: ownDiagnostics,
    run: (core, { recipe, mode, strict_lint: strictLint }) => planWhole(core, recipe, { mode, strictLint }),
  }),

  /**
   * Compiles and plans a recipe that is to run.
   * @throws SvcError `recipe_invalid`, `plan_invalid` or `recipe_lint_failed` with every diagnostic
   */
  prepare: call("Show the steps of a run with parameters, backend and implementation, without running it", {
    fields: PLANNED,
    args: ["recipe"],
    cli: { name: "recipe plan", usage: "<file>" },
    findings: ({ planned }: PreparedRun) => planned.diagnostics.filter(isWarning),
    run: (core, { recipe, ...fields }) => prepare(core, recipe, camelKeys(fields)),
  }),

  /**
   * Lints a recipe: findings on links, powers and rates that need no run. With `strict: false` entries that the research
   * catalogue does not know are warnings.
   */
  lint: call("Check links, powers and rates of a recipe without running it", {
    fields: { ...COMPILED, ...STRICT },
    args: ["recipe"],
    output: documentOf<LintReport>(
      z.object({ schema_version: z.int(), status: z.enum(["passed", "failed"]), issues: z.array(DIAGNOSTIC) }),
    ),
    refuses: [400],
    http: {
      route: "post /api/recipe/lint",
      returns: "The report, passed or failed",
      without: ["mode", "strict"],
      writes: false,
    },
    cli: { usage: "<file>", without: ["mode", "strict"] },
    tool: true,
    findings: ({ issues }: LintReport) => issues,
    run: (core, { recipe, ...options }) => lint(core, recipe, options),
  }),

  /** The research declaration of a recipe in normal form. @throws SvcError `recipe_invalid` with every diagnostic */
  specs: call("Print the normalised research specs of a recipe", {
    fields: { recipe: RECIPE, ...STRICT },
    args: ["recipe"],
    cli: { usage: "<file>", without: ["strict"] },
    findings: ownWarnings,
    async run(core, input): Promise<JsonObject & { warnings: Diagnostic[] }> {
      const { compilation: { diagnostics }, specs } = await inspect(core, input);
      return { ...specs, warnings: [...diagnostics.filter(isWarning), ...specs.catalog_validation.warnings] };
    },
  }),

  /**
   * Checks the research declaration of a recipe against the catalogue.
   * @returns the declaration in normal form, and the warnings
   * @throws SvcError `recipe_invalid` with every diagnostic
   */
  checkResearch: call("Check the research metadata of a recipe against the catalogue", {
    fields: {
      recipe: RECIPE,
      strict: flag("refuse datasets, tasks and metrics that the catalogue does not know or only plans"),
    },
    args: ["recipe"],
    cli: { name: "research validate-recipe", usage: "<file>" },
    findings: ownDiagnostics,
    async run(core, { recipe, strict }): Promise<{ name: string; specs: JsonObject; diagnostics: Diagnostic[] }> {
      const source = await authored(recipe);
      const { attachLocations } = await import("../../recipe/positions.ts");
      const { compilation: { effective }, specs: { catalog_validation, ...specs } } = await inspect(core, {
        recipe: source,
        strict,
      });
      const { errors, warnings } = catalog_validation;
      const found = [...errors, ...warnings];
      const diagnostics = source.locate === undefined ? found : attachLocations(found, source.locate);
      if (errors.length > 0) source.refuse("recipe_invalid", "accept the research metadata of", diagnostics);
      return { name: effective!.name, specs, diagnostics };
    },
  }),

  /** The graph of a recipe as data; `graphSvg` draws it. @throws SvcError `recipe_invalid` with every diagnostic */
  graph: call("Draw the graph of a recipe", {
    fields: COMPILED,
    args: ["recipe"],
    output: documentOf<RecipeGraph>(
      z.object({ schema_version: z.int(), recipe: z.string(), nodes: z.array(OBJECT), edges: z.array(OBJECT) }),
    ),
    refuses: [400, 403, 404],
    http: {
      route: "get /api/recipe/graph",
      returns: "Nodes and edges",
      names: { recipe: "path" },
      fixed: { mode: "compat" },
    },
    cli: { usage: "<file>", without: ["mode"] },
    findings: ownWarnings,
    async run(core, input): Promise<RecipeGraph & { warnings: Diagnostic[] }> {
      const source = await authored(input.recipe);
      const { recipeGraph } = await import("../../figure/graph/graph.ts");
      const { effective, normalized, diagnostics } = await compile(core, { ...input, recipe: source });
      const drawn = effective ?? normalized ?? source.refuse("recipe_invalid", "draw", diagnostics);
      const graph = { ...recipeGraph(drawn, await core.registry()), warnings: diagnostics.filter(isWarning) };
      return displayed(graph, async () => {
        const { graphSvg } = await import("../../figure/graph/svg.ts");
        return {
          "text/plain": `recipe ${graph.recipe}, ${graph.nodes.length} steps`,
          "image/svg+xml": graphSvg(graph),
        };
      });
    },
  }),

  /** Explains a step: inputs, readers, the source of every parameter. @throws SvcError `recipe_invalid`, `not_found` */
  explain: call("Explain a step: inputs, source of each parameter, backend and implementation", {
    fields: { recipe: RECIPE, step: z.string() },
    args: ["recipe", "step"],
    cli: { usage: "<file> <step>" },
    findings: ({ problems }: StepExplanation) => problems,
    async run(core, { recipe, step }): Promise<StepExplanation> {
      const source = await authored(recipe);
      const [{ explainStep }, { planRecipe }] = await Promise.all([import("../../plan/explain_step.ts"), planner()]);
      const { registry, readiness } = await core.means();
      const compilation = await compiled(core, { recipe: source });
      const planned = await planRecipe(compilation, { registry, locate: source.locate, readiness });
      return explainStep(compilation, planned, registry, step);
    },
  }),

  /**
   * The differences between two recipes. `normalized` and `effective` compile both first.
   * @throws SvcError `recipe_invalid` where an effective form is wanted of an invalid recipe
   */
  diff: call("Compare two recipes; 6 and 6.0 differ, steps are matched by their ids", {
    fields: {
      a: RECIPE,
      b: RECIPE,
      form: z.enum(["authored", "normalized", "effective"]).default("authored").describe("forms to compare"),
    },
    args: ["a", "b"],
    output: documentOf<RecipeDiff>(
      z.object({ equal: z.boolean(), changes: z.array(documentOf<RecipeChange>()) }),
    ),
    refuses: [400],
    http: { route: "post /api/recipe/diff", returns: "Every smallest change", without: ["form"], writes: false },
    cli: { usage: "<a> <b>", without: ["form"] },
    tool: true,
    findings: ownWarnings,
    async run(core, { a, b, form }): Promise<RecipeDiff> {
      const { diffRecipes } = await import("../../recipe/diff.ts");
      const comparable = async (recipe: RecipeInput) => {
        const source = await authored(recipe);
        if (form === "effective") return (await compiled(core, { recipe: source })).effective!;
        if (form === "authored") return source.value;
        return (await compile(core, { recipe: source, mode: "compat" })).normalized ?? source.value;
      };
      return diffRecipes(await comparable(a), await comparable(b));
    },
  }),

  /** Expands the matrix of a recipe. @returns its points; problems are diagnostics */
  expand: call("Show the concrete recipes of a matrix", {
    fields: { ...COMPILED, strict_legacy: LEGACY },
    args: ["recipe"],
    output: EXPANSION,
    refuses: [400],
    http: {
      route: "post /api/recipe/matrix/expand",
      returns: "Recipes in matrix order",
      without: ["mode", "strict_legacy"],
      writes: false,
    },
    publish: expansionOf,
    cli: { name: "recipe expand-matrix", usage: "<file>" },
    tool: true,
    findings: ownDiagnostics,
    run: (core, input) => expand(core, input),
  }),

  /** The matrix of a recipe in canonical form; null without one. @throws SvcError `matrix_invalid`, `recipe_invalid` */
  matrix: call("Show the matrix of a recipe", {
    fields: { recipe: RECIPE },
    args: ["recipe"],
    output: EXPANSION.pick({ canonical_matrix: true }),
    refuses: [400, 403, 404],
    http: { route: "get /api/recipe/matrix", returns: "The canonical matrix, or null", names: { recipe: "path" } },
    findings: ownWarnings,
    async run(core, { recipe }) {
      const source = await authored(recipe), expansion = await expand(core, { recipe: source });
      const { canonical_matrix } = await expansionOf(expansion, source.file);
      return { canonical_matrix, warnings: expansion.diagnostics.filter(isWarning) };
    },
  }),

  /** JSON Schema of recipes with the operations of this session. */
  schema: call("Print the JSON Schema of recipes", { run: (core) => core.recipeSchema() }),

  /**
   * Runs a recipe. `prepared` is what `prepare` made of it, maybe in another thread; prepared again where it no longer holds.
   * @returns the outcome and its bundle; a failed or canceled run has a bundle too
   * @throws SvcError `recipe_invalid`, `plan_invalid`, `recipe_lint_failed`, `execution_invalid` before anything is written
   */
  run: call("Run a recipe and write a run bundle", {
    fields: RUN,
    args: ["recipe"],
    findings: ({ summary, found }: FoundRun) => [...(summary.warnings ?? []) as Diagnostic[], ...found],
    async run(
      core,
      { recipe, ...fields },
      { prepared, ...means }: Means<RecipeRun, typeof RUN> & { prepared?: PreparedRun },
    ): Promise<FoundRun> {
      const [{ announceWarnings, preparedHolds, runPrepared }, { metricFindings }] = await Promise.all([
        import("../../run/run.ts"),
        import("../../run/metric_remarks.ts"),
      ]);
      const options = { ...camelKeys(fields), ...means };
      const source = await authored(recipe);
      const running = { ...options, ...await core.means(), cancellation: means.cancellation ?? createCancellation() };
      return await core.withPool(async (execute, pool) => {
        const holds = prepared !== undefined && await preparedHolds(prepared, running);
        const current = holds ? prepared : await prepare(core, source, options);
        pool.load(builtIn(current, running.registry));
        announceWarnings(current.planned.diagnostics, means.onEvent);
        const result = await runPrepared(current, { ...running, execute });
        return {
          ...result,
          found: metricFindings(result.summary.steps, () => current.planned.recipe.steps, ["steps"]),
        };
      });
    },
  }),

  /**
   * Runs the variants of a matrix in order. A variant with a verified complete run is not run again.
   * @throws SvcError `recipe_invalid`, `plan_invalid`, `matrix_definition_invalid`, `usage_invalid` before anything is written
   */
  runMatrix: call("Run all variants of a matrix; variants with a verified complete run are reused", {
    fields: MATRIX,
    args: ["recipe"],
    findings: ownDiagnostics,
    async run(core, { recipe, ...fields }, means: Means<MatrixRun, typeof MATRIX>): Promise<MatrixRunResult> {
      const source = await authored(recipe), options = { ...camelKeys(fields), ...means };
      await lintGate(core, source, options);
      const { runMatrix } = await import("../../study/run_matrix.ts");
      const running = { ...options, ...parts(source), ...await core.means(source.value) };
      const cancellation = means.cancellation ?? createCancellation();
      return await core.withPool((execute, pool) =>
        runMatrix({ ...running, cancellation, execute, save: (job) => pool.save(job) })
      );
    },
  }),

  /**
   * Searches for the value of one parameter at which a rate, or the difference of two recipes, reaches a target: a bisection
   * whose points run until their intervals decide. Stored runs are used again.
   * @throws SvcError `usage_invalid`, `recipe_invalid` or `plan_invalid`, before anything is written
   */
  findCrossing: call("Search for the value of a parameter at which a rate or a difference reaches a target", {
    fields: CROSSING,
    args: ["recipe"],
    findings: ownDiagnostics,
    async run(
      core,
      { recipe, against, ...fields },
      means: Means<Crossing, typeof CROSSING>,
    ): Promise<CrossingResult> {
      const [source, other] = await Promise.all(
        [recipe, against].map(async (input) =>
          input === undefined ? undefined : await chosenPoint(core, await authored(input), fields.mode)
        ),
      );
      const { findCrossing } = await import("../../study/crossing.ts");
      const running = { ...camelKeys(fields), ...means, ...parts(source!), ...await core.means() };
      const cancellation = means.cancellation ?? createCancellation();
      const rival = other === undefined ? {} : { against: parts(other) };
      return await core.withPool((execute, pool) =>
        findCrossing({ ...running, ...rival, cancellation, execute, save: (job) => pool.save(job) })
      );
    },
  }),
};

export type RunOptions = CallOptions<typeof recipes.run>;
export type MatrixRunOptions = CallOptions<typeof recipes.runMatrix>;
export type CrossingOptions = CallOptions<typeof recipes.findCrossing>;

type Compiling = { recipe: RecipeInput; mode?: CompileMode };

const parts = ({ value: raw, locate, file: name }: AuthoredRecipe) => ({ raw, locate, name });

async function parsed(bytes: Uint8Array, name: string, set?: readonly string[]): Promise<AuthoredRecipe> {
  const { decodeRecipeText, parseRecipe } = await reading();
  return parseRecipe(decodeRecipeText(bytes, name), { file: name, set, sha256: sha256Hex(bytes) });
}

async function compile(core: SessionCore, { recipe, mode = "strict" }: Compiling): Promise<Compilation> {
  const { value, locate } = await authored(recipe);
  const { compileRecipe } = await import("../../recipe/compile.ts");
  return compileRecipe(value, { mode, registry: await core.registry(), locate });
}

async function compiled(core: SessionCore, input: Compiling): Promise<Compilation> {
  const source = await authored(input.recipe);
  const compilation = await compile(core, { ...input, recipe: source });
  if (compilation.status === "invalid") source.refuse("recipe_invalid", "compile", compilation.diagnostics);
  return compilation;
}

async function inspect(core: SessionCore, { strict, ...input }: Compiling & { strict?: boolean }) {
  const compilation = await compiled(core, input);
  const { recipeSpecs } = await import("../../research/specs.ts");
  return { compilation, specs: recipeSpecs(compilation.effective!, { strict }) };
}

async function expand(
  core: SessionCore,
  { recipe, mode, strict_legacy: strictLegacy }: Compiling & { strict_legacy?: boolean },
): Promise<MatrixExpansion> {
  const { value, locate } = await authored(recipe);
  const { expandMatrix } = await import("../../recipe/expand_matrix.ts");
  return expandMatrix(value, { registry: await core.registry(), locate, mode, strictLegacy });
}

/** @throws SvcError `matrix_invalid` where only the matrix of a recipe has problems, else `recipe_invalid` */
async function expansionOf(
  expansion: MatrixExpansion,
  file = "the recipe",
): Promise<z.output<typeof EXPANSION>> {
  const { expansionDocument } = await import("../../recipe/expand_matrix.ts");
  if (expansion.status !== "invalid") return expansionDocument(expansion) as z.output<typeof EXPANSION>;
  const { diagnostics } = expansion;
  const matrix = diagnostics.every(({ severity, code }) => severity !== "error" || code.startsWith("matrix_"));
  throw refusal(matrix ? "matrix_invalid" : "recipe_invalid", `Cannot expand ${file}`, diagnostics);
}

async function validate(
  core: SessionCore,
  input: Compiling & { strict_legacy?: boolean },
): Promise<Validation> {
  const source = await authored(input.recipe);
  const registry = await core.registry();
  const expansion = await expand(core, { ...input, recipe: source });
  const { authored: compilation, points } = expansion;
  // A recipe with a matrix stands for its points.
  const planned = points.length > 0
    ? await (await import("../../plan/plan_matrix.ts")).planMatrix(expansion, { registry })
    : await (await planner()).planRecipe(compilation, { registry, locate: source.locate });
  if (planned.status !== "planned") source.refuse("recipe_invalid", "accept", planned.diagnostics);
  return { compilation, expansion, diagnostics: planned.diagnostics };
}

/** A valid recipe in its forms. */
export async function formsOf({ compilation, diagnostics }: Validation) {
  const { mode, defaults_materialized, normalized, effective, seed_policy } = compilation;
  return {
    status: "valid" as const,
    recipe: normalized!,
    validation: { status: "valid", mode, defaults_materialized, diagnostics },
    effective: effective!,
    specs: (await import("../../research/specs.ts")).recipeSpecs(effective!),
    seed_policy: seed_policy!,
  };
}

type WholePlan = Pick<Planned, "plan" | "cache" | "diagnostics"> & { plans: ExecutionPlan[] };

async function planWhole(core: SessionCore, recipe: RecipeInput, options: PlanOptions): Promise<WholePlan> {
  const source = await authored(recipe);
  const expansion = await expand(core, { recipe: source, mode: options.mode });
  if (expansion.canonical_matrix.source === "none") {
    const { planned } = await prepare(core, source, options);
    return { ...planned, plans: [planned.plan] };
  }
  const [{ planMatrix }, { lintSeverity }] = await Promise.all([import("../../plan/plan_matrix.ts"), planner()]);
  const { registry, readiness } = await core.means();
  const means = { registry, readiness, usePlanCache: false, lint: lintSeverity(options) };
  const planned = await planMatrix(expansion, means);
  if (planned.status === "refused") {
    const code = expansion.status === "invalid" ? "recipe_invalid" : "plan_invalid";
    return source.refuse(code, "plan", planned.diagnostics);
  }
  const { plan, cache } = planned.points[0].planned;
  return { plan, cache, diagnostics: planned.diagnostics, plans: planned.points.map(({ planned }) => planned.plan) };
}

async function prepare(core: SessionCore, recipe: RecipeInput, options: PlanOptions): Promise<PreparedRun> {
  const source = await chosenPoint(core, await authored(recipe), options.mode);
  await lintGate(core, source, options);
  const [{ prepareRun }, means] = await Promise.all([import("../../run/run.ts"), core.means(source.value)]);
  return await prepareRun({ ...options, ...parts(source), ...means });
}

/** The planned operations whose modules a thread can load before their steps: not those of adapters, which start processes. */
const builtIn = ({ planned }: PreparedRun, registry: Registry): LoadedOperation[] =>
  planned.plan.steps.map(({ operation_id }) => registry.get(operation_id)).flatMap((
    { binding, moduleUrl, operation },
  ) => binding === undefined ? [{ operationId: operation.id, moduleUrl, binding: null }] : []);

/** The point that overrides left of a matrix, as the whole matrix has it, else the recipe itself. */
async function chosenPoint(core: SessionCore, source: AuthoredRecipe, mode?: CompileMode): Promise<AuthoredRecipe> {
  if (source.whole === undefined) return source;
  const { points: [chosen, ...others] } = await expand(core, { recipe: source, mode });
  if (chosen === undefined || others.length > 0) return source;
  const { AuthoredRecipe } = await reading();
  const whole = await expand(core, { recipe: new AuthoredRecipe(source.whole, source.file), mode });
  const point = whole.points.find(({ variant_id }) => variant_id === chosen.variant_id) ?? chosen;
  return new AuthoredRecipe(point.recipe, source.file, chosen.locate, source.text);
}

async function lint(
  core: SessionCore,
  recipe: RecipeInput,
  { strict, mode }: { strict?: boolean; mode?: CompileMode },
): Promise<LintReport> {
  const source = await authored(recipe);
  const { lintRecipe } = await import("../../plan/lint.ts");
  const registry = await core.registry(source.value);
  return lintRecipe(await compile(core, { recipe: source, mode }), { registry, strict, locate: source.locate });
}

async function lintGate(core: SessionCore, source: AuthoredRecipe, { strictLint, mode }: PlanOptions): Promise<void> {
  if (!strictLint) return;
  const { status, issues } = await lint(core, source, { mode });
  if (status === "failed") source.refuse("recipe_lint_failed", "run", issues);
}

const keyOf = ({ code, pointer, message }: Diagnostic) => `${code} ${pointer} ${message}`;

/** The value, or the refusal of a recipe. @throws any other error */
async function orRefusal<T>(of: Promise<T>): Promise<T | SvcError> {
  try {
    return await of;
  } catch (error) {
    if (error instanceof SvcError && codeRow(error.code)[1] === 400) return error;
    throw error;
  }
}

/** The findings of a refusal: its diagnostics, or one made of the error itself. */
const diagnosticsOf = ({ diagnostics, code, message, hint }: SvcError): Diagnostic[] =>
  diagnostics.length > 0 ? diagnostics : [{ severity: "error", code, message, path: "$", hint }];

/** Listed files by path, as they were last read: most do not change from one list to the next. No recipe has no facts. */
type Listed = Map<string, { sha256: string; found: FileFacts | null }>;
const lists = new WeakMap<SessionCore, Listed>();

async function listed(core: SessionCore): Promise<RecipeFileRow[]> {
  const [{ recipeFiles, recipesBeside }, { keptReadiness }, { storedFacts }] = await Promise.all([
    import("../../recipe/recipe_files.ts"),
    import("../../execute/readiness.ts"),
    import("../recipe_facts.ts"),
  ]);
  const kept: Listed = lists.get(core) ?? new Map();
  lists.set(core, kept);
  const readiness = keptReadiness(await core.readiness());
  const { projectRoot } = core.workspace;
  const files = [...recipesBeside(core.options(), projectRoot), ...recipeFiles(projectRoot)];
  const present = new Set(files.map(({ file }) => file));
  for (const file of kept.keys()) if (!present.has(file)) kept.delete(file);
  const stored = files.every(({ file }) => kept.has(file)) ? new Map() : await storedFacts();
  const rows: RecipeFileRow[] = [];
  for (const file of files) {
    const row = await rowOf(core, file, { kept, stored, readiness });
    if (row !== null) rows.push(row);
  }
  return rows;
}

async function rowOf(
  core: SessionCore,
  { name: id, path, file, place }: RecipeFile,
  { kept, stored, readiness }: { kept: Listed; stored: ReadonlyMap<string, FileFacts>; readiness: Readiness },
): Promise<RecipeFileRow | null> {
  const maybe = place === "program" || /\.json$/i.test(path);
  const template = templateAt(path)?.id ?? null;
  try {
    const bytes = await (await reading()).recipeBytes(file, core.workspace.projectRoot, path);
    const sha256 = sha256Hex(bytes);
    let known = kept.get(file);
    if (known?.sha256 !== sha256) {
      known = { sha256, found: stored.get(sha256) ?? await factsIn(core, bytes, path, maybe) };
      kept.set(file, known);
    }
    if (known.found === null) return null;
    const { recipe_sha256, facts } = known.found;
    return { id, path, place, recipe_sha256, template, ...await overview(core, facts, readiness) };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (maybe || error.code === "recipe_not_found") return null;
    const { NO_FACTS: { needs: _, ...none } } = await import("../recipe_facts.ts");
    const { diagnostics } = error;
    return { id, path, place, recipe_sha256: null, template, ...none, run_readiness: null, diagnostics };
  }
}

/** Facts of a file that may be another document; null where it has no steps. */
async function factsIn(core: SessionCore, bytes: Uint8Array, path: string, maybe: boolean): Promise<FileFacts | null> {
  const source = await parsed(bytes, path);
  if (maybe && !(isObject(source.value) && Object.hasOwn(source.value, "steps"))) return null;
  return { recipe_sha256: sha256Json(source.value), facts: await factsOf(core, source) };
}

async function factsOf(core: SessionCore, source: AuthoredRecipe): Promise<RecipeFacts> {
  const [{ recipeFacts }, registry] = await Promise.all([import("../recipe_facts.ts"), core.registry(source.value)]);
  return recipeFacts(source, await recipes.compile.run(core, { recipe: source, mode: "strict" }, {}), registry);
}

async function overview(core: SessionCore, { needs, ...facts }: RecipeFacts, readiness: Readiness) {
  const { unmetNeeds } = await import("../../plan/run_readiness.ts"), registry = await core.registry();
  return { ...facts, run_readiness: needs && unmetNeeds(needs, { registry, readiness }) };
}
