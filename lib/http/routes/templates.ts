/** Templates: scenarios to start from. */
import { inspectTemplates } from "../../template/inspect.ts";
import { instantiateTemplate } from "../../template/instantiate.ts";
import { z } from "../../contract/zod.ts";
import { Answer, json, threadRoute } from "../route.ts";
import { OBJECT, problem } from "../schemas.ts";

export const templateRoutes = [
  threadRoute({
    method: "get",
    path: "/api/recipe-templates",
    summary: "The templates, each inspected anew",
    replies: {
      200: {
        description: "The catalogue as it is usable here",
        schema: z.object({ schema_version: z.int(), status: z.string(), templates: z.array(OBJECT) }),
      },
    },
    async handle({ service }) {
      const { workspace: { projectRoot }, readiness } = service;
      return json(await inspectTemplates({ registry: await service.registry(), projectRoot, readiness }));
    },
  }),
  threadRoute({
    method: "post",
    path: "/api/recipe-templates/instantiate",
    summary: "A recipe from a template",
    writes: false,
    body: z.strictObject({
      template_id: z.string(),
      step_params: OBJECT.optional().describe("step id to parameter name to value"),
      name: z.string().optional(),
      description: z.string().optional(),
    }),
    replies: {
      201: {
        description: "A recipe that stands alone",
        schema: z.object({ status: z.enum(["instantiated"]), recipe: OBJECT, provenance: OBJECT }),
      },
      400: problem("The overrides cannot be used"),
      404: problem("There is no such template"),
      409: problem("The template cannot be used here"),
    },
    async handle({ body, service }) {
      const { template_id, ...overrides } = body;
      const { workspace: { projectRoot } } = service;
      const { status, recipe, provenance, diagnostics } = await instantiateTemplate(template_id, overrides, {
        registry: await service.registry(),
        projectRoot,
      });
      return new Answer(json({ status, recipe, provenance, diagnostics }), { status: 201 });
    },
  }),
] as const;
