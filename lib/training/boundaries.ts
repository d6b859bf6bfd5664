/** Which steps of a recipe a trained artifact can take the place of, and why the others cannot be. */
import { REPORT } from "../contract/kinds.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import type { RecipeDocument, StepDocument } from "../recipe/types.ts";
import { partnerRole } from "./types.ts";

/** A step as a place where training may happen. */
export interface Boundary extends JsonObject {
  step_id: string;
  op: string;
  name: string;
  /** Whether an artifact can take its place: the portable replacement of its contract, and nothing else. */
  selectable: boolean;
  /** Why it is not selectable, else null. */
  reason: string | null;
  built_in_fine_tuning: boolean;
  portable_replacement: boolean;
  /** Differentiability in the contract; it never decides whether the step can be replaced. */
  differentiability: JsonObject;
  /** What an artifact must offer; null where there is no slot. */
  slot: JsonObject | null;
  /** Steps that hold the other half of a codec, and must be trained with it. */
  partners: string[];
}

const NOT_TRAINABLE = { built_in_fine_tuning: false, portable_replacement: false };

/** The steps of a recipe, in its order. */
export function boundariesOf(recipe: RecipeDocument, registry: Registry): Boundary[] {
  const contractOf = (step: StepDocument) => registry.find(step.op)?.operation.contract;
  const roleOf = (step: StepDocument) => contractOf(step)?.trained_artifact_abi?.component_role;
  return recipe.steps.map((step): Boundary => {
    const contract = contractOf(step);
    const capabilities = contract?.training_capabilities ?? NOT_TRAINABLE;
    const slot = contract?.trained_artifact_abi ?? null;
    const selectable = capabilities.portable_replacement && slot !== null;
    const partner = partnerRole(roleOf(step));
    return {
      step_id: step.id,
      op: step.op,
      name: contract?.name ?? step.op,
      selectable,
      reason: selectable ? null : whyNot(contract, step.op),
      ...capabilities,
      differentiability: contract?.differentiability ?? {},
      slot,
      partners: recipe.steps.filter((other) => partner !== undefined && roleOf(other) === partner).map(({ id }) => id),
    };
  });
}

function whyNot(contract: OperationContract | undefined, op: string): string {
  if (contract === undefined) return `The operation ${op} is not known here`;
  if (contract.external_adapter !== undefined) return "An adapter's operation brings its own model";
  if (isEvaluation(contract)) return "It measures the experiment and must stay the same";
  const group = contract.id.split(".")[0];
  if (group === "source") return "It brings the data of the experiment";
  if (group === "wireless" || group === "hardware") return "It is the physics that a trained block is judged by";
  return "Its contract declares no interface for trained artifacts";
}

/** Whether an operation evaluates: a metric, or an operation from elsewhere that only reports. */
export function isEvaluation(contract: OperationContract): boolean {
  const group = contract.id.split(".")[0];
  if (group === "metrics") return true;
  const kinds = Object.values(contract.output_kinds);
  // Reports of the channel group count resources and check boundaries.
  return group !== "channel" && kinds.length > 0 && kinds.every((kind) => kind === REPORT);
}
