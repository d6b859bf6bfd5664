/** Performs a job of any kind by the call of its kind. */
import { asObject, parseJson } from "../../contract/json.ts";
import { unseal } from "../../contract/sealed.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { CancellationToken } from "../../execute/types.ts";
import { warned } from "../../api/call.ts";
import { AuthoredRecipe } from "../../api/authored_recipe.ts";
import type { Session } from "../../api/session.ts";
import { type Admission, jobOf } from "./kinds.ts";
import type { JobKind, JobOutcome, JobTask, Report } from "./types.ts";

export interface JobMeans {
  cancellation: CancellationToken;
  onReport(report: Report): void;
}

/** @throws what the call throws for a request that it refuses */
export async function performJob(task: JobTask, session: Session, means: JobMeans): Promise<JobOutcome> {
  const { kind, jobId, parallelWorkers, parallelPoints, usePlanCache, shared } = task;
  const request = asObject(parseJson(task.request));
  const result = await performRequest(session, kind, { request, prepared: task.prepared }, {
    execution: { parallel_workers: parallelWorkers, parallel_points: parallelPoints },
    cancellation: means.cancellation,
    onEvent: means.onReport,
    jobId,
    usePlanCache,
    sharedProcess: () => Atomics.load(shared, 0) !== 0,
  });
  const { call, end } = jobOf(kind), cancelled = means.cancellation.isCancelled;
  const { result: shown, ...ended } = end({ result, request, session, cancelled });
  return { run_id: null, summary_path: null, error: null, ...ended, result: warned(call, result, shown) };
}

/** Performs an admitted request by the call of its kind. @returns the result of the call */
export async function performRequest(
  session: Session,
  kind: JobKind,
  { request, prepared }: Pick<Admission, "prepared"> & { request: JsonObject },
  { execution, ...means }: { execution: JsonObject; cancellation: CancellationToken } & Record<string, unknown>,
): Promise<unknown> {
  const { call, perform } = jobOf(kind);
  const chosen = Object.entries(execution).filter(([name]) => Object.hasOwn(call.fields, name));
  const input: Record<string, unknown> = { ...request, ...Object.fromEntries(chosen) };
  if (request.recipe !== undefined) input.recipe = new AuthoredRecipe(request.recipe);
  // Nothing is left of what was prepared after a restart of the server.
  const given = { ...means, prepared: prepared ? unseal(prepared) : undefined };
  return await (perform === undefined ? session.perform(call, input, given) : perform(session, input, given));
}
