/** Explanations of the values of an enumerated parameter, and which of them cannot be chosen. */
import { sameValue } from "../../lib/contract/json.ts";
import type { OperationContract } from "../../lib/contract/operation.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { runtimesText } from "../runtimes.ts";

export interface Choice {
  value: Value;
  /** Explanation in one line. */
  line: string;
  /** The reason why it cannot be chosen; null if it can. */
  reason: string | null;
}

/** Names of parameters that select the method of a block, in display order. */
export const SELECTORS = ["mode", "policy", "model", "runtime", "backend"];

/** Whether a parameter selects the method of a block. */
export const isSelector = (name: string, schema: JsonObject): boolean =>
  Array.isArray(schema.enum) && (schema["x-svc-materialization-selector"] !== undefined || SELECTORS.includes(name));

/**
 * The values of an enumerated parameter; undefined where all of them can be chosen and none selects a method.
 *
 * @param contract with the materialisations that values select, and the values that cannot be chosen
 */
export function choicesOf(
  name: string,
  schema: JsonObject,
  { materializations, unavailable_values }: Pick<OperationContract, "materializations" | "unavailable_values">,
): Choice[] | undefined {
  const reasons = unavailable_values?.[name];
  if (reasons === undefined && !isSelector(name, schema)) return undefined;
  return (schema.enum as Value[]).map((value) => {
    const ready = materializations.filter(({ runner, status, parameter_bindings: bindings = {} }) =>
      runner === "benchmark_run" && status === "implemented" && bindings[name] !== undefined &&
      sameValue(bindings[name], value)
    );
    return {
      value,
      line: ready.length === 0 ? "" : `runs in ${runtimesText(ready.map(({ backend }) => backend))}`,
      reason: reasons?.[String(value)] ?? null,
    };
  });
}
