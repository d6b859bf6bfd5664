/**
 * Common parts of the contracts that adapters wrap: a user's callable between two artifacts.
 *
 * None of these operations runs by itself: a recipe names code by the id of an adapter's operation, never by a path, so
 * that a recipe of another author cannot start any file. An adapter's manifest states which of these contracts its
 * operation `wraps`; ports, kinds and parameters are then those declared here. Planning refuses a direct use.
 */
import {
  defineOperation,
  type Operation,
  type OperationDefinition,
  type Outputs,
  type Ports,
  SvcError,
  z,
} from "./api.ts";

const BARE = "set by the manifest of an adapter that wraps this contract, not by a recipe";

/** Location of the callable: the fields of `adapter` in a manifest. */
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
      "arguments of the callable: array and parameters, the array only, or an object of array, metadata and parameters",
    ),
};

/** Additional parameters of coders to and from bits. */
export const BIT_PARAMS = {
  bit_storage: z.enum(["unpacked_bits", "packed_bytes"]).default("unpacked_bits")
    .describe("bits of the callable: one per element, or eight per byte; the link always has one per element"),
  bit_order: z.enum(["big", "little"]).default("big")
    .describe("first bit of a packed byte: the most significant (big) or the least significant (little)"),
};

/** Parameters of a dataset or a metric: f({params, ...}, context), f(params, context) or f(context). */
export const TASK_PARAMS = {
  ...CALLABLE,
  call_style: z.enum(["dict", "params", "none"]).default("dict")
    .describe("arguments of the callable: one object with everything, the parameters only, or none"),
};

/** Declares a contract that adapters wrap. The planner refuses a direct use, since its requirement is never met. */
export function defineAdapterContract<
  const In extends Ports = Record<never, never>,
  const Out extends Outputs = Record<never, never>,
  Params extends z.ZodObject = z.ZodObject,
>(
  definition: Omit<OperationDefinition<In, Record<never, never>, Out, Params>, "threadSafe" | "requires" | "run">,
): Operation {
  const { id } = definition;
  return defineOperation({
    ...definition as typeof definition & { outputs: Out; params: Params },
    // An adapter may share state between calls, so its steps never overlap with others.
    threadSafe: false,
    requires: () => [{ kind: "adapter", id }],
    run() {
      throw new SvcError("runtime_unavailable", `Cannot run ${id} directly: it is a contract for adapters`, {
        hint: "Use the operation of an adapter; svc adapter scaffold writes an example",
      });
    },
  });
}
