/** Normalises the steps of a recipe: adds missing ids, and checks that references lead to earlier steps. */
import { isObject, type Value } from "../contract/value.ts";
import { describe, type Findings } from "./findings.ts";
import { MAX_STEPS } from "./limits.ts";
import type { StepDocument } from "./types.ts";

const STEP_FIELDS = ["id", "op", "params", "inputs", "description"];
export const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
/** Step ids have no dot, so the dot separates step and output. */
const REFERENCE = /^([^.]+)\.([^.]+)$/;

interface StepGraph {
  /** Index where an id is first used. */
  firstUse: ReadonlyMap<string, number>;
  /** As authored. */
  steps: readonly Value[];
}

/** The steps of a recipe; null without a readable list of steps. */
export function normalizeSteps(value: Value | undefined, findings: Findings): StepDocument[] | null {
  if (!Array.isArray(value)) {
    findings.misfit(value, "a list of steps", ["steps"], "Write a list with at least one step");
    return null;
  }
  if (value.length === 0) {
    findings.report(
      "recipe_validation_error",
      ["steps"],
      "Cannot run an empty list of steps",
      "Write at least one step",
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
  const graph = { firstUse, steps: value };
  return value.map((step, index) => normalizeStep(step, index, ids[index], graph, findings));
}

function stepId(step: Value, index: number, findings: Findings): string {
  const place = ["steps", index, "id"];
  const implicit = `step_${index + 1}`;
  // A value that is not a mapping is reported as a step.
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

function normalizeStep(step: Value, index: number, id: string, graph: StepGraph, findings: Findings): StepDocument {
  const place = ["steps", index] as const;
  if (!isObject(step)) {
    findings.misfit(step, "a step", place, "Write a mapping with id and op");
    return { id, op: "", params: {}, inputs: {} };
  }
  const unknown = findings.unknown(step, STEP_FIELDS, "unknown_recipe_step_field", place, id);
  const op = typeof step.op === "string" ? step.op : "";
  if (op.trim() === "") findings.misfit(step.op, "an operation", [...place, "op"], "Write the id of an operation", id);
  const params = findings.mapping(step.params, [...place, "params"], id);
  const inputs = findings.mapping(step.inputs, [...place, "inputs"], id) as { [port: string]: string };
  for (const [port, reference] of Object.entries(inputs)) {
    const problem = referenceProblem(reference, index, graph, findings);
    if (problem === null) continue;
    findings.report("recipe_validation_error", [...place, "inputs", port], problem.message, problem.hint, id);
  }
  const description = findings.description(step.description, [...place, "description"], id);
  return { ...unknown, id, op, params, inputs, ...description };
}

function referenceProblem(
  reference: Value,
  index: number,
  graph: StepGraph,
  findings: Findings,
): { message: string; hint: string | null } | null {
  const { firstUse } = graph, source = sourceOf(reference);
  if (source === undefined) {
    return { message: `Cannot read ${describe(reference)} as a reference`, hint: "Write <earlier step>.<output>" };
  }
  const at = firstUse.get(source);
  if (at === undefined) {
    const earlier = [...firstUse].filter(([, step]) => step < index).map(([name]) => name);
    return { message: `Cannot find a step named ${source}`, hint: findings.suggestions.for(source, earlier) };
  }
  if (at === index) return { message: `Cannot read from the step ${source} itself`, hint: "Name an earlier step" };
  if (at > index) {
    const cycle = pathBetween(at, index, graph);
    if (cycle === null) {
      return {
        message: `Cannot read from ${source}: it is a later step`,
        hint: `Move $.steps[${at}] before this step`,
      };
    }
    const names = [index, ...cycle].map((step) => [...firstUse].find(([, other]) => other === step)![0]);
    const message = `Cannot read from ${source}: the steps form a cycle, ${names.join(" reads from ")}`;
    return { message, hint: "Remove one of these inputs" };
  }
  return null;
}

const sourceOf = (reference: Value): string | undefined =>
  typeof reference === "string" ? REFERENCE.exec(reference)?.[1] : undefined;

/** The steps from one to another along their inputs, both included; null without a path. */
function pathBetween(from: number, to: number, { firstUse, steps }: StepGraph): number[] | null {
  const before = new Map<number, number | null>([[from, null]]);
  for (const at of before.keys()) {
    if (at === to) {
      const path: number[] = [];
      for (let step: number | null = at; step !== null; step = before.get(step) ?? null) path.unshift(step);
      return path;
    }
    const step = steps[at], inputs = isObject(step) && isObject(step.inputs) ? Object.values(step.inputs) : [];
    for (const source of inputs.map(sourceOf)) {
      const next = source === undefined ? undefined : firstUse.get(source);
      if (next !== undefined && !before.has(next)) before.set(next, at);
    }
  }
  return null;
}
