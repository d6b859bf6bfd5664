/** A capture before anything is written: recipe, configuration, and points, each planned. */
import type { Diagnostic } from "../contract/error.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { lintSeverity } from "../plan/planner.ts";
import type { Readiness } from "../plan/types.ts";
import type { Locate, RecipeDocument } from "../recipe/types.ts";
import { captureRecipe, scenarioName } from "./capture_recipe.ts";
import { type CaptureConfig, invalidConfig, readCaptureConfig, type Split } from "./config.ts";
import { compiled } from "./derive.ts";
import { planRun } from "./perform_run.ts";
import { type CaptureSize, captureSize } from "./size.ts";
import { type CapturePoint, capturePoints, masterSeed, runRecipeOf } from "./runs.ts";

export interface CaptureSource {
  /** The recipe, decoded: a scenario, or a capture recipe of an export. */
  raw: Value;
  locate?: Locate;
  /** `dataset_capture` of a training plan; that of the recipe when left out. */
  config?: JsonObject;
  /** Replaces the configuration's value. */
  split?: Split;
  samples?: number;
  registry: Registry;
  readiness?: Readiness;
  /** Whether findings of the lint of links become warnings; default true. */
  lint?: boolean;
  /** Whether these findings refuse the capture; default false. */
  strictLint?: boolean;
}

export interface PreparedCapture {
  /** The recipe that runs. */
  recipe: RecipeDocument;
  /** Effective form of the given recipe. */
  scenario: RecipeDocument;
  config: CaptureConfig;
  points: CapturePoint[];
  master: number | bigint;
  released_seeds: string[];
  /** Name of the scenario. */
  name: string;
  /** Default place of the split, below the state directory. */
  place: string;
  size: CaptureSize;
  /** Findings of the lint of links about the recipe that runs. */
  warnings: Diagnostic[];
}

/** @throws SvcError `recipe_invalid`, `plan_invalid`, `dataset_capture_invalid`, with every problem */
export async function prepareCapture(source: CaptureSource): Promise<PreparedCapture> {
  const { raw, registry, readiness, split, samples } = source;
  const { normalized, effective: scenario } = compiled(raw, source);
  const embedded = isObject(normalized.dataset_capture) ? normalized.dataset_capture : {};
  const read = readCaptureConfig(source.config ?? embedded, { recipe: normalized, registry, split, samples });
  if (read.config === null) throw invalidConfig(read.diagnostics);
  const { config } = read;
  const { recipe, released_seeds } = captureRecipe(normalized, config);
  const points = capturePoints(recipe, config, registry);
  const master = masterSeed(recipe);
  // Problems of all points are reported before the first one runs.
  let planned: RecipeDocument | undefined;
  const warnings = new Map<string, Diagnostic>();
  const lint = lintSeverity(source);
  for (const [index, point] of points.entries()) {
    const { recipe, diagnostics } = await planRun(runRecipeOf(point, master, index), { registry, readiness, lint });
    planned = recipe;
    // Points differ in values, not in wiring: a finding counts once.
    for (const item of diagnostics.filter(({ severity }) => severity === "warning")) {
      warnings.set(`${item.code} ${item.path}`, item);
    }
  }
  const size = captureSize(config, planned!, registry);
  const name = scenarioName(normalized);
  const place = `dataset_captures/${name.replace(/[^A-Za-z0-9._-]/g, "_")}/${config.split}`;
  return {
    recipe,
    scenario,
    config,
    points,
    master,
    released_seeds,
    name,
    place,
    size,
    warnings: [...warnings.values()],
  };
}
