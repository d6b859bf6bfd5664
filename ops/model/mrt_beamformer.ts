/** Maximum-ratio transmission, w = h/‖h‖: the largest gain that any weights of norm 1 have. */
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { maximumRatio } from "../../lib/numeric/beamforming.ts";
import { beamEach, BEAMFORMING_DECISION, BEAMFORMING_PROBLEM, beamformingProblemOf } from "../_beamforming.ts";

export default defineOperation({
  id: "model.mrt_beamformer",
  name: "Maximum-ratio/codebook beamformer baseline",
  description: "Forms the beam of the largest gain",
  inputs: { problem: [BEAMFORMING_PROBLEM] },
  outputs: { decision: BEAMFORMING_DECISION },
  params: z.strictObject({}),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  outputMetadataGuarantees: { decision: { keys: ["example_count", "beamformer"] } },
  threadSafe: true,
  run({ inputs }) {
    return { outputs: { decision: beamEach(beamformingProblemOf(inputs.problem), "mrt", maximumRatio) } };
  },
});
