/** Conformance cases of CSI feedback. */
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

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

export const CSI_FEEDBACK_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    csi: () => ({ csi: channels("csi", 3) }),
    "code of 6": () => ({ received_code: code(6) }),
    "code of 16": () => ({ received_code: code(16, "code") }),
    "code of 4": () => ({ received_code: code(4) }),
    reconstruction: () => ({ reconstruction: channels("csi_reconstruction", 2) }),
    "csi and reconstruction": () => ({
      true_csi: channels("csi", 3),
      reconstruction: channels("csi_reconstruction", 3.1),
      precoder: channels("precoder", 2),
    }),
  },
  files: {
    // [sample, 2 x angle x delay] of 2 angles and 3 delays.
    delays: () => ({
      "delays.npz": writeNpz({ HT: ndarray("float32", values(3 * 12, 2).map((value) => value / 4 + 0.5), [3, 12]) })
        .slice(),
    }),
  },
  model: {
    code: ({ csi_ri: { shape: [rows], data } }) => ({
      feedback_code: ndarray("float32", data.slice(0, 4 * rows), [rows, 4]),
    }),
    csi: ({ feedback_code: { shape: [rows] } }) => ({
      csi_hat_ri: ndarray("float32", values(2 * rows * TX * SUBCARRIERS, 2), [rows, 2, TX, SUBCARRIERS]),
    }),
  },
});
