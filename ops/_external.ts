/**
 * What the contracts have in common that adapters wrap: a callable of the user between two artifacts.
 *
 * None of these operations runs by itself, for a recipe names code by the id of an adapter's operation and never by a
 * path: a recipe of somebody else could otherwise start any file. An adapter's manifest says which of these contracts its
 * operation `wraps`; ports, kinds and parameters are then those declared here. A bare use is refused while planning.
 */
import { SvcError } from "../lib/contract/error.ts";
import type { Requirement } from "../lib/contract/operation.ts";
import { z } from "../lib/contract/zod.ts";

const BARE = "given by the manifest of an adapter that wraps this contract; a recipe cannot name code";

/** Where the callable is: the members of `adapter` in a manifest. */
const CALLABLE = {
  module: z.string().default("").describe(`bare name in the import map of the adapter's folder; ${BARE}`),
  path: z.string().default("").describe(`file in the adapter's folder; ${BARE}`),
  callable: z.string().default("").describe(`name of the exported function; ${BARE}`),
};

/** Parameters of a coder: f(array, params, context), f(array, context) or f({array, metadata, params}, context). */
export const CODER_PARAMS = {
  ...CALLABLE,
  call_style: z.enum(["array_params", "array", "dict"]).default("array_params")
    .describe(
      "what the callable is called with: array and parameters, the array alone, or array, metadata, parameters",
    ),
};

/** Parameters of coders to and from bits besides those of all coders. */
export const BIT_PARAMS = {
  bit_storage: z.enum(["unpacked_bits", "packed_bytes"]).default("unpacked_bits")
    .describe("how the callable holds bits: one an element, or eight a byte; on the link it is always one an element"),
  bit_order: z.enum(["big", "little"]).default("big")
    .describe("which bit of a packed byte comes first: the most or the least significant one"),
};

/** Parameters of a dataset or a metric: f({params, ...}, context), f(params, context) or f(context). */
export const TASK_PARAMS = {
  ...CALLABLE,
  call_style: z.enum(["dict", "params", "none"]).default("dict")
    .describe("what the callable is called with: everything in one object, the parameters alone, or nothing"),
};

/** What a bare use needs and never gets; the planner says so. */
export const needsAdapter = (id: string) => (): Requirement[] => [{ kind: "adapter", id }];

/** The implementation of a bare contract. @throws SvcError `runtime_unavailable` always */
export const refuseBare = (id: string) => (): never => {
  throw new SvcError("runtime_unavailable", `Cannot run ${id} itself: it is the contract that adapters wrap`, {
    hint: "Name the operation of an adapter; svc adapter scaffold writes one",
  });
};
