/**
 * Runs in the background and while the client waits, their events and their end.
 * By hand: waiting, streams and the memory of jobs.
 */
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { get, post } from "../route.ts";
import { DIAGNOSTIC, documentOf, EXECUTION, OBJECT, RECIPE, refusals, reply } from "../schemas.ts";
import type { RecipeSource } from "../recipe_file.ts";
import type { Service } from "../service.ts";
import { eventStream, resumePoint } from "../stream.ts";
import { recipeOf } from "../jobs/queue.ts";
import { JOBS } from "../jobs/kinds.ts";
import { jobFamily, LASTING } from "./job_family.ts";

/** Sweeps, reproductions and restores are shown among the runs. */
const KINDS = ["run", "matrix", "reproduce", "restore"] as const;
const { routes, submission, perform } = jobFamily("/api/run-jobs", KINDS);

const RUN_REPLIES = {
  200: reply(
    "The run completed",
    z.object({
      status: z.enum(["completed"]),
      run_id: z.string(),
      summary_path: z.string(),
      execution: OBJECT,
      resource_guard: OBJECT,
      warnings: z.array(DIAGNOSTIC).describe("of the plan and of its steps, such as implausible metrics"),
    }),
  ),
  202: LASTING,
  ...refusals(400, 422, 429),
} as const;

const { recipe: _recipe, path: _path, ...OPTIONS } = JOBS.run.body;
const RUN = z.strictObject({ ...OPTIONS, execution: EXECUTION.optional() });

/** Runs a recipe and replies at its end. */
const run = (service: Service, request: z.output<typeof RUN> & RecipeSource) =>
  perform(
    ({ run_id, summary_path, execution, resource_guard, result }) => ({
      run_id,
      summary_path,
      execution,
      resource_guard,
      warnings: (result as JsonObject).warnings,
    }),
    service,
    "run",
    request,
  );

export const jobRoutes = [
  post("/api/recipe/run", "Run a recipe file and wait for its end", {
    body: RUN.extend({ path: z.string() }),
    replies: { ...RUN_REPLIES, ...refusals(403, 404) },
    handle: ({ body, service }) => run(service, body),
  }),
  post("/api/recipe/run-payload", "Run the recipe of the request and wait for its end", {
    body: RUN.extend({ recipe: RECIPE }),
    replies: RUN_REPLIES,
    handle: ({ body, service }) => run(service, body as typeof body & { recipe: Value }),
  }),
  submission("run", JOBS.run),
  submission("matrix", JOBS.matrix),
  ...routes,
  get("/api/run-jobs/:job_id/recipe", "The recipe that a job runs, as its author wrote it", {
    replies: {
      200: reply(
        "The recipe, or null where the job has none",
        z.object({ recipe: documentOf<JsonObject>().nullable() }),
      ),
      ...refusals(404),
    },
    handle: ({ params, service }) => ({ recipe: recipeOf(service.jobs.get(params.job_id, KINDS)) }),
  }),
  submission("reproduce", JOBS.reproduce),
  submission("restore", JOBS.restore),
  get("/api/events", "The events of all jobs as they happen", {
    description: "Server-sent events that do not end; their ids rise over the whole state directory.",
    query: z.strictObject({ after_seq: z.int().min(0).optional().describe("id of the last event that was received") }),
    replies: { 200: { description: "The stream", media: "text/event-stream" }, ...refusals(429) },
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
