/** Derives the open fields of a plan from the recipe: taps from its boundaries and evaluations. */
import { refusal } from "../contract/error.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { compileRecipe } from "../recipe/compile.ts";
import type { Locate, RecipeDocument } from "../recipe/types.ts";
import { inspectRecipe, type SuggestedTap, type TrainingInspection } from "../training/inspect_recipe.ts";
import { EMPTY_TRAINING_PLAN, type TrainingPlan } from "../training/training_plan.ts";
import { readCaptureConfig, type Split, SPLITS } from "./config.ts";
import { type CaptureSize, captureSize } from "./size.ts";

export interface ProjectSource {
  /** The recipe, decoded. */
  raw: Value;
  locate?: Locate;
  plan?: TrainingPlan;
  registry: Registry;
}

/** Records of a plan that says nothing of them, and their shares. */
const DEFAULT_SPLIT_PLAN: JsonObject = {
  total_samples: 1000,
  percentages: { train: 80, validation: 10, test: 10 },
};

/** A suggested tap as a configuration has it. */
const chosen = ({ purpose: _purpose, ...tap }: SuggestedTap): JsonObject => tap;

/** Compiles a recipe strictly. @throws SvcError `recipe_invalid` with every diagnostic */
export function compiled(
  raw: Value,
  { registry, locate }: { registry: Registry; locate?: Locate },
): { normalized: RecipeDocument; effective: RecipeDocument } {
  const { normalized, effective, diagnostics } = compileRecipe(raw, {
    mode: "strict",
    registry,
    locate,
    captureJob: true,
  });
  if (normalized === null || effective === null) {
    throw refusal("recipe_invalid", "Cannot compile the recipe", diagnostics);
  }
  return { normalized, effective };
}

/**
 * A plan of which nothing is open: blocks, taps and shares that were left out are filled in from the recipe.
 * @returns the inspection under that plan
 * @throws SvcError `recipe_invalid`, `training_plan_invalid`, with every problem
 */
export function deriveTrainingPlan({ raw, locate, plan = EMPTY_TRAINING_PLAN, registry }: ProjectSource): {
  plan: TrainingPlan;
  inspection: TrainingInspection;
} {
  const { effective } = compiled(raw, { registry, locate });
  const first = inspectRecipe(effective, plan, registry);
  const given = plan.dataset_capture;
  const derived: TrainingPlan = {
    ...plan,
    selected_steps: first.selected_steps,
    dataset_capture: {
      ...given,
      taps: given.taps ?? first.suggested_taps.map(chosen),
      ...(given.split_plan === undefined ? { split_plan: DEFAULT_SPLIT_PLAN } : {}),
    },
  };
  return { plan: derived, inspection: inspectRecipe(effective, derived, registry) };
}

/** The sizes of the splits that a plan captures; none for a configuration that a capture refuses. */
export function captureSizes(
  raw: Value,
  { plan, ...context }: { plan: TrainingPlan; registry: Registry; locate?: Locate },
): (CaptureSize & { split: Split })[] {
  const { normalized: recipe, effective } = compiled(raw, context), { registry } = context;
  return SPLITS.flatMap((split) => {
    const { config } = readCaptureConfig(plan.dataset_capture, { recipe, registry, split });
    return config === null ? [] : [{ split, ...captureSize(config, effective, registry) }];
  });
}

/**
 * The configuration of a capture: that of the plan, else that of the recipe, with taps from the recipe where it names none.
 * @param options `taps` take the place of all that is written
 * @throws SvcError `recipe_invalid`, `training_plan_invalid`
 */
export function captureConfigFor(
  raw: Value,
  options: { registry: Registry; locate?: Locate; plan?: TrainingPlan; taps?: JsonObject[] },
): JsonObject {
  const { registry, plan, taps } = options;
  const { normalized, effective } = compiled(raw, options);
  const written = plan?.dataset_capture ?? normalized.dataset_capture;
  const config = isObject(written) ? written : {};
  if (taps !== undefined) return { ...config, taps };
  if (Array.isArray(config.taps) && config.taps.length > 0) return config;
  const { suggested_taps } = inspectRecipe(effective, plan ?? EMPTY_TRAINING_PLAN, registry);
  return { ...config, taps: suggested_taps.map(chosen) };
}

/** A plan with another number of records, in the shares that it has. */
export function withTotalSamples(plan: TrainingPlan, total_samples: number): TrainingPlan {
  const { dataset_capture: capture } = plan;
  const split_plan = isObject(capture.split_plan) ? capture.split_plan : DEFAULT_SPLIT_PLAN;
  return { ...plan, dataset_capture: { ...capture, split_plan: { ...split_plan, total_samples } } };
}
