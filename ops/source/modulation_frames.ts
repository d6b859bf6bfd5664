/**
 * Frames of random symbols of BPSK, QPSK and 16QAM, or of `classes` (mapping of TS 38.211, mean power 1), with equal numbers of each
 * class (up to one), in random order.
 *
 * Shapes: frames complex64 [frame, symbol], labels int64 [frame]. Draws: permutation(frame_count) of the labels 0, 1, 2, 0, …, then
 * integers(0, order, symbols_per_frame) frame by frame; a symbol's bits are those of its integer, highest first.
 */
import { defineOperation, seedParameter, z } from "../api.ts";
import { modulate } from "../../lib/numeric/link/modulation.ts";
import { BITS_PER_SYMBOL } from "../../lib/numeric/link/modulations.ts";
import { MODULATION_CLASSES } from "../../lib/numeric/link/modulation_recognition.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { checkClasses, classArray, classesParameter, MODULATION_FRAMES, MODULATION_LABELS } from "../_modulation.ts";

export default defineOperation({
  id: "source.modulation_frames",
  name: "Balanced modulated frame source",
  description: "Draws frames of BPSK, QPSK and 16QAM symbols with their labels",
  outputs: { frames: MODULATION_FRAMES, labels: MODULATION_LABELS },
  params: z.strictObject({
    frame_count: z.int().positive().default(96).describe("number of frames"),
    symbols_per_frame: z.int().positive().default(128).describe("symbols of a frame"),
    classes: classesParameter(),
    seed: seedParameter(23),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "numpy.ndarray" },
  estimate: ({ frame_count, symbols_per_frame }) => ({
    frames: [["complex64", frame_count, symbols_per_frame]],
    labels: [["int64", frame_count]],
  }),
  check: checkClasses,
  run({ params, generator }) {
    const { frame_count: count, symbols_per_frame: length, classes = [...MODULATION_CLASSES] } = params;
    const labels = Array.from(generator.permutation(count), (index) => index % classes.length);
    const frames = new Float32Array(2 * count * length);
    labels.forEach((label, frame) => {
      const modulation = classes[label], width = BITS_PER_SYMBOL[modulation];
      const bits = new Uint8Array(width * length);
      generator.integers(0, 2 ** width, length).forEach((symbol, n) => {
        for (let b = 0; b < width; b++) bits[n * width + b] = Number(symbol) >> (width - 1 - b) & 1;
      });
      modulate(bits, modulation, frames.subarray(2 * frame * length, 2 * (frame + 1) * length));
    });
    const metadata = { frame_count: count, symbols_per_frame: length };
    return {
      outputs: {
        frames: { array: ndarray("complex64", frames, [count, length]), metadata },
        labels: { array: classArray(labels), metadata: { ...metadata, class_names: [...classes] } },
      },
    };
  },
});
