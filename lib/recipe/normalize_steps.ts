/** Normalises the steps of a recipe: ids made explicit, references checked against what stands before them. */
import { isObject, type Value } from "../contract/value.ts";
import { describe, type Findings } from "./findings.ts";
import { MAX_STEPS } from "./limits.ts";
import type { StepDocument } from "./types.ts";

const STEP_FIELDS = ["id", "op", "params", "inputs", "description"];
/** What a step may be called. */
export const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
/** Step ids have no dot, so the one dot parts step from output. */
const REFERENCE = /^([^.]+)\.([^.]+)$/;

/** Steps by id, with the index where the id is first used. */
type StepIndex = ReadonlyMap<string, number>;

/** The steps of a recipe; null when there is no list of steps to speak of. */
export function normalizeSteps(value: Value | undefined, findings: Findings): StepDocument[] | null {
  if (!Array.isArray(value)) {
    findings.misfit(value, "a list of steps", ["steps"], "Give a list with at least one step");
    return null;
  }
  if (value.length === 0) {
    findings.report(
      "recipe_validation_error",
      ["steps"],
      "Cannot run an empty list of steps",
      "Give at least one step",
    );
    return null;
  }
  if (value.length > MAX_STEPS) {
    const message = `Cannot hold ${value.length} steps`;
    findings.report("recipe_limit_exceeded", ["steps"], message, `At most ${MAX_STEPS} are allowed`);
    return null;
  }
  const ids = value.map((step, index) => stepId(step, index, findings));
  const firstUse = new Map<string, number>();
  ids.forEach((id, index) => {
    const first = firstUse.get(id);
    if (first === undefined) {
      firstUse.set(id, index);
      return;
    }
    const place = ["steps", index, "id"];
    findings.report(
      "recipe_step_id_duplicate",
      place,
      `Cannot use the step id ${id} twice`,
      `$.steps[${first}] has it`,
      id,
    );
  });
  return value.map((step, index) => normalizeStep(step, index, ids[index], firstUse, findings));
}

function stepId(step: Value, index: number, findings: Findings): string {
  const place = ["steps", index, "id"];
  const implicit = `step_${index + 1}`;
  // What is no mapping is reported as a step.
  if (!isObject(step)) return implicit;
  const { id } = step;
  if (id === undefined || id === null || id === "") {
    const message = `Cannot find an id on this step: ${implicit} is used`;
    findings.lenient("implicit_recipe_step_id", place, message, `Write id: ${implicit}`, implicit);
    return implicit;
  }
  if (typeof id === "string" && STEP_ID.test(id)) return id;
  const hint = "Use up to 128 letters, digits, - and _, starting with a letter or digit";
  findings.report("recipe_step_id_invalid", place, `Cannot use ${describe(id)} as a step id`, hint);
  return typeof id === "string" ? id : implicit;
}

function normalizeStep(step: Value, index: number, id: string, firstUse: StepIndex, findings: Findings): StepDocument {
  const place = ["steps", index] as const;
  if (!isObject(step)) {
    findings.misfit(step, "a step", place, "Give a mapping with id and op");
    return { id, op: "", params: {}, inputs: {} };
  }
  const unknown = findings.unknown(step, STEP_FIELDS, "unknown_recipe_step_field", place, id);
  const op = typeof step.op === "string" ? step.op : "";
  if (op.trim() === "") findings.misfit(step.op, "an operation", [...place, "op"], "Give an operation's id", id);
  const params = findings.mapping(step.params, [...place, "params"], id);
  const inputs = findings.mapping(step.inputs, [...place, "inputs"], id) as { [port: string]: string };
  for (const [port, reference] of Object.entries(inputs)) {
    const problem = referenceProblem(reference, index, firstUse, findings);
    if (problem === null) continue;
    findings.report("recipe_validation_error", [...place, "inputs", port], problem.message, problem.hint, id);
  }
  const description = findings.description(step.description, [...place, "description"], id);
  return { ...unknown, id, op, params, inputs, ...description };
}

function referenceProblem(
  reference: Value,
  index: number,
  firstUse: StepIndex,
  findings: Findings,
): { message: string; hint: string | null } | null {
  const source = typeof reference === "string" ? REFERENCE.exec(reference)?.[1] : undefined;
  if (source === undefined) {
    return { message: `Cannot read ${describe(reference)} as a reference`, hint: "Write <earlier step>.<output>" };
  }
  const at = firstUse.get(source);
  if (at === undefined) {
    const earlier = [...firstUse].filter(([, step]) => step < index).map(([name]) => name);
    return { message: `Cannot find a step named ${source}`, hint: findings.suggest(source, earlier) };
  }
  if (at === index) return { message: `Cannot read from the step ${source} itself`, hint: "Name an earlier step" };
  if (at > index) {
    return { message: `Cannot read from ${source}: it stands later`, hint: `Move $.steps[${at}] before this step` };
  }
  return null;
}
