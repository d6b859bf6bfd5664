/** What a job of each kind does, with library calls alone. */
import { join, relative, sep } from "node:path";
import { runBenchmark } from "../../benchmark/run_benchmark.ts";
import { captureDataset } from "../../capture/capture.ts";
import type { Split } from "../../capture/config.ts";
import { asObject, parseJson } from "../../contract/json.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { executePlan } from "../../execute/execute.ts";
import type { WorkerPool } from "../../execute/pool.ts";
import type { CancellationToken } from "../../execute/types.ts";
import { reproduceRun } from "../../run/reproduce.ts";
import { type RunEvent, runRecipe } from "../../run/run.ts";
import type { AdmittedCapture } from "../capture_request.ts";
import type { Library } from "../service.ts";
import type { JobOutcome, JobTask, Report } from "./types.ts";

export interface JobMeans {
  cancellation: CancellationToken;
  pool: WorkerPool;
  onReport(report: Report): void;
}

/** Does a job. @throws what the library throws for a request that it refuses */
export async function performJob(task: JobTask, library: Library, means: JobMeans): Promise<JobOutcome> {
  const request = asObject(parseJson(task.request));
  switch (task.kind) {
    case "run":
      return await performRun(task, request, library, means);
    case "reproduce":
      return await performReproduction(task, request, library, means);
    case "benchmark":
      return await performBenchmark(task, request, library, means);
    case "dataset_capture":
      return await performCapture(task, request, library, means);
  }
}

/** The options that runs of every kind share. */
async function runOptions(task: JobTask, library: Library, means: JobMeans) {
  const { cancellation, pool, onReport } = means;
  return {
    registry: await library.registry(),
    readiness: library.readiness,
    planCache: library.planCache,
    parallelWorkers: task.parallelWorkers,
    usePlanCache: task.usePlanCache,
    cancellation,
    jobId: task.jobId,
    sharedProcess: () => Atomics.load(task.shared, 0) !== 0,
    onEvent: (event: RunEvent) => onReport(event),
    execute: (options: Parameters<typeof executePlan>[0]) => executePlan({ ...options, pool }),
  };
}

async function performRun(task: JobTask, request: JsonObject, library: Library, means: JobMeans): Promise<JobOutcome> {
  const { workspace } = library;
  const options = await runOptions(task, library, means);
  const { run_id, status, summary_path, summary } = await runRecipe({ ...options, raw: request.recipe, workspace });
  return {
    status,
    run_id,
    summary_path: relative(workspace.stateDir, summary_path).split(sep).join("/"),
    error: status === "completed" ? null : runError(run_id, status, summary),
    result: null,
  };
}

/** The error record of a run that did not complete. */
function runError(runId: string, status: "failed" | "canceled", summary: JsonObject): Value {
  const { failure = null, error } = summary as { failure?: Value; error?: string };
  return {
    code: `run_${status}`,
    message: `Run ${runId} ${status}${error === undefined ? "" : `: ${error}`}`,
    hint: status === "failed" ? `Its bundle tells more: svc runs show ${runId}` : null,
    diagnostics: [],
    extra: { run_id: runId, failure },
  };
}

async function performBenchmark(
  task: JobTask,
  request: JsonObject,
  library: Library,
  means: JobMeans,
): Promise<JobOutcome> {
  const { execute: _execute, sharedProcess: _shared, ...options } = await runOptions(task, library, means);
  const { pack, replicates, continue_on_error, resume } = request as {
    pack: string;
    replicates?: number;
    continue_on_error?: boolean;
    resume?: string;
  };
  const { result } = await runBenchmark({
    ...options,
    workspace: library.workspace,
    pack,
    replicates,
    continueOnError: continue_on_error,
    resume,
    onEvent: (event) => means.onReport(event),
  });
  const { result_id, status } = result;
  const ended = status === "completed" ? "completed" : means.cancellation.isCancelled ? "canceled" : "failed";
  return {
    status: ended,
    run_id: null,
    summary_path: `benchmarks/${result_id}/result.json`,
    error: ended !== "failed" ? null : {
      code: "run_failed",
      message: `Benchmark ${result_id} is ${status}`,
      hint: `Its rows tell why: svc benchmark result ${result_id}`,
      diagnostics: [],
      extra: { result_id },
    },
    result: { result_id },
  };
}

async function performCapture(
  task: JobTask,
  request: JsonObject,
  { workspace, registry, readiness }: Library,
  { cancellation, pool, onReport }: JobMeans,
): Promise<JobOutcome> {
  const { recipe, config, training_plan_sha256, split, samples, out, force } = request as AdmittedCapture;
  const result = await captureDataset({
    raw: recipe,
    ...(config === null ? {} : { config: config as JsonObject }),
    ...(training_plan_sha256 === null ? {} : { trainingPlanSha256: training_plan_sha256 }),
    split: split as Split,
    samples,
    out: join(workspace.stateDir, out),
    shownOut: out,
    force,
    registry: await registry(),
    workspace,
    readiness,
    parallelWorkers: task.parallelWorkers,
    cancellation,
    pool,
    onEvent: onReport,
  });
  const { status, out: _place, ...rest } = result;
  return {
    status,
    run_id: null,
    summary_path: status === "completed" ? `${out}/schema.json` : null,
    error: null,
    result: { ...rest, out },
  };
}

async function performReproduction(
  task: JobTask,
  request: JsonObject,
  library: Library,
  means: JobMeans,
): Promise<JobOutcome> {
  const { workspace } = library;
  const options = await runOptions(task, library, means);
  const report = await reproduceRun(workspace, String(request.run_id), options);
  return {
    // A difference is a finding of the report, not a failure of the job that made it.
    status: means.cancellation.isCancelled ? "canceled" : "completed",
    run_id: String(report.reproduced_run_id),
    summary_path: `runs/${report.reproduced_run_id}/summary.json`,
    error: null,
    result: { report },
  };
}
