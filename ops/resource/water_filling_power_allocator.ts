/**
 * Water-filling, p_k = max(μ - N0/g_k, 0) with Σ p_k = total_power: the largest sum rate over parallel Gaussian
 * channels. A subcarrier without gain gets nothing; if all are without gain the power is split evenly.
 *
 * Source: Cover and Thomas, Elements of Information Theory, 2nd ed., 2006, 9.4.
 */
import { defineOperation, z } from "../api.ts";
import { noiseFloors, waterFill } from "../../lib/numeric/link/water_filling.ts";
import { executed } from "../_backends.ts";
import { allocateEach, RESOURCE_DECISION, RESOURCE_PROBLEM, resourceProblemOf } from "../_resource.ts";

const [benchmark, capture] = executed("numpy", "closed_form_parallel_channel_water_filling");

export default defineOperation({
  id: "model.water_filling_power_allocator",
  name: "Optimal water-filling oracle",
  description: "Splits the power for the largest sum rate",
  inputs: { problem: [RESOURCE_PROBLEM] },
  outputs: { decision: RESOURCE_DECISION },
  params: z.strictObject({}),
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [benchmark, { ...capture, implementation: "closed_form_parallel_channel_water_filling_labels" }],
  twin: true,
  run({ inputs }) {
    const problem = resourceProblemOf(inputs.problem), { noiseVariance, totalPower } = problem;
    const decision = allocateEach(
      problem,
      "water_filling",
      (gains) => waterFill(noiseFloors(gains, noiseVariance), totalPower),
    );
    return { outputs: { decision } };
  },
});
