/**
 * Scores of class rasters, pooled over all pixels of all images:
 *
 *     pixel accuracy  share of correctly classified pixels
 *     mean IoU        mean over the classes that occur on either side of |both| / |either|
 *
 * The background is a class like any other; miou_without_background excludes it, class_iou is the IoU of one class. The
 * report contains the counts of every class. Classes are compared by name if both sides have names, else by value.
 * task.score is the pixel accuracy.
 *
 * Shapes: candidate, reference integers [image, height, width]. Source: Everingham et al., The PASCAL Visual Object Classes
 * Challenge: a retrospective, 2015, section 2.2; Long, Shelhamer and Darrell, Fully convolutional networks, 2015.
 */
import { REPORT } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { checkPairedIds, reportResult } from "../../lib/artifact/values.ts";
import { mean } from "../../lib/numeric/statistics.ts";
import { idsOfImages } from "../_image_ids.ts";
import { idName } from "./_class_ids.ts";
import { BACKGROUND, type Rasters, rastersOf, SEGMENTATION } from "../../lib/artifact/vision.ts";

interface ClassCounts {
  reference: number;
  candidate: number;
  both: number;
}

export default defineOperation({
  id: "metrics.segmentation",
  name: "Segmentation scores",
  description: "Scores class rasters by pixel accuracy and mean intersection over union",
  inputs: { candidate: [SEGMENTATION], reference: [SEGMENTATION] },
  outputs: { report: REPORT },
  params: z.strictObject({}),
  threadSafe: true,
  run({ inputs }) {
    const candidate = rastersOf(inputs.candidate), reference = rastersOf(inputs.reference);
    const shape = ({ count, height, width }: Rasters) => `[${count}, ${height}, ${width}]`;
    if (shape(candidate) !== shape(reference)) {
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot compare rasters ${shape(candidate)} with rasters ${shape(reference)}`,
      );
    }
    if (reference.data.length === 0) throw new SvcError("boundary_empty", "Cannot score rasters without a pixel");
    const ids = pairedIds(inputs.candidate.metadata, inputs.reference.metadata, reference.count);

    const { names, candidateClass, referenceClass } = commonClasses(candidate, reference);
    const counts = new Map<number, ClassCounts>();
    const of = (value: number) => {
      if (!counts.has(value)) counts.set(value, { reference: 0, candidate: 0, both: 0 });
      return counts.get(value)!;
    };
    const pixels = reference.height * reference.width;
    const items = ids.map((id, image): JsonObject => {
      let right = 0;
      for (let at = image * pixels; at < (image + 1) * pixels; at++) {
        const wanted = referenceClass(reference.data[at]), given = candidateClass(candidate.data[at]);
        of(wanted).reference++;
        of(given).candidate++;
        if (wanted !== given) continue;
        of(wanted).both++;
        right++;
      }
      return { id, metrics: { "segmentation.semantic_raster_pooled_pixel_accuracy": float(right / pixels) } };
    });

    const rows = [...counts].sort(([a], [b]) => a - b).map(([value, count]) => ({
      value,
      name: names(value),
      ...count,
      iou: count.both / (count.reference + count.candidate - count.both),
    }));
    const accuracy = rows.reduce((sum, { both }) => sum + both, 0) / reference.data.length;
    const objects = rows.filter(({ value, name }) => name === undefined ? value !== 0 : name !== BACKGROUND);
    const metrics = {
      "segmentation.semantic_raster_pooled_miou": mean(rows.map(({ iou }) => iou)),
      "segmentation.semantic_raster_pooled_pixel_accuracy": accuracy,
      "task.score": accuracy,
      ...(objects.length === 0
        ? {}
        : { "segmentation.semantic_raster_pooled_miou_without_background": mean(objects.map(({ iou }) => iou)) }),
      ...Object.fromEntries(
        rows.map(({ name, value, iou }) => [
          `segmentation.semantic_raster_pooled_class_iou.${idName(name ?? String(value))}`,
          iou,
        ]),
      ),
    };
    const facts: JsonObject = {
      classes: rows.map(({ value, name, reference, candidate, both, iou }) => ({
        value,
        ...(name === undefined ? {} : { name }),
        reference_pixel_count: reference,
        candidate_pixel_count: candidate,
        common_pixel_count: both,
        iou: float(iou),
      })),
      ...(objects.length === 0 ? {} : { miou_without_background: float(mean(objects.map(({ iou }) => iou))) }),
    };
    return reportResult("metrics.segmentation", metrics, { items, facts });
  },
});

/** A common numbering of the classes of both sides: that of the reference, then further names. */
function commonClasses(candidate: Rasters, reference: Rasters) {
  const same = (value: number) => value;
  if (candidate.classNames === undefined || reference.classNames === undefined) {
    const known = reference.classNames ?? candidate.classNames;
    return { names: (value: number) => known?.[value], candidateClass: same, referenceClass: same };
  }
  const names = [...new Set([...reference.classNames, ...candidate.classNames])];
  const index = (own: readonly string[]) => {
    const map = own.map((name) => names.indexOf(name));
    return (value: number) => map[value];
  };
  return {
    names: (value: number): string | undefined => names[value],
    candidateClass: index(candidate.classNames),
    referenceClass: index(reference.classNames),
  };
}

/** The ids of the rasters; if both sides have ids, they must agree. */
function pairedIds(candidate: JsonObject, reference: JsonObject, count: number): string[] {
  const theirs = idsOfImages(candidate, count), ours = idsOfImages(reference, count);
  if (theirs !== undefined && ours !== undefined) {
    checkPairedIds(theirs.map((id) => ({ id })), ours.map((id) => ({ id })));
  }
  return ours ?? theirs ?? Array.from({ length: count }, (_, index) => `image_${index}`);
}
