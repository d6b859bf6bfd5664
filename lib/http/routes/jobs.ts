/** Runs in the background and while one waits, their events and their end. */
import { SvcError } from "../../contract/error.ts";
import { canonicalJson } from "../../contract/json.ts";
import type { Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { checkExecution } from "../../run/run.ts";
import type { Job } from "../jobs/queue.ts";
import { isActive } from "../jobs/types.ts";
import { Answer, route } from "../route.ts";
import { EXECUTION, JOB, OBJECT, problem, RECIPE } from "../schemas.ts";
import type { Service } from "../service.ts";
import { eventStream, resumePoint } from "../stream.ts";
import type { RecipeSource } from "../threads/tasks.ts";
import { ACCEPTED, accepted, CAPACITY, endError, endOf, jobFamily } from "./job_family.ts";

/** Reproductions are shown among the runs. */
const BASE = "/api/run-jobs";

const REFUSED = problem("The recipe or execution cannot be used; nothing was started");
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
      return accepted(await submitRun(service, source, execution), BASE);
    },
  }),
  ...jobFamily(BASE, ["run", "reproduce"]),
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
      return accepted(service.jobs.submit({ kind: "reproduce", request, recipeName: recipe_name, ...execution }), BASE);
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

async function runNow(service: Service, source: RecipeSource, given: unknown): Promise<Answer> {
  const job = await submitRun(service, source, given);
  await endOf(service, job, service.options.synchronousMs / 1000);
  const { document } = job;
  if (isActive(document.state)) return accepted(job, BASE);
  if (document.state === "completed") {
    const { run_id, summary_path, execution, resource_guard } = document;
    return new Answer({ status: "completed", run_id, summary_path, execution, resource_guard });
  }
  throw endError(document);
}
