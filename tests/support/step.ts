import type { Value } from "../../lib/contract/value.ts";

/** A step of a recipe. */
export const step = (
  id: string,
  op: string,
  inputs: Record<string, string> = {},
  params: Record<string, Value> = {},
) => (
  { id, op, params, inputs }
);
