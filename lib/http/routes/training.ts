/** Training: trainable components of a recipe, projects for them, and datasets captured in jobs. */
import { SPLITS } from "../../capture/config.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { training } from "../../api/calls/training.ts";
import { routesOf } from "../call_routes.ts";
import type { CaptureRequest } from "../capture_request.ts";
import { watchProject } from "../project_watch.ts";
import { get, post } from "../route.ts";
import { EXECUTION, RECIPE, refusals, reply } from "../schemas.ts";
import type { Service } from "../service.ts";
import { ACCEPTED, jobFamily, LASTING } from "./job_family.ts";

const { routes, submit, perform } = jobFamily("/api/dataset-capture-jobs", ["dataset_capture"]);

const { plan, split, samples, max_bytes, force } = training.capture.fields;
const CAPTURE = z.strictObject({
  recipe: RECIPE.optional(),
  path: z.string().optional().describe("recipe file in recipes/"),
  project_path: z.string().optional().describe("training_projects/<name>; the split goes into it"),
  split,
  training_plan: plan,
  samples,
  max_bytes,
  out: z.string().optional().describe("place below dataset_captures/; <recipe>/<split> when left out"),
  force,
  execution: EXECUTION.optional(),
});

export const trainingRoutes = [
  ...routesOf(training),
  get("/api/workbench/exported-project-watch", "A training project, again with each of its changes", {
    description: "Server-sent events that do not end: `project` with the view, first at once.",
    query: z.strictObject({ path: training.project.fields.path }),
    replies: { 200: { description: "The stream", media: "text/event-stream" }, ...refusals(403, 404, 429) },
    handle: ({ query, service }) => watchProject(service, query.path),
  }),
  post("/api/recipe/dataset-capture-run", "Capture a split and wait for its end", {
    body: CAPTURE,
    replies: {
      200: reply(
        "The split is captured",
        z.object({
          status: z.enum(["completed"]),
          out: z.string(),
          split: z.enum(SPLITS),
          captured_samples: z.int(),
          schema_sha256: z.string(),
        }),
      ),
      202: LASTING,
      ...refusals(400, 403, 404, 409, 422, 429),
    },
    handle: ({ body, service }) => perform(({ result }) => result as JsonObject, ...captureOf(service, body)),
  }),
  post("/api/dataset-capture-jobs", "Capture a split in the background", {
    body: CAPTURE,
    replies: { 202: ACCEPTED, ...refusals(400, 403, 404, 409, 429) },
    handle: ({ body, service }) => submit(...captureOf(service, body)),
  }),
  ...routes,
] as const;

/** The arguments of a capture job. */
const captureOf = (
  service: Service,
  { execution, ...request }: z.output<typeof CAPTURE>,
): Parameters<typeof submit> => [service, "dataset_capture", execution, async () => {
  const admitted = await service.threads.perform("admitCapture", request as CaptureRequest);
  return { request: admitted.request, recipeName: admitted.name };
}];
