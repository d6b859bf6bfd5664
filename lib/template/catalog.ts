/**
 * The template catalogue: which scenarios are offered, in which order, and which one is the default of its task.
 *
 * An entry names a recipe, never a graph of its own. The recipe is read and checked whenever the entry is
 * inspected or instantiated.
 */
import { type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
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

const FIELDS = [
  "id",
  "label",
  "task_id",
  "execution_profile",
  "editor",
  "recipe_path",
  "starter_resource",
  "order",
  "default",
  "status",
  "editor_bindings",
];
const BINDING_FIELDS = ["step_id", "op", "param"];
const EDITORS = ["graph", "image", "task", "text"];
const STATUSES = ["supported", "experimental", "planned"];
const ID = /^[a-z0-9][a-z0-9._-]*$/;
const RECIPE_PATH = /^recipes\/[A-Za-z0-9_-]+\.yaml$/;
const STARTER = /^recipe_starters\/[A-Za-z0-9_-]+\.yaml$/;

let own: TemplateCatalog | undefined;

/** The catalogue that comes with the program. */
export function packagedCatalog(): TemplateCatalog {
  return own ??= readCatalog(packaged as Value);
}

/**
 * Reads a catalogue and normalises its entries: bindings as a map by name, entries by rising order. Exported for tests.
 * @throws SvcError `template_catalog_invalid` with everything that is wrong with it
 */
export function readCatalog(value: Value): TemplateCatalog {
  const found: Diagnostic[] = [];
  const report = (place: Place, message: string, hint: string | null = null) =>
    void found.push(diagnostic("template_catalog_invalid", place, message, { hint }));
  const templates = isObject(value) && Array.isArray(value.templates) ? value.templates : null;
  if (!isObject(value) || value.schema_version !== 1) {
    report(["schema_version"], "Cannot read a template catalogue of another schema version", "Write the integer 1");
  }
  if (templates === null) report(["templates"], "Missing list of templates");
  const entries = (templates ?? []).map((entry, index) => readEntry(entry, ["templates", index], report));
  checkTogether(entries, report);
  if (found.length > 0) {
    throw new SvcError("template_catalog_invalid", "Cannot read the template catalogue", { diagnostics: found });
  }
  return { schema_version: 1, templates: (entries as TemplateEntry[]).sort((a, b) => a.order - b.order) };
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

type Report = (place: Place, message: string, hint?: string | null) => void;

function readEntry(value: Value, place: Place, report: Report): JsonObject {
  if (!isObject(value)) {
    report(place, "Cannot read this value as a template");
    return {};
  }
  for (const key of Object.keys(value)) {
    if (!FIELDS.includes(key)) {
      report([...place, key], `Cannot find a template field named ${key}`, didYouMean(key, FIELDS));
    }
  }
  const text = (key: string, pattern: RegExp, hint: string) => {
    const item = value[key];
    if (typeof item !== "string" || !pattern.test(item)) report([...place, key], `Cannot use this ${key}`, hint);
  };
  const choice = (key: string, choices: string[]) => {
    if (!choices.includes(value[key] as string)) {
      report([...place, key], `Cannot use this ${key}`, `Choose ${choices.join(", ")}`);
    }
  };
  text("id", ID, "Use lower-case letters, digits, dots, - and _");
  text("label", /^\S(.*\S)?$/, "Give a text");
  text("task_id", /^\S+$/, "Give the id of a task");
  text("recipe_path", RECIPE_PATH, "Name a YAML file directly in recipes/");
  if (value.starter_resource !== undefined) text("starter_resource", STARTER, "Name a YAML file in recipe_starters/");
  choice("editor", EDITORS);
  choice("status", STATUSES);
  const { execution_profile: profile, order } = value;
  if (
    !isObject(profile) || typeof profile.id !== "string" || !isInteger(profile.version) ||
    Object.keys(profile).length !== 2
  ) report([...place, "execution_profile"], "Cannot use this execution_profile", "Give {id, version}");
  if (!isInteger(order) || order < 0) {
    report([...place, "order"], "Cannot use this order", "Give a whole number from 0");
  }
  if (typeof value.default !== "boolean") {
    report([...place, "default"], "Cannot use this default", "Write true or false");
  }
  if (value.editor_bindings === undefined) return { ...value };
  return { ...value, editor_bindings: readBindings(value.editor_bindings, [...place, "editor_bindings"], report) };
}

/** A list whose items carry their name becomes the map by name. */
function readBindings(value: Value, place: Place, report: Report): JsonObject {
  const named = (Array.isArray(value) ? value : isObject(value) ? Object.entries(value) : []).map((item, index) => {
    const at = [...place, index];
    if (!Array.isArray(value)) return { at: [...place, (item as [string, Value])[0]], pair: item as [string, Value] };
    const { name, ...rest } = isObject(item) ? item : {};
    if (typeof name === "string" && name !== "") return { at, pair: [name, rest] as [string, Value] };
    report([...at, "name"], "Cannot use a binding without a name");
    return { at, pair: null };
  });
  if (!Array.isArray(value) && !isObject(value)) {
    report(place, "Cannot read these editor bindings", "Map names to them");
  }
  const bindings = new Map<string, Value>();
  for (const { at, pair } of named) {
    if (pair === null) continue;
    const [name, binding] = pair;
    if (bindings.has(name)) report(at, `Cannot use the binding name ${name} twice`);
    if (
      !isObject(binding) || Object.keys(binding).length !== BINDING_FIELDS.length ||
      BINDING_FIELDS.some((field) => typeof binding[field] !== "string" || binding[field] === "")
    ) report(at, `Cannot read the binding ${name}`, "Give {step_id, op, param}");
    bindings.set(name, binding);
  }
  return Object.fromEntries(bindings);
}

/** Ids and orders are unique; every task that is represented has exactly one default, and that is supported. */
function checkTogether(entries: readonly JsonObject[], report: Report): void {
  const firstUse = (key: string) => {
    const seen = new Set<Value>();
    entries.forEach((entry, index) => {
      const value = entry[key];
      if (value === undefined) return;
      if (seen.has(value)) report(["templates", index, key], `Cannot use the ${key} ${value} twice`);
      seen.add(value);
    });
  };
  firstUse("id");
  firstUse("order");
  const defaults = new Map<Value, number>();
  entries.forEach((entry, index) => {
    if (typeof entry.task_id !== "string") return;
    const count = (defaults.get(entry.task_id) ?? 0) + (entry.default === true ? 1 : 0);
    defaults.set(entry.task_id, count);
    if (entry.default === true && entry.status !== "supported") {
      report(["templates", index, "default"], `Cannot make a template a default that is not supported`);
    }
    if (entry.default === true && count > 1) {
      report(["templates", index, "default"], `Cannot have a second default for ${entry.task_id}`);
    }
  });
  for (const [task, count] of defaults) {
    if (count === 0) {
      report(["templates"], `Cannot offer ${task} without a default`, "Make one supported template its default");
    }
  }
}
