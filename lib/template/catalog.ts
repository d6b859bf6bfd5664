/**
 * The template catalogue: which scenarios are offered, in which order, and which one is the default of its task.
 *
 * An entry names a recipe, never a graph of its own. The recipe is read and checked whenever the entry is
 * inspected or instantiated.
 */
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { JsonObject } from "../contract/value.ts";
import packaged from "./catalog.json" with { type: "json" };

/** A parameter that a short form edits in place, in any graph. */
export interface EditorBinding extends JsonObject {
  step_id: string;
  op: string;
  param: string;
}

export interface TemplateEntry extends JsonObject {
  id: string;
  label: string;
  /** The evaluation of the scenario; it does not change the graph. */
  task_id: string;
  /** The topology that the recipe must declare and keep. */
  execution_profile: { id: string; version: number };
  /** Which editor opens first. */
  editor: "graph" | "image" | "task" | "text";
  /** A file of this name under the project root takes the place of the starter. */
  recipe_path: string;
  order: number;
  default: boolean;
  status: "supported" | "experimental" | "planned";
}

export interface TemplateCatalog {
  schema_version: 1;
  /** By rising order. */
  templates: readonly TemplateEntry[];
}

let own: TemplateCatalog | undefined;

/** The catalogue that comes with the program; a test holds its rules. */
export function packagedCatalog(): TemplateCatalog {
  const templates = packaged.templates as JsonObject[] as TemplateEntry[];
  return own ??= { schema_version: 1, templates: templates.toSorted((a, b) => a.order - b.order) };
}

/** @throws SvcError `template_not_found` with the nearest id */
export function findTemplate(catalog: TemplateCatalog, id: string): TemplateEntry {
  const entry = catalog.templates.find((candidate) => candidate.id === id);
  if (entry !== undefined) return entry;
  const ids = catalog.templates.map((candidate) => candidate.id);
  throw new SvcError("template_not_found", `Cannot find a template named ${id}`, {
    hint: didYouMean(id, ids) ?? "svc template list shows the templates",
  });
}

/** The template that is made from a recipe file: from its starter, or from the project's own file of that name. */
export const templateAt = (path: string): TemplateEntry | undefined =>
  packagedCatalog().templates.find(({ recipe_path: own, starter_resource: starter }) =>
    path === own || path === `recipes/${starter}`
  );
