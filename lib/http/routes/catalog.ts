/** What recipes can be made of: operations, profiles, the research catalogue, data sets. */
import { z } from "../../contract/zod.ts";
import { profileCatalogue } from "../../plan/profiles.ts";
import { researchCatalog } from "../../research/catalog.ts";
import { datasetImages } from "../dataset_images.ts";
import { json, threadRoute } from "../route.ts";
import { OBJECT, problem } from "../schemas.ts";

export const catalogRoutes = [
  threadRoute({
    method: "get",
    path: "/api/ops",
    summary: "The contracts of all operations",
    constant: true,
    replies: { 200: { description: "Contracts by id", schema: z.object({ operations: z.array(OBJECT) }) } },
    async handle({ service }) {
      return { operations: (await service.registry()).contracts() };
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/ops/:operation_id",
    summary: "The contract of one operation",
    constant: true,
    replies: {
      200: { description: "The contract", schema: z.object({ id: z.string(), name: z.string(), status: z.string() }) },
      404: problem("No operation has this id"),
    },
    async handle({ params, service }) {
      return (await service.registry()).get(params.operation_id).operation.contract;
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/research/catalog",
    summary: "Areas, data sets, tasks and metrics",
    constant: true,
    replies: {
      200: {
        description: "The catalogue",
        schema: z.object({ datasets: z.array(OBJECT), tasks: z.array(OBJECT), metrics: z.array(OBJECT) }),
      },
    },
    handle: () => researchCatalog(),
  }),
  threadRoute({
    method: "get",
    path: "/api/execution-profiles",
    summary: "The topologies that a recipe can claim",
    constant: true,
    replies: { 200: { description: "The catalogue of profiles", schema: z.object({ profiles: z.array(OBJECT) }) } },
    handle: () => profileCatalogue(),
  }),
  threadRoute({
    method: "get",
    path: "/api/datasets/images",
    summary: "The images of a data set, for choosing among them",
    query: z.strictObject({
      dataset: z.string().describe("id of a bundled data set, or of one in the state directory"),
      dataset_dir: z.string().optional().describe("folder of the project with an image-dataset manifest"),
    }),
    replies: {
      200: {
        description: "Images, or how to fetch them",
        schema: z.object({ dataset: z.string(), available: z.boolean(), images: z.array(OBJECT) }),
      },
      400: problem("The query cannot be used"),
      403: problem("The folder lies outside of the project"),
      404: problem("There is no such data set"),
    },
    handle: async ({ query, service }) =>
      json(await datasetImages(service.workspace, query.dataset, query.dataset_dir)),
  }),
] as const;
