/** Writes the document `execution-plan.json` from bound steps. The same recipe gives the same bytes. */
import { contractSha256 } from "../contract/define.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, compareCodePoints } from "../contract/json.ts";
import type { OperationContract, Requirement, Runner } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { CheckedStep } from "./check_steps.ts";
import type { ModuleSource } from "./implementation_source.ts";
import { materializationId } from "./entries.ts";
import type { Choice } from "./materialize.ts";
import type { ExecutionPlan, PlanStep } from "./types.ts";

/** A step with the entry that executes it. */
export interface BoundStep extends CheckedStep {
  choice: Choice;
  source: ModuleSource;
  requirements: Requirement[];
}

/**
 * Builds the plan.
 *
 * @param recipe effective recipe, and its digest
 * @param bound one binding per step, in order
 */
export function buildPlan(
  recipe: RecipeDocument,
  recipeSha256: string,
  runner: Runner,
  bound: readonly BoundStep[],
): ExecutionPlan {
  const contracts = new Map<string, OperationContract>();
  for (const { registered: { operation } } of bound) contracts.set(operation.id, operation.contract);
  const operations = Object.fromEntries(
    [...contracts].sort(([a], [b]) => compareCodePoints(a, b)),
  ) as unknown as JsonObject;
  const operationsText = objectText(Object.fromEntries(
    [...contracts].map(([id, contract]) => [id, contractText(contract)]),
  ));
  const rows = bound.map((step) => planStep(step, runner));
  const body = {
    schema_version: 1 as const,
    kind: "svc.execution_plan" as const,
    runner,
    recipe: { name: recipe.name, sha256: recipeSha256, step_count: recipe.steps.length },
    operation_contracts: { schema_version: 1, sha256: sha256Hex(operationsText), operations },
    steps: rows.map(({ row }) => row),
  };
  const { steps: _steps, operation_contracts: { operations: _operations, ...contractsHead }, ...head } = body;
  const text = objectText({
    ...memberTexts(head),
    operation_contracts: objectText({ ...memberTexts(contractsHead), operations: operationsText }),
    steps: `[${rows.map((row) => row.text).join(",")}]`,
  });
  return Object.freeze({ ...body, sha256: sha256Hex(text) });
}

// A plan repeats the contracts it uses, and every row is hashed by itself and in the plan: canonical texts are put
// together from their parts, each written once.

const contractTexts = new WeakMap<OperationContract, string>();

function contractText(contract: OperationContract): string {
  let text = contractTexts.get(contract);
  if (text === undefined) contractTexts.set(contract, text = canonicalJson(contract));
  return text;
}

function memberTexts(object: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, canonicalJson(value)]));
}

/** The canonical text of an object whose members are canonical texts; its keys are field names and operation ids. */
function objectText(members: Record<string, string>): string {
  const keys = Object.keys(members).sort(compareCodePoints);
  return `{${keys.map((key) => `"${key}":${members[key]}`).join(",")}}`;
}

function planStep(bound: BoundStep, runner: Runner): { row: PlanStep; text: string } {
  const { step, registered: { operation }, choice, source, requirements } = bound;
  const { entry } = choice;
  const id = materializationId(operation.id, entry);
  const row = {
    schema_version: 1 as const,
    step_id: step.id,
    operation_id: operation.id,
    runner,
    backend: entry.backend,
    implementation: entry.implementation,
    materialization_id: id,
    implementation_identity: `${id}#${source.source_sha256 ?? source.source_module}`,
    implementation_metadata: {
      operation_name: operation.contract.name as string,
      // The name of the export that holds the operation.
      operation_class: "default",
      status: entry.status,
      selection: {
        source: choice.source,
        requested_backend: choice.requested_backend,
        resolved_backend: entry.backend,
        candidate_index: choice.candidate_index,
        ...(choice.requested_implementation === undefined
          ? {}
          : { requested_implementation: choice.requested_implementation }),
        ...(choice.requested_parameter === undefined ? {} : { requested_parameter: choice.requested_parameter }),
        ...(entry.parameter_bindings === undefined ? {} : { parameter_bindings: entry.parameter_bindings }),
      },
      source_module: source.source_module,
      source_sha256: source.source_sha256,
      ...(Object.keys(choice.overrides).length === 0 ? {} : { parameter_overrides: choice.overrides }),
      ...(requirements.length === 0 ? {} : {
        runtime_availability: { requirements: requirements.map(({ kind, id }) => ({ kind, id })) },
      }),
      ...(Object.keys(choice.subordinates).length === 0 ? {} : { subordinate_runtime_selectors: choice.subordinates }),
      ...(entry.notes === undefined ? {} : { notes: entry.notes }),
    },
    operation_contract_sha256: contractSha256(operation.contract),
  };
  const members = memberTexts(row);
  const binding_sha256 = sha256Hex(objectText(members));
  const text = objectText({ ...members, binding_sha256: canonicalJson(binding_sha256) });
  return { row: Object.freeze({ ...row, binding_sha256 }), text };
}
