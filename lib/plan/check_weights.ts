/**
 * Checks that every step after a channel with scaled noise treats the weights of importance sampling: a result that ignores them
 * would be that of the scaled noise.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { refusal, scalesNoise } from "../contract/importance.ts";
import type { Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";

/** A step with valid parameters, defaults included. */
interface Checked {
  index: number;
  step: StepDocument;
  registered: { operation: Operation };
  params: JsonObject;
}

/** @param checked the steps of a recipe, in order */
export function checkWeights(checked: readonly Checked[]): Diagnostic[] {
  /** Steps whose outputs carry weights, with the symbols that share one. */
  const weighted = new Map<string, number>();
  return checked.flatMap(({ index, step, registered: { operation }, params }) => {
    const shared = Object.values(step.inputs).map((from) =>
      typeof from === "string" ? weighted.get(from.split(".")[0]) ?? 0 : 0
    );
    const symbols = Math.max(0, ...shared), { importance: role } = operation.definition;
    if (scalesNoise(params)) weighted.set(step.id, Number(params.importance_block_symbols ?? 1));
    else if (symbols > 0) weighted.set(step.id, symbols);
    if (symbols === 0 || role !== undefined && !(role === "block" && symbols === 1)) return [];
    const { code, message, hint } = refusal(operation.id, role);
    return [diagnostic(code, ["steps", index, "op"], message, { hint, step_id: step.id })];
  });
}
