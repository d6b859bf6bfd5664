/**
 * Scores of recognised modulations:
 *
 *     accuracy            share of correctly classified frames
 *     balanced accuracy   mean over the classes that occur of the share of their correctly classified frames
 *     macro F1            mean over the same classes of 2·TP/(2·TP + FP + FN)
 *
 * and confusion matrices, rows the true and columns the predicted classes: of all frames, and of the bins of Es/N0
 * [b·width, (b+1)·width) that occur. task.score is the accuracy.
 *
 * Shapes: prediction, truth int64 [frame] -> confusion_matrix int64 [class, class], companions snr_bin_confusion int64 [bin, class,
 * class] and snr_bin_low_db float64 [bin].
 */
import { REPORT } from "../../lib/contract/kinds.ts";
import { canonicalJson, defineOperation, float, type InputArtifact, shownIn, SvcError, type Value, z } from "../api.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { reportResult } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { MODULATION_CLASSES } from "../../lib/numeric/link/modulation_recognition.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { MODULATION_LABELS, MODULATION_PREDICTIONS } from "../_modulation.ts";

export default defineOperation({
  id: "metrics.modulation_classification",
  name: "Modulation recognition scores",
  description: "Scores modulation classes and counts their confusions",
  inputs: { prediction: [MODULATION_PREDICTIONS], truth: [MODULATION_LABELS] },
  outputs: { confusion_matrix: "metrics.confusion_matrix.numpy", report: REPORT },
  params: z.strictObject({
    snr_bin_width_db: z.number().positive().default(2).describe("width in dB of the Es/N0 bins of the report")
      .meta(shownIn("dB")),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "json|npz", tensor: "numpy.ndarray" },
  outputMetadataGuarantees: { confusion_matrix: { keys: ["class_names"] } },
  twin: true,
  run({ inputs, params }) {
    const arrays = arraysOf(inputs.prediction);
    const names = classNames(inputs.prediction);
    if (canonicalJson(names) !== canonicalJson(classNames(inputs.truth))) {
      throw new SvcError("params_conflict", "Cannot compare classes of different modulations", {
        hint: "Set the same classes in source.modulation_frames and the classifier",
      });
    }
    const facts = { class_names: names };
    const predicted = checkedClasses(arrays.read("int64", ["frame"]), names.length);
    const truth = checkedClasses(arrays.beside(inputs.truth).read("int64", ["frame"]), names.length);
    const snr = arrays.read("float64", ["frame"], "snr_db"), width = params.snr_bin_width_db, count = truth.length;
    if (count === 0) throw new SvcError("boundary_empty", "Cannot score modulations without a frame");
    const all = new Confusion(names.length), bins = new Map<number, Confusion>();
    for (let i = 0; i < count; i++) {
      const bin = Math.floor(snr[i] / width), own = bins.get(bin) ?? new Confusion(names.length);
      bins.set(bin, own);
      for (const matrix of [all, own]) matrix.add(truth[i], predicted[i]);
    }
    const ordered = [...bins].sort(([a], [b]) => a - b);
    const wrong = truth.map((label, i) => Number(predicted[i] !== label));
    const rate = successes(rateCounts(wrong, inputs.prediction.metadata, "source_item"));
    const counted = rateMetadata({
      "modulation_recognition.accuracy": rate,
      "task.accuracy": rate,
      "task.score": rate,
    });
    const report = reportResult("metrics.modulation_classification", {
      "modulation_recognition.accuracy": all.accuracy,
      "modulation_recognition.balanced_accuracy": all.balancedAccuracy,
      "modulation_recognition.macro_f1": all.macroF1,
      "modulation_recognition.frame_count": BigInt(count),
      "task.accuracy": all.accuracy,
      "task.score": all.accuracy,
    }, {
      facts: {
        ...facts,
        ...counted,
        confusion_matrix: all.rows,
        snr_bins: ordered.map(([bin, matrix]) => ({
          snr_low_db: float(bin * width),
          snr_high_db: float((bin + 1) * width),
          frame_count: matrix.total,
          accuracy: float(matrix.accuracy),
          confusion_matrix: matrix.rows,
        })),
      },
    });
    const counts = (matrices: readonly Confusion[]) =>
      BigInt64Array.from(matrices.flatMap((matrix) => matrix.rows.flat()), BigInt);
    const square = [names.length, names.length], matrices = ordered.map(([, matrix]) => matrix);
    const low = Float64Array.from(ordered, ([bin]) => bin * width);
    return {
      ...report,
      metadata: counted,
      outputs: {
        ...report.outputs,
        confusion_matrix: {
          array: ndarray("int64", counts([all]), square),
          companions: {
            snr_bin_confusion: ndarray("int64", counts(matrices), [bins.size, ...square]),
            snr_bin_low_db: ndarray("float64", low, [bins.size]),
          },
          metadata: { ...facts, snr_bin_width_db: float(width) },
        },
      },
    };
  },
});

/** Class names that travel with labels. */
const classNames = ({ metadata }: InputArtifact): Value[] =>
  Array.isArray(metadata.class_names) ? metadata.class_names : [...MODULATION_CLASSES];

/** @throws SvcError `boundary_value_invalid` for a value that is not a class */
function checkedClasses(labels: BigInt64Array, count: number): number[] {
  return Array.from(labels, (label) => {
    if (label >= 0n && label < BigInt(count)) return Number(label);
    throw new SvcError("boundary_value_invalid", `Cannot use ${label} as one of ${count} classes`);
  });
}

class Confusion {
  /** Counts, one row per true class. */
  readonly rows: number[][];
  total = 0;

  constructor(count: number) {
    this.rows = Array.from({ length: count }, () => new Array<number>(count).fill(0));
  }

  add(truth: number, predicted: number): void {
    this.rows[truth][predicted]++;
    this.total++;
  }

  get accuracy(): number {
    return this.rows.reduce((sum, row, i) => sum + row[i], 0) / this.total;
  }

  get balancedAccuracy(): number {
    return mean(this.#occurring().map(({ hits, frames }) => hits / frames));
  }

  get macroF1(): number {
    return mean(this.#occurring().map(({ hits, frames, taken }) => 2 * hits / (frames + taken)));
  }

  /** Per occurring class: frames, correctly classified ones, and frames classified as it. */
  #occurring() {
    return this.rows.map((row, i) => ({
      hits: row[i],
      frames: row.reduce((sum, value) => sum + value, 0),
      taken: this.rows.reduce((sum, other) => sum + other[i], 0),
    })).filter(({ frames }) => frames > 0);
  }
}
