/** Recipes: read, check, plan and run them. */
import { displayed } from "../figure/display.ts";
import { checkOptions } from "../run/execution.ts";
import { createCancellation } from "../execute/cancellation.ts";
import type { LintReport } from "../plan/lint.ts";
import type { Planned, PlanResult } from "../plan/planner.ts";
import type { ExecutionPlan, Readiness } from "../plan/types.ts";
import type { StepExplanation } from "../plan/explain_step.ts";
import type { RecipeGraph } from "../figure/graph/graph.ts";
import type { RecipeDiff } from "../recipe/diff.ts";
import type { MatrixExpansion } from "../recipe/expand_matrix.ts";
import type { Compilation, CompileMode } from "../recipe/types.ts";
import type { RecipeSpecs } from "../research/specs.ts";
import { type Diagnostic, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { PreparedRun, RunOptions as RecipeRun, RunResult } from "../run/run.ts";
import type { MatrixRunOptions as MatrixRun, MatrixRunResult } from "../run/run_matrix.ts";
import type { CrossingOptions as Crossing, CrossingResult } from "../study/crossing.ts";
import type { AuthoredRecipe, RecipeInput } from "./authored_recipe.ts";
import type { FileFacts, RecipeFacts } from "./recipe_facts.ts";
import type { SessionCore } from "./core.ts";
import type { RecipeFile } from "../recipe/recipe_files.ts";
import { templateAt } from "../template/catalog.ts";

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

/** How a recipe runs. */
export interface RunOptions extends Omit<RecipeRun, SetBySession> {
  /** What {@link Recipes.prepare} made of the recipe, maybe in another thread; prepared again where it no longer holds. */
  prepared?: PreparedRun;
  /** Stops the run cooperatively; see {@link createCancellation}. */
  cancellation?: RecipeRun["cancellation"];
  /** Whether a recipe that does not pass lint is refused; false when left out. */
  strictLint?: boolean;
}

/** How the variants of a matrix run. */
export interface MatrixRunOptions extends Omit<MatrixRun, SetBySession> {
  cancellation?: MatrixRun["cancellation"];
  strictLint?: boolean;
}

/** What is searched for, and how the points of the search run. */
export interface CrossingOptions extends Omit<Crossing, SetBySession | "against"> {
  cancellation?: Crossing["cancellation"];
  /** The other recipe of a difference. */
  against?: RecipeInput;
}

export type PlanOptions = Pick<
  RunOptions,
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
  & Awaited<ReturnType<Recipes["overview"]>>;

/** Loaded on need: the YAML reader is most of the start-up of a command that reads a recipe. */
const reading = () => import("./authored_recipe.ts");
const authored = async (recipe: RecipeInput): Promise<AuthoredRecipe> => (await reading()).authored(recipe);

export class Recipes {
  /** Listed files by path, as they were last read: most do not change from one list to the next. No recipe has no facts. */
  #listed = new Map<string, { sha256: string; found: FileFacts | null }>();

  constructor(private readonly core: SessionCore) {}

  /**
   * The recipes beside own operations, and those of the project and of the program, sorted by path. A file of the project counts when it is YAML or has steps,
   * others when they have steps.
   */
  async list(): Promise<RecipeFileRow[]> {
    const [{ recipeFiles, recipesBeside }, { keptReadiness }, { storedFacts }] = await Promise.all([
      import("../recipe/recipe_files.ts"),
      import("../execute/readiness.ts"),
      import("./recipe_facts.ts"),
    ]);
    const readiness = keptReadiness(await this.core.readiness());
    const { projectRoot } = this.core.workspace;
    const files = [...recipesBeside(this.core.options(), projectRoot), ...recipeFiles(projectRoot)];
    const listed = new Set(files.map(({ file }) => file));
    for (const file of this.#listed.keys()) if (!listed.has(file)) this.#listed.delete(file);
    const stored = files.every(({ file }) => this.#listed.has(file)) ? new Map() : await storedFacts();
    const rows: RecipeFileRow[] = [];
    for (const file of files) {
      const row = await this.#row(file, stored, readiness);
      if (row !== null) rows.push(row);
    }
    return rows;
  }

  async #row(
    { name: id, path, file, place }: RecipeFile,
    stored: ReadonlyMap<string, FileFacts>,
    readiness: Readiness,
  ): Promise<RecipeFileRow | null> {
    const maybe = place === "program" || /\.json$/i.test(path);
    const template = templateAt(path)?.id ?? null;
    try {
      const bytes = await (await reading()).recipeBytes(file, this.core.workspace.projectRoot, path);
      const sha256 = sha256Hex(bytes);
      let known = this.#listed.get(file);
      if (known?.sha256 !== sha256) {
        known = { sha256, found: stored.get(sha256) ?? await this.#read(bytes, path, maybe) };
        this.#listed.set(file, known);
      }
      if (known.found === null) return null;
      const { recipe_sha256, facts } = known.found;
      return { id, path, place, recipe_sha256, template, ...await this.#overview(facts, readiness) };
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (maybe || error.code === "recipe_not_found") return null;
      const { NO_FACTS: { needs: _, ...none } } = await import("./recipe_facts.ts");
      const { diagnostics } = error;
      return { id, path, place, recipe_sha256: null, template, ...none, run_readiness: null, diagnostics };
    }
  }

  /** Facts of a file that may be another document; null where it has no steps. */
  async #read(bytes: Uint8Array, path: string, maybe: boolean): Promise<FileFacts | null> {
    const source = await this.#parsed(bytes, path);
    if (maybe && !(isObject(source.value) && Object.hasOwn(source.value, "steps"))) return null;
    return { recipe_sha256: sha256Json(source.value), facts: await this.#facts(source) };
  }

  /**
   * Reads a file, or a recipe of the project or the program by its name, with overrides in the form `step.param=value`.
   * @param options `name` names the file in messages
   * @throws SvcError `recipe_not_found`, syntax codes
   */
  async read(
    file: string,
    { name = file, set }: { name?: string; set?: readonly string[] } = {},
  ): Promise<AuthoredRecipe> {
    const { recipeBytes } = await reading();
    return await this.#parsed(await recipeBytes(file, this.core.workspace.projectRoot, name), name, set);
  }

  async #parsed(bytes: Uint8Array, name: string, set?: readonly string[]): Promise<AuthoredRecipe> {
    const { decodeRecipeText, parseRecipe } = await reading();
    return parseRecipe(decodeRecipeText(bytes, name), { file: name, set, sha256: sha256Hex(bytes) });
  }

  /** The text of a recipe file, or of a recipe by its name. @throws SvcError `recipe_not_found` with the nearest name */
  async text(file: string): Promise<string> {
    const { decodeRecipeText, recipeBytes } = await reading();
    return decodeRecipeText(await recipeBytes(file, this.core.workspace.projectRoot), file);
  }

  /** Reads a text. @throws SvcError syntax codes */
  async parse(text: string, options: { file?: string; set?: readonly string[] } = {}): Promise<AuthoredRecipe> {
    return (await reading()).parseRecipe(text, options);
  }

  /** Compiles a recipe. @returns the compilation record; problems are diagnostics in it */
  async compile(recipe: RecipeInput, { mode = "strict" }: { mode?: CompileMode } = {}): Promise<Compilation> {
    const { value, locate } = await authored(recipe);
    const { compileRecipe } = await import("../recipe/compile.ts");
    return compileRecipe(value, { mode, registry: await this.core.registry(), locate });
  }

  /** Compiles a recipe. @throws SvcError `recipe_invalid` with every diagnostic */
  async compiled(recipe: RecipeInput, options: { mode?: CompileMode } = {}): Promise<Compilation> {
    const source = await authored(recipe);
    const compilation = await this.compile(source, options);
    if (compilation.status === "invalid") source.refuse("recipe_invalid", "compile", compilation.diagnostics);
    return compilation;
  }

  /** Compiles a recipe, with its research declaration in normal form. @throws SvcError as {@link compiled} */
  async inspect(
    recipe: RecipeInput,
    { mode, strict }: { mode?: CompileMode; strict?: boolean } = {},
  ): Promise<{ compilation: Compilation; specs: RecipeSpecs }> {
    const compilation = await this.compiled(recipe, { mode });
    return {
      compilation,
      specs: (await import("../research/specs.ts")).recipeSpecs(compilation.effective!, { strict }),
    };
  }

  /** What a list shows of a recipe; members that need its normal form are null where there is none. */
  async overview(recipe: RecipeInput) {
    return await this.#overview(await this.#facts(await authored(recipe)), await this.core.readiness());
  }

  async #facts(source: AuthoredRecipe): Promise<RecipeFacts> {
    const [{ recipeFacts }, registry] = await Promise.all([import("./recipe_facts.ts"), this.core.registry()]);
    return recipeFacts(source, await this.compile(source), registry);
  }

  async #overview({ needs, ...facts }: RecipeFacts, readiness: Readiness) {
    const { unmetNeeds } = await import("../plan/run_readiness.ts"), registry = await this.core.registry();
    return { ...facts, run_readiness: needs && unmetNeeds(needs, { registry, readiness }) };
  }

  /**
   * The text of a file that is to hold a recipe. Comments and spelling of what did not change stay.
   * @param before the present text; null for a new file
   * @param file its name, whose extension selects YAML or JSON
   */
  async textOf(recipe: RecipeInput, before: string | null, file: string): Promise<string> {
    const { value } = await authored(recipe);
    const [{ editRecipeText }, { formatRecipeText }] = await Promise.all([
      import("../recipe/edit_text.ts"),
      import("../recipe/format.ts"),
    ]);
    try {
      if (before !== null) return editRecipeText(before, value, { file });
    } catch (error) {
      // The present text is no recipe, and is replaced.
      if (!(error instanceof SvcError)) throw error;
    }
    if (/\.json$/i.test(file)) return prettyJson(value);
    return formatRecipeText(editRecipeText("name: recipe\n", value, { file, format: "yaml" }), { file });
  }

  /**
   * Checks a recipe: compilation, wiring and kinds, every matrix point, research. The verdict is the same on every machine:
   * it does not depend on available models and data.
   * @throws SvcError `recipe_invalid` with every diagnostic
   */
  async validate(
    recipe: RecipeInput,
    { mode = "strict", strictLegacy }: { mode?: CompileMode; strictLegacy?: boolean } = {},
  ): Promise<Validation> {
    const source = await authored(recipe);
    const registry = await this.core.registry();
    const expansion = await this.expand(source, { mode, strictLegacy });
    const { authored: compilation, points } = expansion;
    // A recipe with a matrix stands for its points.
    const planned = points.length > 0
      ? await (await import("../plan/plan_matrix.ts")).planMatrix(expansion, { registry })
      : await (await import("../plan/planner.ts")).planRecipe(compilation, { registry, locate: source.locate });
    if (planned.status !== "planned") source.refuse("recipe_invalid", "accept", planned.diagnostics);
    return { compilation, expansion, diagnostics: planned.diagnostics };
  }

  /** Plans a recipe, without side effects. @returns the plan, or every diagnostic of compiler and planner */
  async plan(
    recipe: RecipeInput,
    { mode, backend, implementation, usePlanCache, ...lint }: PlanOptions = {},
  ): Promise<PlanResult> {
    const source = await authored(recipe);
    const { lintSeverity, planRecipe } = await import("../plan/planner.ts");
    const { registry, readiness, planCache: cache } = await this.core.means();
    const options = { registry, readiness, cache, locate: source.locate, backend, implementation, usePlanCache };
    const compilation = await this.compile(source, { mode });
    return await planRecipe(compilation, { ...options, singleRun: true, lint: lintSeverity(lint) });
  }

  /**
   * Plans a recipe as it runs: a matrix by all its points, whose plans are not kept.
   * @returns the plan, of a matrix that of its first point, the findings about all points, and the plans of all
   * @throws SvcError as {@link prepare}
   */
  async planWhole(
    recipe: RecipeInput,
    options: Pick<PlanOptions, "mode" | "strictLint"> = {},
  ): Promise<Pick<Planned, "plan" | "cache" | "diagnostics"> & { plans: ExecutionPlan[] }> {
    const source = await authored(recipe);
    const expansion = await this.expand(source, { mode: options.mode });
    if (expansion.canonical_matrix.source === "none") {
      const { planned } = await this.prepare(source, options);
      return { ...planned, plans: [planned.plan] };
    }
    const [{ planMatrix }, { lintSeverity }] = await Promise.all([
      import("../plan/plan_matrix.ts"),
      import("../plan/planner.ts"),
    ]);
    const { registry, readiness } = await this.core.means();
    const means = { registry, readiness, usePlanCache: false, lint: lintSeverity(options) };
    const planned = await planMatrix(expansion, means);
    if (planned.status === "refused") {
      const code = expansion.status === "invalid" ? "recipe_invalid" : "plan_invalid";
      return source.refuse(code, "plan", planned.diagnostics);
    }
    const { plan, cache } = planned.points[0].planned;
    return { plan, cache, diagnostics: planned.diagnostics, plans: planned.points.map(({ planned }) => planned.plan) };
  }

  /**
   * Compiles and plans a recipe that is to run.
   * @throws SvcError `recipe_invalid`, `plan_invalid` or `recipe_lint_failed` with every diagnostic
   */
  async prepare(recipe: RecipeInput, options: PlanOptions = {}): Promise<PreparedRun> {
    const source = await this.#chosenPoint(await authored(recipe), options.mode);
    await this.#lintGate(source, options);
    return await this.core.prepare({ ...options, ...parts(source) });
  }

  /** The point that overrides left of a matrix, as the whole matrix has it, else the recipe itself. */
  async #chosenPoint(source: AuthoredRecipe, mode?: CompileMode): Promise<AuthoredRecipe> {
    if (source.whole === undefined) return source;
    const { points: [chosen, ...others] } = await this.expand(source, { mode });
    if (chosen === undefined || others.length > 0) return source;
    const { AuthoredRecipe } = await reading();
    const whole = await this.expand(new AuthoredRecipe(source.whole, source.file), { mode });
    const point = whole.points.find(({ variant_id }) => variant_id === chosen.variant_id) ?? chosen;
    return new AuthoredRecipe(point.recipe, source.file, chosen.locate, source.text);
  }

  /**
   * Lints a recipe: findings on links, powers and rates that need no run.
   * @param options `strict` is true when left out; false lowers what the research catalogue does not know to warnings
   */
  async lint(
    recipe: RecipeInput,
    { strict, mode }: { strict?: boolean; mode?: CompileMode } = {},
  ): Promise<LintReport> {
    const source = await authored(recipe);
    const { lintRecipe } = await import("../plan/lint.ts");
    const registry = await this.core.registry();
    return lintRecipe(await this.compile(source, { mode }), { registry, strict, locate: source.locate });
  }

  async #lintGate(
    source: AuthoredRecipe,
    { strictLint, mode }: Pick<PlanOptions, "strictLint" | "mode">,
  ): Promise<void> {
    if (!strictLint) return;
    const { status, issues } = await this.lint(source, { mode });
    if (status === "failed") source.refuse("recipe_lint_failed", "run", issues);
  }

  /** The research declaration of a recipe in normal form. @throws SvcError `recipe_invalid` with every diagnostic */
  async specs(recipe: RecipeInput, options: { strict?: boolean } = {}): Promise<JsonObject> {
    return (await this.inspect(recipe, options)).specs;
  }

  /**
   * Checks the research declaration of a recipe against the catalogue.
   * @param options `strict` makes entries that the catalogue does not know or only plans errors
   * @returns the declaration in normal form, and the warnings
   * @throws SvcError `recipe_invalid` with every diagnostic
   */
  async checkResearch(
    recipe: RecipeInput,
    options: { strict?: boolean } = {},
  ): Promise<{ name: string; specs: JsonObject; diagnostics: Diagnostic[] }> {
    const source = await authored(recipe);
    const { attachLocations } = await import("../recipe/positions.ts");
    const { compilation: { effective }, specs: { catalog_validation, ...specs } } = await this.inspect(source, options);
    const { errors, warnings } = catalog_validation;
    const found = [...errors, ...warnings];
    const diagnostics = source.locate === undefined ? found : attachLocations(found, source.locate);
    if (errors.length > 0) source.refuse("recipe_invalid", "accept the research metadata of", diagnostics);
    return { name: effective!.name, specs, diagnostics };
  }

  /** Explains a step: inputs, readers, the source of every parameter. @throws SvcError `recipe_invalid`, `not_found` */
  async explain(recipe: RecipeInput, step: string): Promise<StepExplanation> {
    const source = await authored(recipe);
    const [{ explainStep }, { planRecipe }] = await Promise.all([
      import("../plan/explain_step.ts"),
      import("../plan/planner.ts"),
    ]);
    const { registry, readiness } = await this.core.means();
    const compilation = await this.compiled(source);
    const planned = await planRecipe(compilation, { registry, locate: source.locate, readiness });
    return explainStep(compilation, planned, registry, step);
  }

  /** The graph of a recipe as data; `graphSvg` draws it. @throws SvcError `recipe_invalid` with every diagnostic */
  async graph(recipe: RecipeInput, options: { mode?: CompileMode } = {}): Promise<RecipeGraph> {
    const source = await authored(recipe);
    const { recipeGraph } = await import("../figure/graph/graph.ts");
    const { effective, normalized, diagnostics } = await this.compile(source, options);
    const drawn = effective ?? normalized ?? source.refuse("recipe_invalid", "draw", diagnostics);
    const graph = recipeGraph(drawn, await this.core.registry());
    return displayed(graph, async () => {
      const { graphSvg } = await import("../figure/graph/svg.ts");
      return { "text/plain": `recipe ${graph.recipe}, ${graph.nodes.length} steps`, "image/svg+xml": graphSvg(graph) };
    });
  }

  /**
   * The differences between two recipes.
   * @param options `form` is `authored` when left out; `normalized` and `effective` compile both first
   * @throws SvcError `recipe_invalid` where an effective form is wanted of an invalid recipe
   */
  async diff(
    a: RecipeInput,
    b: RecipeInput,
    { form = "authored" }: { form?: "authored" | "normalized" | "effective" } = {},
  ): Promise<RecipeDiff> {
    const { diffRecipes } = await import("../recipe/diff.ts");
    const comparable = async (recipe: RecipeInput) => {
      const source = await authored(recipe);
      if (form === "effective") return (await this.compiled(source)).effective!;
      if (form === "authored") return source.value;
      return (await this.compile(source, { mode: "compat" })).normalized ?? source.value;
    };
    return diffRecipes(await comparable(a), await comparable(b));
  }

  /** Expands the matrix of a recipe. @returns its points; problems are diagnostics */
  async expand(
    recipe: RecipeInput,
    options: { mode?: CompileMode; strictLegacy?: boolean } = {},
  ): Promise<MatrixExpansion> {
    const { value, locate } = await authored(recipe);
    const { expandMatrix } = await import("../recipe/expand_matrix.ts");
    return expandMatrix(value, { registry: await this.core.registry(), locate, ...options });
  }

  /** JSON Schema of recipes with the operations of this session. */
  async schema(): Promise<JsonObject> {
    return await this.core.recipeSchema();
  }

  /**
   * Runs a recipe.
   * @returns the outcome and its bundle; a failed or canceled run has a bundle too
   * @throws SvcError `recipe_invalid`, `plan_invalid`, `recipe_lint_failed`, `execution_invalid` before anything is written
   */
  async run(recipe: RecipeInput, options: RunOptions = {}): Promise<RunResult> {
    const { announceWarnings, preparedHolds, runPrepared } = await import("../run/run.ts");
    checkOptions(options);
    const source = await authored(recipe);
    const means = {
      ...options,
      ...await this.core.means(),
      cancellation: options.cancellation ?? createCancellation(),
    };
    return await this.core.withPool(async (execute) => {
      const { prepared } = options;
      const holds = prepared !== undefined && await preparedHolds(prepared, means);
      const current = holds ? prepared : await this.prepare(source, options);
      announceWarnings(current.planned.diagnostics, options.onEvent);
      return await runPrepared(current, { ...means, execute });
    });
  }

  /**
   * Runs the variants of a matrix in order. A variant with a verified complete run is not run again.
   * @throws SvcError `recipe_invalid`, `plan_invalid`, `matrix_definition_invalid`, `usage_invalid` before anything is written
   */
  async runMatrix(recipe: RecipeInput, options: MatrixRunOptions = {}): Promise<MatrixRunResult> {
    const source = await authored(recipe);
    await this.#lintGate(source, options);
    const { runMatrix } = await import("../run/run_matrix.ts");
    const { cancellation = createCancellation() } = options;
    const means = await this.core.means(source.value);
    return await this.core.withPool((execute) =>
      runMatrix({ ...options, ...parts(source), ...means, cancellation, execute })
    );
  }

  /**
   * Searches for the value of one parameter at which a rate, or the difference of two recipes, reaches a target: a bisection
   * whose points run until their intervals decide. Stored runs are used again.
   * @throws SvcError `usage_invalid`, `recipe_invalid` or `plan_invalid`, before anything is written
   */
  async findCrossing(recipe: RecipeInput, { against, ...options }: CrossingOptions): Promise<CrossingResult> {
    const { mode, cancellation = createCancellation() } = options;
    const [source, other] = await Promise.all(
      [recipe, against].map(async (input) =>
        input === undefined ? undefined : await this.#chosenPoint(await authored(input), mode)
      ),
    );
    const { findCrossing } = await import("../study/crossing.ts");
    const means = await this.core.means();
    return await this.core.withPool((execute) =>
      findCrossing({
        ...options,
        ...parts(source!),
        ...(other === undefined ? {} : { against: parts(other) }),
        ...means,
        cancellation,
        execute,
      })
    );
  }
}

const parts = ({ value: raw, locate, file: name }: AuthoredRecipe) => ({ raw, locate, name });
