/** Parameters that an entry of a contract's `materializations` binds to values. */
import { sameValue } from "./json.ts";
import type { MaterializationRow } from "./operation.ts";
import type { JsonObject } from "./value.ts";

const NONE: string[] = [];

/** Bindings that the parameters lack. */
export function misses({ parameter_bindings: bindings }: MaterializationRow, params: JsonObject): string[] {
  if (bindings === undefined) return NONE;
  return Object.keys(bindings).filter((name) =>
    bindings[name] !== params[name] && !sameValue(bindings[name], params[name])
  );
}

/** Whether the parameters have all bindings of an entry. */
export function matches(entry: MaterializationRow, params: JsonObject): boolean {
  return misses(entry, params).length === 0;
}
