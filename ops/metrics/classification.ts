/**
 * Scores of labels, compared as written:
 *
 *     accuracy            share of correctly labelled items
 *     balanced accuracy   mean over the classes of the reference of the share of their correctly labelled items
 *
 * For single labels exact match equals the accuracy; both are reported, under the ids that tasks require. task.score is
 * the accuracy. The report also contains the confusion matrix (rows true, columns predicted; classes of either side, in
 * the order of code points), and precision, recall and F1 of every class. Values with a zero denominator are omitted.
 *
 * Source: Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010.
 */
import { LABELS, PREDICTIONS, REPORT } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { compareCodePoints } from "../../lib/contract/json.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { checkPairedIds, itemsOf, reportResult } from "../../lib/artifact/values.ts";
import { mean, sum } from "../../lib/numeric/statistics.ts";

export default defineOperation({
  id: "metrics.classification",
  name: "Classification scores",
  description: "Scores predictions or labels against reference labels",
  inputs: { candidate: [PREDICTIONS, LABELS], reference: [LABELS] },
  outputs: { report: REPORT },
  params: z.strictObject({}),
  threadSafe: true,
  run({ inputs }) {
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
    const occurring = perClass.filter(({ wanted }) => wanted > 0);
    return reportResult("metrics.classification", {
      "task.accuracy": accuracy,
      "task.exact_match": accuracy,
      "task.score": accuracy,
      "classification.balanced_accuracy": mean(occurring.map(({ right, wanted }) => right / wanted)),
    }, {
      items,
      facts: { class_names: classes, confusion_matrix: matrix, classes: perClass.map(classRow) },
    });
  },
});

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
