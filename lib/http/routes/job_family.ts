/** The routes that every kind of job has: list, snapshot, wait, events and cancel, under a path of its own. */
import { SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import { type Job, snapshotOf } from "../jobs/queue.ts";
import { isActive, type JobDocument, type JobKind } from "../jobs/types.ts";
import { Answer, route } from "../route.ts";
import { JOB, problem } from "../schemas.ts";
import type { Service } from "../service.ts";
import { eventStream, resumePoint } from "../stream.ts";

const NO_JOB = problem("There is no such job, or it was forgotten");

export const ACCEPTED = { description: "The job was taken; Location names it", schema: JOB } as const;
export const CAPACITY = problem("Too many jobs of this kind are active; Retry-After says when to ask again");

/**
 * Makes the routes of a kind of job.
 *
 * @param base path of the kind, such as `/api/run-jobs`
 * @param kinds jobs that are shown under it
 */
export function jobFamily<Base extends string>(base: Base, kinds: readonly JobKind[]) {
  return [
    route({
      method: "get",
      path: base,
      summary: "The remembered jobs, newest first",
      query: z.strictObject({
        event_limit: z.int().min(1).max(512).default(1).describe("latest events of each"),
      }),
      replies: { 200: { description: "Snapshots", schema: z.object({ jobs: z.array(JOB) }) } },
      handle: ({ query, service }) => ({
        jobs: service.jobs.list(kinds).map((job) =>
          snapshotOf(job, { afterSeq: Math.max(0, job.document.next_event_seq - 1 - query.event_limit) })
        ),
      }),
    }),
    route({
      method: "get",
      path: `${base}/:job_id` as `${Base}/:job_id`,
      summary: "A job and its events",
      query: z.strictObject({
        after_seq: z.int().min(0).default(0).describe("only events with a larger seq"),
        event_limit: z.int().min(1).max(512).default(512),
      }),
      replies: { 200: { description: "The snapshot", schema: JOB }, 404: NO_JOB },
      handle: ({ params, query, service }) =>
        snapshotOf(find(service, params), { afterSeq: query.after_seq, limit: query.event_limit }),
    }),
    route({
      method: "get",
      path: `${base}/:job_id/wait` as `${Base}/:job_id/wait`,
      summary: "Wait for the end of a job",
      query: z.strictObject({ timeout_seconds: z.number().min(0).max(60).default(30) }),
      replies: { 200: { description: "The snapshot at the end, or when the time is over", schema: JOB }, 404: NO_JOB },
      async handle({ params, query, service }) {
        const job = find(service, params);
        await endOf(service, job, Number(query.timeout_seconds));
        return snapshotOf(job);
      },
    }),
    route({
      method: "get",
      path: `${base}/:job_id/events` as `${Base}/:job_id/events`,
      summary: "The events of a job as they happen",
      description: "Server-sent events. Last-Event-ID, or after_seq, resumes; behind the last event the reply is 204.",
      query: z.strictObject({ after_seq: z.int().min(0).optional() }),
      replies: {
        200: { description: "The stream; it ends with the job", media: "text/event-stream" },
        204: { description: "The job has ended and the client has all its events" },
        404: NO_JOB,
        429: problem("Too many streams are open"),
      },
      handle: ({ params, query, headers, service }) =>
        jobStream(service, find(service, params), resumePoint(headers, query.after_seq)),
    }),
    route({
      method: "post",
      path: `${base}/:job_id/cancel` as `${Base}/:job_id/cancel`,
      summary: "Ask a job to stop; asking again is harmless",
      replies: { 200: { description: "The snapshot", schema: JOB }, 404: NO_JOB },
      handle: ({ params, service }) => snapshotOf(service.jobs.cancel(find(service, params).document.job_id)),
    }),
  ] as const;

  function find(service: Service, params: Readonly<Record<string, string>>): Job {
    return service.jobs.get(params.job_id, kinds);
  }
}

/** The reply to a job that was taken. */
export function accepted(job: Job, base: string): Answer {
  return new Answer(snapshotOf(job), { status: 202, headers: { location: `${base}/${job.document.job_id}` } });
}

/** Waits for the end of a job, or for a time. */
export async function endOf(service: Service, { document }: Job, seconds: number): Promise<void> {
  if (!isActive(document.state) || seconds <= 0) return;
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, seconds * 1000);
  await Promise.race([service.jobs.ended(document.job_id), over.promise]);
  clearTimeout(timer);
}

/** What a caller who waited is told of a job that did not complete. */
export function endError({ error, state, job_id, run_id }: JobDocument): SvcError {
  const { code, detail, hint } = (error ?? {}) as { code?: string; detail?: string; hint?: string };
  return new SvcError(
    code ?? (state === "failed" ? "run_failed" : "run_canceled"),
    detail ?? `The run ended as ${state.replace("_", " ")}`,
    { hint, extra: { job_id, run_id } },
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
