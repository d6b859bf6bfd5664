/** PyTorch twins of operations in an exported project: a twin may cover some values of parameters only. */
import { matches, misses } from "../contract/bindings.ts";
import { canonicalJson } from "../contract/json.ts";
import { scalesNoise } from "../contract/importance.ts";
import type { MaterializationRow, Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";

/** Entries of the export that bind parameters; those of trainable components bind their network, which has no values. */
function coverage({ contract }: Operation): MaterializationRow[] {
  if (contract.trained_artifact_abi !== undefined) return [];
  return contract.materializations.filter(({ runner }) => runner === "differentiable_export");
}

/** Parameters with values that no twin has: scaled noise, a named realisation of a motion, and phase tracking. */
const unlike = (params: JsonObject): string[] => [
  ...scalesNoise(params) ? ["importance_scale"] : [],
  ...params.time_variation === "doppler" && params.stream !== undefined ? ["stream"] : [],
  ...params.ptrs_time_density !== undefined ? ["ptrs_time_density"] : [],
  ...params.ptrs_groups !== undefined ? ["ptrs_groups"] : [],
  ...params.phase_compensation === "pilots" ? ["phase_compensation"] : [],
];

/** Whether the twin of an operation computes a step with these effective parameters. */
export function hasTwin(operation: Operation | undefined, params: JsonObject): boolean {
  if (!operation?.definition.twin || unlike(params).length > 0) return false;
  const covered = coverage(operation);
  return covered.length === 0 || covered.some((entry) => matches(entry, params));
}

/** The parameters that no twin of the operation covers, as the end of a phrase; null for a covered step, or without a twin. */
export function uncovered(operation: Operation | undefined, params: JsonObject): string | null {
  if (!operation?.definition.twin || hasTwin(operation, params)) return null;
  const entries = coverage(operation).map((entry) => misses(entry, params)).sort((a, b) => a.length - b.length);
  return [...unlike(params), ...entries[0] ?? []].map((name) =>
    `${name}=${canonicalJson(params[name]).replaceAll('"', "")}`
  ).join(", ");
}
