/**
 * Edits the matrix of a recipe: `metadata.matrix` has dimensions with their values, and the step parameters bound to them.
 * All functions return a new recipe; other fields are kept.
 */
import { isObject, type JsonObject, type Value } from "./value.ts";

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

/** A recipe of the profile `custom` that records the standard profile it is based on. */
export function asCustom(recipe: JsonObject): JsonObject {
  const { execution_profile: declared } = recipe;
  const { id = "custom", version = 1 } = typeof declared === "string"
    ? { id: declared }
    : isObject(declared)
    ? declared
    : {};
  if (id === "custom") return recipe;
  return { ...recipe, execution_profile: { id: "custom", version: 1, based_on: { id, version } } };
}
