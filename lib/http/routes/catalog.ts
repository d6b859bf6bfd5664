/**
 * The parts of recipes: operations, profiles, the research catalogue, validation cards, datasets.
 * By hand: images of a confined folder.
 */
import { research } from "../../api/calls/research.ts";
import { system } from "../../api/calls/system.ts";
import { validation } from "../../api/calls/validation.ts";
import { z } from "../../contract/zod.ts";
import type { DatasetImages } from "../../api/calls/data.ts";
import { routesOf } from "../call_routes.ts";
import { datasetImages } from "../dataset_images.ts";
import { get } from "../route.ts";
import { documentOf, OBJECT, refusals, reply } from "../schemas.ts";

export const catalogRoutes = [
  ...routesOf("system", system),
  ...routesOf("research", research),
  ...routesOf("validation", validation),
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
