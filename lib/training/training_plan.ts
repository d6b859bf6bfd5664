/**
 * Training plans: the blocks of a scenario to replace, the evaluations that score them, and the data to capture.
 * A plan has an identity of its own; changing it never changes the scenario it was made for.
 */
import { type Diagnostic, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { documentCheck, mapping } from "../contract/document.ts";
import { cloneValue, type JsonObject, type Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import type { RecipeDocument } from "../recipe/types.ts";

const TRAINING_PLAN_KIND = "svc.training_plan";
const steps = z.array(z.string()).meta({ uniqueItems: true }).nullable().optional();
const text = z.string().nullable().optional();
const document = z.looseObject({
  schema_version: z.literal(1).nullable().optional(),
  kind: z.literal(TRAINING_PLAN_KIND).nullable().optional(),
  /** Steps that a trained artifact is to take the place of; all that can be, when empty. */
  selected_steps: steps,
  /** Evaluations that routes are followed to; all that are reached, when empty. */
  loss_steps: steps,
  /** Taps, splits and sampling, see `lib/capture/config.ts`. */
  dataset_capture: mapping.nullable().optional(),
  /** Name of the loss that the trainer computes; where it is empty the evaluations themselves count as losses. */
  objective: text,
  /** Where the plan began, such as a template's id. */
  starter: text,
  /** What an export writes trainer's text for; "" for a bundle without. */
  framework: z.enum(["torch", ""]).nullable().optional(),
});
type Authored = z.infer<typeof document>;
const checkForm = documentCheck(document, "training_plan_invalid");

/** A plan in normal form; members that are not known here are kept. */
export type TrainingPlan =
  & JsonObject
  & { [Name in keyof Authored as string extends Name ? never : Name]-?: NonNullable<Authored[Name]> };

/** A plan of which nothing has been chosen. */
export const EMPTY_TRAINING_PLAN: TrainingPlan = {
  schema_version: 1,
  kind: TRAINING_PLAN_KIND,
  selected_steps: [],
  loss_steps: [],
  dataset_capture: {},
  objective: "",
  starter: "",
  framework: "",
};

/**
 * Normalises a plan.
 * @param value decoded YAML or JSON; an empty mapping is a plan of which nothing has been chosen
 * @throws SvcError `training_plan_invalid` with every problem
 */
export function readTrainingPlan(value: Value): TrainingPlan {
  const problems = checkForm(value);
  if (problems.length > 0) throw invalidPlan(problems);
  const given = Object.entries(cloneValue(value as JsonObject))
    .filter(([name, item]) => item !== null || !Object.hasOwn(EMPTY_TRAINING_PLAN, name));
  return { ...EMPTY_TRAINING_PLAN, ...Object.fromEntries(given) };
}

/** The refusal of a plan. */
export function invalidPlan(diagnostics: Diagnostic[]): SvcError {
  const count = diagnostics.length === 1 ? diagnostics[0].message : `${diagnostics.length} problems`;
  return new SvcError("training_plan_invalid", `Cannot use the training plan: ${count}`, {
    hint: diagnostics.length === 1 ? diagnostics[0].hint : null,
    diagnostics,
  });
}

/**
 * The identity of a scenario: SHA-256 of the canonical JSON of the effective recipe without the parts of a training
 * campaign, its `dataset_capture` and `metadata.training_performed`.
 */
export function scenarioSha256(effective: RecipeDocument): string {
  const { dataset_capture: _capture, metadata, ...scenario } = effective;
  const { training_performed: _performed, ...kept } = metadata;
  return sha256Json({ ...scenario, metadata: kept });
}
