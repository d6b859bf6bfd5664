/**
 * From a compiled recipe to an execution plan, without side effects: every check runs, every finding is returned. A
 * recipe without errors is bound step by step to a runner, a backend and an implementation.
 */
import { type Code, type Diagnostic, diagnostic, limitDiagnostics } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import type { Runner } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { attachLocations } from "../recipe/positions.ts";
import type { Compilation, Locate, RecipeDocument } from "../recipe/types.ts";
import { hasUnresolvedMatrix } from "../recipe/variant.ts";
import { checkResearch } from "../research/check.ts";
import { inferenceRules } from "../research/tasks.ts";
import { validateResearch } from "../research/validate.ts";
import { BACKENDS, NATIVE_EXTENSION } from "./backends.ts";
import { bindSteps } from "./bind.ts";
import { type BoundStep, buildPlan } from "./build.ts";
import {
  KEY_SCHEMA_VERSION,
  type PlanCache,
  type PlanDraft,
  type PlanKey,
  planKey,
  processPlanCache,
} from "./cache.ts";
import { checkSteps } from "./check_steps.ts";
import { artifactRecords, bindArtifacts, findArtifacts, type FoundArtifacts } from "./learned.ts";
import { bindModels, findModels, type FoundModels, modelRecords } from "./models.ts";
import { lintLinks } from "./lint.ts";
import { type ModuleSource, programSources, type SourceHashes } from "./implementation_source.ts";
import { inspectProfile } from "./profile_inspect.ts";
import { profileCatalogue } from "./profiles.ts";
import { type Readable, readableRecipe } from "./readable.ts";
import type { ExecutionPlan, PlanCacheEvidence, Readiness, StepRequirement } from "./types.ts";

export interface PlanOptions {
  registry: Registry;
  /** Default `benchmark_run`. */
  runner?: Runner;
  /** Backend requested by flag; binds every step whose operation declares it. */
  backend?: string;
  /** Implementation requested by flag; binds every step whose operation declares it. */
  implementation?: string;
  /** Whether the declared execution profile is enforced; default true. */
  enforceProfile?: boolean;
  /** Available parts of this machine; without it availability is not checked. */
  readiness?: Readiness;
  /** Default the cache of the process. */
  cache?: PlanCache;
  /** false bypasses the cache: nothing is read or stored. */
  usePlanCache?: boolean;
  /** Refuses an unresolved matrix, for a plan of a single run. */
  singleRun?: boolean;
  /** Adds the findings of the lint of links with this severity; left out by default. */
  lint?: "warning" | "error";
  /** The steps as their author wrote them, for findings about what was chosen; default those of the compiled recipe. */
  written?: RecipeDocument["steps"];
  /** Source digests; default those of the program's own files. */
  implementationSources?: SourceHashes;
  /** Maps places to lines of the recipe text. */
  locate?: Locate;
  /**
   * Steps that run in chains, where they can: a run that is made again has the files of the first one. By default the sizes
   * of the outputs decide. Such a plan is not cached.
   */
  chained?: ReadonlySet<string>;
}

/** The severity of the lint of links for the options of a run. */
export function lintSeverity(
  { lint = true, strictLint = false }: { lint?: boolean; strictLint?: boolean },
): PlanOptions["lint"] {
  return strictLint ? "error" : lint ? "warning" : undefined;
}

/** A plan with the recipe it binds. */
export type Planned = {
  status: "planned";
  plan: ExecutionPlan;
  cache: PlanCacheEvidence;
  /** The effective recipe that runs, with the parameters that an explicit choice of implementation set. */
  recipe: RecipeDocument;
  /** What the steps need on this machine. */
  requirements: StepRequirement[];
  /** Warnings and infos. */
  diagnostics: Diagnostic[];
};

/** A plan, or everything that stands in its way. */
export type PlanResult = Planned | { status: "refused"; diagnostics: Diagnostic[] };

/**
 * Plans a compiled recipe.
 * @param compilation of `compileRecipe`; an invalid one is checked as far as possible, so that all problems are
 *   reported
 * @returns the plan, or every finding: steps and references, research, operations and edges, profile, matrix,
 *   materialisation, availability
 * @throws SvcError `implementation_changed` for a missing operation module
 */
export async function planRecipe(compilation: Compilation, options: PlanOptions): Promise<PlanResult> {
  const { effective } = compilation;
  await options.registry.prepare((effective ?? readableRecipe(compilation)?.document)?.steps.map(({ op }) => op) ?? []);
  if (effective === null || compilation.status === "invalid") {
    const found = inspectBroken(compilation, options);
    return refusedWith(mergeFindings(compilation.diagnostics, located(found, options)));
  }

  const outside = await findOutside(effective, options);
  const key = keyOf(compilation.effective_sha256 ?? sha256Json(effective), effective, outside, options);
  const cache = options.cache ?? processPlanCache;
  cache.observe(options.registry);
  const build = () => draftPlan(compilation, effective, outside, options);
  const lookup = options.usePlanCache === false || options.chained !== undefined
    ? await cache.bypass(build)
    : await cache.obtain(key, effective.name, build);

  const { result } = lookup;
  const matrix = options.singleRun ? unresolvedMatrix(effective) : [];
  if ("plan" in result) {
    const missing = unavailable(result.requirements, options.readiness);
    const verified = [
      ...verifyOutside(effective, options.registry),
      ...linkFindings(compilation, result.recipe, options),
    ];
    const diagnostics = [...compilation.diagnostics, ...result.diagnostics];
    if (matrix.length + missing.length > 0 || hasErrors(verified)) {
      const found = [...matrix, ...missing, ...verified];
      return refusedWith([...diagnostics, ...located(found, options)]);
    }
    diagnostics.push(...located(verified, options));
    return {
      status: "planned",
      plan: result.plan,
      cache: cache.evidence({ ...lookup, result }, key, compilation.authored_sha256),
      recipe: result.changed ? result.recipe : effective,
      requirements: result.requirements,
      diagnostics: limitDiagnostics(diagnostics),
    };
  }
  const { before, bindings, requirements } = result;
  const found = [...before, ...matrix, ...bindings, ...unavailable(requirements, options.readiness)];
  return refusedWith([...compilation.diagnostics, ...located(found, options)]);
}

/**
 * Whether a plan of another thread is the plan that this thread would make: it depends on the same things, and they are
 * present and unchanged.
 * @param recipe what the plan was made of: the effective recipe before the plan changed it
 */
export async function planHolds(
  planned: Pick<Planned, "cache" | "requirements">,
  recipe: RecipeDocument,
  options: PlanOptions,
): Promise<boolean> {
  await options.registry.prepare(recipe.steps.map(({ op }) => op));
  const { sha256 } = keyOf(sha256Json(recipe), recipe, await findOutside(recipe, options), options);
  return sha256 === planned.cache.key_sha256 &&
    unavailable(planned.requirements, options.readiness).length === 0 &&
    !hasErrors(verifyOutside(recipe, options.registry));
}

function refusedWith(diagnostics: Diagnostic[]): PlanResult {
  return { status: "refused", diagnostics: limitDiagnostics(diagnostics) };
}

/** Findings of the lint of links about a recipe without errors. */
function linkFindings(
  { normalized }: Compilation,
  recipe: RecipeDocument,
  { lint, registry, written = (normalized ?? recipe).steps }: PlanOptions,
): Diagnostic[] {
  if (lint === undefined) return [];
  const findings = lintLinks(recipe, written, registry);
  return findings.map((item) => ({ ...item, severity: lint }));
}

/** Findings of external operations against a run now, each once. */
function verifyOutside(recipe: RecipeDocument, registry: Registry): Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  recipe.steps.forEach((step, index) => {
    for (const item of registry.find(step.op)?.verify?.() ?? []) {
      if (found.has(item.message)) continue;
      const { code, message, hint, severity } = item;
      found.set(message, diagnostic(code, ["steps", index], message, { hint, severity, step_id: step.id }));
    }
  });
  return [...found.values()];
}

/** Findings that refuse a plan, in the order of the checks. */
interface Refused {
  status: "refused";
  before: Diagnostic[];
  bindings: Diagnostic[];
  requirements: StepRequirement[];
}

/** Checks without bindings, in order; `refused` holds the refusals of the compiler. */
function checkRecipe(
  { suggestions }: Compilation,
  recipe: RecipeDocument,
  options: PlanOptions,
  refused?: Readable["refused"],
) {
  const { problems, checked } = checkSteps(recipe.steps, options.registry, { suggestions, refused: refused?.steps });
  const issues = options.enforceProfile === false || refused?.profile
    ? []
    : inspectProfile(recipe.execution_profile, recipe.steps).issues;
  return { diagnostics: [...researchFindings(recipe), ...problems, ...issues.map(asUmbrellaError)], checked };
}

/** Contradictions of the research metadata to the graph or the catalogue are errors, unknown entries warnings. */
function researchFindings(recipe: RecipeDocument): Diagnostic[] {
  const wrong = checkResearch(recipe);
  if (wrong.length > 0) return wrong;
  const { errors, warnings } = validateResearch(recipe);
  return [...errors, ...warnings];
}

/** The planner lists profile issues under the one code for a violated profile. */
function asUmbrellaError(issue: Diagnostic): Diagnostic {
  return { ...issue, code: "execution_profile_mismatch", message: `${issue.message} (${issue.code})` };
}

/** Inputs of a plan besides the recipe and the registry. */
interface Outside {
  sources: Map<string, ModuleSource>;
  artifacts: FoundArtifacts;
  models: FoundModels;
}

async function findOutside({ steps }: RecipeDocument, options: PlanOptions): Promise<Outside> {
  const { registry, readiness } = options;
  const sources = await (options.implementationSources ?? await programSources()).describe(
    steps.flatMap((step) => registry.find(step.op)?.moduleUrl ?? []),
  );
  return {
    sources,
    artifacts: findArtifacts(steps, registry, readiness),
    models: findModels(steps, registry, readiness),
  };
}

function draftPlan(
  compilation: Compilation,
  effective: RecipeDocument,
  { sources, artifacts, models }: Outside,
  options: PlanOptions,
): PlanDraft | Refused {
  const { diagnostics: before, checked } = checkRecipe(compilation, effective, options);
  const authored = (compilation.normalized ?? effective).steps;
  const chosen = bindSteps(checked, authored, sources, options);
  const trained = bindArtifacts(chosen.bound, artifacts, options.readiness);
  const { bound, problems: missing } = bindModels(trained.bound, models);
  const problems = [...chosen.problems, ...trained.problems, ...missing];
  const requirements = requirementsOf(bound);
  if (hasErrors(before) || hasErrors(problems)) return { status: "refused", before, bindings: problems, requirements };

  const changed = bound.some((step) => Object.keys(step.choice.overrides).length > 0);
  const recipe = changed
    ? { ...effective, steps: effective.steps.map((step, index) => ({ ...step, params: bound[index].params })) }
    : effective;
  const sha256 = changed || compilation.effective_sha256 === null ? sha256Json(recipe) : compilation.effective_sha256;
  return {
    plan: buildPlan(recipe, sha256, options.runner ?? "benchmark_run", bound, options.chained),
    recipe,
    changed,
    requirements,
    diagnostics: located([...before, ...problems], options),
  };
}

/** Findings about the readable part of a recipe that did not compile. */
function inspectBroken(compilation: Compilation, options: PlanOptions): Diagnostic[] {
  const readable = readableRecipe(compilation);
  if (readable === null) return [];
  const { document, refused } = readable;
  const { diagnostics: before, checked } = checkRecipe(compilation, document, options, refused);
  const { bound, problems } = bindSteps(checked, document.steps, new Map(), options);
  const matrix = options.singleRun ? unresolvedMatrix(document) : [];
  return [...before, ...matrix, ...problems, ...unavailable(requirementsOf(bound), options.readiness)];
}

function requirementsOf(bound: readonly BoundStep[]): StepRequirement[] {
  return bound.flatMap(({ index, step, requirements }) =>
    requirements.map((requirement) => ({ index, step_id: step.id, requirement }))
  );
}

/**
 * Compiler and planner findings, each problem once: the planner reports an unknown operation, and missing defaults only
 * follow from it.
 */
function mergeFindings(compiled: Diagnostic[], planned: Diagnostic[]): Diagnostic[] {
  return [...compiled.filter(({ code }) => code !== "operation_defaults_unavailable"), ...planned];
}

/** Refuses a recipe that stands for several runs. */
function unresolvedMatrix(recipe: RecipeDocument): Diagnostic[] {
  if (!hasUnresolvedMatrix(recipe)) return [];
  const key = ["matrix", "sweeps", "ui_sweeps"].find((name) => (recipe.metadata[name] ?? null) !== null)!;
  return [diagnostic("matrix_unresolved", ["metadata", key], "Cannot run a recipe with an unresolved matrix", {
    hint: "Choose a point with --set dimension=value, or run every point with svc recipe run-matrix",
  })];
}

const UNAVAILABLE: Readonly<Record<string, Code>> = {
  dataset: "dataset_unavailable",
  file: "dataset_unavailable",
  model: "model_unavailable",
};

/** Requirements that this machine does not meet. */
function unavailable(requirements: StepRequirement[], readiness: Readiness | undefined): Diagnostic[] {
  if (readiness === undefined) return [];
  return requirements.flatMap(({ index, step_id, requirement }) => {
    const missing = readiness.missing(requirement);
    if (missing === null) return [];
    const { kind, id } = requirement;
    const native = kind === NATIVE_EXTENSION.kind && id === NATIVE_EXTENSION.id;
    const code = native ? "materialization_unavailable" : UNAVAILABLE[kind] ?? "runtime_unavailable";
    const lacking = kind === "adapter" ? `without an adapter that wraps ${id}` : `without the ${kind} ${id}`;
    const message = `Cannot run ${step_id} ${native ? "on cpp" : lacking}: ${missing.reason}`;
    return [diagnostic(code, ["steps", index], message, { hint: missing.hint, step_id })];
  });
}

/** Digest over everything that determines a plan besides recipe, registry and selectors. */
const validationSha256: string = sha256Json({
  plan_schema_version: 1,
  key_schema_version: KEY_SCHEMA_VERSION,
  profiles: profileCatalogue(),
  task_inference: inferenceRules(),
  backends: [...BACKENDS],
});

function keyOf(
  effective_recipe_sha256: string,
  effective: RecipeDocument,
  { sources, artifacts, models }: Outside,
  options: PlanOptions,
): PlanKey {
  const { registry } = options;
  const records = [...new Set(effective.steps.flatMap((step) => registry.find(step.op)?.record ?? []))];
  const modules = [...sources.values()]
    .map(({ source_module, source_sha256 }): [string, string | null] => [source_module, source_sha256])
    .sort(([a], [b]) => compareCodePoints(a, b));
  return planKey({
    effective_recipe_sha256,
    // Contracts of the registry, implementing sources, named artifacts, and records of external operations.
    operation_registry_sha256: sha256Json([
      registry.sha256,
      modules,
      ...artifactRecords(artifacts),
      ...modelRecords(models),
      ...(records.length === 0 ? [] : [records]),
    ]),
    planner_validation_sha256: validationSha256,
    runner: options.runner ?? "benchmark_run",
    backend: options.backend ?? null,
    implementation: options.implementation ?? null,
    enforce_execution_profile: options.enforceProfile ?? true,
  });
}

function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

/** Adds known line numbers to findings. */
function located(diagnostics: Diagnostic[], { locate }: PlanOptions): Diagnostic[] {
  const limited = limitDiagnostics(diagnostics);
  return locate === undefined ? limited : attachLocations(limited, locate);
}
