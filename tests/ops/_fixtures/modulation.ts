/** Conformance cases of modulation recognition. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

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

export const MODULATION_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    frames: () => ({
      frames: arrayInput("ai_phy.modulation_frames.numpy", "complex64", values, [FRAMES, LENGTH]),
    }),
    received,
    recorded: () => ({
      waveform: arrayInput("channel.rx_symbols.complex_numpy", "complex64", values, [FRAMES * LENGTH]),
      labels: {
        kind: "task.labels.json",
        json: {
          kind: "task.labels",
          schema_version: 1,
          items: [
            { id: "a", label: "QPSK", sample_start: 2n, sample_count: 12n },
            { id: "b", label: "16-QAM", sample_start: 20n, sample_count: 10n },
          ],
        },
      },
    }),
    predictions: () => ({
      prediction: { ...classes("predictions", [0n, 1n, 1n, 2n]), companions: TRAVELLING },
      truth: classes("labels", [0n, 1n, 2n, 2n]),
    }),
  },
  model: {
    logits: ({ iq_ri: { shape: [frames], data } }) => ({
      class_logits: ndarray("float32", data.slice(0, 3 * frames), [frames, 3]),
    }),
  },
});
