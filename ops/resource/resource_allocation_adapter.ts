/**
 * Power in proportion to exp(g_k/temperature), p = total_power·softmax(g/temperature): a policy with one parameter,
 * between equal power (high temperature) and all power on the strongest subcarrier (low temperature).
 */
import { defineOperation, float, z } from "../api.ts";
import { executed, exported } from "../_backends.ts";
import { allocateEach, RESOURCE_DECISION, RESOURCE_PROBLEM, resourceProblemOf } from "../_resource.ts";

export default defineOperation({
  id: "model.resource_allocation_adapter",
  name: "Softmax resource allocator",
  description: "Splits the power by a softmax of the gains",
  inputs: { problem: [RESOURCE_PROBLEM] },
  outputs: { decision: RESOURCE_DECISION },
  params: z.strictObject({
    temperature: z.number().positive().default(1).describe("in units of the gain; small values favour the strongest"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  materializations: [
    ...executed("numpy", "weighted_gain_softmax_reference"),
    exported("torch", "trainable_resource_policy_endpoint"),
  ],
  twin: true,
  run({ inputs, params: { temperature } }) {
    const problem = resourceProblemOf(inputs.problem);
    const decision = allocateEach(problem, "softmax", (gains) => {
      // Shifting by the largest gain keeps the exponentials in range; the shares stay the same.
      const largest = gains.reduce((most, gain) => Math.max(most, gain), 0);
      const weights = gains.map((gain) => Math.exp((gain - largest) / temperature));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      return weights.map((weight) => problem.totalPower * weight / total);
    }, { temperature: float(temperature) });
    return { outputs: { decision } };
  },
});
