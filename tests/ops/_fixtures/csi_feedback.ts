/** Conformance cases of CSI feedback. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput } from "../inputs.ts";

const ROWS = 3, TX = 2, SUBCARRIERS = 4, SHAPE = [ROWS, TX, SUBCARRIERS];
const METADATA = { noise_variance: 0.1, tx_antennas: TX, ofdm_fft_size: SUBCARRIERS };
const values = (count: number, step: number) => Float32Array.from({ length: count }, (_, i) => Math.cos(step * i));
const channels = (kind: string, step: number) =>
  arrayInput(
    `channel.miso_ofdm_${kind}.numpy`,
    "complex64",
    values(2 * ROWS * TX * SUBCARRIERS, step),
    SHAPE,
    METADATA,
  );
const code = (dimension: number, kind = "received") =>
  arrayInput(`channel.csi_feedback_${kind}.numpy`, "float32", values(ROWS * dimension, 3), [ROWS, dimension], METADATA);
const LEARNED = { runtime: "learned_artifact", feedback_dimension: 4, artifact_package_sha256: "0".repeat(64) };

export const CSI_FEEDBACK_FIXTURES: Record<string, ConformanceCase[]> = {
  "model.csi_feedback_encoder": [
    ...["truncated_angular_delay", "identity"].map((runtime) => ({
      name: runtime,
      inputs: () => ({ csi: channels("csi", 3) }),
      params: { runtime, feedback_dimension: 6 },
    })),
    {
      name: "learned_artifact",
      inputs: () => ({ csi: channels("csi", 3) }),
      params: LEARNED,
      model: ({ csi_ri: { shape: [rows], data } }) => ({
        feedback_code: ndarray("float32", (data as Float32Array).slice(0, 4 * rows), [rows, 4]),
      }),
    },
  ],
  "model.csi_feedback_decoder": [
    {
      name: "truncated_angular_delay",
      inputs: () => ({ received_code: code(6) }),
      params: { runtime: "truncated_angular_delay", feedback_dimension: 6 },
    },
    { name: "identity", inputs: () => ({ received_code: code(16, "code") }), params: { runtime: "identity" } },
    {
      name: "learned_artifact",
      inputs: () => ({ received_code: code(4) }),
      params: LEARNED,
      model: ({ feedback_code: { shape: [rows] } }) => ({
        csi_hat_ri: ndarray("float32", values(2 * rows * TX * SUBCARRIERS, 2), [rows, 2, TX, SUBCARRIERS]),
      }),
    },
  ],
  "model.csi_mrt_precoder": [{ inputs: () => ({ reconstruction: channels("csi_reconstruction", 2) }) }],
  "metrics.csi_feedback": [{
    inputs: () => ({
      true_csi: channels("csi", 3),
      reconstruction: channels("csi_reconstruction", 3.1),
      precoder: channels("precoder", 2),
    }),
  }],
};
