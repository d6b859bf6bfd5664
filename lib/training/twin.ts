/** PyTorch twins of operations in an exported project: a twin may cover some values of parameters only. */
import { canonicalJson, sameValue } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";

/** What the export of an operation binds parameters to; trainable components bind their network, which has no values. */
function coverage({ contract }: Operation): JsonObject[] {
  if (contract.trained_artifact_abi !== undefined) return [];
  return contract.materializations.filter(({ runner }) => runner === "differentiable_export")
    .map(({ parameter_bindings = {} }) => parameter_bindings);
}

const misses = (bindings: JsonObject, params: JsonObject) =>
  Object.keys(bindings).filter((name) => !sameValue(bindings[name], params[name]));

/** Whether the twin of an operation computes a step with these effective parameters. */
export function hasTwin(operation: Operation | undefined, params: JsonObject): boolean {
  if (operation?.definition.twin !== true) return false;
  const covered = coverage(operation);
  return covered.length === 0 || covered.some((bindings) => misses(bindings, params).length === 0);
}

/** The parameters that no twin of the operation covers, as the end of a phrase; null for a covered step, or without a twin. */
export function uncovered(operation: Operation | undefined, params: JsonObject): string | null {
  if (operation?.definition.twin !== true || hasTwin(operation, params)) return null;
  const [nearest] = coverage(operation).map((bindings) => misses(bindings, params)).sort((a, b) => a.length - b.length);
  return nearest.map((name) => `${name}=${canonicalJson(params[name]).replaceAll('"', "")}`).join(", ");
}
