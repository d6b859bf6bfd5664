/**
 * Scores of labels, compared as written:
 *
 *     accuracy            share of correctly labelled items
 *     balanced accuracy   mean over the classes of the reference of the share of their correctly labelled items
 *
 *     macro F1            mean F1 over the classes of either side
 *     micro F1            F1 of the pooled counts of all classes
 *
 * For single labels exact match and micro F1 equal the accuracy; all are reported, under the ids that tasks and papers
 * use. task.score is the accuracy. If every prediction has `probabilities`, an object from class names to numbers that sum
 * to 1, there are also top-k accuracy, expected calibration error, Brier score and the area under the ROC curve
 * (lib/numeric/scores/probability_scores.ts). The report also contains the confusion matrix (rows true, columns predicted; classes of either side, in
 * the order of code points), and precision, recall and F1 of every class. Values with a zero denominator are omitted.
 *
 * Source: Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010.
 */
import { LABELS, PREDICTIONS } from "../../lib/contract/kinds.ts";
import {
  compareCodePoints,
  float,
  type InputArtifact,
  isNumber,
  isObject,
  type JsonObject,
  SvcError,
  toNumber,
  z,
} from "../api.ts";
import { checkPairedIds, itemsOf } from "../../lib/artifact/values.ts";
import { rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import {
  areaUnderRoc,
  brierScore,
  calibrationError,
  topAccuracy,
} from "../../lib/numeric/scores/probability_scores.ts";
import { mean, sum } from "../../lib/numeric/scores/statistics.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.classification",
  name: "Classification scores",
  description: "Scores predictions or labels against reference labels",
  inputs: { candidate: [PREDICTIONS, LABELS], reference: [LABELS] },
  params: z.strictObject({
    top_k: z.int().positive().max(1000).default(5)
      .describe("number of most probable classes that top-k accuracy accepts"),
    calibration_bins: z.int().positive().max(1000).default(15)
      .describe("number of confidence intervals of the expected calibration error"),
  }),
  run({ inputs, params }) {
    const candidates = labelsOf(inputs.candidate), references = labelsOf(inputs.reference);
    checkPairedIds(candidates, references);
    if (references.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty batch of labels");
    const classes = [...new Set([...references, ...candidates].map(({ label }) => label))].sort(compareCodePoints);
    const place = new Map(classes.map((name, index) => [name, index]));
    const matrix = classes.map(() => new Array<number>(classes.length).fill(0));
    const items = references.map(({ id, label }, index): JsonObject => {
      const predicted = candidates[index].label;
      matrix[place.get(label)!][place.get(predicted)!]++;
      return { id, label, predicted, correct: predicted === label };
    });
    const perClass = classes.map((label, k) => {
      const right = matrix[k][k], wanted = sum(matrix[k]), claimed = sum(matrix.map((row) => row[k]));
      return { label, right, wanted, claimed };
    });
    const accuracy = sum(perClass.map(({ right }) => right)) / references.length;
    const wrong = references.map(({ label }, index) => Number(candidates[index].label !== label));
    const rate = successes(rateCounts(wrong, inputs.candidate.metadata, "source_item"));
    const occurring = perClass.filter(({ wanted }) => wanted > 0);
    const scored = probabilitiesOf(inputs.candidate, references);
    return {
      metrics: {
        "task.accuracy": accuracy,
        "task.exact_match": accuracy,
        "task.score": accuracy,
        "classification.balanced_accuracy": mean(occurring.map(({ right, wanted }) => right / wanted)),
        "classification.macro_f1": mean(perClass.map(({ right, wanted, claimed }) => 2 * right / (wanted + claimed))),
        "classification.micro_f1": accuracy,
        ...(scored === undefined ? {} : {
          [`classification.top_k_accuracy.${params.top_k}`]: topAccuracy(scored.items, params.top_k),
          "classification.expected_calibration_error": calibrationError(scored.items, params.calibration_bins),
          "classification.brier_score": brierScore(scored.items),
          ...defined("classification.auroc", areaUnderRoc(scored.items, scored.classCount)),
        }),
      },
      items,
      rates: { "task.accuracy": rate, "task.exact_match": rate, "task.score": rate, "classification.micro_f1": rate },
      facts: { class_names: classes, confusion_matrix: matrix, classes: perClass.map(classRow) },
    };
  },
});

const defined = (id: string, value: number | null) => value === null ? {} : { [id]: value };

/**
 * The probabilities of predictions, undefined if no item has them. Classes are those of either side.
 * @throws SvcError `boundary_value_invalid` for items without probabilities beside others with them, or sums other than 1
 */
function probabilitiesOf(input: InputArtifact, references: readonly { label: string }[]) {
  const rows = itemsOf(input);
  if (rows.every(({ probabilities }) => probabilities === undefined)) return undefined;
  const maps = rows.map(({ id, probabilities }) => {
    const entries = isObject(probabilities) ? Object.entries(probabilities) : [];
    const values = entries.map(([name, value]) => [name, isNumber(value) ? toNumber(value) : NaN] as const);
    const total = sum(values.map(([, value]) => value));
    if (!values.every(([, value]) => value >= 0) || !(Math.abs(total - 1) <= 1e-3)) {
      throw new SvcError("boundary_value_invalid", `Cannot use the probabilities of ${id}: they do not sum to 1`, {
        hint: "Give every prediction an object of class names and probabilities, or none",
      });
    }
    return new Map(values);
  });
  const names = new Set([...maps.flatMap((map) => [...map.keys()]), ...references.map(({ label }) => label)]);
  const classes = [...names].sort(compareCodePoints);
  const items = maps.map((map, index) => ({
    probabilities: classes.map((name) => map.get(name) ?? 0),
    truth: classes.indexOf(references[index].label),
  }));
  return { items, classCount: classes.length };
}

function classRow(
  { label, right, wanted, claimed }: { label: string; right: number; wanted: number; claimed: number },
) {
  return {
    label,
    reference_count: wanted,
    candidate_count: claimed,
    match_count: right,
    ...(claimed > 0 ? { precision: float(right / claimed) } : {}),
    ...(wanted > 0 ? { recall: float(right / wanted) } : {}),
    f1: float(2 * right / (wanted + claimed)),
  };
}

/** The labels of an artifact. @throws SvcError `boundary_value_invalid` for an item without an id or a label */
function labelsOf(input: InputArtifact): { id: string; label: string }[] {
  return itemsOf(input).map(({ id, label }) => {
    if (typeof id !== "string" || typeof label !== "string") {
      throw new SvcError("boundary_value_invalid", "Cannot read an item without an id and a label");
    }
    return { id, label };
  });
}
