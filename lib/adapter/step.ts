/** The module that a worker thread imports to run a step of an adapter. */
import type { Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import type { AdapterBinding } from "./binding.ts";
import { adapterOperation } from "./operation.ts";

/** The operation of a binding. */
export function operationOf(binding: JsonObject): Operation {
  const bound = binding as AdapterBinding;
  return adapterOperation(bound.operation, { ...bound, permissions_requested: bound.requested }, bound);
}
