/** The entries of a contract's `materializations`: names, matching and descriptions. */
import { canonicalJson } from "../contract/json.ts";
import type { MaterializationRow as Entry, OperationContract, Runner } from "../contract/operation.ts";

export type { Entry };
import type { JsonObject, Value } from "../contract/value.ts";

/** `<op>@<runner>/<backend>/<implementation>`. */
export function materializationId(operation: string, entry: Entry): string {
  return `${operation}@${entry.runner}/${entry.backend}/${entry.implementation}`;
}

/** Entries that a contract declares for a runner, or all of them. */
export function entriesOf(contract: OperationContract, runner?: Runner): Entry[] {
  const { materializations: entries } = contract;
  return runner === undefined ? entries : entries.filter((entry) => entry.runner === runner);
}

export function specificity(entry: Entry): number {
  return Object.keys(entry.parameter_bindings ?? {}).length;
}

export function text(value: Value | undefined): string {
  return typeof value === "string" ? value : value === undefined ? "nothing" : canonicalJson(value);
}

export function setting(name: string, value: Value | undefined): string {
  return `${name}=${text(value)}`;
}

/** The parameters that select an entry, as the end of a phrase. */
export function settings(entry: Entry, params: JsonObject): string {
  const names = Object.keys(entry.parameter_bindings ?? {});
  return names.length === 0 ? "" : ` with ${names.map((name) => setting(name, params[name])).join(", ")}`;
}

/** Backend, implementation and bindings in a hint. */
export function describe(entry: Entry): string {
  const bindings = Object.entries(entry.parameter_bindings ?? {}).map(([name, value]) => setting(name, value));
  return `${entry.backend}/${entry.implementation}${bindings.length > 0 ? ` (${bindings.join(", ")})` : ""}`;
}
