/**
 * Positions from ranges: the linear least-squares solution, refined by Gauss-Newton steps on r_i - |p - a_i| to the
 * maximum-likelihood estimate, clipped to the square; formulas: lib/numeric/antenna/localization.ts. Without non-line-of-sight
 * bias it reaches the Cramér-Rao bound at high Es/N0.
 *
 * Shapes: problem float64 [example, anchor] -> estimate float64 [example, 2], metres.
 */
import { defineOperation, z } from "../api.ts";
import { linearTrilateration, refinePosition } from "../../lib/numeric/antenna/localization.ts";
import {
  estimateArtifact,
  LOCALIZATION_ESTIMATE,
  LOCALIZATION_OBSERVATION,
  LOCALIZATION_PROBLEM,
  locateAll,
  rangeProblemOf,
} from "../_localization.ts";

export default defineOperation({
  id: "model.trilateration_localizer",
  name: "Trilateration baseline",
  description: "Locates terminals by maximum likelihood from their ranges",
  inputs: { problem: [LOCALIZATION_PROBLEM, LOCALIZATION_OBSERVATION] },
  outputs: { estimate: LOCALIZATION_ESTIMATE },
  params: z.strictObject({}),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  inputMetadataRequirements: { problem: { all_of: ["area_m"] } },
  run({ inputs }) {
    const problem = rangeProblemOf(inputs.problem);
    const positions = locateAll(problem, (anchors, ranges) => {
      const start = linearTrilateration(anchors, ranges);
      return start === null ? null : refinePosition(anchors, ranges, start);
    });
    return { outputs: { estimate: estimateArtifact(positions, problem, "gauss_newton") } };
  },
});
