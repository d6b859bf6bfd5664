/**
 * Inspection of the template catalogue. Every call selects each source again and reads it once. A text that was not valid
 * before with the same operations is compiled strictly and checked against the registry and its entry: an earlier inspection
 * authorises no other text.
 */
import { type Diagnostic, diagnostic, findingsOf, SvcError } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { RegisteredOperation, Registry } from "../contract/registry.ts";
import { cloneValue, isObject, type JsonObject } from "../contract/value.ts";
import type { SourceHashes } from "../plan/implementation_source.ts";
import { planMatrix } from "../plan/plan_matrix.ts";
import { planRecipe } from "../plan/planner.ts";
import { type RunReadiness, runReadiness } from "../plan/run_readiness.ts";
import type { Readiness } from "../plan/types.ts";
import { expandMatrix } from "../recipe/expand_matrix.ts";
import { attachLocations, readRecipeText } from "../recipe/read.ts";
import type { Locate, RecipeDocument, StepDocument } from "../recipe/types.ts";
import { declaredTask } from "../research/specs.ts";
import { inferTask } from "../research/tasks.ts";
import {
  type EditorBinding,
  findTemplate,
  packagedCatalog,
  type TemplateCatalog,
  type TemplateEntry,
} from "./catalog.ts";
import { PACKAGED_STARTERS, readTemplateSource, type SourceRecord, type Starters } from "./source.ts";

export interface TemplateOptions {
  registry: Registry;
  /** Where `<recipe_path>` of an entry is looked for first. */
  projectRoot: string;
  /** The catalogue and the starters of the program when left out. */
  catalog?: TemplateCatalog;
  starters?: Starters;
}

export interface InspectionOptions extends TemplateOptions {
  readiness: Readiness;
}

/** Summary of a valid template's recipe. */
export interface RecipeSummary extends JsonObject {
  name: string;
  description: string | null;
  step_count: number;
  task_id: string | null;
  execution_profile: JsonObject;
  /** The graph in short: id, operation with its name, and inputs of each step. */
  steps: { id: string; op: string; name: string; inputs: JsonObject }[];
}

/** A row of the inspection: the entry's fields and the findings. */
export type TemplateRow = TemplateEntry & {
  available: boolean;
  validation: { status: "valid" | "unavailable" | "invalid"; errors: Diagnostic[] };
  /** The source that was read, valid or not. */
  source?: SourceRecord;
  recipe?: RecipeSummary;
  run_readiness?: RunReadiness;
};

export interface TemplateInspection {
  schema_version: 1;
  status: "valid" | "degraded" | "invalid";
  templates: TemplateRow[];
}

/** A recipe that was compiled strictly and agrees with its entry. */
interface CheckedForms {
  normalized: RecipeDocument;
  effective: RecipeDocument;
  /** The effective steps of everything that the recipe runs as: itself, or its variants. */
  runs: StepDocument[][];
}

/** A template whose source was read and checked just now. */
export type ResolvedTemplate =
  | ({ status: "valid"; source: SourceRecord; text: string } & CheckedForms)
  | { status: "unavailable" | "invalid"; source?: SourceRecord; errors: Diagnostic[] };

/** Inspects the whole catalogue. */
export async function inspectTemplates(options: InspectionOptions): Promise<TemplateInspection> {
  const { templates: entries } = options.catalog ?? packagedCatalog();
  const templates = await Promise.all(entries.map((entry) => inspectEntry(entry, options)));
  const states = new Set(
    templates.filter(({ status }) => status !== "planned").map(({ validation }) => validation.status),
  );
  const status = states.has("invalid") ? "invalid" : states.has("unavailable") ? "degraded" : "valid";
  return { schema_version: 1, status, templates };
}

/** Inspects one template. @throws SvcError `template_not_found` with the nearest id */
export async function inspectTemplate(id: string, options: InspectionOptions): Promise<TemplateRow> {
  return await inspectEntry(findTemplate(options.catalog ?? packagedCatalog(), id), options);
}

async function inspectEntry(entry: TemplateEntry, options: InspectionOptions): Promise<TemplateRow> {
  const resolved = await resolveTemplate(entry, options);
  const source = resolved.source && { source: resolved.source };
  if (resolved.status !== "valid") {
    const { status, errors } = resolved;
    return { ...entry, available: false, validation: { status, errors }, ...source } as TemplateRow;
  }
  const { effective, runs } = resolved;
  return {
    ...entry,
    available: true,
    validation: { status: "valid", errors: [] },
    recipe: {
      name: effective.name,
      description: typeof effective.description === "string" ? effective.description : null,
      step_count: effective.steps.length,
      task_id: taskOf(effective),
      execution_profile: cloneValue(effective.execution_profile),
      steps: effective.steps.map(({ id, op, inputs }) => ({
        id,
        op,
        name: options.registry.get(op).operation.contract.name,
        inputs: cloneValue(inputs as JsonObject),
      })),
    },
    ...source,
    run_readiness: runReadiness(runs.flat(), options),
  } as TemplateRow;
}

/** The latest valid text of an entry, with the operations that it was checked with. No caller changes the forms. */
const valid = new WeakMap<
  TemplateEntry,
  { text: string; operations: (RegisteredOperation | undefined)[]; forms: CheckedForms }
>();

function operationsOf({ effective, runs }: CheckedForms, registry: Registry): (RegisteredOperation | undefined)[] {
  return [effective.steps, ...runs].flatMap((steps) => steps.map(({ op }) => registry.find(op)));
}

/** The forms of a text that was found valid with the operations of this registry. */
function validForms(entry: TemplateEntry, text: string, registry: Registry): CheckedForms | null {
  const kept = valid.get(entry);
  if (kept?.text !== text) return null;
  const now = operationsOf(kept.forms, registry);
  return kept.operations.every((operation, index) => operation === now[index]) ? kept.forms : null;
}

/** Selects, reads, compiles and checks the source of an entry, all in one go. */
export async function resolveTemplate(entry: TemplateEntry, options: TemplateOptions): Promise<ResolvedTemplate> {
  if (entry.status === "planned") return { status: "unavailable", errors: [planned(entry)] };
  let source: SourceRecord | undefined;
  try {
    const read = await readTemplateSource(entry, {
      projectRoot: options.projectRoot,
      starters: options.starters ?? PACKAGED_STARTERS,
    });
    if (read === null) return { status: "unavailable", errors: [absent(entry)] };
    source = read.record;
    const known = validForms(entry, read.text, options.registry);
    if (known !== null) return { status: "valid", source, text: read.text, ...known };
    const { value, locate } = readRecipeText(read.text, { file: source.reference, format: "yaml" });
    const checked = await checkTemplateRecipe(value, entry, options, locate);
    if (checked.forms === null) return { status: "invalid", source, errors: errorsOf(checked.diagnostics) };
    valid.set(entry, {
      text: read.text,
      operations: operationsOf(checked.forms, options.registry),
      forms: checked.forms,
    });
    return { status: "valid", source, text: read.text, ...checked.forms };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { status: "invalid", source, errors: findingsOf(error) };
  }
}

export const errorsOf = (diagnostics: readonly Diagnostic[]) =>
  diagnostics.filter(({ severity }) => severity === "error");

/** Nothing that is planned here is executed, so no source is hashed. */
const NO_SOURCES: SourceHashes = {
  describe: (urls) =>
    Promise.resolve(new Map([...urls].map((url) => [url, { source_module: url, source_sha256: null }]))),
};

/**
 * Compiles a recipe strictly, with every variant of its matrix, plans it without asking what this machine has, and
 * compares it with its entry.
 * @returns every finding, and the forms of the recipe when there is no error among them
 */
export async function checkTemplateRecipe(
  raw: unknown,
  entry: TemplateEntry,
  { registry }: { registry: Registry },
  locate?: Locate,
): Promise<{ diagnostics: Diagnostic[]; forms: CheckedForms | null }> {
  const expansion = expandMatrix(raw, { registry, locate });
  const { authored, points } = expansion;
  const planning = { registry, usePlanCache: false, implementationSources: NO_SOURCES };
  const { diagnostics } = points.length > 0
    ? await planMatrix(expansion, planning)
    : await planRecipe(authored, { ...planning, locate });
  const { normalized, effective } = authored;
  const mismatches = normalized === null ? [] : contractMismatches(normalized, entry, registry);
  const found = [...diagnostics, ...(locate ? attachLocations(mismatches, locate) : mismatches)];
  if (errorsOf(found).length > 0 || normalized === null || effective === null) {
    return { diagnostics: found, forms: null };
  }
  const runs = points.length > 0 ? points.map(({ compilation }) => compilation.effective!.steps) : [effective.steps];
  return { diagnostics: found, forms: { normalized, effective, runs } };
}

/** The task that a recipe declares, else the one its operations are scored on. */
function taskOf(recipe: RecipeDocument): string | null {
  return declaredTask(recipe) ?? inferTask(recipe.steps.map(({ op }) => op));
}

/** Differences between a recipe and its entry. */
function contractMismatches(recipe: RecipeDocument, entry: TemplateEntry, registry: Registry): Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = (place: (string | number)[], message: string, hint: string | null) =>
    found.push(diagnostic("template_contract_mismatch", place, message, { hint }));
  const task = taskOf(recipe);
  if (task !== entry.task_id) {
    const message = task === null
      ? `Cannot find the task that ${entry.id} is for`
      : `Cannot offer a recipe for ${task} as ${entry.id}`;
    report(["metadata", "research", "task", "id"], message, `Declare the task ${entry.task_id}`);
  }
  const { id, version } = entry.execution_profile;
  if (!sameValue(recipe.execution_profile, entry.execution_profile)) {
    const message = `Cannot offer a recipe with the profile ${String(recipe.execution_profile.id)} as ${entry.id}`;
    report(["execution_profile"], message, `Declare {id: ${id}, version: ${version}} and keep its stages`);
  }
  for (const [name, binding] of Object.entries((entry.editor_bindings ?? {}) as Record<string, EditorBinding>)) {
    const mismatch = bindingMismatch(binding, recipe.steps, registry);
    if (mismatch) report(mismatch.place, `Cannot bind the editor's ${name}: ${mismatch.reason}`, mismatch.hint);
  }
  return found;
}

function bindingMismatch({ step_id, op, param }: EditorBinding, steps: readonly StepDocument[], registry: Registry) {
  const index = steps.findIndex(({ id }) => id === step_id);
  if (index < 0) {
    const hint = didYouMean(step_id, steps.map(({ id }) => id));
    return { place: ["steps"], reason: `there is no step ${step_id}`, hint };
  }
  const place = ["steps", index, "op"];
  if (steps[index].op !== op) return { place, reason: `${step_id} is no ${op}`, hint: `Use ${op} in this step` };
  const properties = registry.find(op)?.operation.contract.params_schema.properties;
  if (isObject(properties) && Object.hasOwn(properties, param)) return null;
  const hint = didYouMean(param, Object.keys(isObject(properties) ? properties : {}));
  return { place, reason: `${op} has no parameter ${param}`, hint };
}

/** Neither a recipe of the project nor a starter exists. */
function absent({ id, recipe_path }: TemplateEntry): Diagnostic {
  const message = `Cannot offer ${id} yet: its starter does not come with this version`;
  return diagnostic("template_unavailable", [], message, {
    hint: `A recipe of your own at ${recipe_path} replaces it`,
  });
}

function planned({ id }: TemplateEntry): Diagnostic {
  const message = `Cannot offer ${id} yet: it is planned and not part of this version`;
  return diagnostic("template_unavailable", [], message, { severity: "info" });
}
