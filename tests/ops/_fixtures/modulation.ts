/** Conformance cases of modulation recognition. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput } from "../inputs.ts";

const FRAMES = 4, LENGTH = 8, NAMES = { class_names: ["bpsk", "qpsk", "qam16"] };
const values = Float32Array.from({ length: 2 * FRAMES * LENGTH }, (_, i) => Math.cos(3 * i));
const perFrame = (step: number) =>
  ndarray("float64", Float64Array.from({ length: FRAMES }, (_, i) => 1 + step * i), [FRAMES]);
const TRAVELLING = { noise_variance: perFrame(0.1), snr_db: perFrame(2) };
const classes = (kind: string, labels: bigint[]) =>
  arrayInput(`ai_phy.modulation_${kind}.numpy`, "int64", BigInt64Array.from(labels), [FRAMES], NAMES);
const received = () => ({
  observation: {
    ...arrayInput("ai_phy.modulation_iq_frames.numpy", "complex64", values, [FRAMES, LENGTH]),
    companions: TRAVELLING,
  },
});

export const MODULATION_FIXTURES: Record<string, ConformanceCase[]> = {
  "source.modulation_frames": [{ params: { frame_count: 7, symbols_per_frame: 5 } }],
  "wireless.modulation_awgn_observation": [{
    inputs: () => ({ frames: arrayInput("ai_phy.modulation_frames.numpy", "complex64", values, [FRAMES, LENGTH]) }),
    params: { snr_db_min: -2, carrier_phase_max_rad: 3, frequency_offset_max_cycles_per_symbol: 0.01 },
  }],
  "model.modulation_classifier_adapter": [
    ...["classical_cumulant", "classical_likelihood", "classical_evm"].map((mode) => ({
      name: mode,
      inputs: received,
      params: { mode },
    })),
    {
      name: "learned_artifact",
      inputs: received,
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: ({ iq_ri: { shape: [frames], data } }) => ({
        class_logits: ndarray("float32", (data as Float32Array).slice(0, 3 * frames), [frames, 3]),
      }),
    },
  ],
  "metrics.modulation_classification": [{
    inputs: () => ({
      prediction: { ...classes("predictions", [0n, 1n, 1n, 2n]), companions: TRAVELLING },
      truth: classes("labels", [0n, 1n, 2n, 2n]),
    }),
  }],
};
