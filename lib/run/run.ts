/**
 * Runs a recipe: strict compile, profile check, matrix gate and plan, which leave no trace; then the run directory, its
 * documents with status `running`, the steps, and the final documents.
 */
import { type Diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import type { Runner } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { executePlan } from "../execute/execute.ts";
import type { CancellationToken, ExecuteOptions, ExecuteOutcome, ExecutionEvent } from "../execute/types.ts";
import type { PlanCache } from "../plan/cache.ts";
import { planRecipe, type PlanResult } from "../plan/planner.ts";
import type { Readiness } from "../plan/types.ts";
import type { Compilation, Locate } from "../recipe/types.ts";
import { compileRecipe } from "../recipe/compile.ts";
import { recipeSpecs } from "../research/specs.ts";
import { BundleWriter } from "./bundle.ts";
import type { RunRecord, RunStatus } from "./documents.ts";
import { captureEnvironment } from "./environment.ts";
import { type BundleFiles, DISK } from "./files.ts";
import { tryLockRun } from "./lock.ts";
import { sampleMemory } from "./memory.ts";
import { reserveRunId } from "./reservation.ts";
import type { Workspace } from "./workspace.ts";

/** An event of a run, without the id, sequence and time that its receiver adds. */
export type RunEvent = ExecutionEvent | {
  kind: "execution_plan_cache" | "run_created" | "run_started" | "run_completed" | "run_failed" | "run_canceled";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
};

export interface RunOptions {
  /** The author's recipe, decoded. */
  raw: Value;
  /** The way back to the lines of its text, for diagnostics. */
  locate?: Locate;
  registry: Registry;
  workspace: Workspace;
  /** `benchmark_run` when left out. */
  runner?: Runner;
  backend?: string;
  implementation?: string;
  /** 1 (sequential) when left out. */
  parallelWorkers?: number;
  /** true when left out. */
  usePlanCache?: boolean;
  planCache?: PlanCache;
  /** What is on this machine; without it availability is not checked. */
  readiness?: Readiness;
  cancellation: CancellationToken;
  onEvent?(event: RunEvent): void;
  /** What `captureEnvironment` told; a caller of many runs asks once. */
  environment?: JsonObject;
  /** Null, also when left out, for runs of the command line. */
  jobId?: string | null;
  /** Whether other jobs ran in this process meanwhile; asked at the end. */
  sharedProcess?: () => boolean;
  execute?(options: ExecuteOptions): Promise<ExecuteOutcome>;
  files?: BundleFiles;
}

export interface RunResult {
  run_id: string;
  status: Exclude<RunStatus, "running" | "incomplete">;
  /** Absolute paths. */
  summary_path: string;
  directory: string;
  summary: JsonObject;
  /** Warnings and infos of compiler and planner. */
  diagnostics: Diagnostic[];
}

/**
 * Runs a recipe once.
 *
 * @returns how it ended: a failed or cancelled run has a bundle too
 * @throws SvcError `execution_invalid`, `recipe_invalid` or `plan_invalid`, the latter two with all diagnostics, before
 * anything is written
 */
export async function runRecipe(options: RunOptions): Promise<RunResult> {
  const { registry, workspace, cancellation, onEvent = () => {} } = options;
  const { parallelWorkers, usePlanCache } = checkExecution({
    ...(options.parallelWorkers === undefined ? {} : { parallel_workers: options.parallelWorkers }),
    ...(options.usePlanCache === undefined ? {} : { use_plan_cache: options.usePlanCache }),
  });
  const compilation = compileRecipe(options.raw, { mode: "strict", registry, locate: options.locate });
  const planned = await planOnce(compilation, options, usePlanCache);
  const { plan, cache } = planned;
  onEvent({
    kind: "execution_plan_cache",
    level: "info",
    message: `Plan cache ${cache.outcome}: ${cache.reason}`,
    fields: {
      outcome: cache.outcome,
      reason: cache.reason,
      key_sha256: cache.key_sha256 ?? null,
      plan_sha256: plan.sha256,
    },
  });
  const environment = options.environment ?? await captureEnvironment(workspace.projectRoot);

  const created = new Date();
  const runId = reserveRunId(workspace, planned.recipe.name, created);
  const record: RunRecord = {
    runId,
    jobId: options.jobId ?? null,
    createdAtUtc: created.toISOString(),
    authored: compilation.normalized!,
    authoredSha256: compilation.authored_sha256!,
    recipe: planned.recipe,
    recipeSha256: sha256Json(planned.recipe),
    plan,
    planCache: cache,
    execution: {
      mode: parallelWorkers > 1 ? "parallel" : "sequential",
      parallel_workers: parallelWorkers,
      ...(options.backend === undefined ? {} : { backend: options.backend }),
      ...(options.implementation === undefined ? {} : { implementation: options.implementation }),
    },
    seedPolicy: compilation.seed_policy!,
    research: recipeSpecs(planned.recipe),
    environment,
  };
  const lock = tryLockRun(workspace, runId);
  if (lock === null) throw new SvcError("internal_error", `Cannot lock the new run ${runId}`);
  const memory = sampleMemory({ sharedProcess: options.sharedProcess });
  let writer: BundleWriter | undefined;
  try {
    writer = new BundleWriter(workspace, record, memory, options.files ?? DISK);
    const fields = { run_id: runId };
    onEvent({ kind: "run_created", level: "info", message: `Run ${runId} created`, fields });
    onEvent({ kind: "run_started", level: "info", message: `Run ${runId} started`, fields });
    const outcome = await execute(options, record, writer, parallelWorkers);
    const { summary, path } = writer.finish(outcome);
    const { status, error } = outcome;
    onEvent({
      kind: `run_${status}`,
      level: status === "completed" ? "info" : status === "canceled" ? "warning" : "error",
      message: error === undefined ? `Run ${runId} ${status}` : `Run ${runId} ${status}: ${error}`,
      fields: error === undefined ? fields : { ...fields, error },
    });
    return {
      run_id: runId,
      status,
      summary_path: path,
      directory: writer.directory,
      summary,
      diagnostics: planned.diagnostics,
    };
  } finally {
    writer?.abandon();
    memory.stop();
    lock.release();
  }

  async function execute(
    { execute = executePlan }: RunOptions,
    record: RunRecord,
    writer: BundleWriter,
    parallelWorkers: number,
  ): Promise<ExecuteOutcome> {
    try {
      return await execute({
        plan: record.plan,
        recipe: record.recipe,
        registry,
        bundle: writer.directory,
        projectRoot: workspace.projectRoot,
        stateDir: workspace.stateDir,
        parallelWorkers,
        cancellation,
        trainedArtifact: options.readiness?.trainedArtifact,
        findModel: options.readiness?.model,
        onEvent,
        onStep: (row) => writer.addRow(row),
      });
    } catch (error) {
      // A defect of the executor is the run's failure, not a reason to leave it without an end.
      const code = error instanceof SvcError ? error.code : "internal_error";
      return { status: "failed", error: messageOf(error), failure: { kind: "internal", code } };
    }
  }
}

async function planOnce(
  compilation: Compilation,
  options: RunOptions,
  usePlanCache: boolean,
): Promise<Extract<PlanResult, { status: "planned" }>> {
  const { registry, runner, backend, implementation, planCache, readiness, locate } = options;
  const result = await planRecipe(compilation, {
    registry,
    runner,
    backend,
    implementation,
    readiness,
    cache: planCache,
    usePlanCache,
    singleRun: true,
    locate,
  });
  if (result.status === "planned") return result;
  // The planner checks what an invalid recipe leaves readable, so that its author hears of everything at once.
  throw compilation.status === "invalid"
    ? refusal("recipe_invalid", "Cannot compile the recipe", result.diagnostics)
    : refusal("plan_invalid", "Cannot plan the recipe", result.diagnostics);
}

/** The error for a recipe that is refused, with the number of its problems. */
export function refusal(code: string, attempt: string, diagnostics: Diagnostic[]): SvcError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const count = errors.length === 1 ? "one problem" : `${errors.length} problems`;
  return new SvcError(code, `${attempt}: ${count}`, { diagnostics });
}

/**
 * Checks an `execution` object.
 *
 * @param execution `{parallel_workers?, use_plan_cache?}` as it came over the wire or from flags
 * @throws SvcError `execution_invalid` for unknown fields, a worker count outside 1..32 or no integer, no boolean flag
 */
export function checkExecution(execution: Value): { parallelWorkers: number; usePlanCache: boolean } {
  const refuse = (message: string, hint: string): never => {
    throw new SvcError("execution_invalid", message, { hint });
  };
  if (!isObject(execution)) {
    return refuse("Cannot read execution as a mapping", "Write {parallel_workers, use_plan_cache}");
  }
  const { parallel_workers: workers = 1, use_plan_cache: cache = true, ...unknown } = execution;
  for (const key of Object.keys(unknown)) {
    refuse(`Cannot use the execution field ${key}`, "Known: parallel_workers, use_plan_cache");
  }
  if (!isInteger(workers) || workers < 1 || workers > 32) {
    return refuse("Cannot use that as parallel_workers", "Write an integer from 1 to 32");
  }
  if (typeof cache !== "boolean") return refuse("Cannot use that as use_plan_cache", "Write true or false");
  return { parallelWorkers: Number(workers), usePlanCache: cache };
}
