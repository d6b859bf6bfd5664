/**
 * The recipe of a capture: the steps that its taps depend on, with random streams of its own. Omitted steps cannot change
 * the captured data, so a baseline at the place of the block under training never runs.
 */
import { cloneValue, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { canonicalMatrix } from "../recipe/matrix.ts";
import { referenceIn } from "../recipe/matrix_definition.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { Reach } from "../training/gradient_routes.ts";
import { type CaptureConfig, captureDocument, type Split } from "./config.ts";

const SUFFIX = /_dataset_capture_(train|validation|test)$/;

/** A capture recipe, and its changes to the source. */
export interface CaptureRecipe {
  recipe: RecipeDocument;
  config: CaptureConfig;
  /** Steps whose authored seed gave way, so that no run repeats another's draws. */
  released_seeds: string[];
}

/**
 * Reduces a recipe to the ancestors of its taps.
 * @param source normalised form; the result of an earlier reduction is returned unchanged
 * @param identities of the scenario and the plan that it is exported from, recorded with the captured data
 */
export function captureRecipe(
  source: RecipeDocument,
  config: CaptureConfig,
  identities?: { scenario_sha256: string; training_plan_sha256: string },
): CaptureRecipe {
  const reach = new Reach(source);
  const kept = new Set(config.taps.flatMap(({ from }) => {
    const [step] = from.split(".");
    return [step, ...reach.ancestors(step)];
  }));
  const released: string[] = [];
  const metadata = captureMetadata(source, [...kept], config);
  const constant = config.matrix_mode === "inherit" && metadata.matrix === undefined ? constants(source) : {};
  const steps = source.steps.filter(({ id }) => kept.has(id)).map((written) => {
    const step = { ...written, params: { ...written.params, ...constant[written.id] } };
    if (config.seed_mode === "fixed_seed" || (step.params.seed ?? null) === null) return cloneValue(step);
    released.push(step.id);
    const { seed: _seed, ...params } = step.params;
    return cloneValue({ ...step, params });
  });
  const { suite: _suite, dataset_capture: _capture, description: _description, ...rest } = source;
  const recipe: RecipeDocument = {
    ...cloneValue(rest as RecipeDocument),
    name: `${scenarioName(source)}_${config.split}`,
    execution_profile: customProfile(source.execution_profile),
    metadata: identities === undefined ? metadata : { ...metadata, capture_of: { ...identities } },
    steps,
    dataset_capture: captureDocument(config),
  };
  return { recipe, config, released_seeds: released };
}

/** The name of the recipe that a capture recipe was made of. */
export function scenarioName({ name, dataset_capture }: RecipeDocument): string {
  const suffix = isObject(dataset_capture) ? `_${dataset_capture.split}` : "";
  return suffix !== "" && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

/** The stream namespace of a split: splits never share draws, and a point of a matrix draws what the others draw. */
function captureNamespace({ metadata, name }: RecipeDocument, split: Split): string {
  const given = typeof metadata.seed_namespace === "string" ? metadata.seed_namespace.trim() : "";
  return `${(given === "" ? name : given).replace(SUFFIX, "")}_dataset_capture_${split}`;
}

function customProfile(profile: JsonObject): JsonObject {
  if (profile.id === "custom") return profile;
  return { id: "custom", version: 1, based_on: { id: profile.id, version: profile.version } };
}

function captureMetadata(source: RecipeDocument, stepIds: readonly string[], config: CaptureConfig): JsonObject {
  // Its metrics were omitted with the evaluations, and the matrix is rewritten.
  const { research: _research, matrix: _matrix, sweeps: _sweeps, ui_sweeps: _uiSweeps, ...metadata } = source.metadata;
  const matrix = config.matrix_mode === "exclude" ? null : reducedMatrix(source, stepIds);
  return {
    ...cloneValue(metadata),
    seed_namespace: captureNamespace(source, config.split),
    ...(matrix === null ? {} : { matrix }),
  };
}

/** Step parameters that a matrix sets independently of its dimensions; kept where no dimension remains. */
function constants(source: RecipeDocument): Record<string, JsonObject> {
  return canonicalMatrix(source, {}).matrix?.step_params ?? {};
}

/** The dimensions that still mean something to the steps that are left; null where there are none. */
function reducedMatrix(source: RecipeDocument, stepIds: readonly string[]): JsonObject | null {
  const { matrix } = canonicalMatrix(source, {});
  if (matrix === null) return null;
  const step_params = Object.fromEntries(Object.entries(matrix.step_params).filter(([id]) => stepIds.includes(id)));
  const used = new Set<string>();
  const walk = (value: Value): void => {
    const name = referenceIn(value);
    if (name !== null) used.add(name);
    else if (Array.isArray(value)) value.forEach(walk);
    else if (isObject(value)) Object.values(value).forEach(walk);
  };
  walk(step_params);
  const dimensions = matrix.dimensions.filter(({ name }) => used.has(name)).map(({ name, values }) => [name, values]);
  if (dimensions.length === 0) return null;
  return cloneValue({ dimensions: Object.fromEntries(dimensions), step_params });
}
