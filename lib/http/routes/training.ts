/**
 * Training: trainable components of a recipe, projects for them, and datasets captured in jobs.
 * By hand: a stream, and a job that is waited for.
 */
import { SPLITS } from "../../capture/config.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { training } from "../../api/calls/training.ts";
import { routesOf } from "../call_routes.ts";
import { JOBS } from "../jobs/kinds.ts";
import { watchProject } from "../project_watch.ts";
import { get, post } from "../route.ts";
import { DIAGNOSTIC, EXECUTION, refusals, reply } from "../schemas.ts";
import { jobFamily, LASTING } from "./job_family.ts";

const { routes, submission, perform } = jobFamily("/api/dataset-capture-jobs", ["dataset_capture"]);

export const trainingRoutes = [
  ...routesOf("training", training),
  get("/api/workbench/exported-project-watch", "A training project, again with each of its changes", {
    description: "Server-sent events that do not end: `project` with the view, first at once.",
    query: z.strictObject({ path: training.project.fields.path }),
    replies: { 200: { description: "The stream", media: "text/event-stream" }, ...refusals(403, 404, 429) },
    handle: ({ query, service }) => watchProject(service, query.path),
  }),
  post("/api/recipe/dataset-capture-run", "Capture a split and wait for its end", {
    body: z.strictObject({ ...JOBS.dataset_capture.body, execution: EXECUTION.optional() }),
    replies: {
      200: reply(
        "The split is captured",
        z.object({
          status: z.enum(["completed"]),
          out: z.string(),
          split: z.enum(SPLITS),
          captured_samples: z.int(),
          schema_sha256: z.string(),
          warnings: z.array(DIAGNOSTIC),
        }),
      ),
      202: LASTING,
      ...refusals(400, 403, 404, 409, 422, 429),
    },
    handle: ({ body, service }) => perform(({ result }) => result as JsonObject, service, "dataset_capture", body),
  }),
  submission("dataset_capture", JOBS.dataset_capture),
  ...routes,
] as const;
