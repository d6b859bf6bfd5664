/**
 * Edits the matrix of a recipe: `metadata.matrix` has dimensions with their values, and the step parameters bound to them.
 * All functions return a new recipe; other fields are kept.
 */
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import {
  Float,
  float,
  formatFloat,
  isNumber,
  isObject,
  type JsonObject,
  toNumber,
  type Value,
} from "../../lib/contract/value.ts";
import { type Read, readFloat, readInteger } from "./number.ts";

/** Maximum number of variants of a recipe. */
export const MOST_VARIANTS = 256;

export interface Binding {
  stepId: string;
  /** Name of the parameter, with the path inside a nested one. */
  param: string;
  dimension: string;
}

export interface MatrixFacts {
  dimensions: { name: string; values: Value[] }[];
  bindings: Binding[];
  count: number;
  unused: string[];
}

export const hasMatrix = ({ metadata }: JsonObject): boolean => isObject(metadata) && isObject(metadata.matrix);

const matrixOf = (recipe: JsonObject): JsonObject => {
  const { metadata } = recipe;
  return isObject(metadata) && isObject(metadata.matrix) ? metadata.matrix : {};
};
const part = (matrix: JsonObject, key: string): JsonObject => isObject(matrix[key]) ? matrix[key] as JsonObject : {};

/** The matrix of a recipe; empty without one. */
export function matrixFacts(recipe: JsonObject): MatrixFacts {
  const matrix = matrixOf(recipe), bindings: Binding[] = [];
  const dimensions = Object.entries(part(matrix, "dimensions")).map(([name, values]) => ({
    name,
    values: Array.isArray(values) ? values : [],
  }));
  const walk = (stepId: string, param: string, value: Value): void => {
    if (isObject(value)) {
      if (typeof value.matrix === "string" && Object.keys(value).length === 1) {
        bindings.push({ stepId, param, dimension: value.matrix });
      } else for (const [key, item] of Object.entries(value)) walk(stepId, `${param}.${key}`, item);
    } else if (Array.isArray(value)) value.forEach((item, index) => walk(stepId, `${param}.${index}`, item));
  };
  for (const [stepId, params] of Object.entries(part(matrix, "step_params"))) {
    if (isObject(params)) { for (const [param, value] of Object.entries(params)) walk(stepId, param, value); }
  }
  const used = new Set(bindings.map(({ dimension }) => dimension));
  return {
    dimensions,
    bindings,
    count: dimensions.reduce((product, { values }) => product * values.length, dimensions.length > 0 ? 1 : 0),
    unused: dimensions.map(({ name }) => name).filter((name) => !used.has(name)),
  };
}

/** Binds a parameter to a dimension, and sets the values of the dimension if given. */
export function bind(recipe: JsonObject, { stepId, param, dimension }: Binding, values?: Value[]): JsonObject {
  const matrix = matrixOf(recipe), steps = part(matrix, "step_params");
  return withMatrix(recipe, {
    ...matrix,
    dimensions: { ...part(matrix, "dimensions"), ...(values === undefined ? {} : { [dimension]: values }) },
    step_params: { ...steps, [stepId]: { ...part(steps, stepId), [param]: { matrix: dimension } } },
  });
}

/** Unbinds a parameter; an unused dimension is removed too. */
export function unbind(recipe: JsonObject, stepId: string, param: string): JsonObject {
  const matrix = matrixOf(recipe), steps = part(matrix, "step_params");
  const { [param]: _, ...params } = part(steps, stepId);
  const { [stepId]: __, ...others } = steps;
  const next = { ...matrix, step_params: Object.keys(params).length > 0 ? { ...others, [stepId]: params } : others };
  const before = new Set(matrixFacts(recipe).unused);
  const orphans = matrixFacts(withMatrix(recipe, next)).unused.filter((name) => !before.has(name));
  const dimensions = Object.fromEntries(
    Object.entries(part(matrix, "dimensions")).filter(([name]) => !orphans.includes(name)),
  );
  return withMatrix(recipe, { ...next, dimensions });
}

/** Sets the values of a dimension, or removes it with all its bindings (null). */
export function setDimension(recipe: JsonObject, name: string, values: Value[] | null): JsonObject {
  const matrix = matrixOf(recipe), { [name]: _, ...others } = part(matrix, "dimensions");
  if (values !== null) {
    return withMatrix(recipe, { ...matrix, dimensions: { ...part(matrix, "dimensions"), [name]: values } });
  }
  const without = matrixFacts(recipe).bindings.filter(({ dimension }) => dimension === name)
    .reduce((next, { stepId, param }) => unbind(next, stepId, param.split(".")[0]), recipe);
  const rest = matrixOf(without);
  return withMatrix(without, { ...rest, dimensions: Object.keys(others).length > 0 ? others : {} });
}

/** A recipe with a matrix; an empty matrix is omitted. */
function withMatrix(recipe: JsonObject, matrix: JsonObject): JsonObject {
  const { matrix: _, ...metadata } = isObject(recipe.metadata) ? recipe.metadata : {};
  const empty = [part(matrix, "dimensions"), part(matrix, "step_params")].every((one) => Object.keys(one).length === 0);
  return { ...recipe, metadata: empty ? metadata : { ...metadata, matrix } };
}

/**
 * Reads typed values: `0, 5, 10`, `qpsk, qam16`, or a range `0:2:10` (from, step, to), which becomes a list.
 *
 * @param types that the parameter accepts, "integer", "number", "string" …
 */
export function readValues(text: string, types: readonly string[]): { values: Value[] } | { problem: string } {
  const typed = text.trim();
  if (typed === "") return { problem: "List at least one value" };
  const range = /^([^:,]+):([^:,]+)(?::([^:,]+))?$/.exec(typed);
  if (range !== null && types.some((type) => type === "integer" || type === "number")) {
    return expand(range[1], range[3] === undefined ? "1" : range[2], range[3] ?? range[2], types);
  }
  if (typed.startsWith("[")) {
    try {
      return { values: parseJson(typed) as Value[] };
    } catch {
      return { problem: "Cannot read this as a JSON list" };
    }
  }
  const values: Value[] = [];
  for (const piece of typed.split(",").map((piece) => piece.trim())) {
    const read = readOne(piece, types);
    if ("problem" in read) return read;
    values.push(read.value);
  }
  return { values };
}

/** Several values that were typed into the field of one: Enter sweeps them. Null for anything else. */
export function sweptValues(text: string, types: readonly string[]): Value[] | null {
  const read = types.includes("string") ? { values: [] } : readValues(text, types);
  return "values" in read && read.values.length > 1 ? read.values : null;
}

/** A name for a new dimension over a parameter. */
export const freeDimension = (param: string, dimensions: readonly string[]): string =>
  dimensions.includes(param) ? `${param}_2` : param;

function readOne(piece: string, types: readonly string[]): Read {
  const tries: Read[] = [];
  if (types.includes("integer")) tries.push(readInteger(piece));
  if (types.includes("number")) tries.push(readFloat(piece));
  if (types.includes("boolean") && /^(true|false)$/.test(piece)) tries.push({ value: piece === "true" });
  if (types.includes("null") && piece === "null") tries.push({ value: null });
  const fine = tries.find((read) => "value" in read);
  if (fine !== undefined) return fine;
  if (types.includes("string")) return { value: piece.replace(/^"(.*)"$/, "$1") };
  return tries[0] ?? readJson(piece);
}

function readJson(piece: string): Read {
  try {
    return { value: parseJson(piece) as Value };
  } catch {
    return { value: piece };
  }
}

function expand(
  from: string,
  by: string,
  to: string,
  types: readonly string[],
): { values: Value[] } | { problem: string } {
  const read = [from, by, to].map((piece) => readFloat(piece));
  if (!read.every((one) => "value" in one && isNumber(one.value))) return { problem: "Write a range as from:step:to" };
  const [first, step, last] = read.map((one) => toNumber((one as { value: number | Float }).value));
  if (step === 0 || (last - first) / step < 0) return { problem: "The step does not lead from the first to the last" };
  const count = Math.floor((last - first) / step + 1e-9) + 1;
  if (count > MOST_VARIANTS) return { problem: `${count} values are more than ${MOST_VARIANTS}` };
  const whole = !types.includes("number");
  const digits = Math.max(...[from, by].map((piece) => /\.(\d+)/.exec(piece)?.[1].length ?? 0));
  // Each value is read from its decimal text, not summed from steps.
  const numbers = Array.from({ length: count }, (_, index) => Number((first + index * step).toFixed(digits)));
  if (whole && !numbers.every(Number.isInteger)) return { problem: "This parameter takes whole numbers" };
  return { values: numbers.map((number) => whole ? number : float(number)) };
}

/** Values as editable text. */
export const writtenValues = (values: readonly Value[]): string =>
  values.some((value) => Array.isArray(value) || isObject(value))
    ? canonicalJson([...values])
    : values.map((value) => value instanceof Float ? formatFloat(value.value) : String(value)).join(", ");
