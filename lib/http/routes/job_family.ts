/** The routes of every kind of job: list, snapshot, wait, events and cancel, under a path of its own; and its submission. */
import { ownCode } from "../../contract/codes.ts";
import { SvcError } from "../../contract/error.ts";
import { canonicalJson } from "../../contract/json.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { checkExecution } from "../../run/execution.ts";
import type { AnyCall, RefusalStatus, Shape } from "../../api/call.ts";
import { type Job as JobOf, jobOf } from "../jobs/kinds.ts";
import { type Job, snapshotOf } from "../jobs/queue.ts";
import { isActive, type JobDocument, type JobKind } from "../jobs/types.ts";
import { Answer, get, post } from "../route.ts";
import { EXECUTION, JOB, refusals, reply } from "../schemas.ts";
import type { Service } from "../service.ts";
import { eventStream, resumePoint } from "../stream.ts";

const ACCEPTED = reply("The job was queued; Location is its address", JOB);
export const LASTING = reply("The job runs longer than the request waits", JOB);

/** Fields of a request, and how it is executed. */
type JobInput = Readonly<Record<string, unknown>> & { execution?: unknown };

/**
 * Makes the routes of a kind of job.
 * @param base path of the kind, such as `/api/run-jobs`
 * @param kinds jobs that are shown under it
 */
export function jobFamily<Base extends string>(base: Base, kinds: readonly JobKind[]) {
  const find = (service: Service, { job_id }: Readonly<Record<string, string>>): Job => service.jobs.get(job_id, kinds);
  const at = <Path extends string>(path: Path) => `${base}/:job_id${path}` as `${Base}/:job_id${Path}`;
  const accepted = (job: Job) =>
    new Answer(snapshotOf(job), { status: 202, headers: { location: `${base}/${job.document.job_id}` } });

  const routes = [
    get(base, "The remembered jobs, newest first", {
      query: z.strictObject({
        event_limit: z.int().min(1).max(512).default(1).describe("latest events of each"),
      }),
      replies: { 200: reply("Snapshots", z.object({ jobs: z.array(JOB) })) },
      handle: ({ query, service }) => ({
        jobs: service.jobs.list(kinds).map((job) =>
          snapshotOf(job, { afterSeq: Math.max(0, job.document.next_event_seq - 1 - query.event_limit) })
        ),
      }),
    }),
    get(at(""), "A job and its events", {
      query: z.strictObject({
        after_seq: z.int().min(0).default(0).describe("only events with a larger seq"),
        event_limit: z.int().min(1).max(512).default(512),
      }),
      replies: { 200: reply("The snapshot", JOB), ...refusals(404) },
      handle: ({ params, query, service }) =>
        snapshotOf(find(service, params), { afterSeq: query.after_seq, limit: query.event_limit }),
    }),
    get(at("/wait"), "Wait for the end of a job", {
      query: z.strictObject({ timeout_seconds: z.number().min(0).max(60).default(30) }),
      replies: { 200: reply("The snapshot at the end, or when the time is over", JOB), ...refusals(404) },
      async handle({ params, query, service }) {
        const job = find(service, params);
        await endOf(service, job, Number(query.timeout_seconds));
        return snapshotOf(job);
      },
    }),
    get(at("/events"), "The events of a job as they happen", {
      description: "Server-sent events. Last-Event-ID, or after_seq, resumes; after the last event the reply is 204.",
      query: z.strictObject({ after_seq: z.int().min(0).optional() }),
      replies: {
        200: { description: "The stream; it ends with the job", media: "text/event-stream" },
        204: { description: "The job has ended and the client has all its events" },
        ...refusals(404, 429),
      },
      handle: ({ params, query, headers, service }) =>
        jobStream(service, find(service, params), resumePoint(headers, query.after_seq)),
    }),
    post(at("/cancel"), "Request the stop of a job; a second request changes nothing", {
      replies: { 200: reply("The snapshot", JOB), ...refusals(404) },
      handle: ({ params, service }) => snapshotOf(service.jobs.cancel(find(service, params).document.job_id)),
    }),
  ] as const;

  /** Queues a job whose request its kind admits. @throws SvcError `execution_invalid`, and what its kind throws */
  async function queue(service: Service, kind: JobKind, { execution: given, ...request }: JobInput): Promise<Job> {
    const execution = checkExecution((given ?? {}) as Value), { usePlanCache: use_plan_cache } = execution;
    if (execution.parallelPoints > 1 && !Object.hasOwn(jobOf(kind).call.fields, "parallel_points")) {
      throw new SvcError("execution_invalid", "Cannot run points side by side: this job has one", {
        hint: "parallel_points is for benchmarks and matrices",
      });
    }
    const admitted = await service.threads.perform("admit", {
      kind,
      request: request as JsonObject,
      use_plan_cache,
    });
    const { name: recipeName, prepared } = admitted;
    return service.jobs.submit({
      kind,
      request: canonicalJson(admitted.request as Value),
      recipeName,
      prepared,
      ...execution,
    });
  }

  /** The route that submits a job of a kind. */
  function submission<Path extends string, Body extends Shape, Status extends RefusalStatus>(
    kind: JobKind,
    { call, path, body, refuses }: Pick<JobOf<AnyCall, Path, Body, Status>, "call" | "path" | "body" | "refuses">,
  ) {
    return post(path, `Start a job: ${call.summary[0].toLowerCase()}${call.summary.slice(1)}`, {
      body: z.strictObject({ ...body, execution: EXECUTION.optional() }),
      replies: { 202: ACCEPTED, ...refusals(...refuses) },
      handle: async ({ params, body, service }) => accepted(await queue(service, kind, { ...body, ...params })),
    });
  }

  return {
    routes,
    submission,
    /** As a submission, with the reply at the end of the job; where it lasts too long, the reply is the job. */
    async perform(shown: (document: JobDocument) => JsonObject, ...job: Parameters<typeof queue>): Promise<Answer> {
      const [service] = job, queued = await queue(...job), { document } = queued;
      await endOf(service, queued, service.options.synchronousMs / 1000);
      if (isActive(document.state)) return accepted(queued);
      if (document.state !== "completed") throw endError(document);
      return new Answer({ status: "completed", ...shown(document) });
    },
  };
}

/** Waits for the end of a job, or for a time. */
async function endOf(service: Service, { document }: Job, seconds: number): Promise<void> {
  if (!isActive(document.state) || seconds <= 0) return;
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, seconds * 1000);
  await Promise.race([service.jobs.ended(document.job_id), over.promise]);
  clearTimeout(timer);
}

/** The error of a job that did not complete. */
function endError({ error, state, job_id, run_id }: JobDocument): SvcError {
  const { code, detail, hint, system_code, failure } = (error ?? {}) as Record<string, string | undefined>;
  return new SvcError(
    ownCode(code ?? (state === "failed" ? "run_failed" : "run_canceled")),
    detail ?? `The run ended as ${state.replace("_", " ")}`,
    {
      hint,
      extra: { job_id, run_id, ...(failure && { failure }), ...(system_code === undefined ? {} : { system_code }) },
    },
  );
}

function jobStream(service: Service, { document, events }: Job, afterSeq: number): Answer {
  const latest = document.next_event_seq - 1;
  if (!isActive(document.state) && afterSeq >= latest) return new Answer(null, { status: 204 });
  const first = events[0]?.seq ?? latest + 1;
  return eventStream(service.events, {
    events: events.filter(({ seq }) => seq > afterSeq),
    oldest: first > afterSeq + 1 ? first : null,
    wanted: (event) => event.job_id === document.job_id && event.seq > afterSeq,
    idOf: ({ seq }) => seq,
    isLast: ({ seq }) => !isActive(document.state) && seq === document.next_event_seq - 1,
    heartbeatMs: service.options.heartbeatMs,
  });
}
