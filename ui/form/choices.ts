/** Explanations of the values of a parameter that selects a method, and which of them are not available. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { runtimesText } from "../runtimes.ts";

export interface Choice {
  value: Value;
  /** Explanation in one line. */
  line: string;
  /** The reason why it is not available; null if it is. */
  reason: string | null;
}

/** Names of parameters that select the method of a block, in display order. */
export const SELECTORS = ["mode", "policy", "model", "runtime", "backend"];

/** Whether a parameter selects the method of a block. */
export const isSelector = (name: string, schema: JsonObject): boolean =>
  Array.isArray(schema.enum) && (schema["x-svc-materialization-selector"] !== undefined || SELECTORS.includes(name));

/**
 * The values of a selector.
 *
 * @param materializations of the operation, with the parameter values that select them
 */
export function choicesOf(name: string, schema: JsonObject, materializations: readonly JsonObject[]): Choice[] {
  return (schema.enum as Value[]).map((value) => {
    const bound = materializations.filter(({ runner, parameter_bindings: bindings }) =>
      runner === "benchmark_run" && isObject(bindings) && bindings[name] !== undefined &&
      (Array.isArray(bindings[name]) ? bindings[name] : [bindings[name]]).some((one) =>
        canonicalJson(one) === canonicalJson(value)
      )
    );
    const ready = bound.filter(({ status }) => status === "implemented");
    const elsewhere = materializations.filter(({ runner, parameter_bindings: bindings, status }) =>
      runner !== "benchmark_run" && status === "planned" && isObject(bindings) &&
      canonicalJson(bindings[name] ?? null) === canonicalJson(value)
    );
    const free = materializations.some(({ runner, status, parameter_bindings: bindings }) =>
      runner === "benchmark_run" && status === "implemented" && !(isObject(bindings) && bindings[name] !== undefined)
    );
    const missing = bound.length > 0 ? ready.length === 0 : elsewhere.length > 0 && !free;
    const notes = [...new Set([...bound, ...elsewhere].map(({ notes }) => String(notes ?? "")).filter(Boolean))];
    return {
      value,
      line: ready.length === 0 ? "" : `runs in ${runtimesText(ready.map(({ backend }) => String(backend)))}`,
      reason: missing ? notes.join("; ") || "Planned" : null,
    };
  });
}
