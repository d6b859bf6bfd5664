/** Runs in the background and while the client waits, their events and their end. */
import { SvcError } from "../../contract/error.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { get, post } from "../route.ts";
import { recipes } from "../../api/calls/recipes.ts";
import { DIAGNOSTIC, documentOf, EXECUTION, OBJECT, RECIPE, refusals, reply } from "../schemas.ts";
import type { RecipeSource } from "../recipe_file.ts";
import type { Service } from "../service.ts";
import { eventStream, resumePoint } from "../stream.ts";
import { recipeOf } from "../jobs/queue.ts";
import { ACCEPTED, jobFamily, LASTING } from "./job_family.ts";

/** Sweeps, reproductions and restores are shown among the runs. */
const KINDS = ["run", "matrix", "reproduce", "restore"] as const;
const { routes, submit, perform } = jobFamily("/api/run-jobs", KINDS);

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

const { mode, ignore_estimate, strict_lint, keep, drop } = recipes.run.fields;
const { points, rerun, continue_on_error } = recipes.runMatrix.fields;
const RUN = z.strictObject({
  execution: EXECUTION.optional(),
  mode: mode.unwrap().optional(),
  ignore_estimate,
  strict_lint,
  keep,
  drop,
});

/** The arguments of a run job. */
const runOf = (
  service: Service,
  source: RecipeSource,
  { execution, mode, ignore_estimate, strict_lint, keep, drop }: z.output<typeof RUN>,
): Parameters<typeof submit> => [service, "run", execution, async ({ usePlanCache: use_plan_cache }) => {
  const { recipe, name, prepared } = await service.threads.perform("admit", {
    ...source,
    mode,
    use_plan_cache,
    ignore_estimate,
    strict_lint,
    keep,
    drop,
  });
  return {
    request: { recipe, ignore_estimate, ...(mode && { mode }), ...(keep && { keep }), ...(drop && { drop }) },
    recipeName: name,
    prepared,
  };
}];

const run = (service: Service, source: RecipeSource, options: z.output<typeof RUN>) =>
  perform(
    ({ run_id, summary_path, execution, resource_guard, result }) => ({
      run_id,
      summary_path,
      execution,
      resource_guard,
      warnings: (result as JsonObject).warnings,
    }),
    ...runOf(service, source, options),
  );

/** @throws SvcError `body_field_missing` for none or both */
function sourceOf(recipe: unknown, path: string | undefined): RecipeSource {
  if ((recipe === undefined) === (path === undefined)) {
    throw new SvcError("body_field_missing", "Cannot choose the recipe: send either recipe or path");
  }
  return path === undefined ? { recipe: recipe as Value } : { path };
}

const RERUN_ROUTE = {
  body: z.strictObject({ execution: EXECUTION.optional() }),
  replies: { 202: ACCEPTED, ...refusals(400, 404, 409, 429) },
} as const;

/** Submits a job that executes a finished run again. */
const again = (
  service: Service,
  kind: "reproduce" | "restore",
  wanted: string,
  { execution }: z.output<typeof RERUN_ROUTE.body>,
) =>
  submit(service, kind, execution, async () => {
    const { run_id, recipe_name } = await service.threads.perform("findRun", { run_id: wanted, verb: kind });
    return { request: { run_id }, recipeName: recipe_name };
  });

export const jobRoutes = [
  post("/api/recipe/run", "Run a recipe file and wait for its end", {
    body: RUN.extend({ path: z.string() }),
    replies: { ...RUN_REPLIES, ...refusals(403, 404) },
    handle: ({ body: { path, ...options }, service }) => run(service, { path }, options),
  }),
  post("/api/recipe/run-payload", "Run the recipe of the request and wait for its end", {
    body: RUN.extend({ recipe: RECIPE }),
    replies: RUN_REPLIES,
    handle: ({ body: { recipe, ...options }, service }) => run(service, { recipe: recipe as Value }, options),
  }),
  post("/api/run-jobs", "Run a recipe in the background", {
    body: RUN.extend({ recipe: RECIPE.optional(), path: z.string().optional() }),
    replies: { 202: ACCEPTED, ...refusals(400, 403, 404, 429) },
    handle({ body: { recipe, path, ...options }, service }) {
      return submit(...runOf(service, sourceOf(recipe, path), options));
    },
  }),
  post("/api/matrix-jobs", "Run the variants of a recipe with a matrix in the background, as one job", {
    body: RUN.extend({
      recipe: RECIPE.optional(),
      path: z.string().optional(),
      points,
      rerun,
      continue_on_error,
    }),
    replies: { 202: ACCEPTED, ...refusals(400, 403, 404, 429) },
    handle({ body: { recipe: given, path, execution, ...options }, service }) {
      const { mode, points, keep, drop } = options, source = sourceOf(given, path);
      return submit(service, "matrix", execution, async () => {
        const { recipe, name } = await service.threads.perform("admitMatrix", { ...source, mode, points, keep, drop });
        return { request: { recipe, ...options }, recipeName: name };
      });
    },
  }),
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
  post("/api/runs/:run_id/reproduce", "Execute a run again and compare every artifact", {
    ...RERUN_ROUTE,
    handle: ({ params, body, service }) => again(service, "reproduce", params.run_id, body),
  }),
  post(
    "/api/runs/:run_id/restore",
    "Execute a pruned run again and put its artifacts back where all digests are equal",
    {
      ...RERUN_ROUTE,
      handle: ({ params, body, service }) => again(service, "restore", params.run_id, body),
    },
  ),
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
