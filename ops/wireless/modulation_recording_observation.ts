/**
 * Frames for modulation recognition from a recording, by its labels: each annotation whose label names a modulation is cut from its
 * first sample on into frames of samples_per_frame samples, and the rest of it is left out. A sample is a symbol: target_sample_rate_hz
 * of source.iq_recording sets the rate of symbols.
 *
 * Labels count without case, space and punctuation, and as 16QAM or QAM16. snr_db is the Es/N0 of the recording: each frame is scaled
 * to the mean power 1 + N0, N0 = 10^(-snr_db/10), as that of symbols of power 1 in noise.
 *
 * Shapes: waveform complex64 [n] and labels with sample_start and sample_count -> observation complex64 [frame, symbol], companions
 * noise_variance and snr_db float64 [frame], and labels int64 [frame].
 *
 * Source: Signal Metadata Format Specification 1.2.0, sigmf.org (annotations).
 */
import { defineOperation, shownIn, SvcError, toNumber, z } from "../api.ts";
import { itemsOf, symbolsOf } from "../../lib/artifact/values.ts";
import { LABELS, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { isNumber, type Value } from "../../lib/contract/value.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { MODULATION_CLASSES } from "../../lib/numeric/link/modulation_recognition.ts";
import { checkClasses, classArray, classesParameter, MODULATION_IQ, MODULATION_LABELS } from "../_modulation.ts";

export default defineOperation({
  id: "wireless.modulation_recording_observation",
  name: "Annotated frames of a recording",
  description: "Cuts the labelled parts of a recording into frames for modulation recognition",
  inputs: { waveform: SYMBOLS_ANY, labels: [LABELS] },
  outputs: { observation: MODULATION_IQ, labels: MODULATION_LABELS },
  params: z.strictObject({
    samples_per_frame: z.int().positive().default(128).describe("samples of a frame"),
    snr_db: z.number().default(20).describe("Es/N0 of the recording in dB").meta(shownIn("dB")),
    classes: classesParameter(),
    other_labels: z.enum(["refuse", "leave_out"]).default("refuse").describe(
      "annotations that name none of the classes",
    ),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "numpy.ndarray" },
  estimate: () => ({ observation: null, labels: null }),
  check: checkClasses,
  run({ inputs, params }) {
    const samples = symbolsOf(inputs.waveform), length = params.samples_per_frame;
    const classes: readonly string[] = params.classes ?? MODULATION_CLASSES;
    const noise = dbToLinear(-params.snr_db), starts: number[] = [], labels: number[] = [];
    for (const item of itemsOf(inputs.labels)) {
      const label = classes.indexOf(modulationOf(item.label));
      if (label < 0 && params.other_labels === "leave_out") continue;
      if (label < 0) {
        throw new SvcError(
          "params_conflict",
          `Cannot use the label ${String(item.label).slice(0, 80)} as a modulation`,
          {
            hint: `Classes: ${classes.join(", ")}. Set classes, or other_labels: leave_out`,
          },
        );
      }
      const [first, count] = [item.sample_start, item.sample_count].map(countOf), last = first + count;
      if (last > samples.length / 2) {
        throw new SvcError(
          "boundary_count_mismatch",
          `Cannot cut the samples ${first} to ${last} of ${samples.length / 2}`,
        );
      }
      for (let at = first; at + length <= last; at += length) {
        starts.push(at);
        labels.push(label);
      }
    }
    const frames = starts.length;
    if (frames === 0) {
      throw new SvcError("boundary_empty", `Cannot find an annotation of ${length} samples`, {
        hint: "Lower samples_per_frame",
      });
    }
    const cut = new Float32Array(2 * length * frames);
    starts.forEach((start, frame) => {
      const own = samples.subarray(2 * start, 2 * (start + length));
      const power = own.reduce((sum, value) => sum + value * value, 0) / length;
      if (power === 0) {
        throw new SvcError("boundary_value_invalid", `Cannot scale the frame at sample ${start}: its power is 0`);
      }
      const gain = Math.sqrt((1 + noise) / power);
      cut.set(own.map((value) => gain * value), 2 * length * frame);
    });
    const perFrame = (value: number) => ndarray("float64", new Float64Array(frames).fill(value), [frames]);
    const metadata = { frame_count: frames, symbols_per_frame: length };
    return {
      outputs: {
        observation: {
          array: ndarray("complex64", cut, [frames, length]),
          companions: { noise_variance: perFrame(noise), snr_db: perFrame(params.snr_db) },
          metadata,
        },
        labels: { array: classArray(labels), metadata: { ...metadata, class_names: [...classes] } },
      },
    };
  },
});

/** The modulation that a label names: QAM16 and 16-QAM are qam16. */
const modulationOf = (label: Value | undefined) =>
  String(label).toLowerCase().replaceAll(/[^a-z0-9]/g, "").replace(/^(\d+)qam$/, "qam$1");

function countOf(value: Value | undefined): number {
  const found = isNumber(value) ? toNumber(value) : NaN;
  if (Number.isSafeInteger(found) && found >= 0) return found;
  throw new SvcError("boundary_value_invalid", "Cannot cut a label without sample_start and sample_count", {
    hint: "source.iq_recording gives labels of a recording",
  });
}
