/** The same power on every subcarrier, p = total_power/F: the allocation without channel knowledge. */
import { defineOperation, z } from "../api.ts";
import { allocateEach, RESOURCE_DECISION, RESOURCE_PROBLEM, resourceProblemOf } from "../_resource.ts";

export default defineOperation({
  id: "model.equal_power_allocator",
  name: "Uniform power allocation baseline",
  description: "Splits the power evenly",
  inputs: { problem: [RESOURCE_PROBLEM] },
  outputs: { decision: RESOURCE_DECISION },
  params: z.strictObject({}),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  twin: true,
  run({ inputs }) {
    const problem = resourceProblemOf(inputs.problem);
    const decision = allocateEach(
      problem,
      "equal_power",
      (gains) => gains.map(() => problem.totalPower / gains.length),
    );
    return { outputs: { decision } };
  },
});
