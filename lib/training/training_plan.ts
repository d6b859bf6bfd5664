/**
 * Training plans: the blocks of a scenario to replace, the evaluations that score them, and the data to capture.
 * A plan has an identity of its own; changing it never changes the scenario it was made for.
 */
import { type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { didYouMean } from "../contract/nearest.ts";
import { cloneValue, isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";

const TRAINING_PLAN_KIND = "svc.training_plan";
/** What an export writes trainer's text for. */
const TRAINING_FRAMEWORKS = ["torch", "torch-phylib"] as const;

/** A plan in normal form; members that are not known here are kept. */
export interface TrainingPlan extends JsonObject {
  schema_version: 1;
  kind: "svc.training_plan";
  /** Steps that a trained artifact is to take the place of; all that can be, when empty. */
  selected_steps: string[];
  /** Evaluations that routes are followed to; all that are reached, when empty. */
  loss_steps: string[];
  /** Taps, splits and sampling, see `lib/capture/config.ts`. */
  dataset_capture: JsonObject;
  /** Name of the loss that the trainer computes; where it is empty the evaluations themselves count as losses. */
  objective: string;
  /** Where the plan began, such as a template's id. */
  starter: string;
  /** "" for a bundle without text for a trainer. */
  framework: "" | typeof TRAINING_FRAMEWORKS[number];
}

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
  const problems: Diagnostic[] = [];
  const refuse = (place: Place, message: string, hint: string | null = null) =>
    problems.push(diagnostic("training_plan_invalid", place, message, { hint }));
  if (!isObject(value)) {
    refuse([], "Cannot read this value as a training plan", "A plan is a mapping with selected_steps");
    throw invalidPlan(problems);
  }
  const version = value.schema_version ?? 1;
  if (!isInteger(version) || version !== 1) {
    refuse(["schema_version"], "Cannot read a training plan of another schema_version", "Write the integer 1");
  }
  if ((value.kind ?? TRAINING_PLAN_KIND) !== TRAINING_PLAN_KIND) {
    refuse(["kind"], "Cannot read a document of another kind as a training plan", `Write ${TRAINING_PLAN_KIND}`);
  }
  const names = (key: "selected_steps" | "loss_steps"): string[] => {
    const list = value[key] ?? [];
    if (!Array.isArray(list) || list.some((item) => typeof item !== "string")) {
      refuse([key], `Cannot read ${key} as step ids`, "Give a list of texts");
      return [];
    }
    list.forEach((item, index) => {
      if (list.indexOf(item) !== index) refuse([key, index], `Cannot name the step ${item} twice`);
    });
    return list as string[];
  };
  const text = (key: "objective" | "starter" | "framework"): string => {
    const given = value[key] ?? "";
    if (typeof given === "string") return given;
    refuse([key], `Cannot read ${key} as a text`);
    return "";
  };
  const capture = value.dataset_capture ?? {};
  if (!isObject(capture)) refuse(["dataset_capture"], "Cannot read dataset_capture as a mapping");
  const framework = text("framework");
  if (framework !== "" && !(TRAINING_FRAMEWORKS as readonly string[]).includes(framework)) {
    const known = [...TRAINING_FRAMEWORKS];
    const hint = didYouMean(framework, known) ?? `Known: ${known.join(", ")}`;
    refuse(["framework"], `Cannot write training text for the framework ${framework}`, hint);
  }
  const plan = {
    ...cloneValue(value),
    schema_version: 1,
    kind: TRAINING_PLAN_KIND,
    selected_steps: names("selected_steps"),
    loss_steps: names("loss_steps"),
    dataset_capture: isObject(capture) ? cloneValue(capture) : {},
    objective: text("objective"),
    starter: text("starter"),
    framework,
  } as TrainingPlan;
  if (problems.length > 0) throw invalidPlan(problems);
  return plan;
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
