/**
 * From a compiled recipe to an execution plan, without side effects: every check runs, every finding is returned, and a
 * recipe without errors is bound step by step to a runner, a backend and an implementation.
 */
import type { Diagnostic } from "../contract/error.ts";
import type { Runner } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import type { Compilation, Locate, RecipeDocument } from "../recipe/types.ts";
import type { PlanCache } from "./cache.ts";
import type { SourceHashes } from "./implementation_source.ts";
import type { ExecutionPlan, PlanCacheEvidence, Readiness } from "./types.ts";

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

/** Plans a compiled recipe. */
export function planRecipe(_compilation: Compilation, _options: PlanOptions): Promise<PlanResult> {
  return Promise.reject(new Error("The planner is being written"));
}
