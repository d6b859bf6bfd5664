/** Training: trainable components of a recipe, projects for them, and datasets captured in jobs. */
import { join } from "node:path";
import { SPLITS } from "../../capture/config.ts";
import type { ProjectView } from "../../capture/project.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { AuthoredRecipe } from "../../api/authored_recipe.ts";
import type { SizedInspection } from "../../api/training.ts";
import type { CaptureRequest } from "../capture_request.ts";
import { watchProject } from "../project_watch.ts";
import { Answer, get, post } from "../route.ts";
import { documentOf, EXECUTION, OBJECT, RECIPE, refusals, reply } from "../schemas.ts";
import type { Service } from "../service.ts";
import { newPlace, projectFolder, PROJECTS_FOLDER } from "../training_paths.ts";
import { ACCEPTED, jobFamily, LASTING } from "./job_family.ts";

const { routes, submit, perform } = jobFamily("/api/dataset-capture-jobs", ["dataset_capture"]);

const PLAN = z.unknown().describe("training plan; members that are left out are derived from the recipe");
const IDENTITIES = { scenario_sha256: z.string(), training_plan_sha256: z.string() };
const PROJECT_PATH = z.strictObject({ path: z.string().describe("training_projects/<name>") });
const PLANNED = z.strictObject({ recipe: RECIPE, training_plan: PLAN.optional() });

const CAPTURE = z.strictObject({
  recipe: RECIPE.optional(),
  path: z.string().optional().describe("recipe file in recipes/"),
  project_path: z.string().optional().describe("training_projects/<name>; the split goes into it"),
  split: z.enum(SPLITS).optional(),
  training_plan: PLAN.optional(),
  samples: z.int().min(1).optional().describe("records, in place of the number of the configuration"),
  max_bytes: z.int().min(1).optional().describe("largest size of the arrays of the split; fewer records meet it"),
  out: z.string().optional().describe("place below dataset_captures/; <recipe>/<split> when left out"),
  force: z.boolean().optional().describe("whether an earlier capture there is replaced"),
  execution: EXECUTION.optional(),
});

const INSPECTION = documentOf<SizedInspection>(z.object({
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
  capture_sizes: z.array(z.object({ split: z.enum(SPLITS), records: z.int(), bytes: z.int(), text: z.string() })),
}));

const PROJECT = documentOf<ProjectView>(z.object({
  path: z.string(),
  id: z.string(),
  recipe: z.string(),
  identities: z.object(IDENTITIES),
  capture_jobs: z.array(z.object({ split: z.enum(SPLITS), state: z.enum(["missing", "captured", "outdated"]) })),
  components: z.array(z.object({ id: z.string(), path: z.string(), present: z.boolean() })),
  curve: z.array(z.object({ epoch: z.number(), train_loss: z.number(), validation_loss: z.number() })),
  checkpoint: z.boolean(),
  package: z.object({ path: z.string(), state: z.enum(["missing", "exported", "sealed"]) }),
  files: z.array(z.object({ path: z.string(), state: z.enum(["unchanged", "changed", "missing"]) })),
}));

export const trainingRoutes = [
  post("/api/recipe/differentiable-inspect", "The trainable components of a recipe, and whether gradients reach them", {
    body: PLANNED,
    replies: { 200: reply("The inspection", INSPECTION), ...refusals(400) },
    thread: ({ body, session }) => session.training.inspect(...planned(body)),
  }),
  post("/api/recipe/differentiable-export-graph", "The graph of a recipe, each step with its part in the training", {
    body: PLANNED,
    replies: {
      200: reply(
        "The graph",
        z.object({ kind: z.enum(["svc.scenario_graph"]), nodes: z.array(OBJECT), edges: z.array(OBJECT) }),
      ),
      ...refusals(400),
    },
    thread: ({ body, session }) => session.training.graph(...planned(body)),
  }),
  post(
    "/api/recipe/differentiable-export",
    "Write a training project below training_projects/ of the state directory",
    {
      body: PLANNED.extend({
        out: z.string().optional().describe("name of the project; that of the recipe when left out"),
        force: z.boolean().optional().describe("whether the exported files of a project there are replaced"),
      }),
      replies: {
        200: reply(
          "The written files",
          z.object({ id: z.string(), out: z.string(), ...IDENTITIES, files: z.array(z.string()) }),
        ),
        ...refusals(400, 403, 409),
      },
      async thread({ body: { out, force, ...body }, session: { training, workspace } }) {
        const place = out === undefined ? undefined : newPlace(workspace, PROJECTS_FOLDER, out);
        const [recipe, plan] = planned(body);
        const made = await training.export(recipe, { ...plan, force, out: place?.full, shownOut: place?.shown });
        const shown = made.out.slice(workspace.stateDir.length + 1).replaceAll("\\", "/");
        return { ...made, out: place?.shown ?? shown };
      },
    },
  ),
  get("/api/workbench/exported-projects", "The training projects of the state directory", {
    replies: { 200: reply("A view each", z.object({ projects: z.array(PROJECT) })) },
    thread: async ({ session }) => ({ projects: await session.training.projects() }),
  }),
  get("/api/workbench/exported-project", "A training project: exported files, captured splits, trained components", {
    query: PROJECT_PATH,
    replies: { 200: reply("The project", PROJECT), ...refusals(403, 404) },
    handle: ({ query, service }) => service.threads.perform("viewProject", query),
  }),
  get("/api/workbench/exported-project-watch", "A training project, again with each of its changes", {
    description: "Server-sent events that do not end: `project` with the view, first at once.",
    query: PROJECT_PATH,
    replies: { 200: { description: "The stream", media: "text/event-stream" }, ...refusals(403, 404, 429) },
    handle: ({ query, service }) => watchProject(service, query.path),
  }),
  post(
    "/api/workbench/exported-project-package",
    "Seal the trained networks of a project and put them into the store; models are compared with their stored outputs",
    {
      body: PROJECT_PATH,
      replies: {
        201: reply(
          "The artifact is in the store",
          z.object({
            id: z.string(),
            artifact_package_sha256: z.string(),
            operations: z.array(z.string()),
            largest_relative_difference: z.number().nullable().describe("to the stored outputs; null without them"),
          }),
        ),
        ...refusals(400, 403, 404, 422),
      },
      async thread({ body: { path }, session: { artifacts, training, workspace } }) {
        const folder = projectFolder(workspace, path),
          { package: { path: inside } } = await training.project(folder, path);
        const made = await artifacts.package(join(folder, inside), { out: join(folder, "package.zip"), force: true });
        const { artifact } = await artifacts.import(made.archive);
        const differences = made.parity.map(({ largest_relative_difference }) => largest_relative_difference);
        return new Answer({
          id: made.id,
          artifact_package_sha256: made.package_sha256,
          operations: artifact.operations,
          largest_relative_difference: differences.length === 0 ? null : Math.max(...differences),
        }, { status: 201 });
      },
    },
  ),
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

/** The arguments of the session's methods. */
const planned = ({ recipe, training_plan }: z.output<typeof PLANNED>): [AuthoredRecipe, { plan?: JsonObject }] => [
  new AuthoredRecipe(recipe as Value),
  { plan: training_plan as JsonObject | undefined },
];

/** The arguments of a capture job. */
const captureOf = (
  service: Service,
  { execution, ...request }: z.output<typeof CAPTURE>,
): Parameters<typeof submit> => [service, "dataset_capture", execution, async () => {
  const admitted = await service.threads.perform("admitCapture", request as CaptureRequest);
  return { request: admitted, recipeName: admitted.name };
}];
