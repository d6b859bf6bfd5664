/**
 * Runs a recipe: strict compilation, profile check, matrix check and plan, all without side effects; then the run
 * directory, its documents with status `running`, the steps, and the final documents.
 */
import { join } from "node:path";
import { type Diagnostic, messageOf, refusal, SvcError } from "../contract/error.ts";
import type { Runner } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { codeOf } from "../contract/system_error.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { executePlan } from "../execute/execute.ts";
import type { CancellationToken, ExecuteOptions, ExecuteOutcome, ExecutionEvent } from "../execute/types.ts";
import type { PlanCache } from "../plan/cache.ts";
import type { SourceHashes } from "../plan/implementation_source.ts";
import { lintSeverity, planHolds, type Planned, planRecipe } from "../plan/planner.ts";
import type { Readiness } from "../plan/types.ts";
import type { CompileMode, Locate, RecipeDocument } from "../recipe/types.ts";
import { compileRecipe } from "../recipe/compile.ts";
import { recipeSpecs } from "../research/specs.ts";
import { BundleWriter, HeldWriter, type RunWriter, ShortWriter } from "./bundle.ts";
import type { BundleCommits } from "./commits.ts";
import { type RunRecord, type RunStatus, SUMMARY_FILE } from "./documents.ts";
import { captureEnvironment } from "./environment.ts";
import { checkOptions } from "./execution.ts";
import type { SummaryDocument } from "./bundle_schema.ts";
import { type BundleFiles, DISK } from "./files.ts";
import { type HeldFiles, isHoldable } from "./held.ts";
import { tryLockRun } from "./lock.ts";
import { sampleMemory } from "./memory.ts";
import { type IsKept, type KeepOptions, keptArtifacts, keptBy, pruneBundle, type PrunedFile } from "./prune.ts";
import { reserveRunId, unreservedRunId } from "./reservation.ts";
import { checkResources, type ReadFree, writtenResources } from "./resources.ts";
import type { Workspace } from "./workspace.ts";

/** An event of a run; the receiver adds id, sequence and time. */
export type RunEvent = ExecutionEvent | {
  kind:
    | "recipe_warning"
    | "execution_plan_cache"
    | "run_created"
    | "run_started"
    | "run_completed"
    | "run_failed"
    | "run_canceled";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
};

export interface RunOptions {
  /** The decoded recipe of the author. */
  raw: Value;
  /** `compat` accepts older forms of recipes, with warnings; default `strict`. */
  mode?: CompileMode;
  /** The steps as their author wrote them, where `raw` is an effective recipe, which has every parameter. */
  written?: RecipeDocument["steps"];
  /** Maps places to lines of the text, for diagnostics. */
  locate?: Locate;
  /** Names the recipe in messages; "the recipe" when left out. */
  name?: string;
  registry: Registry;
  workspace: Workspace;
  /** Default `benchmark_run`. */
  runner?: Runner;
  backend?: string;
  implementation?: string;
  /** Default 1 (sequential). */
  parallelWorkers?: number;
  /** Default true. */
  usePlanCache?: boolean;
  /** Artifacts that stay once the run is complete; default `all`. See {@link KeepOptions}. */
  keep?: KeepOptions["keep"];
  drop?: KeepOptions["drop"];
  /** Whether the caller removes the artifacts: arrays of chains are then hashed and not written; default false. */
  discards?: boolean;
  /** Takes the files of a small run in place of the disk; a larger run leaves it unused. */
  held?: HeldFiles;
  /** Takes the bundle of a short run as a whole; a larger run is written while it executes. */
  commits?: BundleCommits;
  /** Whether equal artifacts of the workspace are stored once; default true. */
  share?: boolean;
  /** Steps that run in chains; see `PlanOptions`. */
  chained?: ReadonlySet<string>;
  /** Whether to start a run whose estimate does not fit; default false. */
  ignoreEstimate?: boolean;
  planCache?: PlanCache;
  /** Whether findings of the lint of links become warnings of the run; default true. */
  lint?: boolean;
  /** Whether these findings refuse the run; default false. */
  strictLint?: boolean;
  /** Available parts of this machine; without it availability is not checked. */
  readiness?: Readiness;
  cancellation: CancellationToken;
  onEvent?(event: RunEvent): void;
  /** Whether the id ends in six random digits, so that ids of several machines differ; default false. */
  randomId?: boolean;
  /** Is called with the id before the bundle exists, so that a caller who records it finds every bundle again. */
  onReserved?(runId: string): void;
  /** Is called when the steps have ended and the final documents are to be written. */
  onExecuted?(outcome: ExecuteOutcome): void;
  /** Result of `captureEnvironment`; a caller of many runs captures it once. */
  environment?: JsonObject;
  /** Null, the default, for runs of the command line. */
  jobId?: string | null;
  /** Whether other jobs ran in this process; called at the end. */
  sharedProcess?: () => boolean;
  execute?(options: ExecuteOptions): Promise<ExecuteOutcome>;
  /** Digests of the sources of operations; default those of the files now. */
  implementationSources?: SourceHashes;
  files?: BundleFiles;
  readFree?: ReadFree;
}

export interface RunResult {
  run_id: string;
  status: Exclude<RunStatus, "running" | "incomplete">;
  /** Absolute paths. */
  summary_path: string;
  directory: string;
  summary: SummaryDocument;
  /** Artifacts that were not kept. */
  pruned: PrunedFile[];
  /** Warnings and infos of compiler and planner. */
  diagnostics: Diagnostic[];
}

/** Result of compiler and planner for a recipe that is run once; plain data. */
export type PreparedRun = {
  /** The normalised form. */
  authored: RecipeDocument;
  authored_sha256: string;
  effective: RecipeDocument;
  seed_policy: JsonObject;
  planned: Planned;
};

export type PrepareOptions = Pick<
  RunOptions,
  | "raw"
  | "mode"
  | "locate"
  | "name"
  | "registry"
  | "runner"
  | "backend"
  | "implementation"
  | "readiness"
  | "planCache"
  | "usePlanCache"
  | "lint"
  | "strictLint"
  | "written"
  | "implementationSources"
  | "chained"
>;

const planning = ({ planCache: cache, ...options }: Omit<PrepareOptions, "raw">) => ({
  ...options,
  cache,
  lint: lintSeverity(options),
});

/**
 * Compiles and plans a recipe that is to run once.
 * @throws SvcError `recipe_invalid` or `plan_invalid`, with all diagnostics
 */
export async function prepareRun(options: PrepareOptions): Promise<PreparedRun> {
  const { raw, mode = "strict", registry, locate, name = "the recipe" } = options;
  const compilation = compileRecipe(raw, { mode, registry, locate });
  const planned = await planRecipe(compilation, { ...planning(options), singleRun: true });
  // The planner also checks the readable parts of an invalid recipe: one refusal holds every problem.
  if (compilation.status === "invalid") throw refusal("recipe_invalid", `Cannot compile ${name}`, planned.diagnostics);
  if (planned.status === "refused") throw refusal("plan_invalid", `Cannot plan ${name}`, planned.diagnostics);
  const { normalized, authored_sha256, effective, seed_policy } = compilation;
  return {
    authored: normalized!,
    authored_sha256: authored_sha256!,
    effective: effective!,
    seed_policy: seed_policy!,
    planned,
  };
}

/** Whether a prepared run of another thread equals that of {@link prepareRun} here; see {@link planHolds}. */
export async function preparedHolds(
  { planned, effective }: PreparedRun,
  options: Omit<PrepareOptions, "raw">,
): Promise<boolean> {
  return await planHolds(planned, effective, planning(options));
}

/**
 * Runs a recipe once.
 * @returns the outcome: a failed or cancelled run has a bundle too
 * @throws SvcError `execution_invalid`, `recipe_invalid` or `plan_invalid`, the latter two with all diagnostics, and
 *   `resources_insufficient`; nothing is written before these errors
 */
export async function runRecipe(options: RunOptions): Promise<RunResult> {
  checkOptions(options);
  return await runPrepared(await prepareRun(options), options);
}

/** The warnings of a plan in the summary, without lines of the text. */
function warningsOf(diagnostics: readonly Diagnostic[]): JsonObject[] {
  return diagnostics.filter(({ severity }) => severity === "warning")
    .map(({ location: _, ...item }) => ({ ...item }));
}

/** Reports the warnings of a plan as events, before its run. */
export function announceWarnings(
  diagnostics: readonly Diagnostic[],
  onEvent: (event: { kind: "recipe_warning"; level: "warning"; message: string; fields: JsonObject }) => void =
    () => {},
): void {
  for (const { severity, message, ...fields } of diagnostics) {
    if (severity === "warning") {
      onEvent({ kind: "recipe_warning", level: "warning", message, fields: fields as JsonObject });
    }
  }
}

/** Runs a prepared recipe once. @returns as {@link runRecipe}. @throws SvcError `execution_invalid` */
export async function runPrepared(
  prepared: PreparedRun,
  options: Omit<RunOptions, "raw" | "locate">,
): Promise<RunResult> {
  const { workspace, onEvent = () => {} } = options;
  const { parallelWorkers } = checkOptions(options);
  const { plan, cache, diagnostics } = prepared.planned;
  const isKept = keptArtifacts(options, plan.steps.map(({ step_id }) => step_id));
  const isWritten = options.discards ? keptBy({ keep: "metrics", drop: options.drop }) : isKept;
  const isSmall = isHoldable(plan), held = isSmall ? options.held : undefined;
  const commits = isSmall && held === undefined && !options.discards ? options.commits : undefined;
  if (!options.ignoreEstimate && held === undefined) {
    checkResources(writtenResources(plan, prepared.planned.recipe, isWritten), workspace.stateDir, options.readFree);
  }
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
  const record = recordOf(prepared, { ...options, held }, environment, parallelWorkers), { runId } = record;
  const lock = held === undefined && commits === undefined ? tryLockRun(workspace, runId) : UNLOCKED;
  if (lock === null) throw new SvcError("internal_error", `Cannot lock the new run ${runId}`);
  const memory = sampleMemory({ sharedProcess: options.sharedProcess });
  let writer: RunWriter | undefined;
  try {
    const short = commits && new ShortWriter(record, memory, commits, isKept);
    writer = short ??
      (held === undefined
        ? new BundleWriter(workspace, record, memory, options.files ?? DISK)
        : new HeldWriter(join(workspace.stateDir, "runs", runId), record, memory, held));
    const fields = { run_id: runId };
    onEvent({ kind: "run_created", level: "info", message: `Run ${runId} created`, fields });
    const started = { ...fields, step_count: plan.steps.length };
    onEvent({ kind: "run_started", level: "info", message: `Run ${runId} started`, fields: started });
    const hold = short === undefined ? held?.putArtifact.bind(held) : short.hold.bind(short);
    const given = { ...options, hold, isKept: isWritten };
    const outcome = await executeRecord(record, writer, given, parallelWorkers);
    options.onExecuted?.(outcome);
    const summary = await writer.finish(outcome), summary_path = join(writer.directory, SUMMARY_FILE);
    const { status, error } = outcome;
    const prunes = options.keep === "metrics" || (options.drop ?? []).length > 0;
    const pruned = short !== undefined && !short.isShown
      ? short.pruned
      : held === undefined && status === "completed" && prunes
      ? [...writer.unwritten, ...pruneBundle(workspace, runId, isKept, options.files ?? DISK)]
      : [];
    onEvent({
      kind: `run_${status}`,
      level: status === "completed" ? "info" : status === "canceled" ? "warning" : "error",
      message: error === undefined ? `Run ${runId} ${status}` : `Run ${runId} ${status}: ${error}`,
      fields: error === undefined ? fields : { ...fields, error },
    });
    return { run_id: runId, status, summary_path, directory: writer.directory, summary, pruned, diagnostics };
  } finally {
    writer?.abandon();
    memory.stop();
    lock.release();
  }
}

/** A run in memory is of this process alone; a short run is locked once it has a bundle. */
const UNLOCKED = { release() {} };

/** What the documents of a new run say before its first step; reserves the id of a run with files. */
function recordOf(
  { authored, authored_sha256, seed_policy, planned }: PreparedRun,
  { workspace, held, randomId, onReserved, jobId = null, backend, implementation }: Omit<RunOptions, "raw" | "locate">,
  environment: JsonObject,
  parallelWorkers: number,
): RunRecord {
  const created = new Date();
  const { name } = planned.recipe;
  const runId = held === undefined ? reserveRunId(workspace, name, created, randomId) : unreservedRunId(name, created);
  onReserved?.(runId);
  return {
    runId,
    jobId,
    createdAtUtc: created.toISOString(),
    authored,
    authoredSha256: authored_sha256,
    recipe: planned.recipe,
    recipeSha256: String(planned.plan.recipe.sha256),
    plan: planned.plan,
    planCache: planned.cache,
    execution: {
      mode: parallelWorkers > 1 ? "parallel" : "sequential",
      parallel_workers: parallelWorkers,
      ...(backend === undefined ? {} : { backend }),
      ...(implementation === undefined ? {} : { implementation }),
    },
    seedPolicy: seed_policy,
    research: recipeSpecs(planned.recipe),
    environment,
    warnings: warningsOf(planned.diagnostics),
  };
}

async function executeRecord(
  { plan, recipe }: RunRecord,
  writer: RunWriter,
  {
    registry,
    workspace,
    share,
    cancellation,
    readiness,
    onEvent,
    execute = executePlan,
    hold,
    implementationSources: sources,
    isKept,
  }: Omit<RunOptions, "raw"> & { hold: ExecuteOptions["hold"]; isKept: IsKept },
  parallelWorkers: number,
): Promise<ExecuteOutcome> {
  try {
    return await execute({
      plan,
      recipe,
      registry,
      bundle: writer.directory,
      projectRoot: workspace.projectRoot,
      stateDir: workspace.stateDir,
      contents: share === false ? undefined : workspace.contents,
      parallelWorkers,
      cancellation,
      trainedArtifact: readiness?.trainedArtifact,
      findModel: readiness?.model,
      sources,
      onEvent,
      isKept,
      hold,
      onUnwritten: (found) => writer.unwritten.push(...found),
      onStep: (row) => writer.addRow(row),
    });
  } catch (error) {
    // A defect of the executor fails the run, and the run still gets its final documents.
    const code = codeOf(error, "internal_error");
    return { status: "failed", error: messageOf(error), failure: { kind: "internal", ...code } };
  }
}
