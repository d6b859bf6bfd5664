/**
 * Checks steps one by one: the operation is known and implemented, its parameters fit its schema and each other, its
 * inputs fit. A check whose premise failed is skipped.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { RegisteredOperation, Registry } from "../contract/registry.ts";
import { checkValue, plainParams } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { materializeDefaults } from "../recipe/defaults.ts";
import type { StepDocument } from "../recipe/types.ts";
import { checkInputs, type Graph } from "./check_edges.ts";

/** A step that can be bound: its operation is known and its parameters are in order. */
export interface CheckedStep {
  index: number;
  step: StepDocument;
  registered: RegisteredOperation;
  /** Parameters with defaults. */
  params: JsonObject;
}

/**
 * Checks all steps of a recipe.
 *
 * @param steps steps with effective parameters, or with sparse ones where compiling failed
 * @param refused indices of steps whose parameters the compiler has refused already
 */
export function checkSteps(
  steps: readonly StepDocument[],
  registry: Registry,
  refused?: ReadonlySet<number>,
): { problems: Diagnostic[]; checked: CheckedStep[] } {
  const found = steps.map((step) => registry.find(step.op));
  const position = new Map<string, number>();
  steps.forEach((step, index) => position.has(step.id) || position.set(step.id, index));
  const graph: Graph = { steps, contracts: found.map((entry) => entry?.operation.contract), position };
  const problems: Diagnostic[] = [];
  const checked: CheckedStep[] = [];
  steps.forEach((step, index) => {
    const registered = found[index];
    if (registered === undefined) {
      if (step.op !== "") problems.push(unknownOperation(step, index, registry));
      return;
    }
    const { contract, definition } = registered.operation;
    if (contract.status === "planned") {
      problems.push(plannedOperation(step, index, contract));
      return;
    }
    if (!refused?.has(index)) {
      const place = ["steps", index, "params"];
      const params = refused === undefined
        ? step.params
        : materializeDefaults(contract.params_schema, step.params, place, []) as JsonObject;
      const invalid = checkValue(contract.params_schema, params, place);
      const conflicts = invalid.length > 0 || definition.check === undefined
        ? []
        : crossCheck(registered, step, index, params);
      for (const problem of [...invalid, ...conflicts]) problems.push({ ...problem, step_id: step.id });
      if (invalid.length + conflicts.length === 0) checked.push({ index, step, registered, params });
    }
    problems.push(...checkInputs(graph, index));
  });
  return { problems, checked };
}

function unknownOperation(step: StepDocument, index: number, registry: Registry): Diagnostic {
  return diagnostic("unknown_operation", ["steps", index, "op"], `Cannot find an operation named ${step.op}`, {
    hint: didYouMean(step.op, registry.ids()) ?? "An operation of an adapter is known where --adapter names its folder",
    step_id: step.id,
  });
}

function plannedOperation(step: StepDocument, index: number, contract: OperationContract): Diagnostic {
  const note = contract.materializations.map((entry) => entry.notes).find((text) => typeof text === "string");
  return diagnostic("operation_not_implemented", ["steps", index, "op"], `Cannot run ${step.op}: it is planned`, {
    hint: typeof note === "string" ? note : "See svc ops list for the operations that run",
    step_id: step.id,
  });
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
      problem.input === undefined
        ? ["steps", index, "params", ...(problem.place ?? [])]
        : ["steps", index, "inputs", problem.input],
      problem.message,
      { hint: problem.hint ?? null, step_id: step.id },
    )
  );
}
