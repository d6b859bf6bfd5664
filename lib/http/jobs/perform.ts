/** Performs a job of each kind by a call of the session. */
import { join, relative, sep } from "node:path";
import type { CompileMode } from "../../recipe/types.ts";
import type { LoadedPack } from "../../study/pack/load_pack.ts";
import { isWarning } from "../../contract/error.ts";
import { asObject, parseJson } from "../../contract/json.ts";
import { unseal } from "../../contract/sealed.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import type { CancellationToken } from "../../execute/types.ts";
import type { KeepOptions } from "../../run/prune.ts";
import type { PreparedRun } from "../../run/run.ts";
import { AuthoredRecipe } from "../../api/authored_recipe.ts";
import { camelKeys } from "../../api/call.ts";
import type { Session } from "../../api/session.ts";
import type { AdmittedCapture } from "../capture_request.ts";
import type { JobKind, JobOutcome, JobTask, Report } from "./types.ts";

export interface JobMeans {
  cancellation: CancellationToken;
  onReport(report: Report): void;
}

type Perform = (session: Session, request: JsonObject, task: JobTask, means: JobMeans) => Promise<JobOutcome>;

/** Performs a job. @throws what the session throws for a request that it refuses */
export async function performJob(task: JobTask, session: Session, means: JobMeans): Promise<JobOutcome> {
  return await PERFORM[task.kind](session, asObject(parseJson(task.request)), task, means);
}

const PERFORM: Readonly<Record<JobKind, Perform>> = {
  async run({ recipes, workspace }, { recipe, mode, ignore_estimate, keep, drop }, task, means) {
    const prepared = preparedOf<PreparedRun>(task), ignoreEstimate = ignore_estimate === true;
    const given = { mode, keep, drop } as KeepOptions & { mode?: CompileMode };
    const options = { ...runOptions(task, means), prepared, ignoreEstimate, ...given };
    const result = await recipes.run(new AuthoredRecipe(recipe), options);
    const { run_id, status, summary } = result;
    return {
      ...OUTCOME,
      status,
      run_id,
      summary_path: relative(workspace.stateDir, result.summary_path).split(sep).join("/"),
      error: status === "completed" ? null : runError(run_id, status, summary),
      result: { warnings: summary.warnings ?? [] },
    };
  },

  async matrix({ recipes }, { recipe, points, rerun, continue_on_error, ...request }, task, means) {
    const result = await recipes.runMatrix(new AuthoredRecipe(recipe), {
      ...runOptions(task, means),
      points: points as string[] | undefined,
      rerun: rerun === true,
      continueOnError: continue_on_error === true,
      ignoreEstimate: request.ignore_estimate === true,
      strictLint: request.strict_lint === true,
      parallelPoints: task.parallelPoints,
      ...{ mode: request.mode, keep: request.keep, drop: request.drop } as KeepOptions & { mode?: CompileMode },
    });
    const { status, recipe_name, canonical_matrix, rows, diagnostics } = result;
    const failed = rows.filter((row) => row.status === "failed");
    return {
      ...OUTCOME,
      summary_path: null,
      status,
      error: status !== "failed" ? null : {
        code: "run_failed",
        message: `Variant ${failed[0].index} of ${recipe_name} failed` +
          (failed.length > 1 ? `, and ${failed.length - 1} more` : ""),
        hint: "Its row gives the reason",
        diagnostics: [],
        extra: { run_id: failed[0].run_id },
      },
      result: { recipe_name, canonical_matrix, rows, warnings: diagnostics.filter(isWarning) },
    };
  },

  async reproduce({ runs }, { run_id }, task, means) {
    const report = await runs.reproduce(String(run_id), runOptions(task, means));
    return {
      // A difference is a finding of the report, not a failure of the job.
      status: means.cancellation.isCancelled ? "canceled" : "completed",
      run_id: report.reproduced_run_id,
      summary_path: `runs/${report.reproduced_run_id}/summary.json`,
      error: null,
      result: { report },
    };
  },

  async restore({ runs }, { run_id }, task, means) {
    const { jobId: _job, sharedProcess: _shared, ...options } = runOptions(task, means);
    const report = await runs.restore(String(run_id), options);
    return {
      ...OUTCOME,
      status: "completed",
      run_id: report.run_id,
      summary_path: `runs/${report.run_id}/summary.json`,
      result: { report },
    };
  },

  async benchmark({ benchmarks }, request, task, means) {
    const { pack, replicates, continue_on_error: continueOnError, resume, ...kept } = request as BenchmarkRequest;
    const { retain_backing_runs: retainBackingRuns, keep, drop } = kept;
    const { sharedProcess: _shared, ...options } = runOptions(task, means);
    const loaded = preparedOf<LoadedPack>(task);
    const { parallelPoints } = task;
    const { result } = await benchmarks.run(pack, {
      ...options,
      parallelPoints,
      loaded,
      replicates,
      continueOnError,
      resume,
      retainBackingRuns,
      keep,
      drop,
    });
    const { result_id, status } = result;
    const ended = status === "completed" ? "completed" : means.cancellation.isCancelled ? "canceled" : "failed";
    return {
      ...OUTCOME,
      status: ended,
      summary_path: `benchmarks/${result_id}/result.json`,
      error: ended !== "failed" ? null : {
        code: "run_failed",
        message: `Benchmark ${result_id} is ${status}`,
        hint: `Its rows give the reasons: svc benchmark result ${result_id}`,
        diagnostics: [],
        extra: { result_id },
      },
      result: { result_id },
    };
  },

  async dataset_capture({ training, workspace: { stateDir } }, request, task, { cancellation, onReport }) {
    const { recipe, project, training_plan: plan, out, ...fields } = request as AdmittedCapture;
    const how = { shownOut: out, parallelWorkers: task.parallelWorkers, cancellation, onEvent: onReport };
    const options = { ...camelKeys(fields), ...how };
    const { status, out: _place, ...rest } = project !== undefined
      ? await training.captureProject(project, { ...options, confined: true })
      : await training.capture(new AuthoredRecipe(recipe!), { ...options, plan, out: join(stateDir, out) });
    return {
      ...OUTCOME,
      status,
      summary_path: status === "completed" ? `${out}/schema.json` : null,
      result: { ...rest, out },
    };
  },
};

const OUTCOME = { run_id: null, error: null, result: null };

export type BenchmarkRequest = {
  /** Absolute path. */
  pack: string;
  replicates?: number;
  continue_on_error?: boolean;
  resume?: string;
  retain_backing_runs?: boolean;
  keep?: "all" | "metrics";
  drop?: string[];
};

/** What the admission of the job prepared; undefined after a restart of the server. */
function preparedOf<T>({ prepared }: JobTask): T | undefined {
  return prepared === null ? undefined : unseal(prepared) as T;
}

/** The options that runs of every kind share. */
function runOptions({ jobId, parallelWorkers, usePlanCache, shared }: JobTask, { cancellation, onReport }: JobMeans) {
  const sharedProcess = () => Atomics.load(shared, 0) !== 0;
  return { jobId, parallelWorkers, usePlanCache, cancellation, sharedProcess, onEvent: onReport };
}

/** The error record of a run that did not complete. */
function runError(runId: string, status: "failed" | "canceled", summary: JsonObject): Value {
  const { failure = {}, error } = summary as { failure?: JsonObject; error?: string };
  const { system_code } = failure;
  return {
    code: `run_${status}`,
    message: `Run ${runId} ${status}${error === undefined ? "" : `: ${error}`}`,
    hint: status === "failed" ? `See its bundle: svc runs show ${runId}` : null,
    diagnostics: [],
    extra: { run_id: runId, failure, ...(system_code === undefined ? {} : { system_code }) },
  };
}
