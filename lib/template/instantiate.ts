/**
 * Makes an independent recipe of a template: strictly compiled, with the entry's task and topology, and with a record
 * of where it came from. Nothing depends on the template afterwards.
 */
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { editRecipeText } from "../recipe/edit_text.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { findTemplate, packagedCatalog, type TemplateEntry } from "./catalog.ts";
import {
  checkTemplateRecipe,
  errorsOf,
  type ResolvedTemplate,
  resolveTemplate,
  type TemplateOptions,
} from "./inspect.ts";
import { applyStepParams, atOverrides, readOverrides, type StepParams, type TemplateOverrides } from "./overrides.ts";
import type { SourceRecord } from "./source.ts";

/** `metadata.template_provenance`: which template, which bytes, which overrides. */
export interface TemplateProvenance extends JsonObject {
  schema_version: 1;
  kind: "svc.recipe_template_provenance";
  template_id: string;
  catalog_schema_version: 1;
  template_digest: string;
  source_kind: SourceRecord["kind"];
  source_reference: string;
  source_digest: string;
  overrides_digest: string;
}

export interface Instantiation {
  status: "instantiated";
  /** Normalised: it has the choices of template and overrides, and leaves defaults to the operations. */
  recipe: RecipeDocument;
  provenance: TemplateProvenance;
  /** Warnings and infos. */
  diagnostics: Diagnostic[];
  /** The recipe as YAML, with the comments of the template. */
  readonly text: string;
}

/**
 * Instantiates a template. Its source is selected, read and checked again.
 * @param id of the template
 * @param overrides `{step_params?, name?, description?}`, typed values
 * @throws SvcError `template_not_found`; `template_unavailable` when the row is unavailable or its source invalid, with
 *   the reasons; `template_override_invalid` with everything that is wrong with the overrides
 */
export async function instantiateTemplate(
  id: string,
  overrides: unknown,
  options: TemplateOptions,
): Promise<Instantiation> {
  const catalog = options.catalog ?? packagedCatalog();
  const entry = findTemplate(catalog, id);
  const resolved = await resolveTemplate(entry, options);
  if (resolved.status !== "valid") throw unavailable(entry, resolved);

  const found: Diagnostic[] = [];
  const given = readOverrides(overrides, found);
  const changed = applyStepParams(resolved.normalized, given.step_params, options.registry, found);
  const provenance = provenanceOf(entry, resolved.source, given);
  const { step_params: _params, ...identity } = given;
  const document = { ...changed, ...identity, metadata: { ...changed.metadata, template_provenance: provenance } };
  const checked = await checkTemplateRecipe(document, entry, options);
  found.push(...atOverrides(checked.diagnostics, changed, given.step_params));
  if (errorsOf(found).length > 0 || checked.forms === null) {
    throw new SvcError("template_override_invalid", `Cannot instantiate ${id} with these overrides`, {
      diagnostics: found,
    });
  }
  found.push(...shadowed(changed, given.step_params));
  const recipe = checked.forms.normalized;
  return {
    status: "instantiated",
    recipe,
    provenance,
    diagnostics: found,
    get text() {
      // The line that names the schema for editors is valid in the folder of the starter only.
      const source = resolved.text.replace(/^# yaml-language-server:[^\n]*\n/, "");
      return editRecipeText(source, lean(recipe), { file: resolved.source.reference, format: "yaml" });
    },
  };
}

/** The recipe as authors write it: no empty parameters or inputs. */
function lean(recipe: RecipeDocument): JsonObject {
  const isEmpty = (value: Value) => isObject(value) && Object.keys(value).length === 0;
  return {
    ...recipe,
    steps: recipe.steps.map((step) =>
      Object.fromEntries(
        Object.entries(step).filter(([key, value]) => !(["params", "inputs"].includes(key) && isEmpty(value))),
      )
    ),
  };
}

function unavailable(entry: TemplateEntry, resolved: Exclude<ResolvedTemplate, { status: "valid" }>): SvcError {
  const message = resolved.status === "unavailable"
    ? `Cannot instantiate ${entry.id}: it is not available`
    : `Cannot instantiate ${entry.id}: ${resolved.source?.reference ?? entry.recipe_path} is not valid`;
  return new SvcError("template_unavailable", message, {
    hint: resolved.status === "invalid" ? `Correct or remove ${entry.recipe_path}` : null,
    // That a template is planned is no fault of the catalogue, but whoever asks for it cannot have it.
    diagnostics: resolved.errors.map((item): Diagnostic => ({ ...item, severity: "error" })),
  });
}

function provenanceOf(entry: TemplateEntry, source: SourceRecord, overrides: TemplateOverrides): TemplateProvenance {
  return {
    schema_version: 1,
    kind: "svc.recipe_template_provenance",
    template_id: entry.id,
    catalog_schema_version: 1,
    template_digest: `sha256:${sha256Json(entry)}`,
    source_kind: source.kind,
    source_reference: source.reference,
    source_digest: source.digest,
    overrides_digest: `sha256:${sha256Json(overrides)}`,
  };
}

/** Overridden parameters that the matrix of the template sets in every variant all the same. */
function shadowed({ metadata }: RecipeDocument, stepParams: StepParams): Diagnostic[] {
  const bound = isObject(metadata.matrix) && isObject(metadata.matrix.step_params) ? metadata.matrix.step_params : {};
  return Object.entries(stepParams).flatMap(([step, params]) =>
    Object.keys(params).filter((name) => {
      const names = Object.hasOwn(bound, step) ? bound[step] : {};
      return isObject(names) && Object.hasOwn(names, name);
    }).map((name) =>
      diagnostic(
        "template_override_shadowed",
        ["step_params", step, name],
        `Cannot use this ${name}: the matrix of the template sets it in every variant`,
        { severity: "warning", step_id: step, hint: "Remove metadata.matrix from the recipe to run it once" },
      )
    )
  );
}
