/**
 * Trainable parts of a recipe: the replaceable blocks, the evaluations they reach, and whether a loss can be
 * followed back to them or captured data must do.
 */
import { lowerFirst } from "../contract/sentence.ts";
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { formatOfKind } from "../contract/kinds.ts";
import { didYouMean } from "../contract/nearest.ts";
import { stepOutputKinds } from "../contract/output_kinds.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { boundariesOf, type Boundary, isEvaluation } from "./boundaries.ts";
import { type GradientRoute, gradientRoute, Reach } from "./gradient_routes.ts";
import { invalidPlan, scenarioSha256, type TrainingPlan } from "./training_plan.ts";

export type TrainingStatus =
  | "full_gradient_possible"
  | "partial_gradient_possible"
  | "dataset_capture_only"
  | "not_trainable";

/** A tap: an array of a step's output that is kept for training. */
export type SuggestedTap = JsonObject & {
  id: string;
  from: string;
  /** `input`: read by the replaced block; `reference`: compared by an evaluation. */
  purpose: "input" | "reference";
  /** Beside streams of bits or symbols, of which a run gives one record, other arrays are one record as well. */
  record?: "run";
};

/** Streams of a channel path: arrays of one dimension, of any content. */
const STREAM = /^channel\.(payload_bits|coded_bits|framed_bits|demod_bits|bits|symbols|rx_symbols|llr)\./;

/** The default name of a tap. */
const tapId = (from: string): string => from.replaceAll(/[^A-Za-z0-9]+/g, "_").slice(0, 64);

export interface EvaluationSink extends JsonObject {
  step_id: string;
  op: string;
  name: string;
  /** Selected boundaries whose outputs it depends on. */
  reached_from: string[];
}

export interface TrainingInspection extends JsonObject {
  schema_version: 1;
  kind: "svc.training_inspection";
  recipe: string;
  /** Identity of the scenario. */
  scenario_sha256: string;
  /** Identity of the plan. */
  training_plan_sha256: string;
  status: TrainingStatus;
  /** What to do with it, the best first. */
  recommendations: { id: string; reason: string }[];
  /** All steps. */
  boundaries: Boundary[];
  selected_steps: string[];
  evaluation_sinks: EvaluationSink[];
  routes: GradientRoute[];
  suggested_taps: SuggestedTap[];
  training_plan: TrainingPlan;
}

/**
 * Inspects a compiled recipe under a plan.
 * @param effective form of the recipe
 * @param plan in normal form; where it selects nothing, all that can be replaced counts as selected
 * @throws SvcError `training_plan_invalid` with every step that the plan cannot name
 */
export function inspectRecipe(effective: RecipeDocument, plan: TrainingPlan, registry: Registry): TrainingInspection {
  const boundaries = boundariesOf(effective, registry);
  const reach = new Reach(effective);
  checkPlan(plan, boundaries, effective, registry, reach);

  const selectable = boundaries.filter((boundary) => boundary.selectable).map(({ step_id }) => step_id);
  const selected = plan.selected_steps.length === 0 ? selectable : plan.selected_steps;
  const trained = new Set(selected);
  const sinks = effective.steps.filter(({ id, op }) => {
    const contract = registry.find(op)?.operation.contract;
    if (contract === undefined || !isEvaluation(contract)) return false;
    if (plan.loss_steps.length > 0 && !plan.loss_steps.includes(id)) return false;
    return selected.some((from) => reach.reaches(from, id));
  });
  const evaluation_sinks = sinks.map(({ id, op }): EvaluationSink => ({
    step_id: id,
    op,
    name: registry.get(op).operation.contract.name,
    reached_from: selected.filter((from) => reach.reaches(from, id)),
  }));
  const routes = evaluation_sinks.flatMap(({ step_id: to, reached_from }) =>
    reached_from.map((from) =>
      gradientRoute(effective, registry, { from, to, trained, external: plan.objective !== "", reach })
    )
  );
  const status = statusOf(selected, routes);
  return {
    schema_version: 1,
    kind: "svc.training_inspection",
    recipe: effective.name,
    scenario_sha256: scenarioSha256(effective),
    training_plan_sha256: sha256Json(plan),
    status,
    recommendations: recommend(status, selected, boundaries, effective, reach),
    boundaries,
    selected_steps: selected,
    evaluation_sinks,
    routes,
    suggested_taps: suggestTaps(effective, registry, selected, evaluation_sinks.map(({ step_id }) => step_id), reach),
    training_plan: plan,
  };
}

function checkPlan(
  plan: TrainingPlan,
  boundaries: readonly Boundary[],
  { steps }: RecipeDocument,
  registry: Registry,
  reach: Reach,
): void {
  const problems: Diagnostic[] = [];
  const ids = steps.map(({ id }) => id);
  const refuse = (key: string, index: number, message: string, hint: string | null) =>
    problems.push(diagnostic("training_plan_invalid", [key, index], message, { hint }));
  const unknown = (key: string, index: number, id: string) =>
    refuse(key, index, `Cannot find a step named ${id}`, didYouMean(id, ids));
  plan.selected_steps.forEach((id, index) => {
    const boundary = boundaries.find(({ step_id }) => step_id === id);
    if (boundary === undefined) return unknown("selected_steps", index, id);
    if (!boundary.selectable) {
      const possible = boundaries.filter(({ selectable }) => selectable).map(({ step_id }) => step_id);
      const hint = possible.length === 0
        ? "No step of this recipe can be replaced"
        : `It can be ${possible.join(", ")}`;
      return refuse("selected_steps", index, `Cannot replace ${id}: ${lowerFirst(boundary.reason!)}`, hint);
    }
    if (boundary.partners.length > 0 && !boundary.partners.some((partner) => plan.selected_steps.includes(partner))) {
      const hint = `Select ${boundary.partners[0]} too`;
      refuse("selected_steps", index, `Cannot train ${id} alone: only its counterpart reads its output`, hint);
    }
  });
  plan.loss_steps.forEach((id, index) => {
    const step = steps.find((item) => item.id === id);
    if (step === undefined) return unknown("loss_steps", index, id);
    const contract = registry.find(step.op)?.operation.contract;
    if (contract === undefined || !isEvaluation(contract)) {
      return refuse("loss_steps", index, `Cannot use ${id} as a loss: it evaluates nothing`, null);
    }
    if (plan.selected_steps.length > 0 && !plan.selected_steps.some((from) => reach.reaches(from, id))) {
      refuse("loss_steps", index, `Cannot use ${id} as a loss: no selected step reaches it`, null);
    }
  });
  if (problems.length > 0) throw invalidPlan(problems);
}

function statusOf(selected: readonly string[], routes: readonly GradientRoute[]): TrainingStatus {
  if (selected.length === 0) return "not_trainable";
  if (!routes.some(({ open }) => open)) return "dataset_capture_only";
  const each = selected.every((id) => routes.some(({ from_step }) => from_step === id));
  return each && routes.every(({ open }) => open) ? "full_gradient_possible" : "partial_gradient_possible";
}

function recommend(
  status: TrainingStatus,
  selected: readonly string[],
  boundaries: readonly Boundary[],
  { steps }: RecipeDocument,
  reach: Reach,
): { id: string; reason: string }[] {
  const list: { id: string; reason: string }[] = [];
  const add = (id: string, reason: string) => list.push({ id, reason });
  if (status === "full_gradient_possible") {
    add("differentiable_export", "Every evaluation can be followed back as a loss");
  }
  if (status === "partial_gradient_possible") {
    add("differentiable_export", "Some evaluations can be followed back as losses");
  }
  const channels = steps.filter(({ op }) => op.startsWith("wireless.") || /^channel\..*link/.test(op)).map(({ id }) =>
    id
  );
  // Half of a codec is no receiver by itself.
  const whole = selected.filter((id) => boundaries.find(({ step_id }) => step_id === id)!.partners.length === 0);
  const receivers = whole.filter((id) =>
    channels.some((channel) => reach.reaches(channel, id)) && !channels.some((channel) => reach.reaches(id, channel))
  );
  if (receivers.length > 0) {
    add(
      "receiver_only",
      `${receivers.join(", ")} stands behind the channel: training needs only its received signal`,
    );
  }
  if (selected.length > 0) {
    add("dataset_capture", "Inputs and references can be captured, which needs no gradient of the scenario");
  }
  add(
    "benchmark_run",
    selected.length > 0
      ? "The recipe as it is gives the numbers to beat"
      : "Nothing in it can be replaced; it can be run",
  );
  return list;
}

/** Inputs of the selected blocks, and references of the evaluations that do not depend on a selected block. */
function suggestTaps(
  recipe: RecipeDocument,
  registry: Registry,
  selected: readonly string[],
  losses: readonly string[],
  reach: Reach,
): SuggestedTap[] {
  const taps = new Map<string, SuggestedTap>(), kinds = new Map<string, string>();
  const step = (id: string) => recipe.steps.find((item) => item.id === id)!;
  const outputs = stepOutputKinds(recipe.steps, (op) => registry.find(op)?.operation.contract);
  const kindsOf = new Map(recipe.steps.map(({ id }, index) => [id, outputs[index]]));
  const add = (from: string, purpose: SuggestedTap["purpose"]) => {
    const [source, port] = from.split(".");
    const kind = kindsOf.get(source)?.[port];
    if (kind === undefined || formatOfKind(kind) !== "npz" || taps.has(from)) return;
    taps.set(from, { id: tapId(from), from, purpose });
    kinds.set(from, kind);
  };
  // The input of a block after another selected one changes during training.
  const touched = (id: string) => selected.some((other) => other === id || reach.reaches(other, id));
  for (const id of selected) {
    const contract = registry.get(step(id).op).operation.contract;
    for (const [port, from] of Object.entries(step(id).inputs)) {
      if (port in contract.input_kinds && !touched(from.split(".")[0])) add(from, "input");
    }
  }
  for (const id of losses) {
    for (const from of Object.values(step(id).inputs)) if (!touched(from.split(".")[0])) add(from, "reference");
  }
  const streams = [...kinds.values()].some((kind) => STREAM.test(kind));
  return [...taps.values()].map((tap) =>
    streams && !STREAM.test(kinds.get(tap.from)!) ? { ...tap, record: "run" } : tap
  );
}
