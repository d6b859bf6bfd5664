/** Maximum-ratio transmission, w = h/‖h‖: the largest gain of any weights of norm 1. */
import { defineOperation, z } from "../api.ts";
import { maximumRatio } from "../../lib/numeric/antenna/beamforming.ts";
import {
  beamEach,
  BEAMFORMING_DECISION,
  BEAMFORMING_PROBLEM,
  beamformingProblemOf,
  weightsArtifact,
} from "../_beamforming.ts";

export default defineOperation({
  id: "model.mrt_beamformer",
  name: "Maximum-ratio/codebook beamformer baseline",
  description: "Forms the beam of the largest gain",
  inputs: { problem: [BEAMFORMING_PROBLEM] },
  outputs: { decision: BEAMFORMING_DECISION },
  params: z.strictObject({}),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  twin: true,
  run({ inputs }) {
    const problem = beamformingProblemOf(inputs.problem);
    return { outputs: { decision: weightsArtifact(beamEach(problem, maximumRatio), problem, "mrt") } };
  },
});
