/**
 * From a compiled recipe to an execution plan, without side effects: every check runs, every finding is returned, and a
 * recipe without errors is bound step by step to a runner, a backend and an implementation.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import type { Runner } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import type { Value } from "../contract/value.ts";
import { attachLocations } from "../recipe/positions.ts";
import type { Compilation, Locate, RecipeDocument } from "../recipe/types.ts";
import { hasUnresolvedMatrix } from "../recipe/variant.ts";
import { checkResearch } from "../research/specs.ts";
import { inferenceRules } from "../research/tasks.ts";
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
import { type ModuleSource, programSources, type SourceHashes } from "./implementation_source.ts";
import { inspectProfile } from "./profile_inspect.ts";
import { profileCatalogue } from "./profiles.ts";
import { type Readable, readableRecipe } from "./readable.ts";
import type { ExecutionPlan, PlanCacheEvidence, Readiness, StepRequirement } from "./types.ts";

export interface PlanOptions {
  registry: Registry;
  /** `benchmark_run` when left out. */
  runner?: Runner;
  /** Backend asked for by flag; binds every step whose operation declares it. */
  backend?: string;
  /** Implementation asked for by flag; binds every step whose operation declares it. */
  implementation?: string;
  /** Whether the declared execution profile is a contract; true when left out. */
  enforceProfile?: boolean;
  /** What is on this machine; without it availability is not checked. */
  readiness?: Readiness;
  /** The process's own cache when left out. */
  cache?: PlanCache;
  /** false bypasses the cache: nothing is read or stored. */
  usePlanCache?: boolean;
  /** Refuses an unresolved matrix: what is planned is to run once. */
  singleRun?: boolean;
  /** Where implementing sources are hashed; the program's own files when left out. */
  implementationSources?: SourceHashes;
  /** Gives findings their line in the text the recipe came from. */
  locate?: Locate;
}

/** A plan with the recipe it binds, or everything that stands in its way. */
export type PlanResult =
  | {
    status: "planned";
    plan: ExecutionPlan;
    cache: PlanCacheEvidence;
    /** The effective recipe that runs, with the parameters that an explicit choice of implementation set. */
    recipe: RecipeDocument;
    /** Warnings and infos. */
    diagnostics: Diagnostic[];
  }
  | { status: "refused"; diagnostics: Diagnostic[] };

/**
 * Plans a compiled recipe.
 *
 * @param compilation of `compileRecipe`; an invalid one is checked as far as it goes, so that all problems are known
 * @returns the plan, or every finding: steps and references, research, operations and edges, profile, matrix,
 * materialisation, availability
 * @throws SvcError `implementation_changed` when the module of an operation has gone
 */
export async function planRecipe(compilation: Compilation, options: PlanOptions): Promise<PlanResult> {
  const { effective } = compilation;
  if (effective === null || compilation.status === "invalid") {
    const found = inspectBroken(compilation, options);
    return { status: "refused", diagnostics: mergeFindings(compilation.diagnostics, located(found, options)) };
  }

  const sources = await (options.implementationSources ?? await programSources()).describe(
    effective.steps.flatMap((step) => options.registry.find(step.op)?.moduleUrl ?? []),
  );
  const artifacts = findArtifacts(effective.steps, options.registry, options.readiness);
  const models = findModels(effective.steps, options.registry, options.readiness);
  const outside = { sources, artifacts, models };
  const key = keyOf(compilation, effective, outside, options);
  const cache = options.cache ?? processPlanCache;
  cache.observe(options.registry);
  const build = () => draftPlan(compilation, effective, outside, options);
  const lookup = options.usePlanCache === false
    ? await cache.bypass(build)
    : await cache.obtain(key, effective.name, build);

  const { result } = lookup;
  const matrix = options.singleRun ? unresolvedMatrix(effective) : [];
  if ("plan" in result) {
    const missing = unavailable(result.requirements, options.readiness);
    const verified = verifyOutside(effective, options.registry);
    const diagnostics = [...compilation.diagnostics, ...result.diagnostics];
    if (matrix.length + missing.length > 0 || hasErrors(verified)) {
      const found = [...matrix, ...missing, ...verified];
      return { status: "refused", diagnostics: [...diagnostics, ...located(found, options)] };
    }
    diagnostics.push(...verified);
    return {
      status: "planned",
      plan: result.plan,
      cache: cache.evidence({ ...lookup, result }, key, compilation.authored_sha256),
      recipe: result.changed ? result.recipe : effective,
      diagnostics,
    };
  }
  const { before, bindings, requirements } = result;
  const found = [...before, ...matrix, ...bindings, ...unavailable(requirements, options.readiness)];
  return { status: "refused", diagnostics: [...compilation.diagnostics, ...located(found, options)] };
}

/** What operations from outside say against running now, each thing once. */
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

/** What stands in the way of a plan, in the order of the checks. */
interface Refused {
  status: "refused";
  before: Diagnostic[];
  bindings: Diagnostic[];
  requirements: StepRequirement[];
}

/** Checks that need no binding, in order; `refused` names what the compiler has refused already. */
function checkRecipe(recipe: RecipeDocument, options: PlanOptions, refused?: Readable["refused"]) {
  const { problems, checked } = checkSteps(recipe.steps, options.registry, refused?.steps);
  const issues = options.enforceProfile === false || refused?.profile
    ? []
    : inspectProfile(recipe.execution_profile, recipe.steps).issues;
  return { diagnostics: [...checkResearch(recipe), ...problems, ...issues.map(underUmbrella)], checked };
}

/** The planner lists the issues of a profile themselves, under the one code that means the profile does not hold. */
function underUmbrella(issue: Diagnostic): Diagnostic {
  return { ...issue, code: "execution_profile_mismatch", message: `${issue.message} (${issue.code})` };
}

/** What a plan depends on besides the recipe and the registry. */
interface Outside {
  sources: Map<string, ModuleSource>;
  artifacts: FoundArtifacts;
  models: FoundModels;
}

function draftPlan(
  compilation: Compilation,
  effective: RecipeDocument,
  { sources, artifacts, models }: Outside,
  options: PlanOptions,
): PlanDraft | Refused {
  const { diagnostics: before, checked } = checkRecipe(effective, options);
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
    plan: buildPlan(recipe, sha256, options.runner ?? "benchmark_run", bound),
    recipe,
    changed,
    requirements,
    diagnostics: located([...before, ...problems], options),
  };
}

/** Findings about a recipe that did not compile, as far as it can be read. */
function inspectBroken(compilation: Compilation, options: PlanOptions): Diagnostic[] {
  const readable = readableRecipe(compilation);
  if (readable === null) return [];
  const { document, refused } = readable;
  const { diagnostics: before, checked } = checkRecipe(document, options, refused);
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
 * The compiler's findings and the planner's, each problem once: that an operation is unknown is said in the planner's
 * words, for that its defaults are missing only follows.
 */
function mergeFindings(compiled: Diagnostic[], planned: Diagnostic[]): Diagnostic[] {
  return [...compiled.filter(({ code }) => code !== "operation_defaults_unavailable"), ...planned];
}

/** A recipe that stands for several runs cannot run as one. */
function unresolvedMatrix(recipe: RecipeDocument): Diagnostic[] {
  if (!hasUnresolvedMatrix(recipe)) return [];
  const key = ["matrix", "sweeps", "ui_sweeps"].find((name) => (recipe.metadata[name] ?? null) !== null)!;
  return [diagnostic("matrix_unresolved", ["metadata", key], "Cannot run a recipe with an unresolved matrix", {
    hint: "Expand it with svc recipe expand-matrix, or run every point with svc recipe run-matrix",
  })];
}

const UNAVAILABLE: Readonly<Record<string, string>> = {
  dataset: "dataset_unavailable",
  file: "dataset_unavailable",
  model: "model_unavailable",
};

/** What is asked for and not on this machine. */
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

/** Digest over everything besides recipe, registry and selectors that decides what a plan says. */
const validationSha256: string = sha256Json({
  plan_schema_version: 1,
  key_schema_version: KEY_SCHEMA_VERSION,
  profiles: profileCatalogue(),
  task_inference: inferenceRules() as unknown as Value,
  backends: [...BACKENDS],
});

function keyOf(
  compilation: Compilation,
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
    effective_recipe_sha256: compilation.effective_sha256 ?? sha256Json(compilation.effective),
    // Contracts of the registry, the sources that implement what the recipe uses, the artifacts that it names, and what
    // is recorded of operations from outside.
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

/** Adds the line of the text to findings, where it is known. */
function located(diagnostics: Diagnostic[], { locate }: PlanOptions): Diagnostic[] {
  return locate === undefined ? diagnostics : attachLocations(diagnostics, locate);
}
