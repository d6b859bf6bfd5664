/**
 * What instantiation may change: parameters of the template's steps, the name and the description. Values are typed, and
 * everything that is wrong with them is found at once.
 */
import { type Diagnostic, diagnostic, jsonPath, jsonPointer, type Place } from "../contract/error.ts";
import { Suggestions } from "../contract/nearest.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { valueOrFindings } from "../recipe/from_value.ts";
import type { RecipeDocument } from "../recipe/types.ts";

/** Parameter names to typed values, by step id. */
export type StepParams = { [step: string]: JsonObject };

/** The overrides of an instantiation in canonical form: `step_params` is there even when it is empty. */
export interface TemplateOverrides extends JsonObject {
  step_params: StepParams;
}

const FIELDS = ["step_params", "name", "description"];
const CODE = "template_override_invalid";

/**
 * Reads overrides. Unreadable ones are reported and left out, so that the rest can still be checked.
 * @param value JavaScript value or parsed JSON; integral numbers are integers, `float(6)` is `6.0`
 * @param found gets `template_override_invalid` for unknown members, texts that are empty or not trimmed, and step
 *   parameters that are no mappings
 */
export function readOverrides(value: unknown, found: Diagnostic[]): TemplateOverrides {
  const report = (place: Place, message: string, hint: string | null = null) =>
    void found.push(diagnostic(CODE, place, message, { hint }));
  const given = valueOrFindings(value, found), suggestions = new Suggestions();
  if (!isObject(given)) {
    if (given !== undefined) report([], "Cannot read these overrides", "Give step_params, name or description");
    return { step_params: {} };
  }
  for (const key of Object.keys(given)) {
    if (!FIELDS.includes(key)) report([key], `Cannot override ${key}`, suggestions.for(key, FIELDS));
  }
  return {
    step_params: readStepParams(given.step_params, report),
    ...readText(given, "name", report),
    ...readText(given, "description", report),
  };
}

type Report = (place: Place, message: string, hint?: string | null) => void;

function readText(given: JsonObject, key: string, report: Report): JsonObject {
  const text = given[key];
  if (text === undefined) return {};
  if (typeof text !== "string") report([key], `Cannot use this value as a ${key}`, "Give a text");
  else if (text.trim() === "") report([key], `Cannot use an empty ${key}`, `Leave ${key} out to keep the template's`);
  else if (text !== text.trim()) report([key], `Cannot use a ${key} with space around it`, "Trim it");
  else return { [key]: text };
  return {};
}

function readStepParams(value: Value | undefined, report: Report): StepParams {
  if (value === undefined) return {};
  if (!isObject(value)) {
    report(["step_params"], "Cannot read these step parameters", "Map step ids to parameters");
    return {};
  }
  const steps = Object.entries(value).filter(([step, params]) => {
    if (isObject(params)) return true;
    report(["step_params", step], `Cannot read the parameters of ${step}`, "Map parameter names to values");
    return false;
  });
  return Object.fromEntries(steps) as StepParams;
}

/**
 * Returns a recipe with parameters replaced; recipe and graph are not changed.
 * @param found gets `template_step_unknown` and `template_param_unknown` with the nearest name; such parameters are
 *   left out
 */
export function applyStepParams(
  recipe: RecipeDocument,
  stepParams: StepParams,
  registry: Registry,
  found: Diagnostic[],
): RecipeDocument {
  const ids = recipe.steps.map(({ id }) => id), suggestions = new Suggestions();
  for (const step of Object.keys(stepParams)) {
    if (ids.includes(step)) continue;
    found.push(diagnostic("template_step_unknown", ["step_params", step], `Cannot find a step named ${step}`, {
      hint: suggestions.for(step, ids),
    }));
  }
  const steps = recipe.steps.map((step) => {
    if (!Object.hasOwn(stepParams, step.id)) return step;
    const { properties, additionalProperties } = registry.get(step.op).operation.contract.params_schema;
    const names = Object.keys(isObject(properties) ? properties : {});
    const known = Object.entries(stepParams[step.id]).filter(([name]) => {
      if (names.includes(name) || additionalProperties !== false) return true;
      const message = `Cannot find a parameter named ${name} of ${step.op}`;
      const place = ["step_params", step.id, name];
      found.push(
        diagnostic("template_param_unknown", place, message, { hint: suggestions.for(name, names), step_id: step.id }),
      );
      return false;
    });
    return { ...step, params: { ...step.params, ...Object.fromEntries(known) } };
  });
  return { ...recipe, steps };
}

/** Moves findings about an overridden parameter to the place of the override, where it can be corrected. */
export function atOverrides(
  diagnostics: readonly Diagnostic[],
  recipe: RecipeDocument,
  stepParams: StepParams,
): Diagnostic[] {
  return diagnostics.map((item) => {
    const [, index, name, rest] = /^\/steps\/(\d+)\/params\/([^/]+)(.*)$/.exec(item.pointer ?? "") ?? [];
    const step = index === undefined ? undefined : recipe.steps[Number(index)].id;
    if (step === undefined || !Object.hasOwn(stepParams, step) || !Object.hasOwn(stepParams[step], name)) return item;
    const deeper = rest.split("/").slice(1).map((part) =>
      /^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~")
    );
    const place = ["step_params", step, name, ...deeper];
    return { ...item, path: jsonPath(place), pointer: jsonPointer(place) };
  });
}
