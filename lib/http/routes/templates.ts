/** Templates: recipes to start from. */
import { z } from "../../contract/zod.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import type { StepParams } from "../../template/overrides.ts";
import type { TemplateRow } from "../../template/inspect.ts";
import { Answer, get, post } from "../route.ts";
import { documentOf, OBJECT, refusals, reply } from "../schemas.ts";

export const templateRoutes = [
  get("/api/recipe-templates", "The templates, each inspected anew", {
    replies: {
      200: reply(
        "The catalogue, with the availability of each template",
        z.object({ schema_version: z.int(), status: z.string(), templates: z.array(documentOf<TemplateRow>()) }),
      ),
    },
    thread: ({ session }) => session.templates.list(),
  }),
  post("/api/recipe-templates/instantiate", "A recipe from a template", {
    writes: false,
    body: z.strictObject({
      template_id: z.string(),
      step_params: documentOf<StepParams>().optional().describe("step id to parameter name to value"),
      name: z.string().optional(),
      description: z.string().optional(),
    }),
    replies: {
      201: reply(
        "A recipe that is independent of its template",
        z.object({ status: z.enum(["instantiated"]), recipe: documentOf<RecipeDocument>(), provenance: OBJECT }),
      ),
      ...refusals(400, 404, 409),
    },
    async thread({ body: { template_id, ...overrides }, session }) {
      const made = await session.templates.instantiate(template_id, overrides);
      const { status, recipe, provenance, diagnostics } = made;
      return new Answer({ status, recipe, provenance, diagnostics }, { status: 201 });
    },
  }),
] as const;
