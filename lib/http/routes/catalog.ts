/** The parts of recipes: operations, profiles, the research catalogue, datasets. */
import type { OperationContract } from "../../contract/operation.ts";
import { z } from "../../contract/zod.ts";
import type { DatasetEntry, MetricEntry, TaskEntry } from "../../research/catalog.ts";
import type { DatasetImages } from "../../api/data.ts";
import { datasetImages } from "../dataset_images.ts";
import { get } from "../route.ts";
import { documentOf, OBJECT, refusals, reply } from "../schemas.ts";

const CONTRACT = documentOf<OperationContract>(z.object({ id: z.string(), name: z.string(), status: z.string() }));

export const catalogRoutes = [
  get("/api/ops", "The contracts of all operations", {
    constant: true,
    replies: { 200: reply("Contracts by id", z.object({ operations: z.array(CONTRACT) })) },
    thread: async ({ session }) => ({ operations: await session.system.operations() }),
  }),
  get("/api/ops/:operation_id", "The contract of one operation", {
    constant: true,
    replies: { 200: reply("The contract", CONTRACT), ...refusals(404) },
    thread: ({ params, session }) => session.system.operation(params.operation_id),
  }),
  get("/api/research/catalog", "Areas, datasets, tasks and metrics", {
    constant: true,
    replies: {
      200: reply(
        "The catalogue",
        z.object({
          datasets: z.array(documentOf<DatasetEntry>()),
          tasks: z.array(documentOf<TaskEntry>()),
          metrics: z.array(documentOf<MetricEntry>()),
        }),
      ),
    },
    thread: ({ session }) => session.research.catalog(),
  }),
  get("/api/execution-profiles", "The topologies that a recipe can claim", {
    constant: true,
    replies: { 200: reply("The catalogue of profiles", z.object({ profiles: z.array(OBJECT) })) },
    thread: ({ session }) => session.system.profiles(),
  }),
  get("/api/datasets/images", "The images of a dataset, for choosing among them", {
    query: z.strictObject({
      dataset: z.string().describe("id of a bundled dataset, or of one in the state directory"),
      dataset_dir: z.string().optional().describe("folder of the project with an image-dataset manifest"),
    }),
    replies: {
      200: reply(
        "Images, or how to fetch them",
        documentOf<DatasetImages>(
          z.object({ dataset: z.string(), available: z.boolean(), images: z.array(OBJECT) }),
        ),
      ),
      ...refusals(400, 403, 404),
    },
    thread: ({ query, session }) => datasetImages(session, query.dataset, query.dataset_dir),
  }),
] as const;
