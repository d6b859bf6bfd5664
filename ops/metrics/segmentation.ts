/**
 * Scores of class rasters, pooled over all pixels of all images:
 *
 *     pixel accuracy  share of correctly classified pixels
 *     mean IoU        mean over the classes that occur on either side of |both| / |either|
 *     boundary F1     mean over the images of the F1 of class boundaries, with a tolerance of 0.75 % of the diagonal
 *     panoptic quality  mean over the classes but the background, each connected region being an object
 *
 * The background is a class like any other; miou_without_background excludes it, class_iou is the IoU of one class. The
 * report contains the counts of every class. Classes are compared by name if both sides have names, else by value.
 * task.score is the pixel accuracy.
 *
 * Boundaries and regions: lib/numeric/image/segments.ts.
 *
 * Shapes: candidate, reference integers [image, height, width]. Source: Everingham et al., The PASCAL Visual Object Classes
 * Challenge: a retrospective, 2015, section 2.2; Long, Shelhamer and Darrell, Fully convolutional networks, 2015.
 */
import { float, type JsonObject, SvcError } from "../api.ts";
import { boundaryF1, type PartCounts, partCounts } from "../../lib/numeric/image/segments.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { pairedImageIds } from "../_image_ids.ts";
import { BACKGROUND, type Rasters, rastersOf, SEGMENTATION } from "../../lib/artifact/vision.ts";
import { defineReport, idName } from "../_report.ts";

interface ClassCounts {
  reference: number;
  candidate: number;
  both: number;
}

export default defineReport({
  id: "metrics.segmentation",
  name: "Segmentation scores",
  description: "Scores class rasters by pixel accuracy, intersection over union, boundaries and panoptic quality",
  inputs: { candidate: [SEGMENTATION], reference: [SEGMENTATION] },
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
    const ids = pairedImageIds(inputs.candidate, inputs.reference, reference.count);

    const { names, candidateClass, referenceClass } = commonClasses(candidate, reference);
    const counts = new Map<number, ClassCounts>();
    const of = (value: number) => {
      if (!counts.has(value)) counts.set(value, { reference: 0, candidate: 0, both: 0 });
      return counts.get(value)!;
    };
    const { height, width } = reference, pixels = height * width;
    const boundaries: number[] = [];
    const parts = new Map<number, PartCounts>();
    const items = ids.map((id, image): JsonObject => {
      let right = 0;
      const raster = (from: Rasters, classOf: (value: number) => number) => ({
        height,
        width,
        classes: Int32Array.from({ length: pixels }, (_, at) => classOf(from.data[image * pixels + at])),
      });
      const given = raster(candidate, candidateClass), wanted = raster(reference, referenceClass);
      for (const [value, counts] of partCounts(given, wanted)) {
        const sum = parts.getOrInsertComputed(value, () => ({ iou: 0, matched: 0, unmatched: 0 }));
        sum.iou += counts.iou;
        sum.matched += counts.matched;
        sum.unmatched += counts.unmatched;
      }
      for (let at = 0; at < pixels; at++) {
        const wantedClass = wanted.classes[at], givenClass = given.classes[at];
        of(wantedClass).reference++;
        of(givenClass).candidate++;
        if (wantedClass !== givenClass) continue;
        of(wantedClass).both++;
        right++;
      }
      boundaries.push(boundaryF1(given, wanted));
      return {
        id,
        metrics: {
          "segmentation.semantic_raster_pooled_pixel_accuracy": float(right / pixels),
          "segmentation.boundary_f1": float(boundaries[image]),
        },
      };
    });

    const rows = [...counts].sort(([a], [b]) => a - b).map(([value, count]) => ({
      value,
      name: names(value),
      ...count,
      iou: count.both / (count.reference + count.candidate - count.both),
      quality: panopticQuality(parts.get(value)!),
    }));
    const accuracy = rows.reduce((sum, { both }) => sum + both, 0) / reference.data.length;
    const objects = rows.filter(({ value, name }) => name === undefined ? value !== 0 : name !== BACKGROUND);
    const metrics = {
      "segmentation.semantic_raster_pooled_miou": mean(rows.map(({ iou }) => iou)),
      "segmentation.semantic_raster_pooled_pixel_accuracy": accuracy,
      "task.score": accuracy,
      ...(objects.length === 0 ? {} : {
        "segmentation.semantic_raster_pooled_miou_without_background": mean(objects.map(({ iou }) => iou)),
        "segmentation.panoptic_quality": mean(objects.map(({ quality }) => quality)),
      }),
      "segmentation.boundary_f1": mean(boundaries),
      ...Object.fromEntries(
        rows.map(({ name, value, iou }) => [
          `segmentation.semantic_raster_pooled_class_iou.${idName(name ?? String(value))}`,
          iou,
        ]),
      ),
    };
    const facts: JsonObject = {
      classes: rows.map(({ value, name, reference, candidate, both, iou, quality }) => ({
        value,
        ...(name === undefined ? {} : { name }),
        reference_pixel_count: reference,
        candidate_pixel_count: candidate,
        common_pixel_count: both,
        iou: float(iou),
        panoptic_quality: float(quality),
      })),
      ...(objects.length === 0 ? {} : { miou_without_background: float(mean(objects.map(({ iou }) => iou))) }),
    };
    return { metrics, items, facts };
  },
});

const panopticQuality = ({ iou, matched, unmatched }: PartCounts) => iou / (matched + unmatched / 2);

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
