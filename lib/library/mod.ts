/**
 * The library for Node 20 and browsers: what needs no files and no threads. Recipes are compiled, planned, linted, expanded and
 * drawn as the program does it, with the same digests; the client calls a server that runs them.
 *
 * `deno task library` builds it into one file. Availability of datasets, models and native code is not checked here: that is a
 * property of the machine that runs the recipe.
 *
 * @module
 */
import "./platform.ts";
import digests from "../../ops/contract_digests.json" with { type: "json" };
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import sources from "../plan/source_hashes.json" with { type: "json" };
import type { OperationContract } from "../contract/operation.ts";
import { Registry } from "../contract/registry.ts";
import type { ModuleSource, SourceHashes } from "../plan/implementation_source.ts";
import { type RecipeGraph, recipeGraph } from "../figure/graph/graph.ts";
import { lintRecipe, type LintReport } from "../plan/lint.ts";
import { lintSeverity, planRecipe, type PlanResult } from "../plan/planner.ts";
import { compileRecipe } from "../recipe/compile.ts";
import { expandMatrix, type MatrixExpansion } from "../recipe/expand_matrix.ts";
import type { Compilation, CompileMode } from "../recipe/types.ts";
import { authored, parseRecipe, type RecipeInput } from "../api/authored_recipe.ts";

export type {
  Compilation,
  CompileMode,
  LintReport,
  MatrixExpansion,
  OperationContract,
  PlanResult,
  RecipeGraph,
  RecipeInput,
};
export { type ClientOptions, createClient } from "../http/client.ts";
export { type Diagnostic, SvcError } from "../contract/error.ts";
export { canonicalJson, parseJson, prettyJson } from "../contract/json.ts";
export { Float, float, type JsonObject, type Value } from "../contract/value.ts";
export { graphSvg } from "../figure/graph/svg.ts";

const modules: Readonly<Record<string, string>> = sources.modules;

const places: Readonly<Record<string, { module: string }>> = digests.operations;
const registry = new Registry();
registry.register(
  BUILTIN_OPERATIONS.map(({ operation }) => ({ operation, moduleUrl: `ops/${places[operation.id].module}` })),
);

/** The digests of the sources from which this file was built. */
const implementationSources: SourceHashes = {
  describe: (paths) =>
    Promise.resolve(
      new Map<string, ModuleSource>(
        [...paths].map((path) => [path, { source_module: path, source_sha256: modules[path] ?? null }]),
      ),
    ),
};

/** Contracts of all operations, sorted by id. */
export function operations(): OperationContract[] {
  return registry.contracts();
}

/**
 * Reads the text of a recipe, so that findings have its lines.
 * @param options `set` are overrides: `step.param=value`, `dimension=value`
 * @throws SvcError for a text that cannot be read
 */
export function parse(text: string, options: { file?: string; set?: readonly string[] } = {}): RecipeInput {
  return parseRecipe(text, options);
}

/**
 * Compiles a recipe.
 * @param recipe JavaScript value, or YAML or JSON text
 * @returns the compilation record; problems are diagnostics in it
 * @throws SvcError for a text that cannot be read
 */
export function compile(recipe: RecipeInput, { mode = "strict" }: { mode?: CompileMode } = {}): Compilation {
  const { value, locate } = authored(recipe);
  return compileRecipe(value, { mode, registry, locate });
}

/**
 * Compiles and plans a recipe.
 * @returns the plan, or every diagnostic of compiler and planner
 * @throws SvcError for a text that cannot be read
 */
export async function plan(
  recipe: RecipeInput,
  { mode, backend, implementation, lint, strictLint }: {
    mode?: CompileMode;
    backend?: string;
    implementation?: string;
    lint?: boolean;
    strictLint?: boolean;
  } = {},
): Promise<PlanResult> {
  const source = authored(recipe);
  return await planRecipe(compile(source, { mode }), {
    ...{ registry, implementationSources, locate: source.locate, backend, implementation, singleRun: true },
    lint: lintSeverity({ lint, strictLint }),
  });
}

/**
 * Lints a recipe: findings on links, powers and rates that need no run.
 * @param options `strict` is true when left out; false lowers what the research catalogue does not know to warnings
 * @throws SvcError for a text that cannot be read
 */
export function lint(recipe: RecipeInput, { strict }: { strict?: boolean } = {}): LintReport {
  const source = authored(recipe);
  return lintRecipe(compile(source), { registry, strict, locate: source.locate });
}

/**
 * Expands the matrix of a recipe.
 * @returns its points; problems are diagnostics
 * @throws SvcError for a text that cannot be read
 */
export function expand(recipe: RecipeInput, { mode }: { mode?: CompileMode } = {}): MatrixExpansion {
  const { value, locate } = authored(recipe);
  return expandMatrix(value, { registry, locate, mode });
}

/**
 * The graph of a recipe as data; {@link graphSvg} draws it.
 * @throws SvcError `recipe_invalid` with every diagnostic
 */
export function graph(recipe: RecipeInput, options: { mode?: CompileMode } = {}): RecipeGraph {
  const source = authored(recipe), { effective, normalized, diagnostics } = compile(source, options);
  return recipeGraph(effective ?? normalized ?? source.refuse("recipe_invalid", "draw", diagnostics), registry);
}
