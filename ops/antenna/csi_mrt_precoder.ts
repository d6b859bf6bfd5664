/**
 * Maximum-ratio weights w = ĥ/‖ĥ‖ for every subcarrier of a reconstructed channel; equal ones, 1/sqrt(M), for a zero
 * channel.
 *
 * Shapes: reconstruction complex64 [row, tx, subcarrier] -> precoder of the same shape.
 */
import { defineOperation, z } from "../api.ts";
import { travel } from "../../lib/artifact/values.ts";
import { maximumRatio } from "../../lib/numeric/antenna/beamforming.ts";
import { antennasAt, MISO_PRECODER, MISO_RECONSTRUCTION, misoArtifact, misoChannelsOf } from "../_csi_feedback.ts";

export default defineOperation({
  id: "model.csi_mrt_precoder",
  name: "Maximum-ratio precoder",
  description: "Computes maximum-ratio weights for a reconstructed channel, subcarrier by subcarrier",
  inputs: { reconstruction: [MISO_RECONSTRUCTION] },
  outputs: { precoder: MISO_PRECODER },
  params: z.strictObject({}),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "float32 RI" },
  outputMetadataGuarantees: { precoder: { from: "reconstruction" } },
  twin: true,
  run({ inputs }) {
    const channels = misoChannelsOf(inputs.reconstruction), { rows, tx, subcarriers } = channels;
    const weights = new Float32Array(channels.values.length);
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < subcarriers; k++) {
        maximumRatio(antennasAt(channels, row, k)).forEach((value, i) => {
          weights[2 * ((row * tx + (i >> 1)) * subcarriers + k) + (i & 1)] = value;
        });
      }
    }
    const metadata = travel(inputs.reconstruction.metadata, { precoder: "maximum_ratio" });
    return { outputs: { precoder: misoArtifact(weights, channels, metadata) } };
  },
});
