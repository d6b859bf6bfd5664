/**
 * Scores of detections against reference boxes, pooled over the images:
 *
 *     recall     matches / reference boxes
 *     precision  matches / candidates
 *     F1         2·matches / (reference boxes + candidates)
 *
 * A candidate counts from `confidence_threshold` on, if it is among the `max_detections` most confident ones of its image
 * and label (100, as in the COCO challenge), and matches a box of its label from an IoU of `iou_threshold` on
 * (lib/numeric/scores/detection.ts). Metric ids contain both thresholds. task.score is the F1; class_f1 is the F1 of one label.
 *
 * Mean average precision, over the labels of the reference: `ap_at_iou_0p5` at iou_threshold (AP50 at its default), and
 * `map_at_iou_0p5_to_0p95` as the mean over IoU 0.50, 0.55 … 0.95 (AP of the COCO challenge). The report contains
 * counts and average precision of each label. A score with a zero denominator is omitted.
 */
import { float, type JsonObject, SvcError, z } from "../api.ts";
import { checkPairedIds } from "../../lib/artifact/values.ts";
import { type Detection, type LabelScores, matchDetections, scoreLabels } from "../../lib/numeric/scores/detection.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { DETECTIONS, detectionsOf } from "../../lib/artifact/vision.ts";
import { defineReport, idName } from "../_report.ts";

const COCO_THRESHOLDS = Array.from({ length: 10 }, (_, i) => (50 + 5 * i) / 100);

export default defineReport({
  id: "metrics.detection",
  name: "Object detection scores",
  description: "Scores boxes by recall, precision, F1 and average precision",
  inputs: { candidate: [DETECTIONS], reference: [DETECTIONS] },
  params: z.strictObject({
    iou_threshold: z.number().positive().max(1).default(0.5).describe("minimum IoU of a match"),
    confidence_threshold: z.number().min(0).max(1).default(0).describe("minimum confidence of a candidate"),
    max_detections: z.int().positive().default(100)
      .describe("candidates of an image and label, the most confident first"),
  }),
  run({ inputs, params }) {
    const { iou_threshold: threshold, confidence_threshold: floor } = params;
    const candidates = detectionsOf(inputs.candidate), references = detectionsOf(inputs.reference);
    checkPairedIds(candidates, references);
    if (references.length === 0) throw new SvcError("boundary_empty", "Cannot score detections without an image");
    const pairs = references.map(({ id, detections }, index) => ({
      id,
      references: detections,
      candidates: mostConfident(candidates[index].detections, params.max_detections)
        .filter(({ confidence }) => confidence >= floor),
    }));
    const labels = scoreLabels(pairs, threshold);
    const total = (key: "reference_count" | "candidate_count" | "match_count") =>
      [...labels.values()].reduce((sum, row) => sum + row[key], 0);
    const wanted = total("reference_count"), claimed = total("candidate_count"), matched = total("match_count");
    const conf = `conf_${idNumber(floor)}`, at = `at_iou_${idNumber(threshold)}_${conf}`;
    const f1 = 2 * matched / (wanted + claimed);
    const precision = meanPrecision(labels);
    const over = precision === null ? [] : COCO_THRESHOLDS.map((iou) => meanPrecision(scoreLabels(pairs, iou))!);
    const metrics = {
      ...(wanted === 0 ? {} : { [`detection.recall_${at}`]: matched / wanted }),
      ...(claimed === 0 ? {} : { [`detection.precision_${at}`]: matched / claimed }),
      ...(wanted + claimed === 0 ? {} : { [`detection.f1_${at}`]: f1, "task.score": f1 }),
      ...(precision === null ? {} : {
        [`detection.ap_${at}`]: precision,
        [`detection.map_at_iou_0p5_to_0p95_${conf}`]: mean(over),
      }),
      ...Object.fromEntries([...labels].map(([label, { reference_count, candidate_count, match_count }]) => [
        `detection.class_f1_${at}.${idName(label)}`,
        2 * match_count / (reference_count + candidate_count),
      ])),
    };
    const items = pairs.map((pair): JsonObject => ({
      id: pair.id,
      reference_count: pair.references.length,
      candidate_count: pair.candidates.length,
      match_count: matchDetections(pair.candidates, pair.references, threshold).filter((match) => match >= 0).length,
    }));
    const facts: JsonObject = {
      iou_threshold: float(threshold),
      confidence_threshold: float(floor),
      labels: [...labels].map(([label, { average_precision, ...counts }]) => ({
        label,
        ...counts,
        ...(average_precision === undefined ? {} : { average_precision: float(average_precision) }),
      })),
      mean_average_precision: precision === null
        ? {}
        : { [`iou_${idNumber(threshold)}`]: float(precision), iou_0p5_to_0p95: float(mean(over)) },
    };
    return { metrics, items, facts };
  },
});

/** The most confident detections of each label, in their order. */
function mostConfident(detections: readonly Detection[], most: number): readonly Detection[] {
  const ranked = detections.map((_, index) => index)
    .sort((a, b) => detections[b].confidence - detections[a].confidence || a - b);
  const kept = Map.groupBy(ranked, (index) => detections[index].label).values()
    .flatMap((indices) => indices.slice(0, most));
  return [...kept].sort((a, b) => a - b).map((index) => detections[index]);
}

/** Mean average precision over the labels of the reference; null without labels. */
function meanPrecision(labels: Map<string, LabelScores>): number | null {
  const values = [...labels.values()].flatMap(({ average_precision: value }) => value === undefined ? [] : [value]);
  return values.length === 0 ? null : mean(values);
}

/** A number in a metric id: 0.5 is 0p5, 0 is 0. */
function idNumber(value: number): string {
  return String(value).replace(".", "p").replace("-", "m");
}
