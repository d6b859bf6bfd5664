/**
 * Checks single steps: the operation is known and implemented, its parameters match its schema and each other, its
 * inputs match. A check whose premise failed is skipped.
 */
import { addDiagnostics, type Diagnostic, diagnostic } from "../contract/error.ts";
import type { Suggestions } from "../contract/nearest.ts";
import type { RegisteredOperation, Registry } from "../contract/registry.ts";
import { stepOutputKinds } from "../contract/output_kinds.ts";
import { checkValue, plainParams } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { materializeDefaults } from "../recipe/defaults.ts";
import type { StepDocument } from "../recipe/types.ts";
import { checkInputs, type Graph } from "./check_edges.ts";
import { checkWeights } from "./check_weights.ts";

/** A step that can be bound: its operation is known and its parameters are valid. */
export interface CheckedStep {
  index: number;
  step: StepDocument;
  registered: RegisteredOperation;
  /** Parameters with defaults. */
  params: JsonObject;
}

/**
 * Checks all steps of a recipe.
 * @param steps steps with effective parameters, or with sparse ones if compilation failed
 * @param options `refused`: indices of steps whose parameters the compiler refused
 */
export function checkSteps(
  steps: readonly StepDocument[],
  registry: Registry,
  { suggestions, refused }: { suggestions: Suggestions; refused?: ReadonlySet<number> },
): { problems: Diagnostic[]; checked: CheckedStep[] } {
  const found = steps.map((step) => registry.find(step.op));
  const position = new Map<string, number>();
  steps.forEach((step, index) => position.has(step.id) || position.set(step.id, index));
  const graph: Graph = {
    suggestions,
    steps,
    contracts: found.map((entry) => entry?.operation.contract),
    outputs: stepOutputKinds(steps, (op) => registry.find(op)?.operation.contract),
    position,
  };
  const problems: Diagnostic[] = [];
  const checked: CheckedStep[] = [];
  steps.forEach((step, index) => {
    const registered = found[index];
    if (registered === undefined) {
      if (step.op !== "") problems.push(unknownOperation(step, index, registry, suggestions));
      return;
    }
    const { contract, definition } = registered.operation;
    if (contract.status === "planned") {
      const note = contract.materializations.map(({ notes }) => notes).find((text) => typeof text === "string");
      problems.push(plannedOperation(step, index, note ?? null));
      return;
    }
    if (!refused?.has(index)) {
      const place = ["steps", index, "params"];
      const params = refused === undefined
        ? step.params
        : materializeDefaults(contract.params_schema, step.params, place, []) as JsonObject;
      const invalid = checkValue(contract.params_schema, params, place, { suggestions });
      const conflicts = invalid.length > 0 || definition.check === undefined
        ? []
        : crossCheck(registered, step, index, params);
      addDiagnostics(problems, [...invalid, ...conflicts].map((problem) => ({ ...problem, step_id: step.id })));
      if (invalid.length + conflicts.length === 0) checked.push({ index, step, registered, params });
    }
    addDiagnostics(problems, checkInputs(graph, index));
  });
  addDiagnostics(problems, checkWeights(checked));
  return { problems, checked };
}

/** Operations of the catalogue that are not registered yet, with the reason. */
const PLANNED_OPERATIONS: readonly [ids: RegExp, reason: string][] = [
  [/^model\.text_bart_jscc_(en|de)code$/, "It needs an ONNX encoder-decoder with beam search"],
  [/^model\.diffusers_(autoencoderkl|vqmodel)_(en|de)code$/, "It needs the ONNX graphs of an autoencoder"],
  [/^model\.codeclib_onnx_cpp_(entropy_)?(en|de)code$/, "It needs onnxruntime's C++ library"],
  [/^model\.codeclib_openvino_(entropy_)?(en|de)code$/, "It needs the OpenVINO runtime"],
  [/^model\.codeclib_(aoti_entropy_(en|de)code|export_aoti)$/, "A compiled PyTorch package cannot be loaded here"],
];

function unknownOperation(
  step: StepDocument,
  index: number,
  registry: Registry,
  suggestions: Suggestions,
): Diagnostic {
  const planned = PLANNED_OPERATIONS.find(([ids]) => ids.test(step.op));
  if (planned !== undefined) return plannedOperation(step, index, planned[1]);
  return diagnostic("unknown_operation", ["steps", index, "op"], `Cannot find an operation named ${step.op}`, {
    hint: suggestions.for(step.op, registry.ids()) ??
      "Name the folder of an adapter's operation with --adapter",
    step_id: step.id,
  });
}

function plannedOperation(step: StepDocument, index: number, reason: string | null): Diagnostic {
  return diagnostic("operation_not_implemented", ["steps", index, "op"], `Cannot run ${step.op}: it is planned`, {
    hint: reason ?? "See svc ops list for the operations that run",
    step_id: step.id,
  });
}

/** Runs the operation's own check of its parameters together. */
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
