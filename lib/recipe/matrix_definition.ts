/**
 * Reads `metadata.matrix`: dimensions, each a list of values, and the step parameters that use them. A value `{matrix:
 * <dimension>}` may be at any depth of a parameter.
 */
import type { Place } from "../contract/error.ts";
import { canonicalJson, compareCodePoints } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { describe, type Findings } from "./findings.ts";
import { MAX_MATRIX_POINTS } from "./limits.ts";

export interface Dimension {
  name: string;
  values: Value[];
  /** Place of a value in the author's document. */
  placeOf(index: number): Place;
}

/** A valid matrix. */
export interface Matrix {
  /** Ordered by name, by code point. */
  dimensions: Dimension[];
  /** Step id to matrix parameters, with references. */
  step_params: { [stepId: string]: JsonObject };
  /** Place of a step's parameters in the author's document; null when derived. */
  bindings: Place | null;
}

const ROOT: Place = ["metadata", "matrix"];
const FIELDS = ["dimensions", "step_params"];

/**
 * Reads a matrix and reports all problems.
 * @param value of `metadata.matrix`
 * @param stepIds existing steps
 * @param findings receives the `matrix_…` errors
 * @returns null with any error
 */
export function readMatrix(value: Value, stepIds: readonly string[], findings: Findings): Matrix | null {
  const before = findings.list.length;
  if (!isObject(value)) {
    const message = `Cannot read ${describe(value)} as a matrix`;
    findings.report("matrix_definition_invalid", ROOT, message, "Write {dimensions: …, step_params: …}");
    return null;
  }
  for (const key of Object.keys(value).filter((name) => !FIELDS.includes(name))) {
    const message = `Cannot find a matrix field named ${key}`;
    findings.report("matrix_definition_invalid", [...ROOT, key], message, findings.suggestions.for(key, FIELDS));
  }
  const names = filledMapping(value, "dimensions", "Map names to lists of values", findings);
  const params = filledMapping(value, "step_params", "Map step ids to parameters with {matrix: <dimension>}", findings);
  const dimensions = names && readDimensions(names, findings);
  if (params) {
    const used = readBindings(params, stepIds, names && Object.keys(names), findings);
    for (const name of Object.keys(names ?? {}).filter((name) => !used.has(name))) {
      const message = `Cannot find a parameter that uses the dimension ${name}`;
      const hint = `Write {matrix: ${name}} as a parameter in step_params, or remove the dimension`;
      findings.report("matrix_dimension_unused", [...ROOT, "dimensions", name], message, hint);
    }
  }
  if (dimensions) checkSize(dimensions, [...ROOT, "dimensions"], findings);
  if (findings.list.length > before || !dimensions || !params) return null;
  const step_params = params as { [stepId: string]: JsonObject };
  return { dimensions, step_params, bindings: [...ROOT, "step_params"] };
}

/** The dimension of a reference; null for another value. */
export function referenceIn(value: Value): string | null {
  if (!isObject(value) || typeof value.matrix !== "string" || !Object.hasOwn(value, "matrix")) return null;
  return Object.keys(value).length === 1 ? value.matrix : null;
}

/** Reports `matrix_too_large`. */
export function checkSize(dimensions: readonly { values: Value[] }[], place: Place, findings: Findings): void {
  const lengths = dimensions.map(({ values }) => values.length);
  const count = lengths.reduce((product, length) => product * length, 1);
  if (count <= MAX_MATRIX_POINTS) return;
  const sizes = lengths.length > 1 && lengths.length <= 8 ? ` (${lengths.join(" × ")})` : "";
  const hint = `At most ${MAX_MATRIX_POINTS} are allowed: shorten a dimension, or split the recipe`;
  findings.report("matrix_too_large", place, `Cannot expand a matrix of ${count} points${sizes}`, hint);
}

function filledMapping(matrix: JsonObject, key: string, hint: string, findings: Findings): JsonObject | null {
  const value = Object.hasOwn(matrix, key) ? matrix[key] : undefined;
  if (isObject(value) && Object.keys(value).length > 0) return value;
  const message = value === undefined
    ? `Cannot find ${key} in the matrix`
    : isObject(value)
    ? `Cannot use a matrix with empty ${key}`
    : `Cannot use ${describe(value)} as the ${key} of a matrix`;
  findings.report("matrix_definition_invalid", value === undefined ? ROOT : [...ROOT, key], message, hint);
  return null;
}

/** The dimensions in order; null if one has no list of values. */
function readDimensions(names: JsonObject, findings: Findings): Dimension[] | null {
  const dimensions: Dimension[] = [];
  for (const [name, values] of Object.entries(names)) {
    const place = [...ROOT, "dimensions", name];
    if (!Array.isArray(values) || values.length === 0) {
      const given = Array.isArray(values) ? "an empty list" : describe(values);
      const message = `Cannot use ${given} as the values of the dimension ${name}`;
      findings.report("matrix_definition_invalid", place, message, "List at least one value");
      continue;
    }
    if (name.trim() === "") {
      findings.report("matrix_definition_invalid", place, "Cannot use an empty name for a dimension", "Give it a name");
    }
    const first = new Map<string, number>();
    values.forEach((value, index) => {
      const text = canonicalJson(value);
      const earlier = first.get(text);
      if (earlier === undefined) {
        first.set(text, index);
        return;
      }
      const message = `Cannot list ${describe(value)} twice in the dimension ${name}`;
      findings.report("matrix_values_duplicate", [...place, index], message, `Item ${earlier} is the same value`);
    });
    dimensions.push({ name, values, placeOf: (index) => [...place, index] });
  }
  if (dimensions.length < Object.keys(names).length) return null;
  return dimensions.sort((a, b) => compareCodePoints(a.name, b.name));
}

/**
 * Checks the parameters of steps.
 * @param names the dimensions; null when unreadable
 * @returns the referenced dimensions
 */
function readBindings(
  params: JsonObject,
  stepIds: readonly string[],
  names: readonly string[] | null,
  findings: Findings,
): Set<string> {
  const used = new Set<string>();
  const walk = (value: Value, place: Place): void => {
    if (Array.isArray(value)) return value.forEach((item, index) => walk(item, [...place, index]));
    if (!isObject(value)) return;
    if (!Object.hasOwn(value, "matrix")) {
      for (const [key, item] of Object.entries(value)) walk(item, [...place, key]);
      return;
    }
    const name = referenceIn(value);
    if (name === null) {
      // The malformed reference still counts as a use.
      if (typeof value.matrix === "string") used.add(value.matrix);
      const extra = Object.keys(value).filter((key) => key !== "matrix");
      const message = extra.length > 0
        ? `Cannot read a reference with the fields ${extra.slice(0, 3).join(", ")} besides matrix`
        : `Cannot read ${describe(value.matrix)} as the name of a dimension`;
      return findings.report("matrix_reference_malformed", place, message, "Write exactly {matrix: <dimension>}");
    }
    used.add(name);
    if (names === null || names.includes(name)) return;
    const message = `Cannot find a dimension named ${name}`;
    findings.report("matrix_dimension_unknown", [...place, "matrix"], message, findings.suggestions.for(name, names));
  };
  for (const [stepId, given] of Object.entries(params)) {
    const place = [...ROOT, "step_params", stepId];
    if (!stepIds.includes(stepId)) {
      const message = `Cannot find a step named ${stepId} for the matrix`;
      findings.report("matrix_step_unknown", place, message, findings.suggestions.for(stepId, stepIds));
    }
    if (!isObject(given)) {
      const message = `Cannot use ${describe(given)} as the parameters of ${stepId}`;
      findings.report("matrix_definition_invalid", place, message, "Map parameters to {matrix: <dimension>}");
      continue;
    }
    const whole = referenceIn(given);
    if (whole !== null) {
      used.add(whole);
      const message = `Cannot give a dimension to the step ${stepId} as a whole`;
      findings.report(
        "matrix_reference_malformed",
        place,
        message,
        `Name a parameter: {<parameter>: {matrix: ${whole}}}`,
      );
      continue;
    }
    for (const [name, value] of Object.entries(given)) walk(value, [...place, name]);
  }
  return used;
}
