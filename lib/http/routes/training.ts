/** Training: what can be trained in a recipe, projects for it, and data sets captured in the background or while one waits. */
import { exportedGraph, exportTrainingProject } from "../../capture/export_project.ts";
import { SPLITS } from "../../capture/config.ts";
import { deriveTrainingPlan } from "../../capture/derive.ts";
import { listTrainingProjects } from "../../capture/project.ts";
import { canonicalJson } from "../../contract/json.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { checkExecution } from "../../run/run.ts";
import { readTrainingPlan } from "../../training/training_plan.ts";
import type { CaptureRequest } from "../capture_request.ts";
import { isActive } from "../jobs/types.ts";
import { watchProject } from "../project_watch.ts";
import { Answer, json, route, threadRoute } from "../route.ts";
import { EXECUTION, JOB, OBJECT, problem, RECIPE } from "../schemas.ts";
import type { Service } from "../service.ts";
import { newPlace, PROJECTS_FOLDER } from "../training_paths.ts";
import { ACCEPTED, accepted, CAPACITY, endError, endOf, jobFamily } from "./job_family.ts";

const BASE = "/api/dataset-capture-jobs";

const PLAN = z.unknown().describe("training plan; what it leaves open is derived from the recipe");
const IDENTITIES = { scenario_sha256: z.string(), training_plan_sha256: z.string() };
const NO_PROJECT = problem("There is no such project");
const REFUSED = problem("The recipe, the plan or the configuration cannot be used; nothing was started");

const CAPTURE = z.strictObject({
  recipe: RECIPE.optional(),
  path: z.string().optional().describe("recipe file in recipes/"),
  project_path: z.string().optional().describe("training_projects/<name>; the split goes into it"),
  split: z.enum(SPLITS).optional(),
  training_plan: PLAN.optional(),
  samples: z.int().min(1).optional().describe("records, in place of what is written"),
  out: z.string().optional().describe("place below dataset_captures/; <recipe>/<split> when left out"),
  force: z.boolean().optional().describe("whether an earlier capture there gives way"),
  execution: EXECUTION.optional(),
});

const INSPECTION = z.object({
  kind: z.enum(["svc.training_inspection"]),
  recipe: z.string(),
  ...IDENTITIES,
  status: z.enum(["full_gradient_possible", "partial_gradient_possible", "dataset_capture_only", "not_trainable"]),
  recommendations: z.array(z.object({
    id: z.enum(["differentiable_export", "receiver_only", "dataset_capture", "benchmark_run"]),
    reason: z.string(),
  })),
  boundaries: z.array(z.object({ step_id: z.string(), selectable: z.boolean(), reason: z.string().nullable() })),
  selected_steps: z.array(z.string()),
  evaluation_sinks: z.array(OBJECT),
  routes: z.array(z.object({ from_step: z.string(), loss_step: z.string(), open: z.boolean() })),
  suggested_taps: z.array(z.object({ id: z.string(), from: z.string() })),
  training_plan: OBJECT,
});

const PROJECT = z.object({
  path: z.string(),
  id: z.string(),
  recipe: z.string(),
  identities: z.object(IDENTITIES),
  capture_jobs: z.array(z.object({ split: z.enum(SPLITS), state: z.enum(["missing", "captured", "outdated"]) })),
  components: z.array(z.object({ id: z.string(), path: z.string(), present: z.boolean() })),
  files: z.array(z.object({ path: z.string(), state: z.enum(["unchanged", "changed", "missing"]) })),
});

export const trainingRoutes = [
  threadRoute({
    method: "post",
    path: "/api/recipe/differentiable-inspect",
    summary: "Which blocks of a recipe can be trained, and whether gradients reach them",
    body: z.strictObject({ recipe: RECIPE, training_plan: PLAN.optional() }),
    replies: { 200: { description: "The inspection", schema: INSPECTION }, 400: REFUSED },
    handle: async ({ body, service }) =>
      deriveTrainingPlan({
        raw: body.recipe as Value,
        plan: readTrainingPlan((body.training_plan ?? {}) as Value),
        registry: await service.registry(),
      }).inspection,
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/differentiable-export-graph",
    summary: "The graph of a recipe, each block with its part in the training; nothing is written",
    body: z.strictObject({ recipe: RECIPE, training_plan: PLAN.optional() }),
    replies: {
      200: {
        description: "The graph",
        schema: z.object({ kind: z.enum(["svc.scenario_graph"]), nodes: z.array(OBJECT), edges: z.array(OBJECT) }),
      },
      400: REFUSED,
    },
    handle: async ({ body, service }) =>
      exportedGraph({
        raw: body.recipe as Value,
        plan: readTrainingPlan((body.training_plan ?? {}) as Value),
        registry: await service.registry(),
      }),
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe/differentiable-export",
    summary: "Write a project to train elsewhere, below training_projects/ of the state directory",
    body: z.strictObject({
      recipe: RECIPE,
      training_plan: PLAN.optional(),
      out: z.string().optional().describe("name of the project; that of the recipe when left out"),
      force: z.boolean().optional().describe("whether the exported files of a project there give way"),
    }),
    replies: {
      200: {
        description: "What was written",
        schema: z.object({ id: z.string(), out: z.string(), ...IDENTITIES, files: z.array(z.string()) }),
      },
      400: REFUSED,
      403: problem("The path is refused, or the server is read-only"),
      409: problem("Something lies there already"),
    },
    async handle({ body, service }) {
      const { workspace } = service;
      const place = body.out === undefined ? undefined : newPlace(workspace, PROJECTS_FOLDER, body.out);
      const { out, ...made } = await exportTrainingProject({
        raw: body.recipe as Value,
        plan: readTrainingPlan((body.training_plan ?? {}) as Value),
        registry: await service.registry(),
        workspace,
        force: body.force,
        ...(place === undefined ? {} : { out: place.full, shownOut: place.shown }),
      });
      return { ...made, out: place?.shown ?? out.slice(workspace.stateDir.length + 1).replaceAll("\\", "/") };
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/workbench/exported-projects",
    summary: "The training projects of the state directory",
    replies: { 200: { description: "A view each", schema: z.object({ projects: z.array(PROJECT) }) } },
    handle: ({ service }) => json({ projects: listTrainingProjects(service.workspace.stateDir) }),
  }),
  route({
    method: "get",
    path: "/api/workbench/exported-project",
    summary: "A training project: what was exported, which splits are captured, which networks are there",
    query: z.strictObject({ path: z.string().describe("training_projects/<name>") }),
    replies: {
      200: { description: "The project", schema: PROJECT },
      403: problem("The path is refused"),
      404: NO_PROJECT,
    },
    handle: async ({ query, service }) => await service.threads.perform("viewProject", { path: query.path }),
  }),
  route({
    method: "get",
    path: "/api/workbench/exported-project-watch",
    summary: "A training project, again with every change of it",
    description: "Server-sent events that do not end: `project` with the view, first at once.",
    query: z.strictObject({ path: z.string().describe("training_projects/<name>") }),
    replies: {
      200: { description: "The stream", media: "text/event-stream" },
      403: problem("The path is refused"),
      404: NO_PROJECT,
      429: problem("Too many streams are open"),
    },
    handle: async ({ query, service }) => await watchProject(service, query.path),
  }),
  route({
    method: "post",
    path: "/api/recipe/dataset-capture-run",
    summary: "Capture a split and wait for its end",
    body: CAPTURE,
    replies: {
      200: {
        description: "The split is captured",
        schema: z.object({
          status: z.enum(["completed"]),
          out: z.string(),
          split: z.enum(SPLITS),
          captured_samples: z.int(),
          schema_sha256: z.string(),
        }),
      },
      202: { description: "The capture still goes on; the job tells of it", schema: JOB },
      400: REFUSED,
      403: problem("The path is refused, or the server is read-only"),
      404: problem("There is no such file or project"),
      409: problem("Something lies there already, or the project is not as it was exported"),
      422: problem("A run failed, the capture was canceled, or a record is in another split too"),
      429: CAPACITY,
    },
    handle: ({ body, service }) => captureNow(service, body as CaptureRequest & { execution?: unknown }),
  }),
  route({
    method: "post",
    path: BASE,
    summary: "Capture a split in the background",
    body: CAPTURE,
    replies: {
      202: ACCEPTED,
      400: REFUSED,
      403: problem("The path is refused, or the server is read-only"),
      404: problem("There is no such file or project"),
      409: problem("The project is not as it was exported"),
      429: CAPACITY,
    },
    handle: async ({ body, service }) =>
      accepted(await submitCapture(service, body as CaptureRequest & { execution?: unknown }), BASE),
  }),
  ...jobFamily(BASE, ["dataset_capture"]),
] as const;

async function submitCapture(
  service: Service,
  { execution: given, ...request }: CaptureRequest & { execution?: unknown },
) {
  const execution = checkExecution((given ?? {}) as Value);
  const admitted = await service.threads.perform("admitCapture", request);
  const recipeName = String(admitted.name);
  return service.jobs.submit({ kind: "dataset_capture", request: canonicalJson(admitted), recipeName, ...execution });
}

async function captureNow(service: Service, request: CaptureRequest & { execution?: unknown }): Promise<Answer> {
  const job = await submitCapture(service, request);
  await endOf(service, job, service.options.synchronousMs / 1000);
  const { document } = job;
  if (isActive(document.state)) return accepted(job, BASE);
  if (document.state !== "completed") throw endError(document);
  return new Answer({ status: "completed", ...document.result as JsonObject });
}
