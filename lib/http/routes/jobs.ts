/** Runs in the background and while one waits, their events and their end. */
import { SvcError } from "../../contract/error.ts";
import { canonicalJson } from "../../contract/json.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { checkExecution } from "../../run/run.ts";
import { type Job, snapshotOf } from "../jobs/queue.ts";
import { isActive, type JobKind } from "../jobs/types.ts";
import { Answer, route } from "../route.ts";
import { EXECUTION, JOB, OBJECT, problem, RECIPE } from "../schemas.ts";
import type { Service } from "../service.ts";
import { eventStream, resumePoint } from "../stream.ts";
import type { RecipeSource } from "../threads/tasks.ts";

const RUN_KINDS: readonly JobKind[] = ["run", "reproduce"];

const ACCEPTED = { description: "The job was taken; Location names it", schema: JOB } as const;
const CAPACITY = problem("Too many jobs of this kind are active; Retry-After says when to ask again");
const REFUSED = problem("The recipe or execution cannot be used; nothing was started");
const NO_JOB = problem("There is no such job, or it was forgotten");
const SNAPSHOT_QUERY = z.strictObject({
  after_seq: z.int().min(0).default(0).describe("only events with a larger seq"),
  event_limit: z.int().min(1).max(512).default(512),
});
const RUN_REPLIES = {
  200: {
    description: "The run completed",
    schema: z.object({
      status: z.enum(["completed"]),
      run_id: z.string(),
      summary_path: z.string(),
      execution: OBJECT,
      resource_guard: OBJECT,
    }),
  },
  202: { description: "The run still goes on; the job tells of it", schema: JOB },
  400: REFUSED,
  422: problem("The run failed or was canceled; run_id names its bundle"),
  429: CAPACITY,
} as const;

export const jobRoutes = [
  route({
    method: "post",
    path: "/api/recipe/run",
    summary: "Run a recipe file and wait for its end",
    body: z.strictObject({ path: z.string(), execution: EXECUTION.optional() }),
    replies: {
      ...RUN_REPLIES,
      403: problem("The path is refused, or the server is read-only"),
      404: problem("There is no such file"),
    },
    handle: ({ body, service }) => runNow(service, { path: body.path }, body.execution),
  }),
  route({
    method: "post",
    path: "/api/recipe/run-payload",
    summary: "Run a recipe that is sent along and wait for its end",
    body: z.strictObject({ recipe: RECIPE, execution: EXECUTION.optional() }),
    replies: RUN_REPLIES,
    handle: ({ body, service }) => runNow(service, { recipe: body.recipe as Value }, body.execution),
  }),
  route({
    method: "post",
    path: "/api/run-jobs",
    summary: "Run a recipe in the background",
    body: z.strictObject({ recipe: RECIPE.optional(), path: z.string().optional(), execution: EXECUTION.optional() }),
    replies: {
      202: ACCEPTED,
      400: REFUSED,
      403: problem("The path is refused, or the server is read-only"),
      404: problem("There is no such file"),
      429: CAPACITY,
    },
    async handle({ body, service }) {
      const { recipe, path, execution } = body;
      if ((recipe === undefined) === (path === undefined)) {
        throw new SvcError("body_field_missing", "Cannot tell what to run: send recipe or path, one of them");
      }
      const source = path === undefined ? { recipe: recipe as Value } : { path };
      return accepted(await submitRun(service, source, execution));
    },
  }),
  route({
    method: "get",
    path: "/api/run-jobs",
    summary: "The remembered jobs, newest first",
    query: z.strictObject({ event_limit: z.int().min(1).max(512).default(1) }),
    replies: { 200: { description: "Snapshots", schema: z.object({ jobs: z.array(JOB) }) } },
    handle: ({ query, service }) => ({
      jobs: service.jobs.list(RUN_KINDS).map((job) =>
        snapshotOf(job, { afterSeq: Math.max(0, job.document.next_event_seq - 1 - query.event_limit) })
      ),
    }),
  }),
  route({
    method: "get",
    path: "/api/run-jobs/:job_id",
    summary: "A job and its events",
    query: SNAPSHOT_QUERY,
    replies: { 200: { description: "The snapshot", schema: JOB }, 404: NO_JOB },
    handle: ({ params, query, service }) =>
      snapshotOf(service.jobs.get(params.job_id, RUN_KINDS), { afterSeq: query.after_seq, limit: query.event_limit }),
  }),
  route({
    method: "get",
    path: "/api/run-jobs/:job_id/wait",
    summary: "Wait for the end of a job",
    query: z.strictObject({ timeout_seconds: z.number().min(0).max(60).default(30) }),
    replies: { 200: { description: "The snapshot at the end, or when the time is over", schema: JOB }, 404: NO_JOB },
    async handle({ params, query, service }) {
      const job = service.jobs.get(params.job_id, RUN_KINDS);
      await endOf(service, job, Number(query.timeout_seconds));
      return snapshotOf(job);
    },
  }),
  route({
    method: "get",
    path: "/api/run-jobs/:job_id/events",
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
      jobStream(service, service.jobs.get(params.job_id, RUN_KINDS), resumePoint(headers, query.after_seq)),
  }),
  route({
    method: "post",
    path: "/api/run-jobs/:job_id/cancel",
    summary: "Ask a job to stop; asking again is harmless",
    replies: { 200: { description: "The snapshot", schema: JOB }, 404: NO_JOB },
    handle({ params, service }) {
      service.jobs.get(params.job_id, RUN_KINDS);
      return snapshotOf(service.jobs.cancel(params.job_id));
    },
  }),
  route({
    method: "post",
    path: "/api/runs/:run_id/reproduce",
    summary: "Execute a run again and compare every artifact",
    body: z.strictObject({ execution: EXECUTION.optional() }),
    replies: {
      202: ACCEPTED,
      400: problem("The execution cannot be used"),
      404: problem("There is no such run"),
      409: problem("The run is still executing"),
      429: CAPACITY,
    },
    async handle({ params, body, service }) {
      const execution = checkExecution((body.execution ?? {}) as Value);
      const { run_id, recipe_name } = await service.threads.perform("findRun", { run_id: params.run_id });
      const request = canonicalJson({ run_id });
      return accepted(service.jobs.submit({ kind: "reproduce", request, recipeName: recipe_name, ...execution }));
    },
  }),
  route({
    method: "get",
    path: "/api/events",
    summary: "The events of all jobs as they happen",
    description: "Server-sent events that do not end; their ids rise over the whole state directory.",
    query: z.strictObject({ after_seq: z.int().min(0).optional().describe("id of the last event that was seen") }),
    replies: {
      200: { description: "The stream", media: "text/event-stream" },
      429: problem("Too many streams are open"),
    },
    handle({ query, headers, service }) {
      const from = query.after_seq === undefined && headers["last-event-id"] === undefined
        ? service.events.latestId
        : resumePoint(headers, query.after_seq);
      return eventStream(service.events, {
        ...service.events.after(from),
        wanted: () => true,
        idOf: ({ id }) => id,
        isLast: () => false,
        heartbeatMs: service.options.heartbeatMs,
      });
    },
  }),
] as const;

async function submitRun(service: Service, source: RecipeSource, given: unknown): Promise<Job> {
  const execution = checkExecution((given ?? {}) as Value);
  const { recipe, name } = await service.threads.perform("admit", source);
  return service.jobs.submit({ kind: "run", request: canonicalJson({ recipe }), recipeName: name, ...execution });
}

/** The reply to a job that was taken. */
export function accepted(job: Job, base = "/api/run-jobs"): Answer {
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

/** The stream of one job. */
export function jobStream(service: Service, job: Job, afterSeq: number): Answer {
  const { document, events } = job;
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

async function runNow(service: Service, source: RecipeSource, given: unknown): Promise<Answer> {
  const job = await submitRun(service, source, given);
  await endOf(service, job, service.options.synchronousMs / 1000);
  const { document } = job;
  if (isActive(document.state)) return accepted(job);
  if (document.state === "completed") {
    const { run_id, summary_path, execution, resource_guard } = document;
    return new Answer({ status: "completed", run_id, summary_path, execution, resource_guard });
  }
  const { code, detail, hint } = (document.error ?? {}) as { code?: string; detail?: string; hint?: string };
  const canceled = document.state !== "failed";
  throw new SvcError(
    code ?? (canceled ? "run_canceled" : "run_failed"),
    detail ?? `The run ended as ${document.state.replace("_", " ")}`,
    { hint, extra: { job_id: document.job_id, run_id: document.run_id } as JsonObject },
  );
}
