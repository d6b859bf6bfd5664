/**
 * Checks steps one by one: the operation is known and implemented, its parameters fit its schema and each other, its
 * inputs fit. A check whose premise failed is skipped.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { RegisteredOperation, Registry } from "../contract/registry.ts";
import { checkValue, isEffective, plainParams } from "../contract/schema.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import { checkInputs, checkReferences, type Graph } from "./check_edges.ts";

/** A step that can be bound: its operation is known and its parameters are in order. */
export interface CheckedStep {
  index: number;
  step: StepDocument;
  registered: RegisteredOperation;
  /** Parameters with defaults. */
  params: JsonObject;
}

export interface StepFindings {
  references: Diagnostic[];
  steps: Diagnostic[];
  checked: CheckedStep[];
}

/**
 * Checks all steps of a recipe.
 *
 * @param steps effective steps, or normalised ones where compiling failed
 * @param refused indices of steps whose parameters the compiler has refused already
 */
export function checkSteps(
  steps: readonly StepDocument[],
  registry: Registry,
  refused: ReadonlySet<number>,
): StepFindings {
  const found = steps.map((step) => registry.find(step.op));
  const position = new Map<string, number>();
  steps.forEach((step, index) => position.has(step.id) || position.set(step.id, index));
  const graph: Graph = {
    steps,
    contracts: found.map((entry) => entry?.operation.contract),
    position,
  };
  const problems: Diagnostic[] = [];
  const checked: CheckedStep[] = [];
  steps.forEach((step, index) => {
    const registered = found[index];
    if (registered === undefined) {
      problems.push(
        diagnostic("unknown_operation", ["steps", index, "op"], `Cannot find an operation named ${step.op}`, {
          hint: didYouMean(step.op, registry.ids()),
          step_id: step.id,
        }),
      );
      return;
    }
    const { contract, definition } = registered.operation;
    if (contract.status === "planned") {
      const note = contract.materializations.map((entry) => entry.notes).find((text) => typeof text === "string");
      problems.push(
        diagnostic("operation_not_implemented", ["steps", index, "op"], `Cannot run ${step.op}: it is planned`, {
          hint: typeof note === "string" ? note : null,
          step_id: step.id,
        }),
      );
      return;
    }
    if (!refused.has(index)) {
      const params = withDefaults(contract.params_schema, step.params);
      const invalid = checkValue(contract.params_schema, params, ["steps", index, "params"]);
      const conflicts = invalid.length > 0 || definition.check === undefined
        ? []
        : crossCheck(registered, step, index, params);
      for (const problem of [...invalid, ...conflicts]) problems.push({ ...problem, step_id: step.id });
      if (invalid.length + conflicts.length === 0) checked.push({ index, step, registered, params });
    }
    problems.push(...checkInputs(graph, index));
  });
  return { references: checkReferences(graph), steps: problems, checked };
}

/** What the operation itself says about its parameters together. */
export function crossCheck(
  { operation: { definition } }: RegisteredOperation,
  step: StepDocument,
  index: number,
  params: JsonObject,
): Diagnostic[] {
  const problems = definition.check?.(plainParams(params), new Set(Object.keys(step.inputs))) ?? [];
  return problems.map((problem) =>
    diagnostic(
      problem.code ?? "params_conflict",
      ["steps", index, "params", ...(problem.place ?? [])],
      problem.message,
      { hint: problem.hint ?? null, step_id: step.id },
    )
  );
}

/**
 * The parameters with the defaults of their schema where they are missing and active; those that `drop` names and that
 * are inactive go.
 */
export function withDefaults(
  schema: JsonObject,
  params: JsonObject,
  drop: (name: string) => boolean = () => false,
): JsonObject {
  let result = params;
  for (const [name, node] of Object.entries((schema.properties ?? {}) as JsonObject)) {
    if (!isObject(node)) continue;
    const present = params[name] !== undefined;
    if (present && (node["x-svc-effective-when"] === undefined || !drop(name))) continue;
    if (!present && node.default === undefined) continue;
    const active = isEffective(schema, name, params);
    if (present === active) continue;
    if (result === params) result = { ...params };
    if (active) result[name] = node.default;
    else delete result[name];
  }
  return result;
}
