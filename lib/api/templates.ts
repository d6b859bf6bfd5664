/** Templates: recipes to start from. */
import type { TemplateInspection, TemplateRow } from "../template/inspect.ts";
import type { Instantiation } from "../template/instantiate.ts";
import type { TemplateOverrides } from "../template/overrides.ts";
import type { SessionCore } from "./core.ts";

export class Templates {
  constructor(private readonly core: SessionCore) {}

  /** Every template, whether it can be used here, and if not, why. */
  async list(): Promise<TemplateInspection> {
    return await (await import("../template/inspect.ts")).inspectTemplates(await this.#options());
  }

  /** One template. @throws SvcError `template_not_found` with the nearest id */
  async show(id: string): Promise<TemplateRow> {
    return await (await import("../template/inspect.ts")).inspectTemplate(id, await this.#options());
  }

  /**
   * Makes a recipe of a template. It stands alone: nothing depends on the template afterwards.
   * @param overrides step parameters (write `float(6)` for `6.0`), name and description
   * @throws SvcError `template_not_found`, `template_unavailable`, `template_override_invalid` with every diagnostic
   */
  async instantiate(id: string, overrides: Partial<TemplateOverrides> = {}): Promise<Instantiation> {
    const { instantiateTemplate } = await import("../template/instantiate.ts");
    return await instantiateTemplate(id, overrides, await this.#options());
  }

  async #options() {
    const { registry, readiness, workspace: { projectRoot } } = await this.core.means();
    return { registry, readiness, projectRoot };
  }
}
