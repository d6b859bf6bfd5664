/** Templates: recipes to start from. */
import { isWarning } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import type { TemplateInspection, TemplateRow } from "../../template/inspect.ts";
import type { Instantiation } from "../../template/instantiate.ts";
import type { StepParams } from "../../template/overrides.ts";
import { call } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { documentOf, OBJECT } from "../documents.ts";
import { text } from "../fields.ts";

const inspecting = () => import("../../template/inspect.ts");

async function means(core: SessionCore) {
  const { registry, readiness, workspace: { projectRoot } } = await core.means();
  return { registry, readiness, projectRoot };
}

export const templates = {
  /** Every template, whether it can be used here, and if not, why. */
  list: call("List the templates and whether each can be used here", {
    output: documentOf<TemplateInspection>(
      z.object({ schema_version: z.int(), status: z.string(), templates: z.array(documentOf<TemplateRow>()) }),
    ),
    http: { route: "get /api/recipe-templates", returns: "The catalogue, with the availability of each template" },
    cli: {},
    run: async (core): Promise<TemplateInspection> => (await inspecting()).inspectTemplates(await means(core)),
  }),

  /** One template. @throws SvcError `template_not_found` with the nearest id */
  show: call("Show a template: its recipe, its source, and the reason where it cannot be used", {
    fields: { template_id: z.string() },
    args: ["template_id"],
    cli: { usage: "<id>" },
    run: async (core, { template_id }): Promise<TemplateRow> =>
      (await inspecting()).inspectTemplate(template_id, await means(core)),
  }),

  /**
   * Makes a recipe of a template. It stands alone: nothing depends on the template afterwards. Write `float(6)` for `6.0`.
   * @throws SvcError `template_not_found`, `template_unavailable`, `template_override_invalid` with every diagnostic
   */
  instantiate: call("Make a recipe from a template", {
    fields: {
      template_id: z.string(),
      step_params: documentOf<StepParams>().optional().describe("step id to parameter name to value"),
      name: text("name of the recipe", "name"),
      description: text("description of the recipe"),
    },
    args: ["template_id"],
    output: z.object({ status: z.enum(["instantiated"]), recipe: documentOf<RecipeDocument>(), provenance: OBJECT }),
    refuses: [400, 404, 409],
    http: {
      route: "post /api/recipe-templates/instantiate",
      returns: "A recipe that is independent of its template",
      status: 201,
      writes: false,
    },
    cli: { usage: "<id>", without: ["step_params"] },
    tool: true,
    findings: ({ diagnostics }: Instantiation) => diagnostics.filter(isWarning),
    publish: ({ status, recipe, provenance, diagnostics }: Instantiation) => ({
      status,
      recipe,
      provenance,
      diagnostics,
    }),
    async run(core, { template_id, ...overrides }): Promise<Instantiation> {
      const { instantiateTemplate } = await import("../../template/instantiate.ts");
      return await instantiateTemplate(template_id, overrides, await means(core));
    },
  }),
};
